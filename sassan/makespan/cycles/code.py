"""What warps run, in cycles: instructions with their control codes and units, the path that all warps take, and the SM.

The model is that of the bounds (docs/proofs/many-warps.md). A warp is *ready* for its next instruction when the stall of the one before has
passed, the barriers that it waits for are clear, its own earlier instruction has left the unit, and, at a block barrier or fence, all that
it issued has ended. An instruction keeps one of the places of its unit for its interval, and an access the one memory pipeline of the SM
for as long as its transactions say. In every cycle instructions issue until no warp that is ready finds its unit, the pipeline and an issue
slot free. All times are the longest of the cost model: a machine that obeys them is one for which the bounds hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TimedStep:
    """One instruction; times in cycles from its issue.

    `delay`: until the warp may issue the next one. `waits`: the barriers, as bits, that have to be clear. `sets`: of up to two barriers,
    the number and when each is clear. `drains`: all that the warp issued has ended. `ends`: it has ended, and left its unit. `unit` is the
    number of its unit, one of whose places it keeps for `interval`; `own`: how long the warp itself finds that unit taken. `pipeline`: how
    long it keeps the memory pipeline. `opens`: a block barrier, behind which all warps of its block go on `delay` after the last came.
    """

    delay: int
    waits: int
    sets: tuple[tuple[int, int], ...]
    drains: bool
    ends: int
    unit: int
    interval: int
    own: int
    pipeline: int = 0
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Core:
    """An SM: `places` of each unit, and the instructions that issue in a cycle."""

    places: tuple[int, ...]
    issue: int


@dataclass(frozen=True, slots=True)
class ResidentCode:
    """`warps` warps in blocks of `block` (the last may be smaller) that run `steps[path[0]]`, `steps[path[1]]`, ... on an SM."""

    steps: tuple[TimedStep, ...]
    path: Sequence[int]
    core: Core
    warps: int
    block: int
