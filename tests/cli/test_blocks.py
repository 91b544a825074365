"""`sassan blocks`, and how the command line says a thing briefly."""

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused
from sassan.cli.output.terminal import listed

BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
BOUNDED = (BFS, "--loop-bound", "10", "--model", "table")


def test_costs_times_executions_add_up_to_the_wcet(sassan: Sassan):
    (function,) = sassan("blocks", *BOUNDED, "--json").document["functions"]
    (analyzed,) = sassan("analyze", *BOUNDED, "--json").document["functions"]
    assert sum(row["cost"] * row["executions"] for row in function["blocks"]) == analyzed["wcet"]["value"]
    assert sum(row["share"] for row in function["blocks"]) == pytest.approx(1)
    assert len(function["blocks"]) == analyzed["blocks"]


def test_csv_has_the_rows_of_json(sassan: Sassan):
    (function,) = sassan("blocks", *BOUNDED, "--json").document["functions"]
    rows = list(csv.DictReader(io.StringIO(sassan("blocks", *BOUNDED, "--csv").out)))
    assert [(row["name"], row["address"], int(row["cost"]), int(row["executions"])) for row in rows] == [
        ("bfs_step", row["address"], row["cost"], row["executions"]) for row in function["blocks"]
    ]


def test_without_a_bound_costs_alone_are_known(sassan: Sassan):
    (function,) = sassan("blocks", BFS, "--json").document["functions"]
    assert {(row["executions"], row["share"]) for row in function["blocks"]} == {(None, None)}
    assert all(row["cost"] for row in function["blocks"])
    out = sassan("blocks", BFS).out
    assert "no WCET" in out
    assert "unbounded-loop" in out


def test_the_most_expensive_block_comes_first(sassan: Sassan):
    rows = sassan("blocks", *BOUNDED).out.splitlines()[2:10]
    shares = [float(row.split()[5].rstrip("%")) for row in rows]
    assert shares == sorted(shares, reverse=True)


def test_two_forms_at_once_are_a_usage_error(sassan: Sassan):
    assert_refused(sassan("blocks", BFS, "--csv", "--json"), 2)


def test_a_misspelt_value_is_answered_with_the_near_one(sassan: Sassan):
    result = sassan("analyze", BFS, "--model", "contrl")
    assert_refused(result, 2)
    assert "hint: did you mean 'control'? " in result.err
    assert "Value error" not in result.err


def test_a_long_list_ends_in_how_many_are_left():
    text = "the targets " + ", ".join(f"0x{at:04x}" for at in range(100))
    assert listed(text, 60) == "the targets 0x0000, 0x0001, 0x0002, 0x0003, 0x0004, 0x0005, … and 94 more"
    assert listed("short, text", 60) == "short, text"
    assert listed("x" * 100, 60) == "x" * 59 + "…"


def test_the_help_of_the_wrapper_is_its_own():
    done = subprocess.run([sys.executable, "-m", "sassan.integrations.nvcc", "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "SASSAN_NVCC" in done.stdout


def test_a_program_that_is_minimized_says_so_in_its_first_line(sassan: Sassan, tmp_path: Path):
    sassan("ipet", *BOUNDED, "-o", tmp_path / "x.mps")
    assert (tmp_path / "x.mps").read_text("ascii").startswith("* MINIMISE: the objective row is the negated objective\n")


SAXPY = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"


def test_tables_of_functions_accesses_and_products_are_csv_too(sassan: Sassan):
    def rows(*arguments: object) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(sassan(*map(str, arguments), "--csv").out)))

    analyzed = rows("analyze", BFS, SAXPY, "--loop-bound", "10")
    assert [(row["name"], row["wcet"], row["gaps"]) for row in analyzed] == [("bfs_step", "296", ""), ("saxpy", "22", "")]
    assert [(row["wcet"], row["gaps"]) for row in rows("analyze", BFS)] == [("", "unbounded-loop")]
    accesses = sassan("memory", SAXPY, "--block-dim", "256", "--json").document["functions"][0]["accesses"]
    assert [row["address"] for row in rows("memory", SAXPY, "--block-dim", "256")] == [row["address"] for row in accesses]
    (product,) = rows("gpus", "T4")
    assert (product["name"], product["sms"]) == ("T4", "40")
    assert_refused(sassan("analyze", BFS, "--csv", "--explain"), 2)


@pytest.mark.slow
def test_strings_and_estimates_are_csv_too(sassan: Sassan):
    def rows(*arguments: object) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(sassan(*map(str, arguments), "--csv").out)))

    (function,) = sassan("strings", BFS, "--loop-bound", "10", "--json").document["functions"]
    *blocks, worst = rows("strings", BFS, "--loop-bound", "10")
    assert [row["string"] for row in blocks] == [block["string"] for block in function["strings"]["blocks"]]
    assert (worst["id"], worst["start"], worst["string"]) == ("worst_path", "", function["strings"]["worst_path"])

    launch = ("--block-dim", "256", "--grid", "90", "--gpu", "GTX 1080", "--registers", "32", "--shared", "0", "--loop-bound", "10")
    what_if = ("--what-if", "block=128", "--what-if", "registers=9999")
    (known,) = sassan("estimate", BFS, *launch, *what_if, "--json").document["functions"]
    given, other, impossible = rows("estimate", BFS, *launch, *what_if)
    assert (given["what_if"], float(given["us"]), given["bound_by"]) == ("", known["estimate"]["us"], known["estimate"]["bound_by"])
    assert (other["what_if"], float(other["us"])) == ("block=128", known["what_if"][0]["estimate"]["us"])
    assert (impossible["us"], impossible["why"]) == ("", known["what_if"][1]["why"])


@pytest.mark.slow
def test_launches_and_validations_are_csv_too(sassan: Sassan, tmp_path: Path):
    launch = '[[launch]]\nkernel = "bfs_step"\ngrid = [60, 1, 1]\nblock = [256, 1, 1]\n'
    (tmp_path / "l.toml").write_text(launch, "utf-8")
    (tmp_path / "times.csv").write_text("kernel,grid,block,time_us\nbfs_step,60,256,1000\n", "utf-8")
    for command in ("analyze", "estimate"):
        options = (command, BFS, "--launches", tmp_path / "l.toml", "--gpu", "GTX 1080", "--loop-bound", "9")
        (row,) = csv.DictReader(io.StringIO(sassan(*options, "--csv").out))
        (known,) = sassan(*options, "--json").document["launches"]
        assert (row["kernel"], row["grid"], row["gaps"]) == ("bfs_step", "60 1 1", " ".join(gap["code"] for gap in known["gaps"]))
        assert row["wcet"] == str(known["wcet"]["value"])
    options = ("validate", tmp_path / "times.csv", BFS, "--gpu", "GTX 1080", "--loop-bound", "9")
    (row,) = csv.DictReader(io.StringIO(sassan(*options, "--csv").out))
    (known,) = sassan(*options, "--json").document["launches"]
    assert (float(row["measured_us"]), row["gaps"]) == (1000, " ".join(gap["code"] for gap in known["gaps"]))
    assert_refused(sassan(*options, "--csv", "--json"), 2)
