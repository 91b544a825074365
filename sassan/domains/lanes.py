"""Words of a thread as a part that lanes may share, plus a part that its lane decides.

They say which branches split a warp, and which bytes it accesses.

The value of a register in lane l of a warp is

    v(l) = base + u + offset + lanes(l)   modulo 2^32,   u a multiple of `modulus`,   low <= v(l) <= high

`base` is a kernel parameter or nothing. Nothing is said of u but that; whether two threads of one row have the same u is the matter of the
agreement domain (`agreement.py`), which for a register with lanes speaks of v(l) - lanes(l) in each row of lanes (`rows`).

Tables are of one warp, or of several: where the rows of a block are no multiple of 32 threads, the thread indices of warp w are those of
warp w modulo the number of warps in the table, up to what the lanes share.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd
from operator import sub
from typing import NamedTuple

LANES = 32
SIZE = 1 << 32
LAST = SIZE - 1

Lanes = tuple[int, ...]
"""What each lane adds to lane 0 of the first warp, modulo 2^32; not all of it 0."""
Rows = tuple[int, ...]
"""The row of each lane, numbered in each warp as they begin; not all lanes of each warp in one."""


class LaneWord(NamedTuple):
    """A word: `lanes` None says that no lane adds anything; `modulus` is a power of two up to 2^32, `offset` is below it.

    `rows` None: all lanes of a warp are one row. A modulus of 2^32 says that the value is known: `offset` plus lanes (plus base). What
    lanes add to the first of their row is kept, and to other rows modulo the modulus, since rows have a u each.
    """

    offset: int = 0
    modulus: int = 1
    lanes: Lanes | None = None
    low: int = 0
    high: int = LAST
    base: str = ""
    rows: Rows | None = None

    @property
    def known(self) -> bool:
        """Say whether the value is known in every lane."""
        return self.modulus == SIZE and not self.base

    @property
    def constant(self) -> int | None:
        """Return the value where it is known and the same in all lanes."""
        return self.offset if self.modulus == SIZE and self.lanes is None and not self.base else None

    @property
    def varies(self) -> bool:
        """Say whether lanes of a warp may hold different values though they agree on the word."""
        return self.rows is not None or (self.lanes is not None and (len(self.lanes) == LANES or alike(self.lanes) is not None))

    @property
    def words(self) -> tuple[int, ...]:
        """Return `offset` plus `lanes` for each lane, modulo 2^32: the value itself where it is known."""
        return (self.offset,) * LANES if self.lanes is None else tuple([(self.offset + lane) & LAST for lane in self.lanes])


UNKNOWN = LaneWord()


def const(number: int) -> LaneWord:
    """Return a number, the same in all lanes."""
    number &= LAST
    return LaneWord(number, SIZE, None, number, number)


def word(  # noqa: PLR0913, PLR0917  # the fields of a word
    offset: int, modulus: int, lanes: Lanes | None, bounds: tuple[int, int] = (0, LAST), base: str = "", rows: Rows | None = None
) -> LaneWord:
    """Return a word in normal form: `lanes` may begin with any number, `modulus` be any multiple of its greatest power of two."""
    if bounds[0] == bounds[1]:
        return const(bounds[0])
    modulus = min(modulus & -modulus, SIZE) if modulus else SIZE
    if lanes is not None:
        first = lanes[0]
        offset += first
        lanes = tuple([(lane - first) & LAST for lane in lanes])
        if modulus < SIZE and (rows is not None or len(lanes) > LANES):
            lanes = _settled(lanes, rows or (0,) * len(lanes), modulus)
        if not any(lanes):
            lanes = None
    if modulus == 1:
        base = ""
    return LaneWord(offset & modulus - 1, modulus, lanes, *bounds, base, None if modulus == SIZE else rows)


def _settled(lanes: Lanes, rows: Rows, modulus: int) -> Lanes:
    """Return lanes where the first of each row adds less than a modulus: u may be any multiple of it."""
    firsts: dict[tuple[int, int], int] = {}
    keys = [(index // LANES, row) for index, row in enumerate(rows)]
    return tuple([(lane - firsts.setdefault(key, lane & -modulus)) & LAST for key, lane in zip(keys, lanes, strict=True)])


def from_words(words: tuple[int, ...]) -> LaneWord:
    """Return a word whose value is known in each lane."""
    masked = tuple([number & LAST for number in words])
    return word(0, SIZE, masked, (min(masked), max(masked)))


@lru_cache(maxsize=4096)
def alike(*tables: tuple[int, ...]) -> Rows | None:
    """Return the rows of lanes that have the same numbers in all tables; None: one row in each warp."""
    out: list[int] = []
    for first in range(0, len(tables[0]), LANES):
        numbers: dict[tuple[int, ...], int] = {}
        keys = zip(*[table[first : first + LANES] for table in tables], strict=True)
        out += [numbers.setdefault(key, len(numbers)) for key in keys]
    return tuple(out) if any(out) else None


def rows_of(*values: LaneWord) -> Rows | None:
    """Return the rows of lanes that are in one row of every word."""
    tables = [value.rows for value in values if value.rows is not None]
    return alike(*tables) if len(tables) > 1 else tables[0] if tables else None


def equal_lanes(*values: LaneWord) -> Rows | None:
    """Return the rows of lanes that hold the same in every word where they agree on it."""
    tables = [table for value in values for table in (value.lanes, value.rows) if table is not None]
    return alike(*tables) if tables else None


def alone(rows: Rows) -> bool:
    """Say whether each lane is a row by itself, so that nothing follows from agreement."""
    return all(rows[last] == LANES - 1 for last in range(LANES - 1, len(rows), LANES))


def flat(a: LaneWord) -> LaneWord:
    """Return what is left of a word when its lanes are not followed any more."""
    if a.lanes is None:
        return a if a.rows is None else a._replace(rows=None)
    return word(a.offset, gcd(a.modulus, *a.lanes), None, (a.low, a.high), a.base)


def loose(a: LaneWord) -> LaneWord:
    """Return what is left of a word when its base is not followed any more."""
    return word(0, 1, a.lanes, (a.low, a.high), rows=a.rows) if a.base else a


def distances(a: LaneWord, b: LaneWord) -> Lanes | None:
    """Return what lanes add to one word more than to another, modulo 2^32; None: nothing."""
    if a.lanes == b.lanes:
        return None
    none = (0,) * len(a.lanes or b.lanes or ())
    return tuple([distance & LAST for distance in map(sub, a.lanes or none, b.lanes or none)])


def _common_rows(a: LaneWord, b: LaneWord, apart: Lanes | None) -> Rows | None:
    tables = [table for table in (a.rows, b.rows, apart) if table is not None]
    return alike(*tables) if tables else None


def follows(a: LaneWord, b: LaneWord) -> bool:
    """Say whether threads that agree on `a` up to its lanes do so on `b`, a word above it."""
    return (a.lanes == b.lanes and a.rows == b.rows) or _common_rows(a, b, distances(a, b)) == b.rows


def leq(a: LaneWord, b: LaneWord) -> bool:
    """Say whether every word of `a` is one of `b`, and who agrees on `a` agrees on `b`."""
    if a.lanes != b.lanes or a.rows != b.rows or a.base != b.base:
        return (not b.base or a.base == b.base) and join(a, b) == b
    return a.modulus % b.modulus == 0 and (a.offset - b.offset) % b.modulus == 0 and b.low <= a.low and a.high <= b.high


def join(a: LaneWord, b: LaneWord) -> LaneWord:
    """Return the least word above both: where lanes do not add the same in both, they are in different rows."""
    if a == b:
        return a
    if a.base != b.base:
        a, b = loose(a), loose(b)
    apart = distances(a, b)
    modulus = gcd(a.modulus, b.modulus, a.offset - b.offset, *(apart or ()))
    bounds = min(a.low, b.low), max(a.high, b.high)
    return word(a.offset, modulus, a.lanes or (apart and (0,) * len(apart)), bounds, a.base, _common_rows(a, b, apart))


@dataclass(frozen=True, slots=True)
class LaneState:
    """The words of registers by bit number; what is not there is `UNKNOWN`. Not `reached`: no thread gets here, and there are none."""

    words: Mapping[int, LaneWord] = field(default_factory=dict[int, LaneWord])
    reached: bool = True


class LaneDomain:
    """The lattice of such states, register by register."""

    bottom = LaneState(reached=False)

    def leq(self, a: LaneState, b: LaneState) -> bool:
        """Say whether `b` stands for all that `a` stands for."""
        return a is b or not self.explain(a, b)

    def join(self, a: LaneState, b: LaneState) -> LaneState:
        """Return what holds of both."""
        return self._merged(a, b, widened=False)

    def widen(self, a: LaneState, b: LaneState) -> LaneState:
        """Return what holds of both; bounds that moved are given up."""
        return self._merged(a, b, widened=True)

    @staticmethod
    def explain(a: LaneState, b: LaneState) -> str:
        """Return the first register of which `b` says more than `a`."""
        if not a.reached:
            return ""
        if not b.reached:
            return "no thread is expected here"
        for name, expected in b.words.items():
            held = a.words.get(name, UNKNOWN)
            if held is not expected and not leq(held, expected):
                return f"register bit {name}: {held} is not within {expected}"
        return ""

    @staticmethod
    def _merged(a: LaneState, b: LaneState, *, widened: bool) -> LaneState:
        if not a.reached or not b.reached:
            return b if b.reached else a
        out: dict[int, LaneWord] = {}
        for name, left in a.words.items():
            right = b.words.get(name)
            if right is None:
                continue
            both = left if left is right else join(left, right)
            if widened and (both.low, both.high) != (left.low, left.high):
                both = both._replace(low=0, high=LAST)
            if not _says_nothing(both):
                out[name] = both
        return LaneState(out)


def _says_nothing(value: LaneWord) -> bool:
    if value.modulus > 1 or (value.low, value.high) != (0, LAST):
        return False
    return not value.lanes if value.rows is None else alone(value.rows)
