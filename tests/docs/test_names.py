"""Comments, docstrings and pages name what is there: files, functions, parameters; and count what they count."""

import re
from pathlib import Path

import pytest

from cli.shell import SAMPLES
from docs.names import missing_paths, modules, unknown_names, unknown_names_of_page
from docs.pages import ROOT, markdown
from sassan.cli.options.models import ModelChoice
from scripted import scripted

pytestmark = pytest.mark.slow


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_path_and_name_in_a_comment_or_docstring_is_there():
    assert len(modules()) > 500
    missing = list[tuple[object, ...]]()
    for path in modules():
        text = path.read_text("utf-8")
        missing += [(place(path), *each) for each in (*missing_paths(text), *unknown_names(text))]
    assert missing == []


def test_every_name_in_a_page_is_there():
    pages = [page for page in markdown() if page.name != "CHANGELOG.md"]
    assert [(place(page), name) for page in pages for name in unknown_names_of_page(page.read_text("utf-8"))] == []


def row_count(path: str) -> int:
    """The rows of a CSV file below its head."""
    return len((ROOT / path).read_text("utf-8").splitlines()) - 1


COUNTS = {
    ("docs/papers.md", r"runs the (\d+) rows that are a command of sassan"): lambda: sum(
        row.command.startswith("sassan ") and "DIR" not in row.command for row in scripted("papers_page").rows()
    ),
    ("docs/guides/trust-a-number.md", r"NVIDIA's own calculator, (\d+) launches"): lambda: row_count("tests/unit/machine/occupancy.csv"),
    ("docs/guides/get-advice.md", r"(\w+) kernels with one seeded flaw"): lambda: len(list((SAMPLES / "advise").glob("*.cu"))),
    ("docs/guides/gate-a-build.md", r"`samples/gates` has (\w+) kernels"): lambda: (
        (SAMPLES / "gates" / "gates.cu").read_text("utf-8").count("\nKERNEL(")
    ),
    ("docs/concepts/time.md", r"(\w+) \[cost models\]"): lambda: len(ModelChoice),
    ("README.md", r"none of (\d+)\]"): lambda: int(
        re.findall(r"`control`: (\d+) of \d+ measurements have a bound, and 0", (ROOT / "docs/reference/silicon.md").read_text("utf-8"))[0]
    ),
    ("samples/README.md", r"`nvdisasm -c -hex`, for (\w+) kernels"): lambda: len({path.name for path in SAMPLES.glob("sm_*/*.nvdisasm-hex.sass")}),
}
"""Numbers that pages count, and the count."""
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()


@pytest.mark.parametrize(("page", "said"), COUNTS)
def test_a_count_of_a_page_is_that_of_what_it_counts(page: str, said: str):
    (number,) = re.findall(said, (ROOT / page).read_text("utf-8"))
    assert (int(number) if number.isdigit() else NUMBERS.index(number.lower())) == COUNTS[page, said]()


MODULE = '''"""It reads `reader_of` and sassan/verifier.py."""

LIMIT = 3  # as in scripts/docs, of `reader_of`


def reader_of(file_name: str) -> str:
    """The text of `file_name`."""
    return file_name


class Reader:
    """A reader."""

    def read(self, where_from: str) -> str:
        """Read `where_from`; uses `reader_of`."""
        return reader_of(where_from)
'''


@pytest.mark.parametrize(
    ("good", "planted", "names", "paths"),
    [
        ("sassan/verifier.py", "sassan/verifyer.py", [], ["sassan/verifyer.py"]),
        ("scripts/docs", "scripts/dox", [], ["scripts/dox"]),
        ("It reads `reader_of`", "It reads `readed_of()`", ["readed_of"], []),
        ("3  # as in scripts/docs, of `reader_of`", "3  # of `readed_of`", ["readed_of"], []),
        ("The text of `file_name`", "The text of `filed_name`", ["filed_name"], []),
        ("The text of `file_name`", "The text of `where_from`", ["where_from"], []),
        ("Read `where_from`", "Read `file_name`", ["file_name"], []),
    ],
)
def test_a_planted_fault_is_found(good: str, planted: str, names: list[str], paths: list[str]):
    assert (unknown_names(MODULE), missing_paths(MODULE)) == ([], [])
    faulty = MODULE.replace(good, planted)
    assert faulty != MODULE
    assert [name for _, name in unknown_names(faulty)] == names
    assert [path for _, path in missing_paths(faulty)] == paths


def test_a_planted_name_of_a_page_is_found():
    assert unknown_names_of_page("`sassan.analyze` and `loop_bound`\n```\n`no_such_thing`\n```\n") == []
    assert unknown_names_of_page("`sassan.analyzed_twice`, `loop_bounded_by`") == ["sassan.analyzed_twice", "loop_bounded_by"]
