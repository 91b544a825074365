"""The programs of a folder of recordings (`programs/measured.csv`): compiled, recorded without a GPU, and held to their measured times.

The table was measured on an RTX 3080 with the code of clang -O3: what clang does not compile has no bound here, since bounds of other code
are not those of these times. Kernels are paired by name, block and grid. A program takes its arguments from the table. Where it does not
make a launch here, the launch is bounded without its arguments.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from _lib.record_experiment import record_program
from _lib.record_programs import build, find_clang
from _lib.silicon_rows import Row, apart, roofline, shape_text, slopes, terms

from sassan import recorded
from sassan.app.reading import read_program
from sassan.app.settings import Settings
from sassan.errors import SassanError
from sassan.executor import Processes, end_after
from sassan.launches import read as read_launches
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.validation.launches import Hardware, validate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sassan.recorded import RecordedLaunch
    from sassan.validation.launches import LaunchValidation

GPU = "RTX 3080"
"""On which the programs were measured."""
SOURCE = "programs"
_ARCH = "sm_86"
_WORKERS = 2


def clock(*, boost: bool = False) -> int:
    """Return at which clock the programs ran, in MHz: that which their fastest loops of arithmetic show, or the boost clock."""
    gpu = find(GPU)
    return gpu.boost_clock if boost else gpu.kept_clock or gpu.boost_clock


class Task(NamedTuple):
    """One program: its code, its launches recorded here, and its measured ones; `gap` is why it cannot be analyzed, or ''.

    `clock` in MHz is that at which it ran.
    """

    program: str
    executable: str
    launches: str
    rows: tuple[RecordedLaunch, ...]
    models: tuple[str, ...]
    seconds: float
    gap: str
    clock: int


def rows(folder: Path, cost_models: tuple[str, ...], work: Path | None, seconds: float, *, boost: bool = False) -> Iterator[Row]:
    """Yield a row per measured launch and model; a program gets `seconds` to run, and four times as many to be analyzed.

    `work` is where programs are compiled and launches are recorded, and found again; None: a temporary folder. `boost`: times are taken
    at the boost clock.
    """
    ready: list[Task] = []
    for task in tasks(folder, cost_models, work, seconds, boost=boost):
        if task.gap:
            yield from _without(task, task.gap)
        else:
            ready.append(task)
    for several in Processes(_WORKERS).map(_analyzed, ready, lost=_lost):
        yield from several


def tasks(  # noqa: PLR0913 - what to run, and how
    folder: Path,
    cost_models: tuple[str, ...],
    work: Path | None,
    seconds: float,
    *,
    boost: bool = False,
    only: frozenset[str] = frozenset(),
) -> list[Task]:
    """Compile and record all programs, or those named; the other arguments are those of `rows`."""
    table_path = folder / "measured.csv"
    if not table_path.is_file():
        return []
    clang = find_clang()
    if clang is None or shutil.which("nvcc") is None or shutil.which("make") is None:
        print(f"{table_path.name}: skipped, the programs were measured as clang compiles them: that needs clang, a CUDA toolkit and make")
        return []
    table = recorded.read(str(table_path))
    assert isinstance(table, recorded.Recording)
    measured: dict[str, list[RecordedLaunch]] = defaultdict(list)
    for launch in table.launches:
        if not only or launch.program in only:
            measured[launch.program].append(launch)
    scratch = (work or Path(tempfile.mkdtemp(prefix="sassan-programs-"))).resolve()
    out: list[Task] = []
    for program, made in build(folder, measured, scratch, _ARCH, clang).items():
        place = made.folder / "launches.toml"
        if made.executable is not None and not place.is_file():
            record_program(made, measured[program][0].arguments, place, seconds)
        gap = "not-compiled" if made.executable is None else "not-recorded" if not place.is_file() else ""
        out.append(
            Task(program, str(made.executable), str(place), tuple(measured[program]), cost_models, 4 * seconds, gap, clock(boost=boost))
        )
    return out


def _analyzed(task: Task) -> list[Row]:
    try:
        return [_row(task.program, found, model) for model in task.models for found in _validated(task, model)]
    except SassanError as error:
        return _without(task, error.code)


def _validated(task: Task, model: str) -> Iterator[LaunchValidation]:
    end_after(task.seconds)
    program = read_launches(task.launches)
    functions = read_program(task.executable).functions
    gpu = Hardware(gpu=find(GPU), clock_hz=task.clock * 1e6)
    return validate(task.rows, {None: functions}, Settings(costs=models.model(model, Tables())), gpu, program)


def _lost(task: Task, error: SassanError) -> list[Row]:
    return _without(task, error.code)


def _row(program: str, validation: LaunchValidation, model: str) -> Row:
    codes = " ".join(sorted({gap.code for gap in validation.gaps}))
    us = None if validation.launch.time_ns is None else validation.launch.time_ns / 1e3
    block, grid = shape_text(validation.launch.block), shape_text(validation.launch.grid)
    group = ", ".join(filter(None, ("launched here", apart(validation)))) if validation.arguments else "arguments unknown"
    name = f"{program}:{validation.launch.kernel}"
    return Row(
        SOURCE,
        model,
        name,
        block,
        grid,
        None,
        us,
        validation.cycles,
        validation.bound,
        validation.estimated,
        roofline(validation),
        codes,
        group=group,
        **terms(validation),
        slopes=slopes(validation),
    )


def _without(task: Task, gap: str) -> list[Row]:
    """Return rows without a bound."""
    return [
        Row(
            SOURCE,
            model,
            f"{task.program}:{launch.kernel}",
            shape_text(launch.block),
            shape_text(launch.grid),
            None,
            None if launch.time_ns is None else launch.time_ns / 1e3,
            None if launch.time_ns is None else launch.time_ns * task.clock / 1e3,
            None,
            None,
            None,
            gap,
            group="not launched here",
        )
        for model in task.models
        for launch in task.rows
    ]
