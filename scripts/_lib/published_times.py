"""Published times of kernels on named GPUs, beside their bounds and estimates (scripts/check_published)."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from _lib.written import written
from rich.console import Console
from rich.table import Table

from sassan.app.analysis import analyze
from sassan.app.estimating import estimated
from sassan.app.options import AnalysisOptions
from sassan.app.reading import read_program
from sassan.errors import SassanError
from sassan.executor import Processes, end_after
from sassan.recorded.names import bare

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sassan.app.settings import Settings
    from sassan.ir import Function

_US = {"us": 1.0, "ms": 1e3}
_RATES = {"GB/s": 1e3, "GFLOPS": 1e3, "TFLOPS": 1e6}
"""Units of work in a microsecond."""
_REQUIRED = ("kernel", "file", "gpu", "block", "grid", "measured", "unit")
_WORKERS = 2


@dataclass(frozen=True, slots=True)
class PublishedLaunch:
    """A launch of a measurement: `kernel` of the cubin `file`; `clock` in MHz, None for the boost clock."""

    kernel: str
    file: str
    gpu: str
    block: str
    grid: str
    shared: int | None = None
    parameters: tuple[str, ...] = ()
    clock: int | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured, `us` microseconds in all without what is not the kernels' own."""

    label: str
    us: float
    launches: tuple[PublishedLaunch, ...]


class ComparedTime(NamedTuple):
    """A measurement with its bound and its estimate, in microseconds; None with the codes of gaps or errors."""

    label: str
    gpu: str
    measured_us: float
    bound_us: float | None
    estimate_us: float | None
    bound_ratio: float | None
    estimate_ratio: float | None
    status: str


def read(path: Path) -> list[Measurement]:
    """Return the measurements of a CSV. Raises ValueError for what is missing or no number, OSError."""
    grouped: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as text:
        for number, row in enumerate(csv.DictReader(text), 2):
            missing = [name for name in _REQUIRED if not (row.get(name) or "").strip()]
            if missing:
                raise ValueError(f"line {number}: no {', '.join(missing)}")
            label = (
                row.get("label") or f"{row['gpu']}: {bare(row['kernel'])} {row['grid']} x {row['block']} {row.get('params') or ''}".strip()
            )
            grouped[label].append(row)
    return [Measurement(label, _us(rows[0]), tuple(_launch(row, path.parent) for row in rows)) for label, rows in grouped.items()]


def _us(row: Mapping[str, str]) -> float:
    value, unit = float(row["measured"]), row["unit"]
    if unit in _RATES:
        time = float(row["work"]) / (value * _RATES[unit])
    elif unit in _US:
        time = value * _US[unit]
    else:
        raise ValueError(f"'{unit}' is not a unit: one of {', '.join((*_US, *_RATES))}")
    time -= float(row.get("overhead") or 0)
    if time <= 0:
        raise ValueError(f"a measurement of {time:g} us")
    return time


def _launch(row: Mapping[str, str], folder: Path) -> PublishedLaunch:
    shared, clock = (int(row[name]) if row.get(name) else None for name in ("shared", "clock"))
    given = tuple(filter(None, (row.get("params") or "").split(";")))
    return PublishedLaunch(row["kernel"], str(folder / row["file"]), row["gpu"], row["block"], row["grid"], shared, given, clock)


class _Task(NamedTuple):
    measurement: Measurement
    model: str
    seconds: float
    estimates: bool


def compared(measurements: Sequence[Measurement], model: str, seconds: float, *, estimates: bool) -> Iterator[ComparedTime]:
    """Yield each measurement with its bound; an analysis gets `seconds`."""
    tasks = [_Task(each, model, seconds, estimates) for each in measurements]
    yield from Processes(_WORKERS).map(_compared, tasks, lost=_lost)


def _lost(task: _Task, error: SassanError) -> ComparedTime:
    return _row(task.measurement, None, None, error.code)


def _compared(task: _Task) -> ComparedTime:
    end_after(task.seconds * len(task.measurement.launches))
    bound: float | None = 0.0
    estimate: float | None = 0.0 if task.estimates else None
    codes: set[str] = set()
    try:
        for launch in task.measurement.launches:
            result = analyze(_function(launch), _settings(launch, task.model))
            bound = None if bound is None or result.grid_us is None else bound + result.grid_us
            codes |= {gap.code for gap in result.gaps} if result.grid_us is None else set()
            if task.estimates:
                known = estimated(result).estimate
                gpu = result.settings.gpu
                estimate = None if estimate is None or known is None or gpu is None else estimate + gpu.us(known.cycles)
    except SassanError as error:
        return _row(task.measurement, None, None, error.code)
    return _row(task.measurement, bound, estimate, " ".join(sorted(codes)) if bound is None else "")


def _function(launch: PublishedLaunch) -> Function:
    kernels = [function for function in read_program(launch.file).functions if function.kernel]
    exact = [function for function in kernels if function.name == launch.kernel]
    found = exact or [function for function in kernels if bare(function.name) == launch.kernel]
    if len(found) != 1:
        raise SassanError("unknown-kernel", f"{len(found)} kernels of {launch.file} are {launch.kernel}")
    return found[0]


def _settings(launch: PublishedLaunch, model: str) -> Settings:
    options = AnalysisOptions(
        block=launch.block, grid=launch.grid, parameters=launch.parameters, shared=launch.shared, gpu=launch.gpu, model=model
    )
    settings = options.settings()
    if launch.clock is None or settings.gpu is None:
        return settings
    return replace(settings, gpu=replace(settings.gpu, boost_clock=launch.clock, kept_clock=None))


def _row(measurement: Measurement, bound: float | None, estimate: float | None, codes: str) -> ComparedTime:
    below = bound is not None and bound < measurement.us
    ratios = [value / measurement.us if value is not None else None for value in (bound, estimate)]
    status = "BELOW" if below else codes or ("above" if bound is not None else "no bound")
    return ComparedTime(measurement.label, measurement.launches[0].gpu, measurement.us, bound, estimate, *ratios, status)


def show(rows: Iterator[ComparedTime], output: Path | None) -> int:
    """Print the rows, and write them where a file is named; return 1 where a bound is below."""
    made = list(rows)
    table = Table("measurement", "GPU", "measured us", "bound us", "estimate us", "bound", "estimate", "status", box=None)
    for row in made:
        table.add_row(row.label, row.gpu, *(f"{value:.2f}" if value is not None else "-" for value in row[2:7]), row.status)
    console = Console(width=220, markup=False, highlight=False)
    console.print(table)
    below = sum(row.status == "BELOW" for row in made)
    bounded = sum(row.bound_us is not None for row in made)
    console.print(f"{len(made)} measurements, {bounded} with a bound, {below} below")
    if output is not None:
        with written(output) as text:
            writer = csv.writer(text)
            writer.writerow(ComparedTime._fields)
            writer.writerows(made)
    return int(below > 0)
