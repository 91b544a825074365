from contextlib import suppress
from fractions import Fraction
from itertools import combinations, product
from random import Random

import pytest

from makespan_reference import legal_sets, step, worst_schedule
from sassan.alphabet import Letter
from sassan.errors import SelfCheckError
from sassan.makespan.problem import Problem, Processor, problem
from sassan.makespan.schedule import MANY, Schedule, check, check_plain
from sassan.makespan.schedule_arrays import refusal
from sassan.strings.kernel_string import parse

Rows = tuple[tuple[int, ...], ...]


def instance(strings: tuple[str, ...], capacity: dict[str, int], issue: int | None = None) -> Problem:
    processor = Processor({Letter(unit): Fraction(each) for unit, each in capacity.items()}, {}, issue)
    return problem(tuple(parse(string) for string in strings), processor)


def accepted(given: Problem, rows: Rows) -> bool:
    try:
        check(given, Schedule(rows))
    except SelfCheckError:
        return False
    return True


def legal(strings: tuple[str, ...], capacity: dict[str, int], issue: int | None, rows: Rows) -> bool:
    """Replay the schedule slot by slot with the reference: each slot must run one of the sets that the model allows."""
    if any(list(row) != sorted(set(row)) or len(row) != len(string) for row, string in zip(rows, strings, strict=True)):
        return False
    left = strings
    for slot in range(max((row[-1] + 1 for row in rows if row), default=0)):
        chosen = tuple(warp for warp, row in enumerate(rows) if slot in row)
        if chosen not in set(legal_sets(left, capacity, issue)):
            return False
        left = step(left, chosen)
    return not any(left)


def test_the_makespan_counts_slots() -> None:
    assert Schedule(((0, 1), (2, 3))).makespan == 4


def test_nothing_takes_no_slot() -> None:
    assert Schedule(((), ())).makespan == 0
    check(instance(("", ""), {"L": 1}), Schedule(((), ())))


def test_the_published_figure_is_a_schedule() -> None:
    # Berezovskyi et al. 2013, Figure 5: four warps run LCL in 9 slots.
    given = instance(("LCL",) * 4, {"L": 1, "C": 1})
    assert accepted(given, worst_schedule(("LCL",) * 4, {"L": 1, "C": 1}))


TWO = ("LC", "LC")


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (((0, 1), (1,)), "once"),
        (((0, 1), (1, 2), (3,)), "once"),
        (((1, 0), (1, 2)), "in order"),
        (((0, 0), (1, 2)), "in order"),
        (((-1, 0), (1, 2)), "in order"),
        (((0, 1), (0, 1)), "slot 1 runs 2 L, more than the capacity"),
        (((0, 1), (2, 3)), "slot 2 runs 1 instructions where work conservation demands 2"),
        (((1, 2), (2, 3)), "slot 1 runs 0 instructions where work conservation demands 1"),
    ],
)
def test_a_refusal_names_the_rule(rows: Rows, why: str) -> None:
    with pytest.raises(SelfCheckError, match=why) as caught:
        check(instance(TWO, {"L": 1, "C": 1}), Schedule(rows))
    assert caught.value.code == "bad-schedule"


def test_an_issue_limit_lets_less_run() -> None:
    rows = ((0, 1), (2, 3))
    assert accepted(instance(TWO, {"L": 1, "C": 1}, issue=1), rows)
    assert not accepted(instance(TWO, {"L": 1, "C": 1}), rows)


def test_an_issue_limit_demands_that_much_runs() -> None:
    given = instance(("C", "C", "C"), {"C": 3}, issue=2)
    assert accepted(given, ((0,), (0,), (1,)))
    assert not accepted(given, ((0,), (1,), (2,)))
    assert not accepted(given, ((0,), (0,), (0,)))


def test_a_capacity_of_one_and_a_half_runs_one_per_slot() -> None:
    given = problem((parse("C"),) * 2, Processor({Letter.COMPUTE: Fraction(3, 2)}, {}))
    assert accepted(given, ((0,), (1,)))
    assert not accepted(given, ((0,), (0,)))


CASES = [
    (("LCL",) * 3, {"L": 1, "C": 1}, None),
    (("LCLC", "CL", "CC"), {"L": 1, "C": 2}, None),
    (("CCL",) * 3, {"L": 1, "C": 2}, 2),
    (("SLD", "LLS", "DSL"), {"L": 1, "S": 2, "D": 1}, 2),
]


@pytest.mark.parametrize(("strings", "capacity", "issue"), CASES)
def test_every_single_move_and_swap_is_validated_as_by_the_reference(
    strings: tuple[str, ...], capacity: dict[str, int], issue: int | None
) -> None:
    given = instance(strings, capacity, issue)
    rows = worst_schedule(strings, capacity, issue)
    places = [(warp, index) for warp, row in enumerate(rows) for index in range(len(row))]
    moved = [changed(rows, {place: slot}) for place, slot in product(places, range(Schedule(rows).makespan + 1))]
    swapped = [changed(rows, {first: at(rows, second), second: at(rows, first)}) for first, second in combinations(places, 2)]
    mutants = [mutant for mutant in (*moved, *swapped) if mutant != rows]
    verdicts = [(accepted(given, mutant), legal(strings, capacity, issue, mutant)) for mutant in mutants]
    assert all(accepted_here == reference for accepted_here, reference in verdicts)
    assert sum(not accepted_here for accepted_here, _ in verdicts) > len(verdicts) // 2


@pytest.mark.parametrize(("strings", "capacity", "issue"), CASES)
def test_random_schedules_of_the_model_are_accepted(strings: tuple[str, ...], capacity: dict[str, int], issue: int | None) -> None:
    random = Random(3)
    given = instance(strings, capacity, issue)
    for _ in range(50):
        rows: list[list[int]] = [[] for _ in strings]
        left, slot = strings, 0
        while any(left):
            chosen = random.choice(list(legal_sets(left, capacity, issue)))
            for warp in chosen:
                rows[warp].append(slot)
            left, slot = step(left, chosen), slot + 1
        assert accepted(given, tuple(tuple(row) for row in rows))


def refused(given: Problem, rows: Rows) -> str:
    with suppress(SelfCheckError):
        check_plain(given, Schedule(rows))
        return ""
    with pytest.raises(SelfCheckError) as caught:
        check_plain(given, Schedule(rows))
    return caught.value.message.removeprefix("not a schedule of this problem: ")


@pytest.mark.parametrize(("strings", "capacity", "issue"), CASES)
def test_both_validators_agree_on_every_mutant(strings: tuple[str, ...], capacity: dict[str, int], issue: int | None) -> None:
    given = instance(strings, capacity, issue)
    rows = worst_schedule(strings, capacity, issue)
    assert refusal(given, rows) == refused(given, rows) == ""
    places = [(warp, index) for warp, row in enumerate(rows) for index in range(len(row))]
    moved = [changed(rows, {place: slot}) for place, slot in product(places, range(-1, Schedule(rows).makespan + 9))]
    swapped = [changed(rows, {first: at(rows, second), second: at(rows, first)}) for first, second in combinations(places, 2)]
    late = [tuple(tuple(slot + by for slot in row) for row in rows) for by in (1, 40)]
    short = [(*rows[:-1], rows[-1][:-1]), rows[:-1], (*rows, (99,))]
    mutants = [*moved, *swapped, *late, *short]
    assert [refusal(given, mutant) for mutant in mutants] == [refused(given, mutant) for mutant in mutants]


def test_the_validator_of_long_schedules_accepts_empty_strings() -> None:
    assert refusal(instance(("", ""), {"L": 1}), ((), ())) == ""
    assert refusal(instance(("", "L"), {"L": 1}), ((), (0,))) == ""


def test_a_slot_beyond_all_counting_is_refused() -> None:
    assert refusal(instance(TWO, {"L": 1, "C": 1}), ((0, 1), (1, 10**30))) != ""
    assert refusal(instance(TWO, {"L": 1, "C": 1}), ((0, 1), (1, 10**15))) == "slot 3 runs 0 instructions where work conservation demands 1"


def test_a_long_schedule_is_validated_up_to_its_last_instruction() -> None:
    given = instance(("C" * MANY,), {"C": 1})
    check(given, Schedule((tuple(range(MANY)),)))
    with pytest.raises(SelfCheckError, match=f"slot {MANY} runs 0 instructions where work conservation demands 1"):
        check(given, Schedule(((*range(MANY - 1), MANY),)))


def at(rows: Rows, place: tuple[int, int]) -> int:
    return rows[place[0]][place[1]]


def changed(rows: Rows, slots: dict[tuple[int, int], int]) -> Rows:
    return tuple(tuple(slots.get((warp, index), slot) for index, slot in enumerate(row)) for warp, row in enumerate(rows))
