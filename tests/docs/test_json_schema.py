"""What sassan prints as JSON is what the published schema says; what it never prints is not."""

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cli.shell import SAMPLES, Sassan
from docs.pages import DOCS

SCHEMA = json.loads((DOCS / "reference" / "schema" / "analyze.json").read_text("utf-8"))
BFS, REDUCE = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass", SAMPLES / "sm_80" / "reduce_shared.cuobjdump.sass"
LAUNCH = ("--block-dim", "64", "--grid", "4", "--registers", "32", "--shared", "0")


def errors(document: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", BFS),
        ("analyze", BFS, "--loop-bound", "3", "-W", "4", "--partition", "--model", "table"),
        ("analyze", REDUCE, "--loop-bound", "3", *LAUNCH, "--sms", "2"),
        ("analyze", REDUCE, "--loop-bound", "3", *LAUNCH[:4]),
        ("analyze", BFS, "--loop-bound", "3", "--paper-experiment"),
        ("analyze", SAMPLES / "README.md"),
        ("check", BFS, "--loop-bound", "3", "--max-wcet", "1"),
    ],
    ids=["gap", "warps", "grid", "unknown occupancy", "experiment", "refused", "check"],
)
def test_a_document_is_what_the_schema_says(arguments: tuple[str | Path, ...], sassan: Sassan):
    result = sassan(*arguments, "--json")
    assert result.status in (0, 1, 3), result.err
    assert errors(result.document) == []


def test_a_document_with_another_shape_is_refused(sassan: Sassan):
    document = sassan("analyze", BFS, "--loop-bound", "3", "--json").document
    for key in ("wcet", "gaps", "text"):
        damaged = copy.deepcopy(document)
        del damaged["functions"][0][key]
        assert errors(damaged) != []
    damaged = copy.deepcopy(document)
    damaged["functions"][0]["wcet"]["value"] = -1
    assert errors(damaged) != []
