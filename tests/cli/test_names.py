"""Names of functions on the command line: those of the source, or with --mangled those of the input."""

from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan
from edits import edited

TWO = SAMPLES / "sm_61" / "two_kernels.cuobjdump.sass"
MANGLED, NAME = "_Z18two_kernels_secondPii", "two_kernels_second(int*, int)"


@pytest.mark.parametrize("command", ["analyze", "strings", "cfg", "listing", "ipet", "memory"])
def test_a_name_is_that_of_the_source_unless_that_of_the_input_is_wanted(command: str, sassan: Sassan):
    shown, plain = sassan(command, TWO), sassan(command, TWO, "--mangled")
    assert NAME.partition("(")[0] in shown.out
    assert MANGLED not in shown.out
    assert "_Z18two_kern" in plain.out


@pytest.mark.parametrize("pattern", [MANGLED, NAME, "two_kernels_second", "*(int?, int)", "two*second"])
def test_a_function_is_chosen_as_the_source_or_the_input_names_it(pattern: str, sassan: Sassan):
    assert [one["name"] for one in sassan("strings", TWO, "-f", pattern, "--json").document["functions"]] == [MANGLED]


def test_long_names_in_a_table_are_distinguished_and_a_head_is_short(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = (SAMPLES / "sm_61" / "saxpy.cuobjdump.sass").read_text("utf-8")
    names = [f"gemm_{'x' * 200}_{size}_{'y' * 200}" for size in (64, 128)]
    (tmp_path / "two.sass").write_text("".join(text.replace("saxpy", name) for name in names))
    cells = [line.split()[0] for line in sassan("analyze", tmp_path / "two.sass").out.splitlines() if line.startswith("gemm_")][:2]
    assert [cell.rpartition("x…")[2] for cell in cells] == ["64…", "128…"]
    heads = [line for line in sassan("listing", tmp_path / "two.sass").out.splitlines() if line.startswith("gemm_")]
    assert [len(head) for head in heads] == [100 + len(" (sm_61)")] * 2


def test_functions_of_one_name_are_noted(sassan: Sassan, tmp_path: Path):
    text = (SAMPLES / "sm_61" / "saxpy.cuobjdump.sass").read_text("utf-8")
    (tmp_path / "twice.sass").write_text(text + text)
    (tmp_path / "once.sass").write_text(text)
    result = sassan("analyze", tmp_path / "twice.sass", tmp_path / "once.sass")
    assert result.err == f"note: {tmp_path / 'twice.sass'}: 2 functions of sm_61 are called 'saxpy'; they are in the order of the file\n"
    assert sassan("analyze", tmp_path / "once.sass").err == ""
    assert sassan("analyze", "-q", tmp_path / "twice.sass").err == ""


def test_many_functions_of_one_name_are_noted_in_one_line(sassan: Sassan, tmp_path: Path):
    text = (SAMPLES / "sm_61" / "two_kernels.cuobjdump.sass").read_text("utf-8")
    (tmp_path / "twice.sass").write_text(text * 2)
    (line,) = sassan("listing", tmp_path / "twice.sass").err.splitlines()
    assert line.endswith(", and 2 have 1 other name between them; they are in the order of the file")


def test_a_gate_is_for_the_name_of_the_source(sassan: Sassan, tmp_path: Path):
    gates = tmp_path / "gates.toml"
    gates.write_text('[function."two_kernels_second"]\nmax-wcet = 1\n', "utf-8")
    result = sassan("check", TWO, "--gates", gates, "--loop-bound", "3")
    assert f":{NAME}:" in result.out


@pytest.mark.parametrize(("columns", "whole"), [("80", False), ("200", True)])
def test_a_table_cuts_no_name_that_the_terminal_has_room_for(
    columns: str, whole: bool, sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", columns)
    edited(TWO, tmp_path / "k.sass", (MANGLED, "_Z5scaleIfLi3EEvPT_iPKfPKdPKiPKjPKlPKm"))
    row = sassan("analyze", tmp_path / "k.sass", "--loop-bound", "3").out.splitlines()[1]
    assert row.startswith("scale<float, 3>")
    assert row.startswith("scale<float, 3>(float*, int, float const*, double const*, int const*, unsigned int const*") is whole


@pytest.mark.parametrize("command", ["analyze", "blocks", "cfg", "strings", "listing", "ipet", "memory"])
def test_a_document_has_both_names(command: str, sassan: Sassan):
    functions = sassan(command, TWO, "--json").document["functions"]
    assert {function["name"]: function["demangled"] for function in functions}[MANGLED] == NAME
    assert {name["demangled"] for name in sassan("listing", TWO, "--check", "--json").document["functions"]} == {
        function["demangled"] for function in functions
    }


def test_a_finding_in_sarif_is_named_as_the_source_names_the_function(sassan: Sassan):
    arguments = ("check", TWO, "-f", MANGLED, "--max-wcet", "1", "--loop-bound", "3", "--sarif", "-")
    (finding,) = sassan(*arguments).document["runs"][0]["results"]
    assert finding["message"]["text"].startswith(f"{NAME}: ")
    (place,) = finding["locations"][0]["logicalLocations"]
    assert (place["name"], place["decoratedName"]) == (NAME, MANGLED)
    (plain,) = sassan(*arguments, "--mangled").document["runs"][0]["results"]
    assert plain["locations"][0]["logicalLocations"][0]["name"] == MANGLED
    assert plain["partialFingerprints"] == finding["partialFingerprints"]


def test_a_drawing_has_the_name_of_the_source(sassan: Sassan, tmp_path: Path):
    for options, shown in (((), "two_kernels_second(int*, int)"), (("--mangled",), MANGLED)):
        sassan("cfg", TWO, "-f", MANGLED, "-o", tmp_path / "x.dot", *options)
        text = (tmp_path / "x.dot").read_text("utf-8")
        assert f"<B>{shown}</B>" in text
        assert (MANGLED in text) is (shown == MANGLED)
