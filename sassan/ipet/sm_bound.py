"""How long W warps take on one SM when each may take any path: two optima over one warp graph (timing.md, "The SM-level bound").

The model is that of makespan.md: one instruction of a warp at most per cycle, capacities per unit and issue, work-conserving; instructions
of a unit with capacity 1/n occupy it for n cycles. Write C(v) for the isolated cost of warp v, n_U(v) for its instructions of unit U, and
s_U = min(sigma_U, issue). README.md, "W warps", proves

    without block barriers   T <= max_v (C(v) + own(v)) + floor((W - 1) * max_v sum_U n_U(v) / s_U)
    with block barriers      T <= W * max_v (C(v) + own(v))

where own(v) = sum over units with sigma_U < 1 of n_U(v) * (1 / sigma_U - 1): a warp may wait for a unit that it occupies itself.
"""

from collections.abc import Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, lcm

from sassan.alphabet import Letter
from sassan.errors import Gap, UsageError
from sassan.ilp.model import Model
from sassan.ilp.solve import Status, solve
from sassan.ipet.rows import Columns
from sassan.ipet.system import objective
from sassan.ipet.wcet import Problem
from sassan.machine import Multiprocessor

Letters = Mapping[Letter, int]
"""How often each letter occurs in a block or a string."""

_ANY_PATH = "all warps are resident from the start, each takes any path of its own"
_CONSERVING = "the SM is work-conserving, any warp may use any unit (whole-SM model); one instruction per warp and cycle"
_SERIAL = "block barriers: the bound is that of one warp after the other; every barrier is reached by all warps of its block"


@dataclass(frozen=True, slots=True)
class SmBound:
    """`value` in cycles of the cost model for all `warps`; None where there is no bound, and `gaps` say why."""

    warps: int
    value: int | None
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def sm_bound(one: Problem, letters: Many[Letters], warps: int, machine: Multiprocessor, *, barriers: bool) -> SmBound:
    """Return the bound for `warps` warps; `letters` per node of the graph, `barriers` says whether a block holds a block barrier.

    Raises UsageError for less than one warp or more than are resident.
    """
    check_warps(warps, machine)
    said = (*one.assumptions, *machine.assumptions, _ANY_PATH, _CONSERVING, *((_SERIAL,) if barriers else ()))
    if one.model is None:
        return SmBound(warps, None, said, one.gaps)
    alone = _maximum(one, one.model, [cost + _own(machine, row) for cost, row in zip(one.costs, letters, strict=True)])
    if alone is not None and (barriers or warps == 1):
        return SmBound(warps, floor(warps * alone), said)
    others = _maximum(one, one.model, [occupancy(machine, row) for row in letters])
    if alone is None or others is None:
        gap = Gap(one.cfg.nodes[one.cfg.entry].start, "no-proof", "the solver proved no optimum of the occupancies")
        return SmBound(warps, None, said, (gap,))
    return SmBound(warps, floor(alone) + floor((warps - 1) * others), said)


def check_warps(warps: int, machine: Multiprocessor) -> None:
    """Raise UsageError unless so many warps can be resident on the SM."""
    if not 1 <= warps <= machine.warps:
        message = f"{warps} warps cannot be resident on an SM of compute capability {machine.capability}"
        raise UsageError("bad-warps", message, hint=f"1 to {machine.warps}")


def path_bound(cost: int, letters: Letters, warps: int, machine: Multiprocessor, *, barriers: bool) -> int:
    """Return the bound if every warp takes the one path that costs `cost` alone and has these letters: no bound of the kernel."""
    check_warps(warps, machine)
    alone = cost + _own(machine, letters)
    return floor(warps * alone if barriers else alone + floor((warps - 1) * occupancy(machine, letters)))


def occupancy(machine: Multiprocessor, letters: Letters) -> Fraction:
    """Return sum_U n_U / min(sigma_U, issue): how many cycles these instructions can make another warp wait at most."""
    return sum((count / min(machine.capacity(letter), Fraction(machine.issue)) for letter, count in letters.items()), Fraction(0))


def _own(machine: Multiprocessor, letters: Letters) -> Fraction:
    slow = [(count, machine.capacity(letter)) for letter, count in letters.items() if machine.capacity(letter) < 1]
    return sum((count * (1 / sigma - 1) for count, sigma in slow), Fraction(0))


def _maximum(one: Problem, model: Model, costs: Many[Fraction]) -> Fraction | None:
    """Return the largest sum of rational block costs over the paths of the system, or None without a proof."""
    scale = lcm(*(cost.denominator for cost in costs))
    columns = Columns(0, tuple(range(1, 1 + len(one.cfg.edges))))
    whole = [int(cost * scale) for cost in costs]
    solution = solve(replace(model, objective=objective(one.cfg, columns, whole)), one.setup.solver, one.setup.time_limit)
    if solution.status is not Status.OPTIMAL or solution.value is None:
        return None
    return Fraction(solution.value, scale)
