"""Samples as CSV: a line per run, after lines `# key: value` with metadata such as the device.

    # device: NVIDIA GeForce GTX 1080
    # date: 2026-11-21
    # runs: 40
    group,run,seconds,delay,size,cycles
    0,0,0.00312,2.0,1000,4711

Only `seconds` is required; without `group` all runs form one group, without `run` they are numbered in file order. `delay` is the time
waited before the run. `runs` is the number of lines, so that a truncated file is detected.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sassan.errors import InputError
from sassan.measure.samples import HINT, Samples, TimedRun, bad, duration, grouped
from sassan.source import Source, Span

COLUMNS = ("group", "run", "seconds", "delay", "size", "cycles")
_COUNT = "runs"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_WHOLE = re.compile(r"[0-9]{1,18}")
_ABOUT = re.compile(r"#\s*([A-Za-z][\w -]*?)\s*:(.*)")


class _Cell(NamedTuple):
    """A cell and its position; columns count from 1."""

    text: str
    line: int
    column: int


class _CsvReader:
    """A CSV file; every error names the cell."""

    def __init__(self, source: Source) -> None:
        """Split the text into lines."""
        self._source = source
        self._lines = source.text.split("\n")

    def read(self) -> Samples:
        """Return the samples. Raises InputError `bad-samples`."""
        about = {match[1].lower(): match[2].strip() for line in self._lines if (match := _ABOUT.match(line)) is not None}
        lines = [(number, line) for number, line in enumerate(self._lines, 1) if line.strip() and not line.startswith("#")]
        if not lines:
            raise bad("there are no runs")
        number, head = lines[0]
        columns = self._head(self._cells(head, number))
        runs = tuple(self._runs(columns, lines[1:]))
        self._check_complete(about.pop(_COUNT, None), len(runs))
        base = runs[0].position if runs and runs[0].position in {0, 1} else 0
        return grouped((run._replace(position=run.position - base) for run in runs), about)

    def _check_complete(self, expected: str | None, runs: int) -> None:
        if not runs:
            raise bad("there are no runs")
        if expected is not None and (expected != str(runs) or self._lines[-1].strip()):
            raise bad(f"the file is truncated: it announces {expected} runs and has {runs}")

    def _head(self, cells: Sequence[_Cell]) -> tuple[str, ...]:
        names = tuple(cell.text.lower() for cell in cells)
        for name, cell in zip(names, cells, strict=True):
            if name not in COLUMNS or names.count(name) > 1:
                raise self._fail(cell, f"unknown column (known: {', '.join(COLUMNS)})" if name not in COLUMNS else "duplicate column")
        if "seconds" not in names:
            raise self._fail(cells[0], "the column 'seconds' is missing")
        return names

    def _runs(self, columns: tuple[str, ...], lines: Sequence[tuple[int, str]]) -> Iterator[TimedRun]:
        previous = TimedRun(-1, -1, 0.0)
        for number, line in lines:
            cells = self._cells(line, number)
            if len(cells) != len(columns):
                raise self._fail(cells[-1], f"the line has {len(cells)} cells, expected {len(columns)}")
            run = self._run(dict(zip(columns, cells, strict=True)))
            if "run" not in columns:
                run = run._replace(position=previous.position + 1 if run.group == previous.group else 0)
            yield run
            previous = run

    def _run(self, cells: dict[str, _Cell]) -> TimedRun:
        size, cycles = cells.get("size"), cells.get("cycles")
        return TimedRun(
            self._count(cells["group"]) if "group" in cells else 0,
            self._count(cells["run"]) if "run" in cells else 0,
            self._seconds(cells["seconds"]),
            self._number(cells["delay"]) if "delay" in cells else 0.0,
            self._number(size) if size is not None and size.text else None,
            self._count(cycles) if cycles is not None and cycles.text else None,
        )

    def _seconds(self, cell: _Cell) -> float:
        value = self._number(cell)
        try:
            return duration(value)
        except InputError as error:
            raise self._fail(cell, error.message) from None

    def _number(self, cell: _Cell) -> float:
        if not _NUMBER.fullmatch(cell.text) or not 0 <= float(cell.text) < float("inf"):
            raise self._fail(cell, "not a number" if not _NUMBER.fullmatch(cell.text) else "out of range")
        return float(cell.text)

    def _count(self, cell: _Cell) -> int:
        if not _WHOLE.fullmatch(cell.text):
            raise self._fail(cell, "not an integer")
        return int(cell.text)

    def _cells(self, line: str, number: int) -> list[_Cell]:
        cells: list[_Cell] = []
        column = 1
        for text in line.removesuffix("\r").split(","):
            bare = text.strip()
            cells.append(_Cell(bare.strip('"'), number, column + text.index(bare) if bare else column))
            column += len(text) + 1
        return cells

    def _fail(self, cell: _Cell, message: str) -> InputError:
        shown = f"'{cell.text[:40]}': {message}" if cell.text else message
        span = Span(cell.line, cell.column, max(1, len(cell.text)))
        return InputError("bad-samples", shown, source=self._source, span=span, hint=HINT)


def read(source: Source) -> Samples:
    """Parse CSV.

    Raises InputError `bad-samples` with the cell.
    """
    return _CsvReader(source).read()


def text(samples: Samples) -> str:
    """Return samples as CSV; `read` gives them back."""
    about = "".join(f"# {key}: {' '.join(value.split())}\n" for key, value in samples.about.items())
    sized = any(group.size is not None for group in samples.groups)
    clocked = any(group.cycles for group in samples.groups)
    columns = [name for name in COLUMNS if (name != "size" or sized) and (name != "cycles" or clocked)]
    lines = [f"{about}# {_COUNT}: {samples.runs}", ",".join(columns)]
    for group in samples.groups:
        for index, seconds in enumerate(group.seconds):
            cells = [str(group.number), str(index), repr(seconds), repr(group.delay if index else group.pause)]
            if sized:
                cells.append("" if group.size is None else f"{group.size:.17g}")
            if clocked:
                cells.append(str(group.cycles[index]) if group.cycles else "")
            lines.append(",".join(cells))
    return "\n".join(lines) + "\n"
