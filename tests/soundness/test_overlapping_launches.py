"""Response times of tasks whose launches overlap, against simulated ones, and against claims that forget something (Proof 13)."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import pytest

from budget import part
from sassan.app.task import overlap
from sassan.app.task.overlap import OverlappingLaunches, ResponseWindow, TaskSet
from sassan.ipet.sm.bounds import Terms
from sassan.ipet.sm.overlap import OverlappingGrid, overlap_terms
from soundness.memory_launches import Kernel
from soundness.memory_simulator import Compute, Gpu
from soundness.overlapping_launches import OverlappingRuns, RandomSet, RandomTask, SetOutcome, SharedKernel, claimed_set, hold, outcomes

pytestmark = pytest.mark.slow

Forgetful = Callable[[SetOutcome], TaskSet]


def test_no_run_takes_longer_than_its_bound() -> None:
    ratios, wrong = hold(part(5000, 125), 1)
    assert wrong == []
    assert min(ratios) < 3


@cache
def drawn() -> tuple[SetOutcome, ...]:
    return tuple(outcomes(part(1000, 20), 17))


def changed(change: Callable[[OverlappingGrid], OverlappingGrid]) -> Forgetful:
    """Return the claim of other grids."""

    def of_launch(each: OverlappingLaunches) -> OverlappingLaunches:
        return replace(each, grid=change(each.grid))

    def forgetful(one: SetOutcome) -> TaskSet:
        demands = [replace(demand, launches=tuple(map(of_launch, demand.launches))) for demand in claimed_set(one.tasks).demands]
        return TaskSet(demands, one.tasks.gpu.sms, 1, one.left)

    return forgetful


class _Alone(TaskSet):
    """Forgets other tasks."""

    def _runs(self, *_: object) -> int:
        return 0


def without_others(one: SetOutcome) -> TaskSet:
    return _Alone(claimed_set(one.tasks).demands, one.tasks.gpu.sms, 1, one.left)


@pytest.mark.parametrize(
    "forgetful",
    [
        pytest.param(changed(lambda grid: replace(grid, memory=Fraction(0))), id="memory"),
        pytest.param(changed(lambda grid: replace(grid, memory=grid.memory / 2)), id="half of the memory"),
        pytest.param(changed(lambda grid: replace(grid, blocks=1)), id="all but one block"),
        pytest.param(without_others, id="other tasks"),
    ],
)
def test_a_claim_that_forgets_something_is_noticed(forgetful: Forgetful) -> None:
    def above(one: SetOutcome) -> bool:
        bounds = one.bounds(forgetful(one))
        return bounds is not None and any(response > bounds[task] for task, response in one.responses)

    assert any(map(above, drawn()))


def one_task(*streams: tuple[SharedKernel, ...], sms: int = 1) -> RandomSet:
    gpu = replace(GPU, sms=sms)
    fitted = tuple(tuple(replace(each, kernel=replace(each.kernel, gpu=gpu)) for each in stream) for stream in streams)
    return RandomSet(gpu, (4, 4, 4), (RandomTask(fitted, (), 1, (0,) * len(streams)),))


def shared(blocks: int, need: int, *, interval: int = 1, latency: int = 40) -> SharedKernel:
    return SharedKernel(Kernel(GPU, ((Compute(0, interval, latency),),), blocks, 1, 1), (need, 0, 0))


GPU = Gpu(sms=1, places=1, issue=1, units=(1, 1), ticks=1, sector=1, piece=1, atomic=1)


def response(tasks: RandomSet) -> Fraction:
    ((_, time),) = OverlappingRuns(tasks, [[0]], Random(1), policy="worst", victim=False, worst=True).responses()
    return time


def bound(tasks: RandomSet) -> Fraction:
    windows = claimed_set(tasks).windows()
    assert windows is not None
    return windows[0].us


def terms(change: Callable[[Terms], Terms], *, weigh: Callable[[OverlappingGrid, Fraction], Fraction] = lambda _, known: known) -> object:
    """Return the formula with other terms, or another weight of a block."""
    return lambda grid, known, sms, others: change(overlap_terms(grid, weigh(grid, known), sms, others))


CASES = {
    "a block that waits for the whole SM": (one_task((shared(6, 1),), (shared(1, 4),)), 250),
    "one block on one of two SMs": (one_task((shared(1, 4),), sms=2), 45),
    "a unit that all blocks want": (one_task((shared(4, 1, interval=8, latency=8),)), 37),
    "two launches in turn": (one_task((shared(1, 4), shared(1, 4))), 90),
}


@pytest.mark.parametrize("name", CASES)
def test_what_an_adversary_makes_of_a_set_is_within_its_bound(name: str) -> None:
    tasks, least = CASES[name]
    assert least <= response(tasks) <= bound(tasks)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("a block that waits for the whole SM", terms(lambda known: known, weigh=lambda grid, _: Fraction(1, grid.places))),
        ("one block on one of two SMs", terms(lambda known: replace(known, drain=Fraction(0)))),
        ("a unit that all blocks want", terms(lambda known: replace(known, sm=Fraction(0)))),
        ("two launches in turn", terms(lambda known: replace(known, launch=Fraction(0)))),
        ("two launches in turn", terms(lambda known: replace(known, chain=Fraction(0)))),
    ],
)
def test_a_formula_without_a_term_is_noticed(name: str, formula: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "overlap_terms", formula)
    tasks, _ = CASES[name]
    assert response(tasks) > bound(tasks)


def test_runs_of_others_are_counted_by_their_period() -> None:
    def task(period: int, length: int) -> overlap.TaskDemand:
        grid = OverlappingGrid(1, 1, Fraction(0), Fraction(0), Fraction(0), Fraction(length), {"warps": Fraction(1)})
        return overlap.TaskDemand((OverlappingLaunches(grid, 1, 1, Fraction(0)),), Fraction(period))

    known = TaskSet([task(200, 50), task(60, 5)], 1, 1).windows()
    # 50 + 5 n: the other one takes 55, and one more run of it may begin: ceil((60 + 55) / 60) = 2.
    assert known == (ResponseWindow(Fraction(60), (1, 2)), ResponseWindow(Fraction(55), (1, 1)))
    assert TaskSet([task(200, 50), task(54, 5)], 1, 1).windows() is None, "a run may not have ended when the next one starts"
    (alone,) = TaskSet([task(10, 50)], 1, 1).windows() or ()
    assert alone.us == 50, "whether a task that is alone ends within its period is a verdict"
