"""Random small makespan problems over L, C, S and D, for laws and campaigns."""

from dataclasses import dataclass
from fractions import Fraction
from random import Random

from sassan.alphabet import Letter
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import parse


@dataclass(frozen=True, slots=True)
class Instance:
    """What both the reference and the engines are asked."""

    strings: tuple[str, ...]
    capacity: dict[str, int]
    issue: int | None

    @property
    def problem(self) -> Problem:
        """The same for the engines."""
        units = {Letter(unit): Fraction(each) for unit, each in self.capacity.items()}
        return problem(tuple(parse(string) for string in self.strings), Processor(units, {}, self.issue))


def instance(random: Random) -> Instance:
    """One to five warps, three of four times with the same string of one to eight letters; sigma in 1 ... 4, issue 1 ... 4 or none."""
    letters = random.sample("LCSD", random.randint(1, 4))
    warps = random.randint(1, 5)
    longest = 8 if warps < 5 else 6
    same = random.random() < 0.75
    strings = (_string(random, letters, longest),) * warps if same else tuple(_string(random, letters, longest) for _ in range(warps))
    capacity = {unit: random.choice((1, 1, 2, 3, 4)) for unit in "LCSD"}
    return Instance(strings, capacity, random.choice((None, None, 1, 2, 3, 4)))


def _string(random: Random, letters: list[str], longest: int) -> str:
    length = random.randint(1, longest)
    runs = (random.choice(letters) * random.choice((1, 1, 2, 3, 4)) for _ in range(length))
    return "".join(runs)[:length]
