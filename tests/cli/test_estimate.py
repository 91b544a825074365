"""`sassan estimate`: the answer, its document, and where there is none."""

import base64
import gzip
import json
import os
import re
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


def test_what_if_shows_changed_launches_side_by_side(sassan: Sassan):
    changes = ("--what-if", "registers=64", "--what-if", "block=32,8", "--what-if", "gpu=T4", "--what-if", "registers=255")
    function = estimated(sassan, "-f", "transpose_tile", *LAUNCH, *changes)
    fewer, block, other, impossible = function["what_if"]
    assert [each["change"] for each in function["what_if"]] == ["registers=64", "block=32,8", "gpu=T4", "registers=255"]
    assert fewer["estimate"]["occupancy"] < function["estimate"]["occupancy"]
    given = estimated(sassan, "-f", "transpose_tile", *LAUNCH[:2], "--block-dim", "32,8", "--grid", "32,128", *LAUNCH[6:])
    assert block["estimate"]["cycles"] == given["estimate"]["cycles"]
    assert (other["estimate"], impossible["estimate"]) == (None, None)
    assert "7.5" in other["why"]
    table = sassan("estimate", PATTERNS, "-f", "transpose_tile", *LAUNCH, *changes[:2]).out
    assert "as given" in table
    assert "registers=64" in table
    assert "fewer registers spill nothing" in table


@pytest.mark.parametrize("change", ["registers=0", "registers=many", "block=x", "colour=red", "gpu=Voodoo 2", "registers"])
def test_a_change_that_means_nothing_is_refused(sassan: Sassan, change: str):
    assert_refused(sassan("estimate", PATTERNS, *LAUNCH, "--what-if", change), 2)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return the launches of a program: two kernels, one of them twice as often, one that is not in the cubin."""
    path = tmp_path / "launches.toml"
    pointers = ", ".join(f'{{offset = {at}, size = 8, value = "0x00007f0000000000"}}' for at in (0, 8))
    params = f'params = [{pointers}, {{offset = 16, size = 4, value = "0x00000400"}}]'
    shapes = "grid = [32, 32, 1]\nblock = [32, 32, 1]\n"
    several = (("transpose_tile", 2), ("transpose_naive", 1), ("transpose_tile", 1), ("missing", 1))
    path.write_text("".join(f'[[launch]]\nkernel = "{name}"\n{shapes}{params}\ncount = {count}\n' for name, count in several))
    return path


@pytest.mark.slow
def test_the_kernels_of_a_program_are_listed_by_time(sassan: Sassan, program: Path):
    options = ("--gpu", "A100-PCIE-40GB", "--launches", program)
    result = sassan("estimate", PATTERNS, *options, "--json")
    launches, kernels = result.document["launches"], result.document["kernels"]
    once = estimated(sassan, "-f", "transpose_tile", *LAUNCH)["estimate"]
    assert launches[0]["estimate"]["cycles"] == once["cycles"]
    assert launches[0]["bound"]["cycles"] > once["cycles"]
    tile = next(each for each in kernels if each["kernel"] == "transpose_tile")
    assert (tile["launches"], tile["estimated"], tile["longest_us"]) == (3, 3, once["us"])
    assert tile["us"] == pytest.approx(3 * once["us"])
    assert [each["us"] for each in kernels[:2]] == sorted((each["us"] for each in kernels[:2]), reverse=True)
    assert kernels[2] == {"kernel": "missing", "launches": 1, "estimated": 0, "us": None, "longest_us": None, "bound_by": None}
    assert result.document["us"] == pytest.approx(sum(each["us"] for each in kernels[:2]))
    out = sassan("estimate", PATTERNS, *options).out
    assert "5 launches, 4 of them with an estimate" in out
    assert "unknown-kernel" in out


def test_analyze_has_the_estimate_beside_the_bound(sassan: Sassan, program: Path):
    options = ("--launches", program, "-f", "transpose_tile")
    (first, *_) = sassan("analyze", PATTERNS, *options, "--gpu", "A100-PCIE-40GB", "--json").document["launches"]
    assert 0 < first["estimate"]["us"] < first["bound"]["us"]
    assert "estimate us" in sassan("analyze", PATTERNS, *options, "--gpu", "A100-PCIE-40GB").out
    assert "estimate us" not in sassan("analyze", PATTERNS, *options).out


def test_a_change_of_several_launches_is_refused(sassan: Sassan, program: Path):
    assert_refused(sassan("estimate", PATTERNS, "--gpu", "T4", "--launches", program, "--what-if", "block=32"), 2)


def test_the_registers_to_free_for_one_more_block_are_named(sassan: Sassan):
    registers = estimated(sassan, "-f", "transpose_tile", *LAUNCH, "--registers", "40")["live_registers"]
    assert registers["allocated"] == 40
    assert registers["in_use"] < 32
    assert registers["one_more_block"] == {"registers": 32, "blocks": 2, "over": []}
    out = sassan("estimate", PATTERNS, "-f", "transpose_tile", *LAUNCH, "--registers", "40").out
    assert "free 8 registers per thread (down to 32) for 2 blocks" in out
    assert "1 block of 32 warps per SM, limited by registers" in out


def test_the_page_of_a_report_has_the_estimate(sassan: Sassan, tmp_path: Path):
    page = tmp_path / "x.html"
    assert sassan("report", PATTERNS, "-f", "transpose_tile", *LAUNCH, "-o", page).status == 0
    (packed,) = re.findall(r'id="detail-[0-9]+">([^<]*)<', page.read_text())
    record = json.loads(gzip.decompress(base64.b64decode(packed)))
    once = estimated(sassan, "-f", "transpose_tile", *LAUNCH)["estimate"]
    assert record["estimate"]["us"] == once["us"]
    assert record["registers_in_use"][0].startswith("registers: at most ")
    assert {stall["address"].removeprefix("0x") for stall in record["estimate"]["stalls"]} <= {
        row["address"] for row in record["graph"]["rows"]
    }
