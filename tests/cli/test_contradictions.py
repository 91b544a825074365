"""A listing in which the text of one function contradicts its encodings: that function is refused, the others have their numbers."""

from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan
from sassan import frontend
from sassan.isa.tables import load
from sassan.warpcfg import explore

TWO = SAMPLES / "sm_80" / "two_kernels.cuobjdump.sass"


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    text = TWO.read_text("utf-8")
    line = next(line for line in text.split("\n") if " ISETP.GE.AND P0" in line)
    path = tmp_path / "edited.sass"
    path.write_text(text.replace(line, line.replace("ISETP.GE", "ISETP.GT"), 1), "utf-8")
    return path


def test_one_function_is_refused_and_the_others_are_analyzed(sassan: Sassan, edited: Path):
    result, plain = sassan("analyze", edited, "--loop-bound", "9", "--json"), sassan("analyze", TWO, "--loop-bound", "9", "--json")
    (second,) = result.document["functions"]
    assert (result.status, result.codes) == (3, ["text-differs"])
    assert f"{edited}:" in result.err  # with the line
    assert second["wcet"] == plain.document["functions"][1]["wcet"]


def test_control_codes_of_the_others_are_checked(sassan: Sassan, edited: Path):
    result = sassan("listing", "--check", edited, "--json")
    assert (result.status, len(result.document["functions"])) == (3, 1)


def test_the_graph_of_such_a_function_has_a_gap(edited: Path):
    functions = frontend.read(frontend.load(str(edited))).functions
    gaps = [[gap.code for gap in explore(function, load(function.arch).facts).gaps] for function in functions]
    assert gaps == [["text-differs"], []]
