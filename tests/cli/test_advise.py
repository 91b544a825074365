"""`sassan advise`: remedies with their gains, what binds where none helps, refusals."""

import os
from pathlib import Path
from typing import Any

import pytest

import cubins
import sassan as library
from cli.shell import SAMPLES, Sassan, assert_refused

PATTERNS = SAMPLES / "sm_80" / "memory_patterns.cubin"
SHAPE = ("--block-dim", "32,32", "--grid", "64,64", "--param", "param_2=2048")
LAUNCH = ("--gpu", "A100-PCIE-40GB", *SHAPE)


@pytest.fixture(autouse=True)
def disassembler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a disassembler that plays back the recorded listings on PATH."""
    folder = cubins.recorder(tmp_path / "tools", "sm_80/memory_patterns")
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))


def advised(sassan: Sassan, name: str) -> dict[str, Any]:
    document: dict[str, Any] = sassan("advise", PATTERNS, "-f", name, *LAUNCH, "--json").document
    return document


def test_the_document_holds_every_key(sassan: Sassan):
    document = advised(sassan, "transpose_tile")
    first = document["advice"][0]
    assert set(first) == {"code", "function", "gain_us", "gain_of_total", "us", "places", "why", "example", "sure"}
    assert (first["code"], first["function"]) == ("bank-conflict", "transpose_tile")
    assert first["places"] == [{"address": "0x0160", "source": None}]
    (function,) = document["functions"]
    assert set(function) >= {"name", "us", "bound_by", "binds", "gaps"}
    assert document["binds"] == function["binds"]
    assert first["gain_us"] == pytest.approx(function["us"] - first["us"])
    assert first["gain_of_total"] == pytest.approx(first["gain_us"] / function["us"])


def test_a_remedy_takes_the_time_of_the_kernel_that_has_it(sassan: Sassan):
    first = advised(sassan, "transpose_tile")["advice"][0]
    padded = advised(sassan, "transpose_pad")
    assert first["us"] == pytest.approx(padded["functions"][0]["us"], rel=0.05)
    assert padded["advice"] == []
    assert "of the time" in padded["binds"]


def test_the_report_explains_each_remedy(sassan: Sassan):
    result = sassan("advise", PATTERNS, "-f", "transpose_*", *LAUNCH)
    assert result.status == 0
    assert "1. bank-conflict: an access of shared memory takes 32 passes where 1 would do" in result.out
    assert "__shared__ float tile[32][32 + 1]" in result.out
    assert "nothing helps: " in result.out


def test_the_library_says_the_same(sassan: Sassan):
    launch = library.Launch(gpu="A100-PCIE-40GB", block=(32, 32), grid=(64, 64), parameters={"param_2": 2048})
    found = library.advise(PATTERNS, function="transpose_tile", launch=launch)
    assert found.to_dict() == advised(sassan, "transpose_tile") | {"functions": [{**found.to_dict()["functions"][0]}]}
    assert found[0].code == "bank-conflict"
    assert found[0].gain_us > 0
    assert "bank-conflict" in found._repr_html_()


@pytest.mark.parametrize("missing", [SHAPE, ("--gpu", "T4"), ("--gpu", "T4", "--block-dim", "32")])
def test_a_launch_on_a_gpu_is_needed(sassan: Sassan, missing: tuple[str, ...]):
    assert_refused(sassan("advise", PATTERNS, *missing), 2)


def test_a_kernel_that_was_chosen_and_has_no_estimate_is_an_error(sassan: Sassan):
    listing = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
    result = sassan("advise", listing, "-f", "saxpy", "--gpu", "GTX 1080", "--block-dim", "128", "--grid", "64")
    assert_refused(result, 3, silent=False)
