"""Engine `beam`: slot by slot, a limited number of states that can still take longest; wider beams follow while there is time.

It finds lower bounds: a schedule reaches every state, and the schedule of the last state is validated before it is reported.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sassan.jit import clock
from sassan.makespan.beam.plain import BeamRules, BeamState, advance, first, rules
from sassan.makespan.compiling import may_begin
from sassan.makespan.engine import Budget, EngineResult, Reporter
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule, check
from sassan.makespan.states import PLAIN, ProblemLayout, count_letter_states, layout, over, team_sizes
from sassan.makespan.timed.engines import run_beam

if TYPE_CHECKING:
    from sassan.makespan.states_kernel import Array

WIDTHS = (1, 16, 256, 2048, 16_384, 65_536)
_PLAIN_WIDTH = 64
_PLAIN_WIDTHS = (1, 64, 512)
_WORTH = 3_000_000
"""Kept states, over all slots, up to which a beam without a deadline grows: a second or two."""
_PORTION = 1 << 16
"""States kept between two checks of the clock."""
_FEW = 1024


@dataclass(frozen=True, slots=True)
class BeamWidth:
    """How many states are kept per slot; of more than `most` choices, per unit and number of warps that run, `sample` are drawn."""

    states: int
    most: int
    sample: int


def width(states: int) -> BeamWidth:
    """Return the usual limits for this many states per slot."""
    return BeamWidth(states, min(4096, max(16, 4 * states)), min(256, max(4, states // 4)))


class Beam:
    """The beam search, one pass per width."""

    name = "beam"

    def __init__(self, widths: tuple[int, ...] = WIDTHS) -> None:
        """Search with these numbers of states per slot, one after the other."""
        self._widths = widths

    def run(self, problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
        """Return the longest schedule of all passes that ended in time."""
        if not problem.one_slot:
            return run_beam(problem, budget, report)
        begin = clock.now()
        best = EngineResult(self.name)
        for schedule in _passes(problem, self._widths, budget):
            if best.lower is None or schedule.makespan > best.lower:
                check(problem, schedule)
                best = EngineResult(self.name, schedule.makespan, None, schedule, "", clock.now() - begin)
                report(best)
        return best


def _passes(problem: Problem, widths: tuple[int, ...], budget: Budget) -> Iterator[Schedule]:
    cut = layout(problem, "letters")
    if count_letter_states(team_sizes(problem)) <= PLAIN:
        widths, run = (_PLAIN_WIDTH,), _plain_pass
    elif may_begin("beam.kernel", budget.left):
        run = _compiled_pass
    else:
        widths, run = _PLAIN_WIDTHS, _plain_pass
    for states in widths:
        if over(budget) or (states != widths[0] and not _worth(cut, states, budget)):
            return
        schedule = run(cut, states, budget)
        if schedule is None:
            return
        yield schedule


def _plain_pass(cut: ProblemLayout, states: int, budget: Budget) -> Schedule | None:
    return plain_pass(cut, states, budget.seed, lambda: over(budget))


def _compiled_pass(cut: ProblemLayout, states: int, budget: Budget) -> Schedule | None:
    return compiled_pass(cut, width(states), budget)


def _worth(cut: ProblemLayout, states: int, budget: Budget) -> bool:
    words = (cut.warps + 63) // 64
    return (budget.deadline is not None or states * cut.work <= _WORTH) and states * cut.work * (4 + 8 * words) <= budget.memory // 2


def plain_pass(cut: ProblemLayout, states: int, seed: int, stop: Callable[[], bool] = lambda: False) -> Schedule | None:
    """Return the schedule of a beam of this width, without the compiler; None if it was stopped before its end."""
    rule = rules(cut, seed)
    history: list[list[BeamState]] = [[first(rule, cut)]]
    while history[-1]:
        if stop():
            return None
        history.append(advance(rule, history[-1], states, seed))
    masks: list[int] = []
    at = 0
    for kept in reversed(history[1:-1]):
        masks.append(kept[at].mask)
        at = kept[at].parent
    return _plain_schedule(rule, masks[::-1])


def compiled_pass(cut: ProblemLayout, limits: BeamWidth, budget: Budget) -> Schedule | None:
    """Return the schedule of a beam, None if its time was up before its end."""
    import numpy as np  # noqa: PLC0415 - start-up

    from sassan.makespan.beam import kernel  # noqa: PLC0415 - the compiler is slow to load

    rule = rules(cut, budget.seed)
    start = first(rule, cut)
    kept, choices, sums = kernel.scratch(rule, limits.states, max(limits.most, limits.sample))
    places = np.zeros((limits.states, cut.warps), np.int64)
    places[0] = start.places
    words, bases = np.zeros(limits.states, np.uint64), np.zeros(limits.states, np.int64)
    words[0], bases[0] = start.hash, start.base
    states = kernel.StateArrays(places, words, bases, np.array([1]))
    setting = kernel.rows(rule, limits.most, limits.sample, budget.seed)
    slots = max(1, min(_FEW, _PORTION // (limits.states * max(1, cut.warps // 16))))
    portions: list[tuple[int, Array, Array]] = []
    gone = slots
    while gone == slots:
        if over(budget):
            return None
        parents = np.zeros((slots, limits.states), np.int32)
        masks = np.zeros((slots, limits.states, kept.mask.shape[1]), np.uint64)
        gone = kernel.advance(states, setting, kept, choices, sums, parents, masks)
        portions.append((gone, parents, masks))
    at = 0
    rows: list[Array] = []
    for gone, parents, masks in reversed(portions):
        row = np.zeros((gone, masks.shape[2]), np.uint64)
        at = kernel.trace(at, parents, masks, row)
        rows.append(row)
    return _compiled_schedule(rule, np.concatenate(rows[::-1]))


def _compiled_schedule(rule: BeamRules, masks: "Array") -> Schedule:
    import numpy as np  # noqa: PLC0415

    slots: list[tuple[int, ...]] = [()] * len(rule.warps)
    for column, warp in enumerate(rule.warps):
        bit = np.uint64(1) << np.uint64(column & 63)
        slots[warp] = tuple(np.flatnonzero(masks[:, column >> 6] & bit).tolist())
    return Schedule(tuple(slots))


def _plain_schedule(rule: BeamRules, masks: list[int]) -> Schedule:
    slots: list[tuple[int, ...]] = [()] * len(rule.warps)
    for column, warp in enumerate(rule.warps):
        slots[warp] = tuple(slot for slot, mask in enumerate(masks) if mask >> column & 1)
    return Schedule(tuple(slots))
