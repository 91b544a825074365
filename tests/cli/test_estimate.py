"""`sassan estimate`: the answer, its document, and where there is none."""

import os
from pathlib import Path

import pytest

import cubins
from cli.shell import SAMPLES, Sassan, assert_refused

PATTERNS = SAMPLES / "sm_80" / "memory_patterns.cubin"
SAXPY = SAMPLES / "sm_61" / "saxpy.nvdisasm.sass"
LAUNCH = ("--gpu", "A100-PCIE-40GB", "--block-dim", "32,32", "--grid", "32,32", "--param", "param_2=1024")


@pytest.fixture(autouse=True)
def disassembler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a disassembler that plays back the recorded listings on PATH."""
    folder = cubins.recorder(tmp_path / "tools", "sm_80/memory_patterns")
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))


def estimated(sassan: Sassan, *arguments: object) -> dict[str, object]:
    (function,) = sassan("estimate", PATTERNS, *arguments, "--json").document["functions"]
    return function


def test_the_document_holds_every_key(sassan: Sassan):
    function = estimated(sassan, "-f", "transpose_naive", *LAUNCH)
    estimate = function["estimate"]
    assert set(estimate) == {"cycles", "us", "gpu", "bound_by", "shares", "occupancy", "rows", "stalls", "assumed", "counts"}
    assert estimate["us"] == estimate["cycles"] / 1410
    assert set(estimate["rows"]) == {"total", "shortest", "longest"}
    assert 0 < estimate["occupancy"] <= 1
    assert 0 < estimate["assumed"] <= 1
    assert set(estimate["stalls"][0]) == {"address", "reason", "share"}
    assert sum(stall["share"] for stall in estimate["stalls"]) == pytest.approx(1, abs=0.05)
    assert function["gaps"] == []


def test_bank_conflicts_take_time(sassan: Sassan):
    conflicts, padded = (estimated(sassan, "-f", name, *LAUNCH)["estimate"] for name in ("transpose_tile", "transpose_pad"))
    assert conflicts["cycles"] > padded["cycles"]
    assert conflicts["shares"]["memory"] > padded["shares"]["memory"]


def test_a_larger_grid_takes_longer(sassan: Sassan):
    small, large = (
        estimated(sassan, "-f", "transpose_pad", *LAUNCH[:4], "--grid", grid, *LAUNCH[6:])["estimate"]["cycles"]
        for grid in ("32,32", "64,64")
    )
    assert large > 2 * small


def test_the_table_says_what_binds(sassan: Sassan):
    result = sassan("estimate", PATTERNS, "-f", "transpose_naive", *LAUNCH)
    assert result.status == 0
    assert "bound by" in result.out
    assert "rests on assumed figures" in result.out
    assert result.out.splitlines()[0] == "transpose_naive (sm_80)"


def test_code_without_control_codes_has_no_estimate(sassan: Sassan):
    given = ("--gpu", "GTX 1080", "--block-dim", "256", "--grid", "100", "--registers", "7", "--shared", "0")
    (function,) = sassan("estimate", SAXPY, *given, "--json").document["functions"]
    assert function["estimate"] is None
    assert [gap["code"] for gap in function["gaps"]] == ["no-control-codes"]
    refused = sassan("estimate", SAXPY, "-f", "*", *given)
    assert (refused.status, refused.codes) == (3, ["gaps"])


def test_a_gpu_and_a_launch_are_needed(sassan: Sassan):
    assert_refused(sassan("estimate", PATTERNS, "--block-dim", "32", "--grid", "4"), 2)
    assert_refused(sassan("estimate", PATTERNS, "--gpu", "T4", "--block-dim", "32"), 2)
