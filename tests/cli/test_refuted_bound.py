"""An inferred bound that a run refutes, planted: every command gives a gap, a warning, and the status of other gaps."""

import json
import warnings
from dataclasses import replace

import pytest

import sassan as library
from cli.conftest import Sassan
from samples import SAMPLES
from sassan.app import analysis
from sassan.errors import DefectWarning

FILE = SAMPLES / "sm_80" / "barrier_reduce.cubin"
LAUNCH = ("--block-dim", "64")
COMMANDS = {
    "analyze": ("analyze", FILE, *LAUNCH),
    "analyze --json": ("analyze", FILE, *LAUNCH, "--json"),
    "ipet": ("ipet", FILE, *LAUNCH),
    "memory": ("memory", FILE, *LAUNCH),
    "check": ("check", FILE, *LAUNCH, "--no-gaps"),
}


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch):
    """Let the inference give each loop half of its bound."""
    right = analysis.inference

    def wrong(*arguments, **options):
        said = right(*arguments, **options)
        return said._replace(loops=tuple(replace(one, bound=one.bound and one.bound // 2) for one in said.loops))

    monkeypatch.setattr(analysis, "inference", wrong)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_refuted_bound_is_a_gap_beside_a_warning_and_never_status_5(sassan: Sassan, command: str):
    with warnings.catch_warnings():
        warnings.simplefilter("always", DefectWarning)
        result = sassan(*COMMANDS[command])
    assert result.status in {0, 1, 3}
    assert "error[loop-bound]" not in result.err
    assert "warning[defect]: 'barrier_reduce' of " in result.err
    assert "at most 32 back edges per entry were inferred" in result.err
    assert "text sha256:" in result.err
    assert "block 64 x 1 x 1" in result.err
    assert "refuted-bound" in result.out + result.err or command == "memory"


def test_the_gap_names_the_loop_the_bound_and_the_run(sassan: Sassan):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DefectWarning)
        (function,) = json.loads(sassan("analyze", FILE, *LAUNCH, "--json").out)["functions"]
    (gap,) = function["gaps"]
    assert (gap["code"], function["wcet"]["value"], function["loops"][0]["bound"]) == ("refuted-bound", None, None)
    assert "64 back edges per entry, and not at most 32; this is a defect of sassan: report it" in gap["message"]


def test_a_loop_bound_of_the_user_closes_the_gap_and_the_warning_stays(sassan: Sassan):
    with warnings.catch_warnings():
        warnings.simplefilter("always", DefectWarning)
        result = sassan("analyze", FILE, *LAUNCH, "--loop-bound", "64")
    assert ("refuted-bound" in result.out, "warning[defect]" in result.err) == (False, True)


def test_the_library_warns_too():
    with pytest.warns(DefectWarning, match="this is a defect of sassan"):
        (kernel,) = library.analyze(FILE, launch=library.Launch(block=64))
    assert [gap.code for gap in kernel.gaps] == ["refuted-bound"]
