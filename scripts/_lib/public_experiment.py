"""Public code, compiled elsewhere and not part of the repository: the share of its kernels that have a graph, an estimate, a bound.

    DIR/SOURCE/*.cubin (or programs), DIR/SOURCE/*.toml: launches of `sassan record`

NAME.toml holds launches of NAME.cubin, else of all files of its source. A row is a kernel with one of its different launches, at most
four; a kernel without a recorded launch has a graph alone. Into the output folder: SOURCE.csv, without code, kernels by their base names.
"""

from __future__ import annotations

import csv
import re
import sys
import time
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from _lib.record_experiment import short
from _lib.silicon_rows import shape_text
from _lib.written import written
from rich.console import Console
from rich.table import Table

from sassan.app.analysis import warp_graph
from sassan.app.estimating import estimated
from sassan.app.gap_causes import remedy
from sassan.app.launches import analyze_launches
from sassan.app.options import AnalysisOptions
from sassan.app.reading import read_program
from sassan.app.recorded_memory import with_contents
from sassan.app.settings import Settings
from sassan.errors import SassanError
from sassan.executor import Processes, end_after
from sassan.launches import read as read_launches
from sassan.names import readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sassan.app.launches import LaunchResult
    from sassan.errors import Gap
    from sassan.ir import Function
    from sassan.launches import Launches

LAUNCHES = 4
"""Different launches of one kernel, at most."""
_CODE = (".cubin", ".so", ".o", "")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_PLACE = re.compile(r" at 0x[0-9a-f]+(?=[ :,]|$)")
_WHY = re.compile(r"has no bound \((.+)\): pass")
_MANGLED = re.compile(r"_Z\w+")
_WORDS = 160


class Row(NamedTuple):
    """A kernel with one of its launches; `launch` is '' where none is recorded. Units: us, seconds of the analysis.

    `graph` is 1 where the graph has no gap. `gaps` are codes of what forbids a bound or an estimate, `needs` the fact that closes each.
    """

    kernel: str
    launch: str
    instructions: int
    graph: int
    estimate_us: float | None
    bound_us: float | None
    gaps: str
    needs: str
    seconds: float


class Share(NamedTuple):
    """All rows of a source: `n`, how many have a graph, how many a launch, and of these how many an estimate and a bound."""

    source: str
    n: int
    graphs: int
    launches: int
    estimates: int
    bounds: int
    gaps: str


class _Task(NamedTuple):
    """A kernel of some files, with its launches in a recording, or with none; without a kernel: all of the files."""

    source: str
    files: tuple[str, ...]
    recording: str | None
    kernel: str
    gpu: str
    seconds: float


def run(folder: Path, output: Path | None, gpu: str, seconds: float, only: Sequence[str]) -> int:
    """Print a row per source; write the rows of each as CSV."""
    shares: list[Share] = []
    for source in sorted(path for path in folder.iterdir() if path.is_dir() and (not only or path.name in only)):
        tasks = [task for files, recording in _inputs(source) for task in _tasks(source.name, files, recording, gpu, seconds)]
        # What one process holds of a file serves the next kernel of it.
        rows: list[Row] = []
        # What one process holds of a file serves the next kernel of it; what is done is written, since all may take hours.
        for some in Processes(1).map(_rows, tasks, lost=_lost):
            rows = sorted((*rows, *some), key=lambda row: row[:3])
            if output is not None:
                output.mkdir(parents=True, exist_ok=True)
                write(rows, output / f"{source.name}.csv")
        if rows:
            shares.append(share(source.name, rows))
    _show(shares)
    return 0


def _inputs(source: Path) -> Iterator[tuple[tuple[str, ...], str | None]]:
    """Yield files of code with the recording of their launches, or without one."""
    files = [path for path in sorted(source.iterdir()) if path.is_file() and path.suffix in _CODE]
    stems = {path.stem for path in files}
    for recording in sorted(source.glob("*.toml")):
        yield tuple(str(path) for path in files if path.stem == recording.stem or recording.stem not in stems), str(recording)
    if all(path.stem in stems for path in source.glob("*.toml")):
        yield from (((str(path),), None) for path in files if not path.with_suffix(".toml").is_file())


def _tasks(source: str, files: tuple[str, ...], recording: str | None, gpu: str, seconds: float) -> Iterator[_Task]:
    try:
        names = dict.fromkeys(function.name for _, function in _functions(files) if function.kernel)
    except SassanError as error:  # one program of a hundred has no code, or code that is not read: the others are measured all the same
        print(f"note: {', '.join(files)}: {error}", file=sys.stderr)
        return
    for name in names:
        yield _Task(source, files, recording, name, gpu, seconds)


@lru_cache(maxsize=1)
def _functions(files: tuple[str, ...]) -> tuple[tuple[str, Function], ...]:
    return tuple((file, function) for file in files for function in read_program(file).functions)


@lru_cache(maxsize=1)
def _recorded(files: tuple[str, ...], recording: str) -> Launches:
    return with_contents(_functions(files), read_launches(recording))


def _rows(task: _Task) -> list[Row]:
    """The rows of a kernel: of its graph alone where no launch of it is recorded."""
    end_after(max(600.0, task.seconds))  # to read the files, and what each launch may store to
    functions = _functions(task.files)
    rows: list[Row] = []
    if task.recording is not None:
        recording = _recorded(task.files, task.recording)
        chosen = replace(recording, launches=tuple(each for each in recording.launches if each.kernel == task.kernel))
        settings = AnalysisOptions(gpu=task.gpu).settings()
        known: set[int] = set()
        results = analyze_launches(functions, chosen, settings)
        start = _begin(task)
        for each in results:
            if id(each.result) not in known:
                known.add(id(each.result))
                rows.append(_launched(task, each, start))
            if len(known) == LAUNCHES:
                break
            start = _begin(task)
    function = next(function for _, function in functions if function.name == task.kernel)
    return rows or [_alone(function, _begin(task))]


def _begin(task: _Task) -> float:
    end_after(task.seconds)
    return time.monotonic()


def _launched(task: _Task, each: LaunchResult, start: float) -> Row:
    launch, result = each.launch, each.result
    size = len(result.function.instructions) if result is not None else 0
    shape = f"{shape_text(launch.grid)} of {shape_text(launch.block)}"
    if result is None:
        return Row(_base(task.kernel), shape, size, 0, None, None, *_texts(each.gaps), _since(start))
    expected = estimated(result)
    us = expected.estimate.us if expected.estimate is not None else None
    gaps = (*each.gaps, *expected.gaps)
    return Row(_base(task.kernel), shape, size, int(not result.cfg.gaps), us, each.us, *_texts(gaps), _since(start))


def _alone(function: Function, start: float) -> Row:
    gaps = warp_graph(function, Settings()).gaps
    return Row(_base(function.name), "", len(function.instructions), int(not gaps), None, None, *_texts(gaps), _since(start))


def _lost(task: _Task, error: SassanError) -> list[Row]:
    return [Row(_base(task.kernel), "?" if task.recording else "", 0, 0, None, None, error.code, error.message, task.seconds)]


def _since(start: float) -> float:
    return time.monotonic() - start


def _base(name: str) -> str:
    return short(readable(name))


def _texts(gaps: Sequence[Gap]) -> tuple[str, str]:
    """The codes of gaps, and the facts that close them, each once: a line to paste and why, or what the message says."""
    needs = {f"{gap.code}: {_fact(gap)}" for gap in gaps}
    return " ".join(sorted({gap.code for gap in gaps})), "; ".join(sorted(needs))


def _fact(gap: Gap) -> str:
    """What closes a gap, with what the message says in brackets of the reason, without the places of this code."""
    line, why = remedy(gap), _WHY.search(gap.message)
    if not line or why is None:
        return line or _plain(gap.message)
    return f"{line} ({_plain(why[1])})"


def _plain(message: str) -> str:
    """A message without the places of this code."""
    return _ADDRESS.sub("0x…", _MANGLED.sub("…", _PLACE.sub("", message)))[:_WORDS].replace("; ", ", ")


def share(source: str, rows: Sequence[Row]) -> Share:
    """The summary of a source."""
    launched = [row for row in rows if row.launch]
    codes = Counter(code for row in rows for code in row.gaps.split())
    gaps = " ".join(f"{code}:{count}" for code, count in sorted(codes.items()))
    counts = (sum(row.estimate_us is not None for row in launched), sum(row.bound_us is not None for row in launched))
    return Share(source, len(rows), sum(row.graph for row in rows), len(launched), *counts, gaps)


def _show(shares: Sequence[Share]) -> None:
    table = Table("source", "n", "graph", "launched", "estimate", "bound", "gaps", box=None)
    for each in shares:
        launched = max(1, each.launches)
        parts = (f"{each.graphs / each.n:.0%}", str(each.launches), f"{each.estimates / launched:.0%}", f"{each.bounds / launched:.0%}")
        table.add_row(each.source, str(each.n), *parts, each.gaps or "-")
    Console(width=200, markup=False, highlight=False).print(table)


def write(rows: Sequence[Row], path: Path) -> None:
    """Write rows as CSV: times with four digits, whole seconds."""
    with written(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        for row in rows:
            times = ("" if us is None else f"{us:.4g}" for us in (row.estimate_us, row.bound_us))
            writer.writerow((*row[:4], *times, row.gaps, row.needs, f"{row.seconds:.0f}"))
