"""`--csv`: the table of every command that prints one has the values of its document."""

import csv
import io
from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused
from cli.test_cuda_source import needs_nvrtc
from edits import edited
from sassan.cli.group import SUMMARIES, command
from sassan.cli.output import csv as sheet

BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
SAXPY = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
DELAYS = SAMPLES / "measure" / "synthetic-delays.csv"
BOUNDED = (BFS, "--loop-bound", "2")
WITHOUT = {"experiment", "export", "init", "mcp", "record", "report", "serve", "verify-certificate", "warm"}
"""Commands that print no table; `serve` writes one."""


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_command_with_a_table_has_it():
    assert {name for name in SUMMARIES if "--csv" not in [option for each in command(name).params for option in each.opts]} == WITHOUT


@pytest.mark.parametrize(
    "arguments",
    [
        ("cfg", BFS),
        ("ipet", *BOUNDED),
        ("diff", BFS, SAXPY),
        ("makespan", "LCL"),
        ("measure", DELAYS),
        ("batch", BFS, "--executor", "serial"),
        ("check", BFS, "--no-gaps"),
    ],
)
def test_two_forms_at_once_are_a_usage_error(arguments: tuple[str | Path, ...], sassan: Sassan):
    assert_refused(sassan(*arguments, "--csv", "--json"), 2)


def test_blocks_of_a_graph_name_those_that_follow(sassan: Sassan):
    (function,) = sassan("cfg", *BOUNDED, "--json").document["functions"]
    table = rows(sassan("cfg", *BOUNDED, "--csv").out)
    assert [(row["id"], int(row["cost"]), int(row["count"])) for row in table] == [
        (node["id"], node["cost"], node["count"]) for node in function["nodes"]
    ]
    for row in table:
        edges = [edge for edge in function["edges"] if edge["src"] == row["id"]]
        assert row["next"].split() == [edge["dst"] or edge["kind"] for edge in edges]


def test_the_wcet_of_a_program_is_that_of_the_analysis(sassan: Sassan):
    assert sassan("ipet", *BOUNDED, "--csv").out == sassan("analyze", *BOUNDED, "--csv").out


def test_numbers_that_differ_have_a_row_each(sassan: Sassan):
    document = sassan("diff", *BOUNDED[:1], BFS, "--json").document
    assert [one["numbers"] for one in document["functions"]] == [{}]
    sassan_of = ("diff", BFS, SAXPY, "--loop-bound", "2")
    document = sassan(*sassan_of, "--json").document
    table = rows(sassan(*sassan_of, "--csv").out)
    assert {(row["name"], row["state"]) for row in table} == {(one["name"], one["state"]) for one in document["functions"]}


def test_a_number_that_grew_has_both_values(sassan: Sassan, tmp_path: Path):
    old = tmp_path / "old.json"
    old.write_text(sassan("analyze", *BOUNDED, "--json").out, "utf-8")
    wanted = ("diff", old, BFS, "--loop-bound", "9")
    (function,) = sassan(*wanted, "--json").document["functions"]
    numbers = {row["number"].replace(" ", "_").lower(): (int(row["old"]), int(row["new"])) for row in rows(sassan(*wanted, "--csv").out)}
    assert numbers == {name: (pair["old"], pair["new"]) for name, pair in function["numbers"].items()}
    assert numbers["wcet"][0] < numbers["wcet"][1]


def test_failures_have_a_row_each(sassan: Sassan):
    wanted = ("check", BFS, SAXPY, "--loop-bound", "2", "--max-wcet", "50")
    functions = sassan(*wanted, "--json").document["functions"]
    table = rows(sassan(*wanted, "--csv").out)
    assert [(row["name"], row["gate"], row["value"]) for row in table] == [
        (one["name"], failure.get("gate", ""), str(failure.get("value", ""))) for one in functions for failure in one["failures"] or [{}]
    ]
    assert {row["gate"] for row in table} == {"max-wcet", ""}


@pytest.mark.usefixtures("counted_time")
def test_schedules_have_their_interval(sassan: Sassan):
    (row,) = rows(sassan("makespan", "LCL", "-W", "4", "--cap", "L=1,C=1", "--engine", "exact", "--csv").out)
    assert (row["strings"], row["warps"], row["lower"], row["upper"], row["exact"]) == ("LCL", "4", "9", "9", "9")
    wanted = ("makespan", *BOUNDED, "-W", "2", "--engine", "bounds", "--time-limit", "2")
    (function,) = sassan(*wanted, "--json").document["functions"]
    (row,) = rows(sassan(*wanted, "--csv").out)
    (path,) = function["paths"]
    assert (row["name"], int(row["cost"]), int(row["upper"])) == (function["name"], path["cost"], path["makespan"]["upper"])


def test_estimates_of_samples_have_a_row_each(sassan: Sassan):
    wanted = ("measure", DELAYS, "--resamples", "199")
    (samples,) = sassan(*wanted, "--json").document["samples"]
    table = rows(sassan(*wanted, "--csv").out)
    assert {(float(row["delay"]), row["estimator"], float(row["value"])) for row in table} == {
        (known["delay"], name, each["value"]) for known in samples["estimates"] for name, each in known.items() if isinstance(each, dict)
    }


def test_what_became_of_a_batch_is_a_table(sassan: Sassan):
    counts = {row["what"]: row["count"] for row in rows(sassan("batch", BFS, "--executor", "serial", "--csv").out)}
    assert (counts["files"], counts["functions"]) == ("1", "1")


@pytest.mark.slow
@needs_nvrtc
def test_columns_of_the_page_are_a_table_with_common_places(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    source = 'extern "C" __global__ void scale(float* x)\n{\n    x[threadIdx.x] *= 2;\n}\n'
    (tmp_path / "k.cu").write_text(source, "utf-8")
    assert sassan("serve", tmp_path / "k.cu", "--arch", "sm_80", "--export", tmp_path / "x.csv").status == 0
    table = rows((tmp_path / "x.csv").read_text("utf-8"))
    assert "".join(row["text"] + "\n" for row in table if row["column"] == "source") == source
    assert {row["column"] for row in table if row["place"] == "k.cu:3"} == {"source", "ptx", "sass"}
    machine = [row for row in table if row["column"] == "sass"]
    listed = rows(sassan("listing", tmp_path / "k.cu", "--arch", "sm_80", "--csv").out)
    assert [(row["address"], row["text"]) for row in machine] == [(row["address"].removeprefix("0x"), row["text"]) for row in listed]


@pytest.mark.parametrize("command", ["analyze", "cfg", "blocks", "listing", "ipet", "strings"])
def test_a_name_steers_no_terminal(command: str, sassan: Sassan, tmp_path: Path):
    edited(SAXPY, tmp_path / "k.sass", ("saxpy", "s\x1b[31m\u202ex"))
    result = sassan(command, tmp_path / "k.sass", "--csv")
    assert all(line.isprintable() for line in result.out.splitlines())
    assert rows(result.out)[0]["name"] == "s\\x1b[31m\\u202ex"


GUARDED = "@!P0 FADD R1, |R2|, R3"


@pytest.mark.parametrize(
    ("head", "value", "line"),
    [
        ("text", GUARDED, f'"{GUARDED}"'),
        ("name", "@P0 BRA", "'@P0 BRA"),
        ("text", "@P1 +cmd|'/C calc'!A0", "'@P1 +cmd|'/C calc'!A0"),
        ("text", "@P1 CMD|'/C calc'!A0", "'@P1 CMD|'/C calc'!A0"),
        ("text", "@P1 MOV R1, cmd|'/C calc'!A0", "\"'@P1 MOV R1, cmd|'/C calc'!A0\""),
        ("text", "@P0 EXIT", "@P0 EXIT"),
        ("name", "x;=cmd|'/C calc'!A0", "\"x;=cmd|'/C calc'!A0\""),
        ("name", "x;", '"x;"'),
        ("name", "a\n;b", '"a\\n;b"'),
    ],
)
def test_a_cell_is_no_formula_wherever_a_spreadsheet_divides_rows(head: str, value: str, line: str):
    assert sheet.text([head], [{head: value}]) == f"{head}\n{line}\n"
