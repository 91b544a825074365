"""docs/papers.md: its commands print what it says, the shipped files hold it, and whatever a limit of time cut is marked."""

import csv
import re
import shlex
from pathlib import Path

import pytest

from cli.shell import Sassan
from docs.pages import ROOT
from scripted import scripted

page, experiment = scripted("papers_page"), scripted("papers_experiment")
ROWS = page.rows()
PRINTED = {
    row.command: [each for each in ROWS if each.command == row.command]
    for row in ROWS
    if row.prints and row.command.startswith("sassan ") and row.seconds <= 1
}
"""The rows of each command that takes a second."""
CHEAP = [command for command in PRINTED if " -W 4 " in command and " L5" not in command or "--engine bounds" in command or " CC" in command]
"""Those that load no compiled search."""


def test_every_paper_has_its_rows_and_every_row_a_way_to_make_it():
    numbers = [row.number for row in ROWS]
    assert len(ROWS) == len(set(numbers)) >= 55
    assert {number[0] for number in numbers} == set("ABCD")
    makes = re.compile(r"^\| \w+ \|[^|]+\|[^|]+\| (`(sassan|scripts/experiments) |the same)", re.MULTILINE)
    assert len(makes.findall(page.PAGE.read_text("utf-8"))) == len(ROWS)


@pytest.mark.parametrize("command", [pytest.param(each, marks=[] if each in CHEAP[::2] else [pytest.mark.slow]) for each in PRINTED])
def test_a_command_prints_the_numbers_of_the_page(command: str, sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    result = sassan(*shlex.split(command)[1:])
    assert result.status == 0, result.err
    assert {row.number: row.missing(result.out) for row in PRINTED[command] if row.missing(result.out)} == {}


@pytest.mark.parametrize("row", [row for row in ROWS if row.shipped], ids=lambda row: row.number)
def test_a_shipped_file_holds_the_numbers_of_the_page(row):
    assert row.missing((ROOT / "samples" / "experiments" / row.shipped).read_text("utf-8")) == ()


def table(name: str) -> list[dict[str, str]]:
    with (ROOT / "samples" / "experiments" / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_remarks_have_the_figures_of_the_tables():
    text = page.PAGE.read_text("utf-8")
    for name, warps in (("2011-figure-6", "W = 600"), ("2011-figure-7", "W = 420")):
        last = table(f"makespan/{name}.csv")[0]
        (shown,) = [line for line in text.splitlines() if "a schedule of" in line and f"at most {last['safe bound']} slots" in line]
        assert f"a schedule of {last['schedule that exists']} exists" in shown, warps
    figure_5 = [row["lower"] for row in table("makespan/2011-figure-5.csv") if row["rows"] == "short" and row["status"] == "solved"]
    assert f"T = {', '.join(figure_5)} for 1 to {len(figure_5)} warps" in text
    ends = {
        name: max(int(row["makespan"]) for row in table("makespan/2013-figure-12.csv") if row["moves"] == name)
        for name in ("published", "ours")
    }
    assert f"end at {ends['published']} here, ours at {ends['ours']}" in text
    kernels = table("cfg_sm_61.csv")
    arcs = sorted((int(row["arcs"]) for row in kernels), reverse=True)
    assert f"{sum(bool(row['all-rows:whole']) for row in kernels)} of {len(kernels)} of our own kernels" in text
    assert f"| {sum(number <= 4 for number in arcs)} of {len(arcs)} |" in text
    assert f"| {arcs[0]}, {arcs[1]} and {arcs[2]} |" in text


def test_the_shares_of_the_ablation_are_those_of_the_page_on_bounds():
    bounds = (ROOT / "docs/experiments/bounds.md").read_text("utf-8")
    text = page.PAGE.read_text("utf-8")
    for row, name in (("C10", "acyclic stack"), ("C11", "groups"), ("C12", "agreement"), ("C13", "agreement of active threads only")):
        (cells,) = re.findall(rf"^\| {name} \| (.+) \|$", bounds, re.MULTILINE)
        paper, theirs, *_, ours = cells.split(" | ")
        (line,) = re.findall(rf"^\| {row} \| (.+) \|$", text, re.MULTILINE)
        assert paper in line
        assert re.search(rf"\| {theirs}( in the paper's own system,| and) {ours}", line), line


def test_a_row_made_as_another_one_names_a_row_with_a_command():
    text = page.PAGE.read_text("utf-8")
    with_command = set(re.findall(r"^\| (\w+) \|[^|]+\|[^|]+\| `", text, re.MULTILINE))
    others = re.findall(r"^\| (\w+) \|[^|]+\|[^|]+\| the same(?: as (\w+))? \|", text, re.MULTILINE)
    assert len(others) >= 5
    assert [row for row, other in others if other not in with_command] == []


def test_the_experiments_write_what_the_page_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    outputs = list[Path]()
    monkeypatch.setattr(scripted("case_study_experiment"), "run", lambda output, *_: outputs.append(output) or 0)
    assert experiment.run(tmp_path, ["case-study"], quick=True) == 0
    named = {row.shipped for row in ROWS}
    assert [path.relative_to(tmp_path).as_posix() in named for path in outputs] == [True]


def test_the_experiments_that_the_page_names_are_those_of_all():
    text = page.PAGE.read_text("utf-8")
    names = {part.name for part in experiment.PARTS}
    assert set(re.findall(r"all --only ([\w-]+)", text)) <= names
    assert all(name in experiment.listed(quick=True) for name in names)
    assert 300 < sum(part.quick for part in experiment.PARTS) < 900, "about ten minutes"


def test_an_unknown_experiment_is_refused_and_a_failure_ends_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert experiment.run(tmp_path, ["figure-99"], quick=True) == 2
    part = experiment.PARTS[0]
    other = type(part)("other", "nothing", 1, 1, lambda *_: 0)
    missing = type(part)("missing", "nothing", 1, 1, lambda *_: 0, ("no_such_module",))
    differs = type(part)("differs", "nothing", 1, 1, lambda *_: 1)
    monkeypatch.setattr(experiment, "PARTS", (differs, missing, other))
    assert experiment.run(tmp_path, [], quick=True) == 1
    shown = capsys.readouterr().out
    assert "[1/3] differs: nothing (about 1 s; 3 s to go)" in shown
    assert re.search(r"^missing +omitted: no_such_module is not installed\nother +done$", shown, re.MULTILINE)


def test_what_a_limit_of_time_cut_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    curves = scripted("makespan_curves")
    monkeypatch.setattr(curves, "plot", lambda *_: None)
    case = scripted("makespan_cases").Case("LCL", 4)
    values = curves.exact_values(case, 3, 10)
    for most, status in ((3, ["solved"] * 3), (5, ["solved"] * 3 + ["time limit"])):
        curves.convergence(tmp_path / "x", case, values, most=most, seconds=1)
        with (tmp_path / "x.csv").open(encoding="utf-8") as file:
            assert [row["status"] for row in csv.DictReader(file)] == status
    for name in ("2011-figure-5", "2011-figure-6", "2011-figure-7", "2013-figure-12", "counterexamples", "case-study"):
        text = (ROOT / "samples" / "experiments" / "makespan" / f"{name}.csv").read_text("utf-8")
        assert {row["status"] for row in csv.DictReader(text.splitlines())} <= {"solved", "time limit"}
