"""The states of a processor whose instructions take several slots, and whose warps wait at barriers.

A warp stands at a place of its string, and has `rest` slots until its last instruction has ended; as long as it holds its unit, `rest`
says how long, too, since no interval exceeds its latency. Warps of one string within a block are equal, and so are blocks of equal
strings: a state lists the warps of each block, and the blocks, in order. Barriers that can open have opened.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from random import Random

from sassan.alphabet import UNITS, Letter
from sassan.errors import UsageError
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule
from sassan.strings.kernel_string import KernelString

DONE, BARRIER = -1, -2
"""Instead of a unit: behind the string, and at a barrier."""
_LONGEST = 1_000_000
"""Letters of all different strings that are expanded."""

Warp = tuple[int, int]
"""Place and rest."""
State = tuple[tuple[Warp, ...], ...]
Choice = tuple[tuple[int, int, int], ...]
"""Index of a block in its state, place, and how many of the warps that are ready there begin."""


@dataclass(frozen=True, slots=True)
class StringPosition:
    """What a warp does next there, and what it did before.

    `latency` is that of the next instruction; after the one before, a warp with `rest` slots holds `unit_before` for `rest - slack`.
    `work` are the slots of instructions left, in latencies; `weight` and `gain` are those of `TimedStates.bound`, the gain up to the next
    barrier; `passed` counts the barriers before.
    """

    unit: int
    latency: int = 0
    unit_before: int = DONE
    slack: int = 0
    work: int = 0
    weight: int = 0
    gain: int = 0
    passed: int = 0


class TimedStates:
    """The states of one problem and their successors."""

    def __init__(self, problem: Problem) -> None:
        """Number the places of all strings.

        Raises UsageError `fractional-capacity`, `too-large`.
        """
        length = sum(string.length + string.barriers for string in problem.shares)
        if length > _LONGEST:
            hint = "use --engine bounds, which expands no string without barriers"
            raise UsageError("too-large", f"a search over states takes strings of {_LONGEST} letters, not of {length}", hint=hint)
        self.problem = problem
        self._letters = [letter for letter in UNITS if letter in problem.capacity]
        self.capacity = [_whole(letter, problem) for letter in self._letters]
        self.issue = min(problem.issue or problem.warps, problem.warps)
        self.scale, self._begin, self._hold = self._weights()
        self.places: list[StringPosition] = []
        self._first = {string: self._add(string) for string in problem.shares}
        self._tails = self._tails_of_blocks()

    def _weights(self) -> tuple[int, list[int], list[int]]:
        """Return the parts of a slot, and how many an instruction weighs when it begins, and in each slot that it holds its unit after."""
        alone = self.problem.issue is None or self.problem.issue >= sum(self.capacity)
        begin = [Fraction(1, capacity if alone else min(capacity, self.issue)) for capacity in self.capacity]
        scale = lcm(*(weight.denominator for weight in begin), *self.capacity)
        return scale, [int(weight * scale) for weight in begin], [scale // capacity for capacity in self.capacity]

    def _add(self, string: KernelString) -> int:
        """Add the places of a string, from its end, and return that of its begin."""
        rows: list[StringPosition] = []
        work = weight = gain = 0
        passed = string.barriers
        steps = list(string.steps())
        before = [None, *steps]
        for letter, last in zip([*steps, None][::-1], before[::-1], strict=True):
            unit_before, slack = self._before(last)
            if letter is None:
                rows.append(StringPosition(DONE, 0, unit_before, slack, passed=passed))
                continue
            if letter is Letter.BARRIER:
                gain, passed = 0, passed - 1
                rows.append(StringPosition(BARRIER, 0, unit_before, slack, work, weight, 0, passed))
                continue
            unit, latency = self._letters.index(letter), self.problem.latency.get(letter, 1)
            each = self._begin[unit] + (self.problem.interval.get(letter, 1) - 1) * self._hold[unit]
            work, weight, gain = work + latency, weight + each, gain + latency * self.scale - each
            rows.append(StringPosition(unit, latency, unit_before, slack, work, weight, gain, passed))
        self.places += reversed(rows)
        return len(self.places) - len(rows)

    def _before(self, last: Letter | None) -> tuple[int, int]:
        if last is None or last is Letter.BARRIER:
            return DONE, 0
        return self._letters.index(last), self.problem.latency.get(last, 1) - self.problem.interval.get(last, 1)

    def _tails_of_blocks(self) -> dict[frozenset[int], list[int]]:
        """Return, for the strings of a block, by the barriers passed, the largest gains of the parts behind the next barrier, added up."""
        tails: dict[frozenset[int], list[int]] = {}
        for block in self._warps_of_blocks:
            strings = frozenset(self._first[self.problem.strings[warp]] for warp in block)
            if strings in tails:
                continue
            parts: dict[int, int] = {}
            for at in (at for first in strings for at in self._string(first)):
                place = self.places[at]
                parts[place.passed] = max(parts.get(place.passed, 0), place.gain)
            sums = [0]
            for number in sorted(parts, reverse=True):
                sums.append(sums[-1] + parts[number])
            tails[strings] = sums[-2::-1]
        return tails

    def _string(self, first: int) -> Iterator[int]:
        """Yield the places of the string that begins at `first`."""
        at = first
        while self.places[at].unit != DONE:
            yield at
            at += 1
        yield at

    @cached_property
    def _string_of(self) -> list[int]:
        """The first place of the string of each place."""
        of = [0] * len(self.places)
        for first in self._first.values():
            for at in self._string(first):
                of[at] = first
        return of

    @property
    def _warps_of_blocks(self) -> list[range]:
        # Without barriers any blocks will do: in one of all, equal warps have fewer choices; in one for each, draws vary more.
        alone = (self.problem.warps,) if self.problem.one_slot else (1,) * self.problem.warps
        sizes = self.problem.blocks or alone
        ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
        return [range(end - size, end) for size, end in zip(sizes, ends, strict=True)]

    @property
    def start(self) -> State:
        """The state before the first slot."""
        return ordered(self._opened([(self._first[self.problem.strings[warp]], 0) for warp in block]) for block in self._warps_of_blocks)

    def _opened(self, block: Sequence[Warp]) -> tuple[Warp, ...]:
        """Return a block of warps, in order, after all barriers that can open."""
        while True:
            waiting = sum(self.places[at].unit == BARRIER and not rest for at, rest in block)
            over = sum(self.places[at].unit == DONE and not rest for at, rest in block)
            if not waiting or waiting + over < len(block):
                return tuple(sorted(block))
            block = [(at + (self.places[at].unit == BARRIER), rest) for at, rest in block]

    def work(self, state: State) -> int:
        """Return the slots of the instructions left, which falls with every slot."""
        return sum(self.places[at].work + rest for block in state for at, rest in block)

    def bound(self, state: State) -> int:
        """Return a number of slots that no schedule from here exceeds (docs/proofs/makespan-strings.md, "Intervals and latencies")."""
        weight, gain = 0, 0
        for block in state:
            best = 0
            for at, rest in block:
                place = self.places[at]
                if place.unit == DONE and not rest:
                    continue  # it has ended: others are followed
                held = max(rest - place.slack, 0) * self._hold[place.unit_before] if rest else 0
                weight += place.weight + held
                best = max(best, place.gain + rest * self.scale - held + self._tail(block, place))
            gain = max(gain, best)
        return (weight + gain) // self.scale

    def _tail(self, block: Sequence[Warp], place: StringPosition) -> int:
        if len(self._tails) == 1:
            return next(iter(self._tails.values()))[place.passed]
        return self._tails[frozenset(self._string_of[at] for at, _ in block)][place.passed]

    def ready(self, state: State) -> tuple[list[tuple[int, int, int]], list[int], int]:
        """Return (block, place, warps) of the warps that are ready, how many may begin per unit, and how many begin in all."""
        free = list(self.capacity)
        groups: list[tuple[int, int, int]] = []
        count = [0] * len(free)
        for index, block in enumerate(state):
            for at, rest in block:
                place = self.places[at]
                if rest:
                    if rest > place.slack:
                        free[place.unit_before] -= 1
                elif place.unit >= 0:
                    count[place.unit] += 1
                    if groups and groups[-1][:2] == (index, at):
                        groups[-1] = (index, at, groups[-1][2] + 1)
                    else:
                        groups.append((index, at, 1))
        limit = [min(pair) for pair in zip(count, free, strict=True)]
        return groups, limit, min(self.issue, sum(limit))

    def choices(self, state: State) -> Iterator[Choice]:
        """Yield what may begin in a slot, each choice once."""
        groups, limit, total = self.ready(state)
        behind = [[0] * len(limit)]
        for _, at, count in reversed(groups):
            unit = self.places[at].unit
            behind.append([have + count * (number == unit) for number, have in enumerate(behind[-1])])
        yield from self._choices(groups, behind[::-1], limit, total, 0)

    def _choices(
        self, groups: Sequence[tuple[int, int, int]], behind: Sequence[Sequence[int]], limit: list[int], total: int, first: int
    ) -> Iterator[Choice]:
        """Yield the choices of `total` warps from `groups[first:]`, which hold `behind[first]` warps per unit."""
        if sum(map(min, limit, behind[first])) < total:
            return
        if first == len(groups):
            yield ()
            return
        block, at, count = groups[first]
        unit = self.places[at].unit
        for begin in range(min(count, limit[unit], total) + 1):
            limit[unit] -= begin
            for others in self._choices(groups, behind, limit, total - begin, first + 1):
                yield ((block, at, begin), *others) if begin else others
            limit[unit] += begin

    def drawn(self, state: State, random: Random) -> Choice:
        """Return one choice: groups of warps in random order, each as many as may begin."""
        groups, limit, total = self.ready(state)
        random.shuffle(groups)
        return self.filled(groups, limit, total)

    def filled(self, groups: Sequence[tuple[int, int, int]], limit: list[int], total: int) -> Choice:
        """Return the choice in which of each group, in this order, as many begin as may."""
        chosen: list[tuple[int, int, int]] = []
        for block, at, count in groups:
            begin = min(count, limit[self.places[at].unit], total)
            if begin:
                chosen.append((block, at, begin))
                limit[self.places[at].unit] -= begin
                total -= begin
        return tuple(chosen)

    def slots_until_change(self, state: State, choice: Choice) -> int:
        """Return how many slots pass: one where something begins, else up to the next end of an instruction or of its hold on a unit."""
        if choice:
            return 1
        rests = [(rest, rest - self.places[at].slack) for block in state for at, rest in block if rest]
        return min((held if held > 0 else rest for rest, held in rests), default=0)

    def after(self, state: State, choice: Choice) -> tuple[State, int]:
        """Return the state after the next slots, and how many they are; 0 if all warps have ended."""
        slots = self.slots_until_change(state, choice)
        return ordered(self._opened(block) for block in self.moved(state, choice, slots)), slots

    def moved(self, state: State, choice: Choice, slots: int) -> Iterator[list[Warp]]:
        """Yield each block with what has begun, so many slots later, its warps in the order of the state."""
        left = {(block, at): begin for block, at, begin in choice}
        for index, block in enumerate(state):
            row: list[Warp] = []
            for at, rest in block:
                if not rest and left.get((index, at)):
                    left[index, at] -= 1
                    row.append((at + 1, self.places[at].latency - slots))
                else:
                    row.append((at, max(rest - slots, 0)))
            yield row

    def schedule(self, choices: Sequence[Choice]) -> Schedule:
        """Return the schedule of these choices from the start on."""
        rows: list[list[int]] = [[] for _ in range(self.problem.warps)]
        state, names = self._named(
            [[(self._first[self.problem.strings[warp]], 0) for warp in block] for block in self._warps_of_blocks],
            [list(block) for block in self._warps_of_blocks],
        )
        slot = 0
        for choice in choices:
            slots = self.slots_until_change(state, choice)
            moved = list(self.moved(state, choice, slots))
            for before, block, row in zip(state, moved, names, strict=True):
                for (at, _), (then, _), warp in zip(before, block, row, strict=True):
                    if then != at:
                        rows[warp].append(slot)
            state, names = self._named(moved, names)
            slot += slots
        return Schedule(tuple(map(tuple, rows)), slot)

    def _named(self, blocks: Sequence[Sequence[Warp]], names: Sequence[Sequence[int]]) -> tuple[State, list[list[int]]]:
        """Return the state of blocks whose warps have names, and the names in its order."""
        pairs: list[tuple[tuple[Warp, ...], list[int]]] = []
        for block, row in zip(blocks, names, strict=True):
            order = sorted(range(len(block)), key=block.__getitem__)
            pairs.append((self._opened(block), [row[index] for index in order]))
        pairs.sort()
        return tuple(block for block, _ in pairs), [row for _, row in pairs]


def ordered(blocks: Iterator[tuple[Warp, ...]]) -> State:
    """Return the state of these blocks."""
    return tuple(sorted(blocks))


def _whole(letter: Letter, problem: Problem) -> int:
    if problem.capacity[letter].denominator != 1:
        message = f"the capacity of {letter}, {problem.capacity[letter]} instructions per slot, is not a whole number"
        raise UsageError("fractional-capacity", message, hint="round it down, or use --engine bounds, which takes fractions")
    return int(problem.capacity[letter])
