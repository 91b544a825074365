"""The longest makespan by exhaustive search, for tests, without code shared with the engines, not even the strings.

A state is what each warp has left, as text, in sorted order. Every set of warps that the model allows in a slot is tried.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
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
