"""What a user meets is documented: gap and error codes, options, keys of files and of JSON, heads of tables, letters, models."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sassan as sassan_library

from cli.shell import SAMPLES, Sassan
from docs.pages import DOCS, ROOT, documented
from sassan.alphabet import Letter
from sassan.assumptions import Kind
from sassan.cli.group import SUMMARIES, command
from sassan.cli.options.models import Model
from sassan.products import products

sys.path.append(str(ROOT / "scripts" / "_lib"))
import codes  # noqa: E402 - behind the folder of scripts

_WORD = re.compile(r"[A-Za-z][\w-]*")


def test_every_gap_code_has_a_cause_and_a_remedy():
    rows = re.findall(r"^\| `([\w-]+)` \| (.+) \| (.+) \|$", (DOCS / "reference" / "gap-codes.md").read_text("utf-8"), re.MULTILINE)
    assert len(rows) == len({code for code, _, _ in rows}) > 40
    assert sorted(set(codes.gaps()) - {code for code, _, _ in rows}) == []
    assert sorted({code for code, _, _ in rows} - codes.literals()) == [], "codes that the source has not"
    assert [code for code, cause, remedy in rows if not cause.strip() or not remedy.strip()] == []


def test_every_error_code_is_listed():
    assert len(codes.errors()) > 100
    assert sorted(set(codes.errors()) - documented("reference/error-codes.md")) == []


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_option_of_a_command_is_listed(name: str):
    page = (DOCS / "reference" / "commands.md").read_text("utf-8")
    section = page.partition(f"\n## sassan {name}\n")[2].partition("\n## ")[0]
    options = [option for parameter in command(name).params for option in parameter.opts if option.startswith("-")]
    assert [option for option in options if not re.search(rf"{re.escape(option)}(?![\w-])", section)] == []


def test_every_product_is_listed():
    page = (DOCS / "reference" / "gpus.md").read_text("utf-8")
    assert [one.name for one in products() if f"| {one.name} |" not in page] == []


def test_every_public_name_is_described():
    page = (DOCS / "reference" / "api.md").read_text("utf-8")
    assert [name for name in sassan_library.__all__ if not name.startswith("_") and f"\n## {name}\n" not in page] == []


def test_every_letter_model_and_kind_of_assumption_is_described():
    assert set(Letter) <= documented("reference/letters.md")
    assert {model.value for model in Model} <= documented("reference/cost-models.md")
    assert {kind.value for kind in Kind} <= documented("reference/assumptions.md")


def file_keys() -> Iterator[tuple[str, str]]:
    """The keys that a reader of a file admits: the texts in calls of `only`, and in the constants that these name."""
    for path, tree in codes.trees().items():
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "only":
                named = [node.id for argument in call.args for node in ast.walk(argument) if isinstance(node, ast.Name)]
                for part in (*call.args, *(constants[name] for name in named if name in constants)):
                    for node in ast.walk(part):
                        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _WORD.fullmatch(node.value):
                            yield path.relative_to(ROOT).as_posix(), node.value


def test_every_key_of_a_file_is_described():
    keys = set(file_keys())
    assert len(keys) > 120
    readmes = "\n".join((ROOT / "sassan" / name / "README.md").read_text("utf-8") for name in ("arch", "isa", "evolve", "machine", "products"))
    known = documented("reference/files.md", "reference/flow-facts.md", "reference/architectures.md") | set(_WORD.findall(readmes))
    assert sorted(one for one in keys if one[1] not in known) == []


def test_every_head_of_a_table_is_explained():
    heads = set()
    for path in (ROOT / "sassan" / "cli" / "reports").glob("*.py"):
        heads |= set(re.findall(r'Column\("([^"]+)"', path.read_text("utf-8")))
    assert len(heads) > 40
    assert sorted(head for head in heads if head.strip("()") not in documented("reference/columns.md") and head != "(not a bound)") == []


BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
LAUNCH = ("--loop-bound", "3", "--block-dim", "32", "--grid", "4", "--registers", "32", "--shared", "0", "--sms", "2", "--partition")


MAKERS = (
    *("app/documents.py", "app/explain.py", "app/memory.py", "app/makespan/document.py", "app/builds/changes.py"),
    *("cli/reports/estimate.py", "cli/reports/program.py", "cli/reports/control.py", "cli/reports/check.py", "cli/reports/compare.py"),
    *("evolve/ranking/rank.py", "evolve/report.py", "evolve/outcome.py", "validation/document.py", "render/graph/cfg_json.py"),
)
"""Modules that make documents, below sassan/."""


@pytest.mark.parametrize("module", MAKERS)
def test_every_key_that_a_module_gives_a_document_is_described(module: str):
    tree = ast.parse((ROOT / "sassan" / module).read_text("utf-8"))
    keys = {key.value for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys if isinstance(key, ast.Constant)}
    assert sorted(key for key in keys if isinstance(key, str) and key not in documented("reference/json.md")) == []


def patterns() -> list[re.Pattern[str]]:
    """The assumptions of the page: `…` stands for names and numbers."""
    rows = re.findall(r"^\| `([^`]+)` \| (?:proved|checked|published|assumed)", (DOCS / "reference" / "assumptions.md").read_text("utf-8"), re.MULTILINE)
    return [re.compile(re.escape(text).replace("…", ".*")) for text in rows]


def test_every_assumption_says_what_backs_and_what_would_refute_it():
    page = (DOCS / "reference" / "assumptions.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| ((proved|checked|published|assumed).*) \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == len(patterns()) > 40
    for text, backing, kind, refuted in rows:
        assert len(refuted) > 3, text
        assert kind == "assumed" or len(backing) > len(kind) + 3, f"{text}: by what?"


@pytest.mark.parametrize(
    "arguments",
    [
        (BFS, *LAUNCH, "--model", "control"),
        (SAMPLES / "sm_80" / "reduce_shared.cuobjdump.sass", *LAUNCH, "--model", "table"),
        (SAMPLES / "sm_70" / "histogram_atomic.cuobjdump.sass", "--loop-bound", "3", "-W", "4", "--model", "control"),
        (SAMPLES / "sm_80" / "bfs_step.ptx", "--loop-bound", "3"),
        (SAMPLES / "sm_90" / "saxpy.cuobjdump.sass", *LAUNCH, "--gpu", "H100 PCIe"),
    ],
    ids=["sm_61", "sm_80", "sm_70", "ptx", "gpu"],
)
def test_every_assumption_has_what_would_refute_it(arguments: tuple[str | Path, ...], sassan: Sassan):
    arguments = tuple(one for one in arguments if "--gpu" not in arguments or one not in {"--sms", "2"})
    result = sassan("analyze", *arguments, "--json")
    (function,) = result.document["functions"]
    parts = (function["wcet"], function["makespan"] or {}, function["grid"] or {}, function["occupancy"] or {})
    texts = {text for part in parts for text in part.get("assumptions", [])}
    assert len(texts) >= 4
    known = patterns()
    assert sorted(text for text in texts if not any(pattern.fullmatch(text) for pattern in known)) == []
