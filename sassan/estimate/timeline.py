"""The simulated SM over time: how busy its schedulers, its units and its share of the memory are, and how many warps it holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sassan.estimate.program import TICK, Figures, Numbers, SimulatedRun, WarpProgram

_MEMORY = ("memory", "l2", "dram")


@dataclass(frozen=True, slots=True)
class Timeline:
    """Pieces of `width` simulated cycles each: `busy` are the shares of each piece for which a resource is busy, `warps` those at its end.

    `blocks` are the blocks of the SM that were simulated; iterations of long loops are cut short.
    """

    width: int
    blocks: int
    busy: Mapping[str, tuple[float, ...]]
    warps: tuple[int, ...]


def timeline(run: SimulatedRun, program: WarpProgram, units: Sequence[str], schedulers: int) -> Timeline:
    """Return the timeline of a run; `units` are the names of those of the program."""
    used = np.flatnonzero(run.timeline.any(axis=1))
    columns = run.timeline[: int(used[-1]) + 1].T
    busy = {f"scheduler {at + 1}": columns[at] / run.width for at in range(schedulers)}
    for at, unit in enumerate(units):
        parallel = 1 if program.shared[at] else schedulers
        busy[unit] = _from(columns[schedulers + at], run.width * parallel)
    for at, name in enumerate(_MEMORY):
        # The work of a queue is noted at its end.
        busy[name] = _from(columns[schedulers + len(units) + at][::-1], run.width * TICK)[::-1]
    shares = {name: tuple(np.round(pieces, 3).tolist()) for name, pieces in busy.items()}
    return Timeline(run.width, len(run.dispatched), shares, tuple(np.cumsum(columns[-1]).tolist()))


def _from(work: Numbers, capacity: int) -> Figures:
    """Return how busy a resource is that begins work in each piece; what a piece cannot hold is done in the next ones."""
    out, left = np.zeros(len(work)), 0
    for at, more in enumerate(work.tolist()):
        done = min(left + more, capacity)
        out[at], left = done / capacity, left + more - done
    return out
