"""The programs of a folder of recordings (`programs/measured.csv`): compiled, recorded without a GPU, and held to their measured times.

The table was measured on an RTX 3080 by another compiler: kernels are paired by name, block and grid. A program takes its arguments from
the table; where it makes no such launch here, or its kernel is not in it, the row has no bound, and a gap says so.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from _lib.record_experiment import record_program
from _lib.record_programs import build

from sassan import launches as recordings
from sassan import pipeline, recorded
from sassan.errors import SassanError
from sassan.executor import Processes, end_after
from sassan.pipeline import Settings
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.validation.launches import Hardware, validate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sassan.recorded import RecordedLaunch

GPU = Hardware(68, 1.71e9)
"""NVIDIA GeForce RTX 3080: SMs and boost clock of NVIDIA's specification."""
ARCH = "sm_86"
MODELS = ("control", "table")


class Row(NamedTuple):
    """One measured kernel under one model; units: cycles. `launched`: the program makes the launch here, with arguments."""

    program: str
    kernel: str
    block: str
    grid: str
    model: str
    measured: float | None
    bound: int | None
    gaps: tuple[str, ...]
    launched: bool
    loops: int
    bounded_loops: int


class _Task(NamedTuple):
    program: str
    executable: str
    launches: str
    rows: tuple[RecordedLaunch, ...]
    seconds: float


def compare(data: Path, work: Path, seconds: float, processes: int) -> Iterator[Row]:
    """Yield every row of the table under every model; a program gets `seconds` to run, and as many to be analyzed."""
    folder = data / "programs"
    table = recorded.read(str(folder / "measured.csv"))
    assert isinstance(table, recorded.Recording)
    rows: dict[str, list[RecordedLaunch]] = defaultdict(list)
    for launch in table.launches:
        rows[launch.program].append(launch)
    built = build(folder, rows, work.resolve(), ARCH, processes)
    tasks: list[_Task] = []
    for program, made in built.items():
        if made.executable is None:
            yield from _none(program, rows[program], "not-compiled")
            continue
        place = made.folder / "launches.toml"
        if not place.is_file():
            record_program(made, rows[program][0].arguments, place, seconds)
        if place.is_file():
            tasks.append(_Task(program, str(made.executable), str(place), tuple(rows[program]), seconds))
        else:
            yield from _none(program, rows[program], "not-recorded")
    for several in Processes(processes).map(_analyzed, tasks, lost=_lost):
        yield from several


def _analyzed(task: _Task) -> list[Row]:
    end_after(task.seconds)
    try:
        program = recordings.read(task.launches)
        functions = pipeline.read(task.executable).functions
    except SassanError as error:
        return _none(task.program, task.rows, error.code)
    out: list[Row] = []
    for model in MODELS:
        settings = Settings(costs=models.model(model, Tables()))
        for one in validate(task.rows, {None: functions}, settings, GPU, program):
            loops = one.analysis.bounds.of_loop if one.analysis is not None else ()
            gaps = tuple(sorted({gap.code for gap in one.gaps}))
            known = sum(bound is not None for bound in loops)
            cells = _cells(task.program, one.launch)
            out.append(Row(*cells, model, one.cycles, one.bound, gaps, one.arguments, len(loops), known))
    return out


def _lost(task: _Task, error: SassanError) -> list[Row]:
    return _none(task.program, task.rows, error.code)


def _none(program: str, rows: tuple[RecordedLaunch, ...] | list[RecordedLaunch], gap: str) -> list[Row]:
    cycles = [None if row.time_ns is None or GPU.clock_hz is None else row.time_ns * GPU.clock_hz / 1e9 for row in rows]
    return [
        Row(*_cells(program, row), model, measured, None, (gap,), launched=False, loops=0, bounded_loops=0)
        for model in MODELS
        for row, measured in zip(rows, cycles, strict=True)
    ]


def _cells(program: str, launch: RecordedLaunch) -> tuple[str, str, str, str]:
    return program, launch.kernel, _extents(launch.block), _extents(launch.grid)


def _extents(shape: tuple[int, int, int] | None) -> str:
    return "" if shape is None else "x".join(map(str, shape))
