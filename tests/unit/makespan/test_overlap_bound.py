from fractions import Fraction

import pytest

from sassan.alphabet import Letter
from sassan.makespan.bounds.overlap import groups_of, overlap, path_of
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import parse
from unit.makespan.cases import StopCounter


def instance(strings: str | tuple[str, ...], capacity: dict[str, int], issue: int | None = None, warps: int = 1) -> Problem:
    processor = Processor({Letter(unit): Fraction(each) for unit, each in capacity.items()}, {}, issue)
    given = (strings,) * warps if isinstance(strings, str) else strings
    return problem(tuple(parse(string) for string in given), processor)


ONE = {"L": 1, "C": 1}


@pytest.mark.parametrize(
    ("string", "warps", "slots"),
    [
        # The longest schedules known have 2401, 2522 and 251 slots.
        ("LLCLL", 600, 2402),
        ("LLCLLCLL", 420, 2524),
        ("LLLCCC", 50, 252),
    ],
)
def test_one_unit_of_each_kind(string: str, warps: int, slots: int) -> None:
    assert overlap(instance(string, ONE, warps=warps)) == slots


@pytest.mark.parametrize(("pieces", "slots"), [(1, 190), (2, 186)])
def test_pieces_of_a_stretch_tighten_the_case_study(pieces: int, slots: int) -> None:
    assert overlap(instance("L5C9L2C9", {"L": 1, "C": 4}, issue=4, warps=16), pieces) == slots


def test_the_program_does_not_grow_with_the_string() -> None:
    given = instance("(L3C2L1C7)^1000000", {"L": 1, "C": 4}, issue=4, warps=64)
    assert overlap(given) == 375_250_000


def test_a_warp_alone_runs_its_string() -> None:
    assert overlap(instance("LCL", ONE)) == 3


def test_warps_without_letters_do_not_count() -> None:
    assert overlap(instance(("LCL", "", ""), ONE)) == 3


def test_no_letters_take_no_slot() -> None:
    assert overlap(instance(("", ""), ONE)) == 0


def test_different_strings_are_bounded_by_the_worst_last_warp() -> None:
    assert overlap(instance(("LLLL", "C"), ONE)) == 4


def test_many_different_strings_are_left_to_other_bounds() -> None:
    strings = tuple("L" * length for length in range(1, 10))
    assert overlap(instance(strings, ONE)) is None


def test_a_program_of_too_many_steps_is_left_to_other_bounds() -> None:
    assert overlap(instance("LCSDDSCLLSCD", {"L": 4, "C": 4, "S": 4, "D": 4}, warps=8), 2) is None


def test_steps_are_counted_in_the_run_length_code() -> None:
    groups = groups_of(instance("LC", {"L": 1, "C": 4}), 2)
    assert groups.unit == (0, 0, 1)
    early, late, load = 0, 1, 2
    assert path_of(parse("L2C3(L1C1)^10"), groups).steps == {
        (early, early): 1,
        (early, late): 1,
        (early, load): 9,
        (early, -1): 1,
        (late, load): 1,
        (load, load): 1,
        (load, early): 11,
    }


def test_steps_are_those_of_the_expanded_string() -> None:
    groups = groups_of(instance("LC", {"L": 1, "C": 1}), 1)
    short, long = parse("L(C1(L2C1)^3L1)^4"), parse("L" + ("C" + "LLC" * 3 + "L") * 4)
    assert path_of(short, groups) == path_of(long, groups)


def test_a_stop_ends_the_program_wherever_it_is() -> None:
    given = instance("L5C9L2C9", {"L": 1, "C": 4}, issue=4, warps=16)
    complete = StopCounter(None)
    assert overlap(given, 2, complete) == 186
    for last in (1, 2, complete.count // 2, complete.count - 1):
        stop = StopCounter(last)
        assert overlap(given, 2, stop) is None
        # Whoever asks ends: the search for steps, the solver, and their callers on the way out.
        assert stop.count <= last + 3
