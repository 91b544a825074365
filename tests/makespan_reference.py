"""The longest makespan by exhaustive search, for tests, without code shared with the engines, not even the strings.

A state is what each warp has left, as text, in sorted order. Every set of warps that the model allows in a slot is tried.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

Left = tuple[str, ...]


def legal_sets(left: Left, capacity: Mapping[str, int], issue: int | None) -> Iterator[tuple[int, ...]]:
    """Yield every set of warps that may run in one slot."""
    alive = [warp for warp, rest in enumerate(left) if rest]
    ready = Counter(left[warp][0] for warp in alive)
    due = sum(min(count, capacity[unit]) for unit, count in ready.items())
    if issue is not None:
        due = min(due, issue)
    for chosen in combinations(alive, due):
        runs = Counter(left[warp][0] for warp in chosen)
        if all(count <= capacity[unit] for unit, count in runs.items()):
            yield chosen


def step(left: Left, chosen: tuple[int, ...]) -> Left:
    """Return the remaining strings after a slot."""
    return tuple(rest[1:] if warp in chosen else rest for warp, rest in enumerate(left))


def solver(capacity: Mapping[str, int], issue: int | None = None) -> Callable[[Left], int]:
    """Return a function from the remaining strings to the slots of their longest schedule."""

    @cache
    def slots(left: Left) -> int:
        if not any(left):
            return 0
        return 1 + max(slots(after) for after in {tuple(sorted(step(left, chosen))) for chosen in legal_sets(left, capacity, issue)})

    return lambda left: slots(tuple(sorted(left)))


BARRIER = "B"
"""Behind this mark a warp goes on when all warps of its block have come to theirs, or ended; it takes no slot."""

Blocks = tuple[Left, ...]


def opened(block: Left) -> Left:
    """Return a block of warps with every barrier passed at which all of them wait."""
    while any(block) and all(rest.startswith(BARRIER) for rest in block if rest):
        block = tuple(rest[1:] for rest in block)
    return tuple(sorted(block))


def longest_of_blocks(blocks: Blocks, capacity: Mapping[str, int], issue: int | None = None) -> int:
    """Return the number of slots of the longest schedule of blocks of warps, whose strings may hold barriers."""

    @cache
    def slots(left: Blocks) -> int:
        if not any(any(block) for block in left):
            return 0
        flat = [rest for block in left for rest in block]
        # A warp that waits at a barrier is ready for no unit.
        ready = tuple("" if rest.startswith(BARRIER) else rest for rest in flat)
        after: set[Blocks] = set()
        for chosen in legal_sets(ready, capacity, issue):
            moved = iter(step(tuple(flat), chosen))
            after.add(tuple(sorted(opened(tuple(next(moved) for _ in block)) for block in left)))
        return 1 + max(slots(each) for each in after)

    return slots(tuple(sorted(opened(block) for block in blocks)))


def longest(strings: Left, capacity: Mapping[str, int], issue: int | None = None) -> int:
    """Return the number of slots of the longest schedule."""
    return solver(capacity, issue)(strings)


def worst_schedule(strings: Left, capacity: Mapping[str, int], issue: int | None = None) -> tuple[tuple[int, ...], ...]:
    """Return the slots of each warp in one longest schedule."""
    slots = solver(capacity, issue)
    rows: list[list[int]] = [[] for _ in strings]
    left, slot = strings, 0
    while any(left):
        chosen = max(legal_sets(left, capacity, issue), key=lambda each, left=left: (slots(step(left, each)), each))
        for warp in chosen:
            rows[warp].append(slot)
        left, slot = step(left, chosen), slot + 1
    return tuple(tuple(row) for row in rows)


@dataclass(frozen=True, order=True)
class Busy:
    """A warp: what it has left, the slots until its instruction has ended, the unit that it holds, and for how many slots."""

    left: str
    slots: int = 0
    unit: str = ""
    held: int = 0


@dataclass(frozen=True)
class Times:
    """What a processor takes: of each unit the capacity, the slots that an instruction holds it, and its latency."""

    capacity: Mapping[str, int]
    interval: Mapping[str, int]
    latency: Mapping[str, int]
    issue: int | None = None

    def passed(self, block: tuple[Busy, ...]) -> tuple[Busy, ...]:
        """Return a block with every barrier passed at which all its warps wait, or have ended."""
        while any(warp.left for warp in block) and all(not warp.slots and warp.left[:1] in {"", BARRIER} for warp in block):
            block = tuple(replace(warp, left=warp.left[1:]) for warp in block)
        return tuple(sorted(block))

    def legal(self, warps: tuple[Busy, ...]) -> Iterator[tuple[int, ...]]:
        """Yield every set of warps that may begin an instruction in a slot."""
        ready = {index: warp.left[0] for index, warp in enumerate(warps) if not warp.slots and warp.left and warp.left[0] != BARRIER}
        held = Counter(warp.unit for warp in warps if warp.held)
        wanted = Counter(ready.values())
        due = sum(min(count, self.capacity[unit] - held[unit]) for unit, count in wanted.items())
        due = due if self.issue is None else min(due, self.issue)
        for chosen in combinations(ready, due):
            begins = Counter(ready[index] for index in chosen)
            if all(count + held[unit] <= self.capacity[unit] for unit, count in begins.items()):
                yield chosen

    def slot(self, warp: Busy, *, begins: bool) -> Busy:
        """Return a warp a slot later."""
        if begins:
            unit = warp.left[0]
            return Busy(warp.left[1:], self.latency[unit] - 1, unit, self.interval[unit] - 1)
        return Busy(warp.left, max(warp.slots - 1, 0), warp.unit if warp.held else "", max(warp.held - 1, 0))

    def longest(self, blocks: Blocks) -> int:
        """Return the number of slots of the longest schedule of blocks of warps, until the last instruction has ended."""

        @cache
        def slots(state: tuple[tuple[Busy, ...], ...]) -> int:
            warps = tuple(warp for block in state for warp in block)
            if not any(warp.left or warp.slots for warp in warps):
                return 0
            after: set[tuple[tuple[Busy, ...], ...]] = set()
            for chosen in self.legal(warps):
                moved = iter([self.slot(warp, begins=index in chosen) for index, warp in enumerate(warps)])
                after.add(tuple(sorted(self.passed(tuple(next(moved) for _ in block)) for block in state)))
            return 1 + max(slots(each) for each in after)

        return slots(tuple(sorted(self.passed(tuple(Busy(rest) for rest in block)) for block in blocks)))
