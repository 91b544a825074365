"""The Markdown of the repository, and what the code says of it."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_CODE = {".py", ".toml", ".lark", ".c", ".h", ".cu", ".cmake", ""}
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def tracked() -> list[Path]:
    """The files of the repository, without what git ignores."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, text=True, check=True)
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def markdown() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".md"]


def sources() -> Iterator[tuple[Path, str]]:
    """Every text of code, data and scripts, but samples of machine code."""
    for path in tracked():
        where = path.relative_to(ROOT).parts
        if path.suffix in _CODE and where[0] in {"sassan", "tests", "scripts", "grammars", "samples", "pyproject.toml"} and path.stat().st_size < 1_000_000:
            yield path, path.read_text("utf-8", "replace")


def blocks(page: Path, kind: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return [text for language, text in _FENCE.findall(page.read_text("utf-8")) if language == kind]


def prose(text: str) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", text)


def headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", prose(page.read_text("utf-8")), re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors that its headings get: lower case, words joined by dashes."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings(page)}


@cache
def documented(*pages: str) -> set[str]:
    """What stands in code spans of pages below docs/, word by word too."""
    spans = {span for page in pages for span in re.findall(r"`([^`\n]+)`", (DOCS / page).read_text("utf-8"))}
    return spans | {word for span in spans for word in re.split(r"[ .,=<>|/{}()\[\]]+", span)}
