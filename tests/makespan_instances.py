"""Random small makespan problems over L, C, S and D, for laws and campaigns, and the bound of a table on the slots left in a state."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from random import Random

from sassan.alphabet import Letter
from sassan.makespan.bounds.pool import Pooled
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import parse


@dataclass(frozen=True, slots=True)
class Instance:
    """A problem for both the reference and the engines."""

    strings: tuple[str, ...]
    capacity: dict[str, int]
    issue: int | None

    @property
    def problem(self) -> Problem:
        """The same for the engines."""
        units = {Letter(unit): Fraction(each) for unit, each in self.capacity.items()}
        return problem(tuple(parse(string) for string in self.strings), Processor(units, {}, self.issue))


def number_of(counts: Sequence[int]) -> int:
    """Return the number of the pooled state with these numbers of warps in the stretches."""
    total, number = 0, 0
    for index, count in enumerate(counts):
        total += count
        number += comb(total + index, index + 1)
    return number


def slots_left(table: Pooled, done: Sequence[int]) -> int:
    """Return the bound on the slots left when each warp has done so many letters."""
    cut = table.cut
    weights = [cut.weight[unit] for unit, length in zip(cut.unit, cut.length, strict=True) for _ in range(length)]
    stretch = [index for index, length in enumerate(cut.length) for _ in range(length)]
    left = [letters for letters in done if letters < len(weights)]
    if not left:
        return 0
    counts = [0] * len(cut.unit)
    for letters in left:
        counts[stretch[letters]] += 1
    spent = sum(sum(weights[letters:]) for letters in left) - sum(weights[min(left) :])
    return len(weights) - min(left) + (spent - table.waste[number_of(counts)]) // cut.scale


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
