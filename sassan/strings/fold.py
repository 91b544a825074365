"""Sequences with repeats that are never expanded: the shape of a worst path, and how a walk over a graph becomes one.

An item is a number (a block, an edge) or a `Repeat` of items; a sequence of 10^18 steps is a few items.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body`, `times` times in a row; `times` is at least 2 in a normal sequence."""

    body: "Sequence"
    times: int


Item = int | Repeat
Sequence = tuple[Item, ...]


def normal(items: Sequence) -> Sequence:
    """Return the same sequence with repeats folded: `X^m` beside `X` or `X^n` is one repeat, and so is a repeat of a repeat."""
    out: list[Item] = []
    last = -1  # index of the last repeat in `out`: only a whole iteration directly after it can be folded into it
    for item in items:
        if isinstance(item, Repeat):
            _append_loop(out, _simple(Repeat(normal(item.body), item.times)))
            last = _last_loop(out, last)
        else:
            out.append(item)
            _fold_tail(out, last)
    return tuple(out)


def _simple(loop: Repeat) -> Repeat:
    if len(loop.body) == 1 and isinstance(loop.body[0], Repeat):
        return Repeat(loop.body[0].body, loop.body[0].times * loop.times)
    return loop


def _append_loop(out: list[Item], loop: Repeat) -> None:
    if loop.times == 0 or not loop.body:
        return
    times, size = loop.times, len(loop.body)
    while tuple(out[-size:]) == loop.body:
        del out[-size:]
        times += 1
    last = out[-1] if out else None
    if isinstance(last, Repeat) and last.body == loop.body:
        out[-1] = Repeat(loop.body, last.times + times)
    elif times == 1:
        out.extend(loop.body)
    else:
        out.append(Repeat(loop.body, times))


def _fold_tail(out: list[Item], last: int) -> None:
    """Fold an expanded iteration at the end of `out` into the repeat of the same body directly before it."""
    repeat = out[last] if last >= 0 else None
    if isinstance(repeat, Repeat) and len(out) - last - 1 == len(repeat.body) and tuple(out[last + 1 :]) == repeat.body:
        out[last:] = [Repeat(repeat.body, repeat.times + 1)]


def _last_loop(out: list[Item], last: int) -> int:
    """Return the index of the last repeat, among the items just appended or before them."""
    for index in range(len(out) - 1, max(min(last, len(out)), 0) - 1, -1):
        if isinstance(out[index], Repeat):
            return index
    return -1


def total(items: Sequence, weight: Callable[[int], int]) -> int:
    """Return the sum of the weights of the expanded sequence, without expanding it."""
    return sum(item.times * total(item.body, weight) if isinstance(item, Repeat) else weight(item) for item in items)


def counts(items: Sequence) -> dict[int, int]:
    """Return how often each number occurs in the expanded sequence, in the order of first occurrence."""
    totals: dict[int, int] = {}
    _count(items, 1, totals)
    return totals


def _count(items: Sequence, times: int, totals: dict[int, int]) -> None:
    for item in items:
        if isinstance(item, Repeat):
            _count(item.body, times * item.times, totals)
        else:
            totals[item] = totals.get(item, 0) + times


def rename(items: Sequence, name: Callable[[int], int]) -> Sequence:
    """Return the sequence with every number replaced."""
    return tuple(Repeat(rename(item.body, name), item.times) if isinstance(item, Repeat) else name(item) for item in items)
