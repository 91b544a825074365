"""Every table of every command on narrow and wide terminals: no number is cut, and those of the JSON stand in it."""

import ast
import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import pytest

from budget import some
from cli.shell import ROOT, SAMPLES, Input
from evolving import PTX, config_file, copying, ptxas
from sassan.cli import main
from sassan.cli.group import SUMMARIES
from sassan.cli.output import table
from sassan.cli.output.table import Table
from target_answers import GPU as TARGET
from target_answers import answers

pytestmark = pytest.mark.slow

SM_61, SM_75 = SAMPLES / "sm_61", SAMPLES / "sm_75"
MANDELBROT = SM_75 / "mandelbrot.cubin"
STREAMED = SM_75 / "saxpy.cubin"
"""What costs little to estimate."""
SAXPY = SM_61 / "saxpy.cuobjdump.sass"
BFS = SM_61 / "bfs_step.cuobjdump.sass"
CALLS = SM_61 / "calls_nested.cuobjdump.sass"
WIDTHS = (60, 80, 100, 160)
WIDE = 100_000
"""Columns of a terminal on which everything fits."""
LAUNCH = ("--block-dim", "16,16", "--grid", "1234,5678", "--gpu", "T4")
LIMIT = ("--param", "param_6=1234567")
GIVEN = ("--param", "param_0=98765", "--param", "param_1=2.0")
PROGRAM = """
[[launch]]
kernel = "saxpy"
grid = [8123, 4567, 1]
block = [256, 1, 1]
count = 123456
params = [
    {{offset = 0, size = 4, value = "0x{:08x}"}}, {{offset = 4, size = 4, value = "0x40000000"}},
    {{offset = 8, size = 8, value = "0x200000000000"}}, {{offset = 16, size = 8, value = "0x200000010000"}},
]
"""
SPACE = """
[kernel]
source = "saxpy.ptx"
arch = "sm_80"
function = "saxpy"
[launch]
block = ["BLOCK"]
grid = ["ceil(1234567890 / BLOCK)"]
gpu = "A100 SXM 80GB"
[[gene]]
launch = "BLOCK"
values = [256, 64]
[cost]
objectives = ["grid"]
[search]
population = 4
budget = 2
allow_inexact = true
baseline = false
"""

Arguments = Callable[[Path], tuple[str | Path, ...]]


def program(folder: Path) -> Path:
    path = folder / "launches.toml"
    path.write_text(PROGRAM.format(98765) + PROGRAM.format(7) + PROGRAM.format(8).replace("saxpy", "elsewhere"), "utf-8")
    return path


def sequence(folder: Path) -> Path:
    path = folder / "sequence.toml"
    path.write_text(PROGRAM.format(98765) + PROGRAM.format(7), "utf-8")
    return path


def shared_gpu(folder: Path) -> tuple[str | Path, ...]:
    """Write a project of two tasks on one GPU."""
    shape = f'program = "{STREAMED}"\nlaunches = "{sequence(folder)}"\nperiod = "1234ms"\ngpu = "T4"\n'
    (folder / "sassan.toml").write_text(f"[task.first]\n{shape}\n[task.second]\n{shape}", "utf-8")
    return "--project", folder / "sassan.toml", "--task", "first", "--beside", "second"


def measured_target(folder: Path) -> Path:
    path = folder / "answers.toml"
    path.write_text(answers(), "utf-8")
    return path


def times(folder: Path) -> Path:
    path = folder / "times.csv"
    path.write_text("kernel,grid,block,time_us\nmandelbrot,1234x5678,16x16,123456.789\n", "utf-8")
    return path


def space(folder: Path) -> Path:
    """Write a space of choices whose compiler always writes the cubin of a sample."""
    ptxas(folder / "bin", copying(SAMPLES / "sm_80" / "saxpy.cubin"))
    return config_file(folder, SPACE, PTX, "saxpy.ptx")


CASES: dict[str, tuple[str, Arguments]] = {
    "analyze": ("analyze", lambda _: (MANDELBROT, *LAUNCH, *LIMIT)),
    "analyze --explain": ("analyze", lambda _: (MANDELBROT, *LAUNCH, *LIMIT, "--model", "control", "--explain", "--schedule")),
    "analyze without a GPU": (
        "analyze",
        lambda _: (SAXPY, CALLS, BFS, "--block-dim", "256", "--grid", "99999", "--model", "table", "--registers", "20", "--shared", "0"),
    ),
    "analyze --launches": ("analyze", lambda folder: (STREAMED, "--gpu", "T4", "--launches", program(folder))),
    "cfg": ("cfg", lambda _: (CALLS,)),
    "cfg --compare": ("cfg", lambda _: (SM_61 / "bfs_step.ptx", "--compare", BFS)),
    "blocks": ("blocks", lambda _: (MANDELBROT, "--model", "control", *LIMIT)),
    "strings": ("strings", lambda _: (CALLS,)),
    "listing": ("listing", lambda _: (SAXPY,)),
    "listing --check": ("listing", lambda _: (MANDELBROT, "--check")),
    "memory": ("memory", lambda _: (MANDELBROT, "--block-dim", "16,16", *LIMIT)),
    "estimate": ("estimate", lambda _: (STREAMED, *LAUNCH, *GIVEN, "--what-if", "block=128", "--what-if", "gpu=H100 SXM")),
    "advise": ("advise", lambda _: (STREAMED, "--block-dim", "32", "--grid", "1024", "--gpu", "T4", "--param", "param_0=2000000")),
    "estimate --launches": ("estimate", lambda folder: (STREAMED, "--gpu", "T4", "--launches", program(folder))),
    "task": ("task", lambda folder: (STREAMED, "--gpu", "T4", "--launches", sequence(folder), "--deadline", "1234ms")),
    "task beside another": ("task", shared_gpu),
    "ipet": ("ipet", lambda _: (BFS, "--loop-bound", "123456789")),
    "makespan of a string": ("makespan", lambda _: ("L2C3" * 30, "-W", "12", "--engine", "bounds", "--issue", "2", "--time-limit", "0.2")),
    "makespan of a file": ("makespan", lambda _: (SAXPY, "-W", "16", "--engine", "bounds", "--time-limit", "0.2")),
    "check": ("check", lambda _: (MANDELBROT, "--max-wcet", "12345", "--no-gaps", *LIMIT)),
    "diff": ("diff", lambda _: (MANDELBROT, SM_61 / "mandelbrot.cuobjdump.sass", "--loop-bound", "12345678")),
    "diff --sass": ("diff", lambda _: (MANDELBROT, SM_75 / "saxpy.cubin", "--sass")),
    "batch": ("batch", lambda folder: (SAXPY, BFS, "-o", folder / "x.jsonl", "--executor", "serial", "--overwrite")),
    "measure": ("measure", lambda _: (SAMPLES / "measure" / "synthetic-delays.csv", "--resamples", "199")),
    "measure --assumptions": ("measure", lambda folder: ("--assumptions", measured_target(folder), "--gpu", TARGET)),
    "validate": ("validate", lambda folder: (times(folder), MANDELBROT, "--gpu", "T4")),
    "evolve": ("evolve", lambda folder: (space(folder), "-o", folder / "evolved", "--executor", "serial", "--no-cache")),
    "rank": ("rank", lambda folder: (space(folder), "--executor", "serial")),
    "gpus": ("gpus", lambda _: ()),
    "gpus of one": ("gpus", lambda _: ("H100 SXM",)),
    "gpus --check": ("gpus", lambda _: ("--check",)),
}


@dataclass
class Printed:
    """What one run prints on a terminal on which everything fits, and its tables with the place that shows each."""

    text: str
    tables: list[tuple[str, Table]]


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def screen(run: Callable[[], object], columns: int, *, colours: bool = False) -> str:
    """Return what is printed on a terminal of so many columns, without its colours."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("TERM", "xterm-256color")
        patch.delenv("NO_COLOR", raising=False)
        if not colours:
            patch.setenv("NO_COLOR", "1")
        patch.setattr(sys, "stdin", Input(b""))
        with redirect_stdout(Screen()) as out, redirect_stderr(io.StringIO()):
            run()
    return re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())


def place(frame: FrameType) -> str:
    return f"{Path(frame.f_code.co_filename).relative_to(ROOT)}:{frame.f_lineno}"


@cache
def printed(name: str) -> Printed:
    """Run a case for its text and its tables."""
    seen: list[tuple[str, Table]] = []
    real = table.show

    def show(each: Table) -> None:
        seen.append((place(sys._getframe(1)), each))
        real(each)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "show", show)
        return Printed(case(name), seen)


def case(name: str, *options: str) -> str:
    """Return what a case prints."""
    command, arguments = CASES[name]
    with TemporaryDirectory() as text, pytest.MonkeyPatch.context() as patch:
        folder = Path(text)
        if command in ("evolve", "rank"):
            patch.setenv("SASSAN_CACHE", text)
        patch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
        return screen(lambda: main.run([command, *map(str, arguments(folder)), *options]), WIDE)


WITHOUT_TABLE = {
    "report": "writes a page",
    "serve": "writes a page",
    "init": "writes a project file",
    "export": "writes graphs and flow facts",
    "doctor": "prints lines",
    "mcp": "serves a protocol",
    "record": "writes launches",
    "verify-certificate": "prints what was checked",
    "warm": "compiles",
    "experiment": "prints the table of the command that it runs",
}
NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?")
UNSHOWN = {
    "analyze": r"edges|grid\.(blocks|terms)|limits|estimate\.(cycles|rows|stalls|shares)|profile|explain\.(blocks|instructions|memory)",
    "check": r"profile|instructions|blocks|edges|registers|loops|occupancy",
    "estimate": r"launches\.(wcet|bound|estimate)",
    "task": r"launches\.(wcet|bound|estimate)",
    "gpus": r"l2_kib|kept_mhz|block_cycles|peaks\.computed",
    "strings": r"wcet",
    "measure": r"resamples",
    "validate": r"(measured|estimate)\.us",
}
"""Numbers of the document that no text has, or in another unit, by their keys."""


def numbers(value: Any, keys: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of a document with their keys."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from numbers(each, f"{keys}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from numbers(each, keys)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield keys, value


def stands(number: float, printed_numbers: list[tuple[float, int]]) -> bool:
    """Say whether a number is there, as far as it is printed, or as percent."""
    return any(abs(each - scale * number) <= 1.01 * 10**-digits for each, digits in printed_numbers for scale in (1, 100))


def test_every_command_has_a_case_or_no_table():
    assert {command for command, _ in CASES.values()} | WITHOUT_TABLE.keys() == SUMMARIES.keys()
    assert not {command for command, _ in CASES.values()} & WITHOUT_TABLE.keys()


def test_every_table_of_the_source_is_shown_by_a_case():
    called: dict[str, range] = {}
    for path in (ROOT / "sassan" / "cli").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "table.show":
                called[f"{path.relative_to(ROOT)}:{call.lineno}"] = range(call.lineno, (call.end_lineno or call.lineno) + 1)
    shown = {at for name in CASES for at, _ in printed(name).tables}
    assert len(called) > 15
    missing = [place for place, lines in called.items() if not {f"{place.partition(':')[0]}:{line}" for line in lines} & shown]
    assert missing == [], "tables that no case prints"


@pytest.mark.parametrize("name", some(list(CASES), of=3))
def test_every_number_of_the_document_stands_in_the_text(name: str):
    known, pattern = printed(name), UNSHOWN.get(CASES[name][0])
    there = [(float(text), len(text.partition(".")[2])) for text in NUMBER.findall(known.text) if not text.startswith("0x")]
    missing = {keys for keys, number in numbers(json.loads(case(name, "--json"))) if not stands(number, there)}
    assert sorted(keys for keys in missing if pattern is None or not re.search(pattern, keys)) == []


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", CASES)
def test_no_number_of_a_table_is_cut(name: str, columns: int):
    for at, each in printed(name).tables:
        for colours in (False, True):
            text = screen(lambda shown=each: table.show(shown), columns, colours=colours)
            cells = Counter(number for row in each.rows for cell in row for number in NUMBER.findall(cell))
            left = Counter(NUMBER.findall(text)) - Counter(
                number for column in each.columns for number in NUMBER.findall(column.title) for _ in range(len(each.rows) + 1)
            )
            whole = [
                number
                for column, *column_cells in zip(each.columns, *each.rows, strict=True)
                for cell in column_cells
                for number in NUMBER.findall(cell) if column.number
            ]  # fmt: skip
            assert not left - cells, f"{at}: parts of numbers"
            assert not Counter(whole) - Counter(NUMBER.findall(text)), f"{at}: numbers that are not there"


def test_no_module_has_a_name_of_its_own_for_showing_tables():
    """Tables are shown as `table.show`, where the tests above see them."""
    lines = [line for path in (ROOT / "sassan" / "cli").rglob("*.py") for line in path.read_text("utf-8").splitlines()]
    imports = [line for line in lines if line.startswith("from sassan.cli.output.table import ")]
    assert len(imports) > 10
    assert {name for line in imports for name in line.partition(" import ")[2].split(", ")} == {"Column", "Table"}


def test_only_tables_and_source_lines_ask_for_the_width_of_the_terminal():
    asking = {
        path.relative_to(ROOT / "sassan" / "cli").as_posix()
        for path in (ROOT / "sassan" / "cli").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "width"
    }
    assert asking == {"output/table.py", "commands/listing.py", "reports/makespan.py"}
