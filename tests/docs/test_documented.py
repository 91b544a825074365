"""What a user meets is documented: gap and error codes, options, keys of files and of JSON, heads of tables, letters, models."""

import ast
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sassan as sassan_library
from cli.shell import SAMPLES, Sassan
from docs.pages import DOCS, ROOT, blocks, documented
from json_schemas import records
from sassan.alphabet import Letter
from sassan.app.builds.saved_results import Measure
from sassan.assumptions import AssumptionStatus
from sassan.checked import Fields
from sassan.cli.group import SUMMARIES, command
from sassan.cli.options.models import ModelChoice
from sassan.evolve.space.config import Objective, read
from sassan.products import products

sys.path.append(str(ROOT / "scripts" / "_lib"))
import codes

pytestmark = pytest.mark.slow

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


def test_every_error_code_says_its_cause_and_what_to_do():
    page = (DOCS / "reference" / "error-codes.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| [\d, or]+ \| (.+) \| (.+) \|$", page, re.MULTILINE)
    assert len(rows) == len(codes.errors()) > 100
    assert [code for code, *texts in rows if not all(re.search(r"[a-z]{3}", text) for text in texts) or "the message says" in texts[0]] == []


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_option_of_a_command_is_listed(name: str):
    page = (DOCS / "reference" / "commands.md").read_text("utf-8")
    section = page.partition(f"\n## sassan {name}\n")[2].partition("\n## ")[0]
    shown = [parameter for parameter in command(name).params if not getattr(parameter, "hidden", False)]
    options = [option for parameter in shown for option in (*parameter.opts, *parameter.secondary_opts) if option.startswith("-")]
    assert [option for option in options if not re.search(rf"{re.escape(option)}(?![\w-])", section)] == []


def test_every_package_stands_in_the_developer_guide():
    guide = (DOCS / "developer" / "README.md").read_text("utf-8")
    packages = [page.relative_to(ROOT).as_posix() for page in (ROOT / "sassan").rglob("README.md")]
    assert len(packages) > 30
    assert [page for page in packages if f"(../../{page})" not in guide] == []


def test_every_product_is_listed():
    page = (DOCS / "reference" / "gpus.md").read_text("utf-8")
    assert [one.name for one in products() if f"| {one.name} |" not in page] == []


def test_every_public_name_is_described():
    page = (DOCS / "reference" / "api.md").read_text("utf-8")
    assert [name for name in sassan_library.__all__ if not name.startswith("_") and f"\n## {name}\n" not in page] == []


def test_every_letter_model_and_kind_of_assumption_is_described():
    assert set(Letter) <= documented("reference/letters.md")
    assert {model.value for model in ModelChoice} <= documented("reference/cost-models.md")
    assert {kind.value for kind in AssumptionStatus} <= documented("reference/assumptions.md")


READS = {name for name in vars(Fields) if not name.startswith("_")} - {"only", "path", "fail", "citation"}
"""What reads one key of a file."""
FOREIGN = "sassan/recorded/"
"""Readers of files that other programs write."""


def file_keys() -> Iterator[tuple[str, str]]:
    """The keys that a reader of a file admits or reads: the texts in calls of `only`, in the constants that these name, and in `READS`."""
    for path, tree in codes.trees().items():
        nodes = codes.every_node()[path]
        place = path.relative_to(ROOT).as_posix()
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        foreign, fields = place.startswith(FOREIGN), uses_fields(tree)
        for call in nodes:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "only":
                named = [node.id for argument in call.args for node in ast.walk(argument) if isinstance(node, ast.Name)]
                for part in (*call.args, *(constants[name] for name in named if name in constants)):
                    for node in ast.walk(part):
                        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _WORD.fullmatch(node.value):
                            yield place, node.value
            elif isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in READS and fields and not foreign:
                for key in call.args[:1]:
                    if isinstance(key, ast.Constant) and isinstance(key.value, str) and _WORD.fullmatch(key.value):
                        yield place, key.value


def uses_fields(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.module == "sassan.checked" for node in tree.body)


def test_every_key_of_a_file_is_described():
    keys = set(file_keys())
    assert len(keys) > 160
    known = documented(
        *(f"reference/{page}.md" for page in ("files", "flow-facts", "architectures", "json")),
        *(f"../sassan/{package}/README.md" for package in ("arch", "isa")),
    )
    language = "\n".join(re.findall(r"^    .*$", (ROOT / "sassan" / "isa" / "README.md").read_text("utf-8"), re.MULTILINE))
    assert sorted(one for one in keys if one[1] not in known | set(_WORD.findall(language))) == []


def test_every_variable_of_the_environment_is_listed():
    texts = {node.value for nodes in codes.every_node().values() for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    variables = {text for text in texts if re.fullmatch(r"SASSAN_[A-Z]+", text)}
    assert variables >= {"SASSAN_CACHE", "SASSAN_NVCC"}
    assert sorted(variables - documented("reference/commands.md")) == []


def heads(path: Path, tree: ast.Module) -> Iterator[str]:
    """The heads of the tables of a module; an expression that is filled in when the table is printed stands as it is."""
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in codes.every_node()[path]:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Column" and call.args:
            head = call.args[0]
            for part in (head.body, head.orelse) if isinstance(head, ast.IfExp) else (head,):
                yield str(constants.get(part.id, part.id) if isinstance(part, ast.Name) else part.value if isinstance(part, ast.Constant) else ast.unparse(part))


FILLED_IN = {
    "(heads or {}).get(each.head, each.head)": set(),
    "titles.get(measure, measure.value)": {"regs", "instr", "div"} | {measure.value for measure in Measure} - {"registers", "instructions", "divergent branches"},
    "unit": {"unit"},
}
"""Heads that depend on what is printed: how the code writes them, and what they may be; those of units have a name of the architecture."""

OTHERS = {"16 warps", "(not a bound)", "right", "memory", "individual", "loops", "choice", *(objective.value for objective in Objective)}
"""Heads that stand in the place of those of fields (`analyze`, `cfg --compare`, `analyze --explain`), and those of `evolve`."""


def test_every_head_of_a_table_is_explained():
    written = {head for path, tree in codes.trees().items() if path.is_relative_to(ROOT / "sassan" / "cli") for head in heads(path, tree)}
    written |= {each.head for record in records() for each in record.fields} | OTHERS
    shown = written - FILLED_IN.keys() - {""} | {head for some in FILLED_IN.values() for head in some}
    assert FILLED_IN.keys() <= written
    assert len(shown) > 80
    assert sorted({head.strip("()") for head in shown} - exactly("reference/columns.md")) == []


def exactly(page: str) -> set[str]:
    """The code spans of the first column of tables."""
    rows = re.findall(r"^\| (`.*?) \| ", (DOCS / page).read_text("utf-8"), re.MULTILINE)
    return {span.strip("()") for row in rows for span in re.findall(r"`([^`]+)`", row)}


BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
LAUNCH = ("--loop-bound", "3", "--block-dim", "32", "--grid", "4", "--registers", "32", "--shared", "0", "--sms", "2", "--partition")


def test_every_head_of_csv_is_described():
    tables = [
        node.value
        for path, tree in codes.trees().items()
        if path.is_relative_to(ROOT / "sassan" / "cli")
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.strip("_") == "HEADS"
    ]
    found = {part.value for table in tables for part in ast.walk(table) if isinstance(part, ast.Constant)}
    found |= {each.csv for record in records() for each in record.fields if each.csv}
    assert len(found) > 100
    assert sorted(str(head) for head in found - documented("reference/json.md")) == []


def patterns() -> list[re.Pattern[str]]:
    """The assumptions of the page: `…` stands for names and numbers."""
    rows = re.findall(r"^\| `([^`]+)` \| (?:proved|checked|recorded|published|assumed)", (DOCS / "reference" / "assumptions.md").read_text("utf-8"), re.MULTILINE)
    return [re.compile(re.escape(text).replace("…", ".*")) for text in rows]


def test_every_assumption_says_what_backs_and_what_would_refute_it():
    page = (DOCS / "reference" / "assumptions.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| ((proved|checked|recorded|published|assumed).*) \| (.*) \|$", page, re.MULTILINE)
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


def test_the_search_of_the_page_is_read(tmp_path: Path):
    (text,) = (block for block in blocks(DOCS / "reference" / "files.md", "toml") if "[[gene]]" in block)
    shutil.copy(SAMPLES / "evolve" / "matmul.cu", tmp_path)
    (tmp_path / "search.toml").write_text(text, "utf-8")
    assert read(str(tmp_path / "search.toml")).objectives == (Objective.GRID,)
