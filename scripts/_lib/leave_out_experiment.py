"""How many bounds would be below, had one recorded program not been seen? A check of the figures that were chosen with recorded programs.

Each of `CHOICES` has the value that stood there before, by a publication or by the plainest rule, and the one in use. Without a program,
the value before stands as long as no bound of the others is below with it; so a program refutes a bound that was chosen without it exactly
where it alone needs the value in use. One figure at a time is set back, the others as they are. What only lowers bounds is not among them.
"""

from __future__ import annotations

import csv
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from _lib import silicon_programs
from _lib.silicon_rows import shape_text
from _lib.written import written

from sassan.app import sm_level
from sassan.app.reading import read_program
from sassan.app.settings import Settings
from sassan.errors import SassanError
from sassan.executor import Processes, end_after
from sassan.ipet.sm import makespan
from sassan.launches import read as read_launches
from sassan.products import find
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.validation import launches as validated
from sassan.validation.launches import Hardware, LaunchValidation, validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from sassan.ipet.sm.gpu import GpuMemory
    from sassan.products import Product

_MODEL = "control"
_WORKERS = 2
_REFUSED = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """A figure or rule of the bound, chosen with recorded programs: its value before, the one in use, and which programs showed it.

    The value in use is at most `factor` times as much of a bound as the one before. `memory` has it where it is a figure of `GpuMemory`.
    """

    name: str
    before: str
    used: str
    shown_by: str
    factor: float
    memory: Mapping[str, int] = field(default_factory=dict[str, int])


CHOICES = (
    Choice("clock", "boost clock", "base clock", "maxFlops: loops of arithmetic at 84.6 % of the peak at boost clock", 1710 / 1440),
    Choice("pieces", "L2 keeps what a piece of code accesses", "only where those of all warps fit", "two refuted bounds", 16),
    Choice("dispatch", "no time", "cycles of an SM per block", "shuffle: 16,777,216 blocks", 2, {"dispatch": 0}),
)
"""The launch overhead of the RTX 3080 (1.77 us for 2) was lowered with an empty kernel: without it all bounds are higher."""


class LaunchRatio(NamedTuple):
    """The bound of a launch over its measured time; `before` has those with the value that each choice had before, where that matters."""

    program: str
    kernel: str
    block: str
    grid: str
    ratio: float
    before: Mapping[str, float]


def run(folder: Path, output: Path | None, work: Path | None, seconds: float, only: Sequence[str]) -> int:
    """Print which bounds would be below, for each choice; write the ratio of every launch."""
    tasks = silicon_programs.tasks(folder / "programs", (_MODEL,), work, seconds, only=frozenset(only))
    ready = [task for task in tasks if not task.gap]
    if not ready:
        print(f"no program under {folder}/programs is compiled and recorded", file=sys.stderr)
        return _REFUSED
    ratios = [one for several in Processes(_WORKERS).map(_program, ready, lost=_lost) for one in several]
    print(f"{len(ratios)} launches of {len({one.program for one in ratios})} programs have a bound")
    total = 0
    for choice in CHOICES:
        below = decisive(ratios, choice.name)
        total += len(below)
        needing = sorted({one.program for one in ratios if _needs(one, choice.name)})
        print(f"{choice.name}: {choice.before} -> {choice.used} ({choice.shown_by}); needed by {', '.join(needing) or 'no program'}")
        for one in below:
            print(f"  below without {one.program}: {one.before[choice.name]:.2f} {one.kernel} {one.grid} x {one.block}")
    print(f"bounds below, had their program not been seen: {total} of {len(ratios)}")
    if output is not None:
        _write(ratios, output)
    return 0


def decisive(ratios: Iterable[LaunchRatio], name: str) -> list[LaunchRatio]:
    """Return the launches with a bound below if the program that alone needs the value in use had not been seen."""
    needing = [one for one in ratios if _needs(one, name)]
    return needing if len({one.program for one in needing}) == 1 else []


def _needs(one: LaunchRatio, name: str) -> bool:
    return one.before.get(name, one.ratio) < 1 <= one.ratio


def _program(task: silicon_programs.Task) -> list[LaunchRatio]:
    try:
        used = dict(_ratios(task, None))
        before: dict[str, dict[tuple[str, str, str], float]] = {}
        for choice in CHOICES:
            if any(ratio < choice.factor for ratio in used.values()):
                before[choice.name] = dict(_ratios(task, choice.name))
    except SassanError as error:
        return _lost(task, error)
    return [
        LaunchRatio(task.program, *launch, ratio, {name: known[launch] for name, known in before.items() if launch in known})
        for launch, ratio in used.items()
    ]


def _lost(task: silicon_programs.Task, error: SassanError) -> list[LaunchRatio]:
    print(f"{task.program}: {error.code}", file=sys.stderr)
    return []


def _ratios(task: silicon_programs.Task, without: str | None) -> Iterable[tuple[tuple[str, str, str], float]]:
    """Return the ratio of each launch that has a bound; `without`: the choice that has its value before."""
    end_after(task.seconds)
    gpu, clock = find(silicon_programs.GPU), task.clock
    functions = {None: read_program(task.executable).functions}
    settings = Settings(costs=models.model(_MODEL, Tables()))
    with ExitStack() as patches:
        patches.enter_context(patch.object(validated, "estimated", lambda *_arguments: None))  # bounds only
        if without == "clock":
            gpu, clock = replace(gpu, kept_clock=None), gpu.boost_clock
        elif without == "pieces":
            patches.enter_context(patch.object(makespan, "kept", lambda _nodes, moved, _memory, _warps: dict(moved)))
        elif without is not None:
            figures = next(choice.memory for choice in CHOICES if choice.name == without)
            patches.enter_context(patch.object(sm_level, "memory_of", _with(figures, sm_level.memory_of)))
        hardware = Hardware(gpu=gpu, clock_hz=clock * 1e6)
        made = list(validate(task.rows, functions, settings, hardware, read_launches(task.launches)))
    return [(_key(one), one.ratio) for one in made if one.ratio is not None]


def _with(figures: Mapping[str, int], memory_of: Callable[[Product], GpuMemory]) -> Callable[[Product], GpuMemory]:
    def changed(product: Product) -> GpuMemory:
        return replace(memory_of(product), **figures)

    return changed


def _key(one: LaunchValidation) -> tuple[str, str, str]:
    return one.launch.kernel, shape_text(one.launch.block), shape_text(one.launch.grid)


def _write(ratios: Sequence[LaunchRatio], output: Path) -> None:
    with written(output) as text:
        writer = csv.writer(text)
        writer.writerow(("program", "kernel", "block", "grid", "ratio", *(f"before_{choice.name}" for choice in CHOICES)))
        for one in ratios:
            known = (f"{one.before[choice.name]:.4f}" if choice.name in one.before else "" for choice in CHOICES)
            writer.writerow((one.program, one.kernel, one.block, one.grid, f"{one.ratio:.4f}", *known))
