"""The composition of engines: who runs, with how much time, what is kept; with engines made for the test."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest

from sassan.alphabet import Letter
from sassan.errors import SelfCheckError, UsageError
from sassan.jit import clock
from sassan.makespan.all import All, SearchStep, easy, states
from sassan.makespan.engine import Budget, EngineResult, Reporter
from sassan.makespan.merge import Merged
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule
from sassan.strings.kernel_string import parse

ONE = {Letter.LOAD: Fraction(1), Letter.COMPUTE: Fraction(1)}
LCL = Problem((parse("LCL"),) * 4, ONE)
LARGE = Problem((parse("L5C9L2C9"),) * 16, ONE)
EIGHT = Schedule(((0, 1, 4), (1, 2, 5), (2, 3, 6), (3, 4, 7)))
NINE = Schedule(((0, 1, 3), (1, 2, 4), (2, 3, 5), (6, 7, 8)))


@dataclass
class Fake:
    """An engine that answers what it was told to."""

    name: str
    answer: Callable[[Budget], EngineResult]
    runs: list[Budget]

    def run(self, problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
        del problem, report
        self.runs.append(budget)
        return self.answer(budget)


def fake(name: str, lower: int | None = None, upper: int | None = None, schedule: Schedule | None = None, proof: str = "") -> Fake:
    return Fake(name, lambda _: EngineResult(name, lower, upper, schedule, proof), [])


def refusing(name: str) -> Fake:
    def answer(budget: Budget) -> EngineResult:
        del budget
        raise UsageError("too-large", f"{name} does not hold it")

    return Fake(name, answer, [])


def collect() -> tuple[list[EngineResult], Reporter]:
    reported: list[EngineResult] = []
    return reported, reported.append


def test_bounds_that_meet_end_the_search(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sassan.makespan.all.EASY", 1)
    monkeypatch.setattr("sassan.makespan.all.LIKELY", 1)
    exact = fake("exact", 9, 9, NINE)
    reported, report = collect()
    met = Schedule(tuple(tuple(range(17 * warp, 17 * warp + 17)) for warp in range(2)))
    both = Problem((parse("L17"),) * 2, ONE)
    result = All(fake("bounds", None, 34), [SearchStep(fake("beam", 34, None, met))], exact).run(both, Budget(), report)
    assert (result.lower, result.upper) == (34, 34)
    assert [one.engine for one in reported] == ["bounds", "beam"]
    assert exact.runs == []


def test_an_easy_instance_goes_straight_to_the_exact_engine():
    beam = fake("beam", 8, None, EIGHT)
    result = All(fake("bounds", None, 12), [SearchStep(beam)], fake("exact", 9, 9, NINE, "exhaustive")).run(LCL, Budget(), lambda _: None)
    assert beam.runs == []
    assert (result.lower, result.upper, result.proof) == (9, 9, "exhaustive")


def test_an_instance_with_many_states_is_searched_first():
    beam = fake("beam")
    All(fake("bounds", None, 300), [SearchStep(beam)], fake("exact")).run(LARGE, Budget(), lambda _: None)
    assert len(beam.runs) == 1


def test_an_instance_that_is_likely_to_be_decided_is_first_given_to_the_exact_engine():
    beam, exact = fake("beam"), fake("exact", None, 100)
    eight = Problem((parse("L5C9L2C9"),) * 8, ONE)
    reported, report = collect()
    All(fake("bounds", None, 300), [SearchStep(beam)], exact).run(eight, Budget(), report)
    assert [one.engine for one in reported] == ["bounds", "exact", "beam", "bounds", "exact"]


def test_the_states_of_an_instance_are_counted():
    assert states(LCL) == 35
    assert easy(LCL)
    assert not easy(LARGE)
    assert not easy(Problem((parse("(L1C1)^100000"),) * 1000, ONE))


def test_an_engine_that_refuses_gives_a_note_and_the_others_continue():
    reported, report = collect()
    result = All(fake("bounds", None, 9), [], refusing("exact")).run(LCL, Budget(), report)
    assert (result.lower, result.upper) == (None, 9)
    assert [(one.engine, one.note) for one in reported] == [("bounds", ""), ("exact", "exact does not hold it")]


def test_an_instance_that_every_engine_refuses_is_refused():
    with pytest.raises(UsageError) as caught:
        All(refusing("bounds"), [], refusing("exact")).run(LCL, Budget(), lambda _: None)
    assert caught.value.code == "too-large"


def test_a_step_gets_its_share_of_the_time_that_is_left():
    beam, exact = fake("beam"), fake("exact")
    deadline = clock.now() + 100
    All(fake("bounds", None, 300), [SearchStep(beam, 0.25)], exact).run(LARGE, Budget(deadline), lambda _: None)
    assert beam.runs[0].deadline == pytest.approx(deadline - 75, abs=5)
    assert exact.runs[0].deadline == pytest.approx(deadline, abs=1)


def test_the_last_engine_gets_the_result_of_the_others():
    exact = fake("exact", 9, 9, NINE)
    All(fake("bounds", None, 12, None, "waiting-slots"), [], exact).run(LCL, Budget(), lambda _: None)
    known = exact.runs[0].known_result
    assert known is not None
    assert (known.lower, known.upper, known.proof) == (None, 12, "waiting-slots")


def test_no_engine_starts_after_the_deadline_or_a_stop():
    for budget in (Budget(clock.now() - 1), Budget(stop=lambda: True)):
        exact = fake("exact")
        All(fake("bounds", None, 12), [], exact).run(LCL, budget, lambda _: None)
        assert exact.runs == []


def test_what_is_merged_is_the_best_of_each_side():
    known = Merged(LCL)
    for result in (
        EngineResult("a", 8, 13, EIGHT),
        EngineResult("b", 9, None, NINE),
        EngineResult("c", None, 12),
        EngineResult("d", 8, 14, EIGHT),
    ):
        known(result)
    assert (known.lower, known.upper, known.schedule, known.exact) == (9, 12, NINE, None)
    assert known.gap == pytest.approx(1 / 3)
    assert list(known.last) == ["a", "b", "c", "d"]


def test_a_lower_bound_without_a_schedule_is_not_taken():
    known = Merged(LCL)
    known(EngineResult("a", 9, 9))
    assert (known.lower, known.upper, known.exact) == (None, 9, None)


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (EngineResult("liar", 10, None, NINE), "bad-lower"),
        (EngineResult("liar", 9, None, Schedule(((0, 1, 3), (1, 2, 4), (2, 3, 5), (6, 7, 7)))), "bad-lower"),
        (EngineResult("liar", 9, None, Schedule(((0, 1, 8), (1, 2, 5), (2, 3, 6), (3, 4, 7)))), "bad-schedule"),
        (EngineResult("liar", 9, 8, NINE), "crossed-bounds"),
    ],
)
def test_an_engine_that_lies_is_caught(result: EngineResult, code: str):
    with pytest.raises(SelfCheckError) as caught:
        Merged(LCL)(result)
    assert caught.value.code == code
