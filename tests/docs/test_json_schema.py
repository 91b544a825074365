"""What sassan prints as JSON is what the published schemas say; what it never prints is not.

The fixture `sassan` holds every document to its schema, here and in all tests of commands.
"""

from budget import some
import copy
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.shell import SAMPLES, Sassan
from docs.pages import DOCS, documented
from json_schemas import DIALECT, NAMES, properties, schema, violations
from sassan.cli.group import SUMMARIES, command

BFS, SAXPY = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass", SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
REDUCE, MEASURED = SAMPLES / "sm_80" / "reduce_shared.cuobjdump.sass", SAMPLES / "measure" / "synthetic-delays.csv"
SAXPY_75 = SAMPLES / "sm_75" / "saxpy.nvdisasm.sass"
SHAPE = ("--block-dim", "64", "--grid", "4")
KNOWN = (*SHAPE, "--registers", "32", "--shared", "0")
COMMANDS: dict[str, tuple[str | Path, ...]] = {
    "analyze": ("analyze", BFS, "--loop-bound", "3", *KNOWN, "--sms", "2", "--partition", "--explain"),
    "gap": ("analyze", BFS),
    "unknown occupancy": ("analyze", REDUCE, "--loop-bound", "3", *SHAPE),
    "experiment": ("analyze", BFS, "--loop-bound", "3", "--paper-experiment"),
    "refused": ("analyze", SAMPLES / "README.md"),
    "cfg": ("cfg", BFS, "--loop-bound", "3"),
    "comparison": ("cfg", SAMPLES / "sm_61" / "saxpy.ptx", "--compare", SAXPY),
    "blocks": ("blocks", BFS, "--loop-bound", "3"),
    "strings": ("strings", BFS, "--loop-bound", "3"),
    "listing": ("listing", SAXPY),
    "control codes": ("listing", SAXPY, "--check"),
    "ipet": ("ipet", BFS, "--loop-bound", "3"),
    "memory": ("memory", SAXPY, "--block-dim", "256"),
    "makespan": ("makespan", "LCL", "-W", "3"),
    "makespan of a file": ("makespan", SAXPY, "-W", "2", "--engine", "bounds"),
    "estimate": ("estimate", SAMPLES / "sm_75" / "saxpy.cuobjdump.sass", "--gpu", "T4", *KNOWN, "--what-if", "block=32"),
    "check": ("check", BFS, "--loop-bound", "1", "--max-wcet", "1"),
    "diff": ("diff", SAXPY, SAMPLES / "sm_52" / "saxpy.cuobjdump.sass"),
    "machine code": ("diff", SAXPY, SAMPLES / "sm_52" / "saxpy.cuobjdump.sass", "--sass"),
    "batch": ("batch", SAXPY, "--executor", "serial"),
    "validate": ("validate", "times.csv", SAXPY, "--sms", "40", "--clock", "1000"),
    "doctor": ("doctor",),
    "gpus": ("gpus", "T4"),
    "peak rates": ("gpus", "T4", "--check"),
    "measure": ("measure", MEASURED, "--resamples", "1000"),
}
"""A command for each kind of document that needs no tool; tests of `rank` and `evolve` hold theirs to the schema."""


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(name: str):
    DIALECT.check_schema(schema(name))


def test_every_command_that_prints_json_has_a_schema_and_no_other():
    printing = {name for name in SUMMARIES if any("--json" in parameter.opts for parameter in command(name).params)}
    assert printing == set(NAMES)


def test_the_page_links_every_schema_and_describes_every_key():
    page = DOCS / "reference" / "json.md"
    assert set(re.findall(r"\(schema/(\w+)\.json\)", page.read_text("utf-8"))) == set(NAMES)
    known = documented("reference/json.md")
    assert sorted({f"{name}: {key}" for name in NAMES for key in properties(schema(name)) if key not in known}) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_document_is_what_the_schema_says_and_no_part_of_it_may_be_missing(
    name: str, sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "times.csv").write_text("kernel,grid,block,time_us\nsaxpy,1024,256,1\n", "utf-8")
    arguments = COMMANDS[name]
    result = sassan(*arguments, "--json")
    assert result.status in (0, 1, 3), result.err
    kind, document = str(arguments[0]), result.document
    for path in some(list(objects(document)), of=3):
        damaged = copy.deepcopy(document)
        at(damaged, path)["surprise"] = 1
        assert violations(kind, damaged) != [], path
    for key in document.keys() - {"errors"}:
        assert violations(kind, {other: value for other, value in document.items() if other != key}) != [], key


MAPS = {"token_targets", "settings", "limits", "terms", "shares", "capacities", "latency", "interval", "numbers", "lists", "summary", "unknown", "spreads"}
"""Keys of maps of names to values, which may get any name."""
MAPS |= {"about", "gaps", "lanes", "refused", "parameters", "sources", "total", "shortest", "longest"}


def objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the places of objects with fixed keys, of lists those of the first entry alone."""
    if isinstance(value, dict) and (not path or path[-1] not in MAPS or "n" in value):
        yield path
        for key, inner in value.items():
            yield from objects(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield from objects(value[0], (*path, 0))


def at(value: Any, path: Iterable[str | int]) -> Any:
    for key in path:
        value = value[key]
    return value


def test_the_lines_of_a_batch_are_what_the_schema_says(sassan: Sassan, tmp_path: Path):
    results = tmp_path / "x.jsonl"
    assert sassan("batch", SAXPY, BFS, SAMPLES / "README.md", "-o", results, "--executor", "serial").status == 3
    lines = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    assert [violations("batch", line) for line in lines] == [[]] * 4
    assert ["batch" in line for line in lines] == [True, False, False, False]


FUNCTION, LAUNCH = ("functions", 0), ("launches", 0)
NEVER: dict[tuple[str | Path, ...], tuple[tuple[str | int, ...], ...]] = {
    COMMANDS["analyze"]: (
        (*FUNCTION, "makespan", "warps"),
        (*FUNCTION, "makespan", "partition"),
        (*FUNCTION, "grid", "blocks"),
        (*FUNCTION, "grid", "sms"),
        (*FUNCTION, "grid", "resident"),
        (*FUNCTION, "profile"),
    ),
    ("analyze", SAXPY_75, "--launches", "launches.toml", "--sms", "2"): ((*LAUNCH, "bound", "cycles"),),
    ("estimate", SAXPY_75, "--launches", "launches.toml", "--gpu", "T4"): ((*LAUNCH, "makespan"), (*LAUNCH, "explain")),
    COMMANDS["check"]: ((*FUNCTION, "explain"), (*FUNCTION, "profile")),
}
"""Places where the documents of a command never hold null, though a value of that name may be null elsewhere."""


@pytest.mark.parametrize("arguments", NEVER, ids=lambda arguments: " ".join(map(str, arguments[:1])))
def test_a_schema_admits_no_null_that_is_never_printed(
    arguments: tuple[str | Path, ...], sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launches.toml").write_text('[[launch]]\nkernel = "saxpy"\ngrid = [4, 1, 1]\nblock = [64, 1, 1]\n', "utf-8")
    document = sassan(*arguments, "--json").document
    for *above, key in NEVER[arguments]:
        damaged = copy.deepcopy(document)
        at(damaged, above)[key] = None
        assert violations(str(arguments[0]), damaged) != [], (*above, key)


@pytest.mark.parametrize(("above", "key"), [(("input",), "function"), (("input",), "functions"), ((), "explain"), ((), "profile")])
def test_a_line_of_a_batch_admits_no_null_that_is_never_written(above: tuple[str, ...], key: str, sassan: Sassan, tmp_path: Path):
    results = tmp_path / "x.jsonl"
    assert sassan("batch", SAXPY, "-o", results, "--executor", "serial").status == 0
    _, line = map(json.loads, results.read_text("utf-8").splitlines())
    at(line, above)[key] = None
    assert violations("batch", line) != []


def test_numbers_out_of_range_are_refused(sassan: Sassan):
    document = sassan("analyze", BFS, "--loop-bound", "3", "--json").document
    document["functions"][0]["wcet"]["value"] = -1
    assert violations("analyze", document) != []
