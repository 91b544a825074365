"""Problems for the tests of the searching engines."""

from fractions import Fraction
from random import Random

from sassan.alphabet import Letter
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import parse


def case(*strings: str, warps: int = 1, issue: int | None = None, **capacity: int) -> Problem:
    """Each of `strings` `warps` times, on units `L=…, C=…`."""
    parsed = tuple(parse(one) for one in strings for _ in range(warps))
    return problem(parsed, Processor({Letter(name): Fraction(count) for name, count in capacity.items()}, {}, issue))


def random_case(random: Random, *, longest: int = 4, warps: int = 3) -> Problem:
    """A small problem over L, C, S and D; half of them under an issue limit."""
    string = "".join(random.choice("LLCCSD") for _ in range(random.randint(1, longest)))
    capacity = {letter: random.randint(1, 3) for letter in "LCSD"}
    return case(string, warps=random.randint(1, warps), issue=random.choice((None, 1, 2, 3)) if random.random() < 0.5 else None, **capacity)


def mixed_case(random: Random) -> Problem:
    """Two or three warps with strings of their own."""
    strings = ("".join(random.choice("LCS") for _ in range(random.randint(1, 4))) for _ in range(random.randint(2, 3)))
    capacity = {letter: random.randint(1, 2) for letter in "LCS"}
    return case(*strings, issue=random.choice((None, 1, 2)), **capacity)


class StopCounter:
    """A `stop` that counts its calls and returns True from call `last` on, if given."""

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self.count = 0

    def __call__(self) -> bool:
        self.count += 1
        return self.last is not None and self.count >= self.last


class Clock:
    """A clock that advances by a second with each call, instead of the module `clock`."""

    def __init__(self) -> None:
        self.looks = 0

    def now(self) -> float:
        self.looks += 1
        return float(self.looks)

    shared = now

    def lag(self) -> float:
        return 0.0
