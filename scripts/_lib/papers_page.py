"""The rows of docs/papers.md: what a paper says, the command that makes it again, and what that prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "papers.md"
_ROW = re.compile(r"^\| ([A-D]\d+) \| (.*) \|$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_FILE = re.compile(r"`([\w./-]+\.csv)`: ")
_COLUMNS = 6
"""Cells behind the number of a row."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One number of a paper: `command` is '' for one that another row makes; `shipped` is the CSV that holds `prints`, '' for none."""

    number: str
    place: str
    says: str
    command: str
    seconds: float
    prints: tuple[str, ...]
    shipped: str

    def missing(self, output: str) -> tuple[str, ...]:
        """What the output of the command, or the text of the file, does not hold; runs of spaces count as one."""
        words = " ".join(output.split())
        return tuple(each for each in self.prints if " ".join(each.split()) not in words)


def rows(page: Path = PAGE) -> tuple[PaperRow, ...]:
    """The rows of the page, in its order. Raises ValueError for a row that has not every cell."""
    return tuple(_row(number, cells.split(" | ")) for number, cells in _ROW.findall(page.read_text("utf-8").replace("| |", "|  |")))


def _row(number: str, cells: list[str]) -> PaperRow:
    if len(cells) != _COLUMNS:
        raise ValueError(f"row {number} has {len(cells)} cells")
    place, says, command, seconds, prints, _ = cells
    given = _CODE.fullmatch(command)
    file = _FILE.match(prints)
    found = tuple(_CODE.findall(prints.removeprefix(file.group() if file else "")))
    return PaperRow(number, place, says, given[1] if given else "", float(seconds), found, file[1] if file else "")
