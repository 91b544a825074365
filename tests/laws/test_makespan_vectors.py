"""The longest makespans of the design page: by exhaustive search as far as it goes, and refuted from above everywhere."""

from fractions import Fraction

import pytest

from budget import FULL, some
from makespan_reference import longest
from sassan.alphabet import Letter
from sassan.makespan.bounds.engine import candidates
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import parse

pytestmark = pytest.mark.slow

ONE = {"L": 1, "C": 1}
VECTORS = [
    ("LC", ONE, None, (2, 3, 4, 5, 6, 7, 8, 9)),
    ("LLC", ONE, None, (3, 5, 7, 9, 11, 13, 15, 17)),
    ("LCL", ONE, None, (3, 4, 7, 9, 11, 13, 15, 17)),
    ("LCCL", ONE, None, (4, 6, 8, 10, 12, 14, 16, 18)),
    ("LLCL", ONE, None, (4, 7, 10, 13, 16, 19, 22, 25)),
    ("LLCLL", ONE, None, (5, 9, 13, 17, 21, 25, 29, 33)),
    ("LCLCL", ONE, None, (5, 6, 11, 14, 17, 20, 23, 26)),
    ("LLCLLCLL", ONE, None, (8, 13, 20, 26, 32, 38, 44, 50, 56)),
    ("LLLCCC", ONE, None, (6, 11, 16, 21, 26, 31)),
    ("LCCL", {"L": 1, "C": 2}, None, (4, 5, 6, 10, 12, 14, 16, 18)),
    ("CCLCC", {"L": 1, "C": 2}, None, (5, 6, 7, 10, 13, 15, 17, 19)),
    ("LLC", {"L": 2, "C": 4}, None, (3, 3, 5, 6, 7, 8, 9, 10)),
    ("LCL", {"L": 2, "C": 4}, None, (3, 3, 4, 4, 7, 8, 9, 10)),
    ("LLLLLCCCCCCCCCLLCCCCCCCCC", {"L": 1, "C": 4}, 4, (25, 31, 37, 45, 65, 78, 87, 98)),
]


def instance(string: str, warps: int, capacity: dict[str, int], issue: int | None) -> Problem:
    units = {Letter(unit): Fraction(each) for unit, each in capacity.items()}
    return problem((parse(string),) * warps, Processor(units, {}, issue))


LARGE = 150
"""Letters of all warps in a run that is not full: the bounds of more take seconds."""
CASES = [
    pytest.param(string, warps, capacity, issue, slots, id=f"{string}-{'-'.join(map(str, capacity.values()))}-{warps}")
    for string, capacity, issue, row in VECTORS
    for warps, slots in enumerate(row, start=1)
    if FULL or len(string) * warps <= LARGE
]


@pytest.mark.parametrize(("string", "warps", "capacity", "issue", "slots"), some(CASES, of=4))
def test_no_schedule_is_longer(string: str, warps: int, capacity: dict[str, int], issue: int | None, slots: int) -> None:
    assert min(bound for _, bound in candidates(instance(string, warps, capacity, issue), lambda: False)) == slots


@pytest.mark.parametrize(
    ("string", "warps", "capacity", "issue", "slots"),
    [case for case in CASES if len(str(case.values[0])) <= 8 and int(str(case.values[1])) <= 6],
)
def test_a_schedule_is_as_long(string: str, warps: int, capacity: dict[str, int], issue: int | None, slots: int) -> None:
    assert longest((string,) * warps, capacity, issue) == slots


def test_the_published_figure_for_four_warps() -> None:
    # Berezovskyi et al. 2013, VIII: 176 = 4 * 44.
    given = instance("LLLLLCCCCCCCCCLLCCCCCCCC", 4, {"L": 1, "C": 4}, 4)
    assert min(bound for _, bound in candidates(given, lambda: False)) == 44
