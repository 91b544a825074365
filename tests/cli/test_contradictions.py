"""A listing in which the text of one function contradicts its encodings: that function is refused, the others have their numbers."""

from pathlib import Path

import pytest

from cli.shell import ROOT, SAMPLES, Sassan
from sassan import frontend
from sassan.isa.tables import load
from sassan.warpcfg import explore

FOREIGN = ROOT / "tests" / "regressions" / "foreign"
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


def test_texts_that_nothing_is_known_of_are_said_to_be_unchecked(sassan: Sassan, tmp_path: Path):
    text = TWO.read_text("utf-8")
    line = next(line for line in text.split("\n") if " S2R " in line)
    path = tmp_path / "strange.sass"
    path.write_text(text.replace(line, line.replace("S2R ", "S2X "), 1), "utf-8")
    said = [sassan("analyze", each, "--loop-bound", "9").err for each in (path, TWO)]
    assert ["no data cover their encodings: 1 of them" in each for each in said] == [True, False]


def test_control_codes_of_the_others_are_checked(sassan: Sassan, edited: Path):
    result = sassan("listing", "--check", edited, "--json")
    assert (result.status, len(result.document["functions"])) == (3, 1)


def test_the_graph_of_such_a_function_has_a_gap(edited: Path):
    functions = frontend.read(frontend.load(str(edited))).functions
    gaps = [[gap.code for gap in explore(function, load(function.arch).facts).gaps] for function in functions]
    assert gaps == [["text-differs"], []]


@pytest.mark.parametrize(
    ("edited", "true", "address"),
    [
        ("silent_isetp_eq_as_ge_edited.sass", "silent_isetp_eq_as_ge_true.sass", "0x0050"),
        ("silent_nop_61.sass", "silent_nop_61_orig.sass", "0x00a8"),
    ],
)
def test_a_text_of_which_the_form_is_not_known_is_refused(sassan: Sassan, edited: str, true: str, address: str):
    result = sassan("analyze", FOREIGN / edited, "--loop-bound", "5")
    assert (result.status, result.codes) == (3, ["text-differs"])
    assert f"at {address} contradicts its encoding" in result.err
    assert sassan("analyze", FOREIGN / true, "--loop-bound", "5").status == 0
