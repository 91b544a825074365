"""A word of a thread, and what the threads of a warp must agree on so that they agree on it.

A value comes with the registers on which threads must agree so that they agree on it, up to its lanes (`domains/lanes.py`): None where
nothing makes them. A predicate is a word that is 0 or 1.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from sassan.domains.lanes import LANES, LAST, SIZE, LaneWord, alone, const, equal_lanes, flat, from_words, word

SIGN = 1 << 31
WORD_BITS = 32
TRUTH = (0, 1)
"""The bounds of a predicate."""


class AbstractWord(NamedTuple):
    """A word, and the registers on which threads must agree so that they agree on it up to its lanes; None: nothing makes them."""

    value: LaneWord
    needs: int | None


def number(value: int) -> AbstractWord:
    """Return a number."""
    return AbstractWord(const(value), 0)


def needed_by(held: tuple[AbstractWord, ...]) -> int | None:
    """Return the registers on which threads must agree so that they agree on all of these; None: nothing makes them."""
    out = 0
    for each in held:
        if each.needs is None:
            return None
        out |= each.needs
    return out


def derived(value: LaneWord, *inputs: AbstractWord) -> AbstractWord:
    """Return a value worked out lane by lane from these inputs; what is known needs no agreement."""
    if value.rows is not None and alone(value.rows):
        return AbstractWord(flat(value), None)
    return AbstractWord(value, 0 if value.known else needed_by(inputs))


def opaque(*inputs: AbstractWord, modulus: int = 1, offset: int = 0, bounds: tuple[int, int] = (0, LAST)) -> AbstractWord:
    """Return a value that follows from the inputs: threads agree on it in the rows of lanes that hold the same in all inputs."""
    rows = equal_lanes(*[each.value for each in inputs])
    return derived(word(offset, modulus, None, bounds, rows=rows), *inputs)


def truth_of(*inputs: AbstractWord) -> AbstractWord:
    """Return a predicate that follows from the inputs: threads agree on it altogether, where they agree on inputs without lanes."""
    return AbstractWord(word(0, 1, None, TRUTH), None if any(each.value.varies for each in inputs) else needed_by(inputs))


def exact_words(function: Callable[..., int], *inputs: AbstractWord) -> AbstractWord | None:
    """Return the function where its inputs are known in every lane."""
    values = [each.value for each in inputs]
    if not all(value.known for value in values):
        return None
    if all(value.lanes is None for value in values):
        return number(function(*[value.offset for value in values]))
    count = lane_count(values)
    return AbstractWord(from_words(tuple(map(function, *[words_of(value, count) for value in values]))), 0)


def lane_count(values: Iterable[LaneWord]) -> int:
    """Return for how many lanes the tables of words are."""
    return next((len(table) for value in values for table in (value.lanes, value.rows) if table is not None), LANES)


def words_of(value: LaneWord, count: int) -> tuple[int, ...]:
    """Return `offset` plus `lanes` for each lane of tables that are for so many lanes."""
    return (value.offset,) * count if value.lanes is None else value.words


def power_of_two(number: int) -> int:
    """Return the greatest power of two that divides a number."""
    return number & -number if number else SIZE


def signed_number(number: int) -> int:
    """Return a word as a signed number."""
    return number - SIZE if number & SIGN else number
