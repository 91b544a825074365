"""Random small instances with intervals, latencies and barriers, for the reference and for the engines."""

from dataclasses import dataclass
from fractions import Fraction
from random import Random

from makespan_reference import Times
from sassan.alphabet import Letter
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import parse


@dataclass(frozen=True, slots=True)
class TimedInstance:
    """`blocks` of `size` warps (the last may be smaller), each with its string."""

    strings: tuple[str, ...]
    size: int
    times: Times

    @property
    def problem(self) -> Problem:
        """The same for the engines."""
        times = self.times
        capacity = {Letter(unit): Fraction(count) for unit, count in times.capacity.items()}
        processor = Processor(
            capacity,
            {Letter(unit): slots for unit, slots in times.latency.items()},
            times.issue,
            {Letter(unit): slots for unit, slots in times.interval.items()},
        )
        return problem(tuple(map(parse, self.strings)), processor, self.size)

    @property
    def longest(self) -> int:
        """The longest makespan by exhaustive search."""
        blocks = tuple(self.strings[first : first + self.size] for first in range(0, len(self.strings), self.size))
        return self.times.longest(blocks)


def timed_instance(random: Random) -> TimedInstance:
    """One to four warps, two of three times with the same string of at most six letters; intervals up to 3, latencies up to 5."""
    warps = random.randint(1, 4)
    same = random.random() < 2 / 3
    letters = "".join(random.sample("LCST", random.randint(1, 3))) + random.choice(("", "B", "BB"))
    strings = (_string(random, letters),) * warps if same else tuple(_string(random, letters) for _ in range(warps))
    interval = {unit: random.choice((1, 1, 2, 3)) for unit in "LCST"}
    latency = {unit: slots + random.choice((0, 0, 1, 2)) for unit, slots in interval.items()}
    capacity = {unit: random.choice((1, 1, 2, 3)) for unit in "LCST"}
    return TimedInstance(strings, random.randint(1, 4), Times(capacity, interval, latency, random.choice((None, None, 1, 2, 3))))


def _string(random: Random, letters: str) -> str:
    return random.choice(letters.replace("B", "")) + "".join(random.choice(letters) for _ in range(random.randint(0, 5)))
