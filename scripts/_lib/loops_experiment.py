"""Which loops the code itself bounds, and why the others have no bound: samples, and programs with their recorded launches.

A loop counts once per kernel and launch that differs from the others in shape or arguments. Each bound is held to runs of the SIMT machine
with warps of that launch: a thread that takes more back edges than its bound allows is a fault.
"""

from __future__ import annotations

import csv
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from _lib.record_experiment import measured_programs, record_program
from _lib.record_programs import build
from _lib.written import written

from sassan.app.analysis import warp_graph
from sassan.app.launches import kernel_of, settings_of
from sassan.app.reading import read_program
from sassan.app.settings import Settings
from sassan.errors import Gap, SassanError
from sassan.executor import Processes, end_after
from sassan.ipet.loop_bounds import infer
from sassan.ipet.loop_bounds.recheck import Effort, back_edge_counts
from sassan.isa.languages import isa_of
from sassan.launches import read as read_launches
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting, places
from sassan.warpcfg.externals import clobbering

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sassan.ir import Function

_ARCH = "sm_86"
_COLUMNS = ("file", "kernel", "launch", "loop", "bound", "why", "executed")
_BLOCK, _GRID = (128, 1, 1), (30, 1, 1)
_WORD, _COUNT = 4, 100
_POINTER = 1 << 32
"""What samples get as parameters: words of 4 bytes are 100, anything wider is an address."""
_EFFORT = Effort(operations=12_000, worth=40_000)
_MOST_LAUNCHES = 8
"""Different launches of one kernel, at most."""
_WORKERS = 2


class Row(NamedTuple):
    """One loop of one kernel for one launch; `bound` is None without one, `executed` None where nothing was run."""

    file: str
    kernel: str
    launch: str
    loop: str
    bound: int | None
    why: str
    executed: int | None

    @property
    def is_below(self) -> bool:
        """Say whether a run went back more often than the bound says."""
        return self.bound is not None and self.executed is not None and self.executed > self.bound


class _Task(NamedTuple):
    """One file of code: with the launches of a recording, or (None) with those that samples get."""

    group: str
    name: str
    code: str
    recording: str | None
    seconds: float


def run(folder: Path, output: Path | None, work: Path | None, seconds: float, only: Sequence[str]) -> int:
    """Print the share of loops with a bound per group of files, and the reasons of the others; 1 where a bound is below a run."""
    tasks = list(_programs(folder / "programs", work, seconds, only) if (folder / "programs").is_dir() else _samples(folder, seconds, only))
    groups: dict[str, list[Row]] = {}
    for task, found in zip(tasks, Processes(_WORKERS).map(_rows, tasks, lost=_lost), strict=True):
        groups.setdefault(task.group, []).extend(found)
    for group, rows in sorted(groups.items()):
        bounded = sum(row.bound is not None for row in rows)
        checked = sum(row.executed is not None for row in rows if row.bound is not None)
        print(
            f"{group}: {bounded} of {len(rows)} loops bounded ({bounded / max(1, len(rows)):.1%}); {checked} of these bounds held to runs"
        )
    every = [row for rows in groups.values() for row in rows]
    reasons = Counter(_kind(row.why) for row in every if row.bound is None)
    for reason, count in reasons.most_common():
        print(f"{count:6} without a bound: {reason}")
    below = [row for row in every if row.is_below]
    for row in below:
        print(f"below a run: {row}")
    print(f"{len(below)} bounds below executed trips")
    if output is not None:
        with written(output) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(_COLUMNS)
            writer.writerows(every)
    return int(bool(below))


def _samples(folder: Path, seconds: float, only: Sequence[str]) -> Iterator[_Task]:
    for path in sorted(folder.glob("sm_*/*.cubin")):
        if not only or path.stem in only or path.parent.name in only:
            yield _Task(path.parent.name, path.stem, str(path), None, seconds)


def _programs(folder: Path, work: Path | None, seconds: float, only: Sequence[str]) -> Iterator[_Task]:
    scratch = (work or Path(tempfile.mkdtemp(prefix="sassan-programs-"))).resolve()
    programs = {name: one for name, one in measured_programs(folder / "measured.csv").items() if not only or name in only}
    for name, made in build(folder, programs, scratch, _ARCH).items():
        place = made.folder / "launches.toml"
        if made.executable is not None and not place.is_file():
            record_program(made, programs[name].arguments, place, seconds)
        if made.executable is not None and place.is_file():
            yield _Task("programs", name, str(made.executable), str(place), 10 * seconds)
        else:
            print(f"{name}: not {'compiled' if made.executable is None else 'recorded'}")


def _lost(task: _Task, error: SassanError) -> list[Row]:
    print(f"{task.name}: {error.message}")
    return []


def _rows(task: _Task) -> list[Row]:
    end_after(task.seconds)
    functions = read_program(task.code).functions
    return [row for function, settings in _launched(task, functions) for row in _row(task, function, settings)]


def _launched(task: _Task, functions: Sequence[Function]) -> Iterator[tuple[Function, Settings]]:
    if task.recording is None:
        yield from ((one, Settings(launch=LaunchConfiguration(_BLOCK, _GRID, tuple(_told(one))))) for one in functions)
        return
    seen: Counter[int] = Counter()
    known: set[tuple[int, LaunchConfiguration]] = set()
    for launch in read_launches(task.recording).launches:
        place = kernel_of([("", one) for one in functions], launch)
        if isinstance(place, Gap) or seen[place] == _MOST_LAUNCHES:
            continue
        settings = settings_of(Settings(), functions[place], launch)
        if (place, settings.launch) not in known:
            known.add((place, settings.launch))
            seen[place] += 1
            yield functions[place], settings


def _told(function: Function) -> Iterable[Setting]:
    return (
        Setting("", one.offset, _COUNT if one.size <= _WORD else _POINTER, one.size) for one in places(function) if one.size <= 2 * _WORD
    )


def _row(task: _Task, function: Function, settings: Settings) -> Iterator[Row]:
    try:
        cfg = warp_graph(function, settings)
    except SassanError as error:
        print(f"{task.name}: {function.name}: {error.message}")
        return
    spins = set(cfg.spins)
    facts = isa_of(function).facts
    known = infer(cfg, clobbering(facts, cfg.externals), settings.launch)
    runs = None if cfg.externals else back_edge_counts(cfg, facts, (settings.launch,), _EFFORT, [one.bound for one in known])
    launch = settings.launch.describe(function)
    for one in known:
        if one.head not in spins:
            executed = None if runs is None else runs[0][one.loop]
            yield Row(
                f"{task.group}/{task.name}", function.name, launch, f"0x{one.head:04x}", one.bound, one.advice or one.reason, executed
            )


def _kind(why: str) -> str:
    """Return a reason without its places."""
    return re.sub(r"0x[0-9a-f]+", "0x…", re.sub(r"the (result) of (\w+) at 0x[0-9a-f]+", r"\1 of \2", why))[:160]
