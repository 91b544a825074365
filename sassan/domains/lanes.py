"""Words of a thread as a part that all lanes may share, plus a part that its lane decides.

They say which branches split a warp, and which bytes it touches.

The value of a register in lane l of a warp is

    v(l) = base + u + offset + lanes(l)   modulo 2^32,   u a multiple of `modulus`,   low <= v(l) <= high

`base` is a kernel parameter or nothing. Nothing is said of u but that; whether two threads have the same u is the matter of the agreement
domain (`agreement.py`), which for a register with lanes speaks of v(l) - lanes(l).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import NamedTuple

LANES = 32
SIZE = 1 << 32
LAST = SIZE - 1

Lanes = tuple[int, ...]
"""What each of the 32 lanes adds to lane 0, modulo 2^32; not all of it 0."""


class LaneWord(NamedTuple):
    """A word: `lanes` None says that no lane adds anything; `modulus` is a power of two up to 2^32, `offset` is below it.

    A modulus of 2^32 says that the value is known: `offset` plus lanes (plus base).
    """

    offset: int = 0
    modulus: int = 1
    lanes: Lanes | None = None
    low: int = 0
    high: int = LAST
    base: str = ""

    @property
    def known(self) -> bool:
        """Say whether the value is known in every lane."""
        return self.modulus == SIZE and not self.base

    @property
    def constant(self) -> int | None:
        """Return the value where it is known and the same in all lanes."""
        return self.offset if self.modulus == SIZE and self.lanes is None and not self.base else None

    @property
    def words(self) -> tuple[int, ...]:
        """Return `offset` plus `lanes` for each lane, modulo 2^32: the value itself where it is known."""
        return (self.offset,) * LANES if self.lanes is None else tuple([(self.offset + lane) & LAST for lane in self.lanes])


UNKNOWN = LaneWord()


def const(number: int) -> LaneWord:
    """Return a number, the same in all lanes."""
    number &= LAST
    return LaneWord(number, SIZE, None, number, number)


def word(offset: int, modulus: int, lanes: Lanes | None, bounds: tuple[int, int] = (0, LAST), base: str = "") -> LaneWord:
    """Return a word in normal form: `lanes` may begin with any number, `modulus` be any multiple of its greatest power of two."""
    if lanes is not None:
        first = lanes[0]
        offset += first
        lanes = tuple([(lane - first) & LAST for lane in lanes])
        if not any(lanes):
            lanes = None
    modulus = min(modulus & -modulus, SIZE) if modulus else SIZE
    if modulus == 1:
        base = ""
    return LaneWord(offset & modulus - 1, modulus, lanes, *bounds, base)


def from_words(words: tuple[int, ...]) -> LaneWord:
    """Return a word whose value is known in each lane."""
    masked = tuple([number & LAST for number in words])
    return word(0, SIZE, masked, (min(masked), max(masked)))


def flat(a: LaneWord) -> LaneWord:
    """Return what is left of a word when its lanes are not followed any more."""
    if a.lanes is None:
        return a
    return word(a.offset, gcd(a.modulus, *a.lanes), None, (a.low, a.high), a.base)


def loose(a: LaneWord) -> LaneWord:
    """Return what is left of a word when its base is not followed any more."""
    return LaneWord(0, 1, a.lanes, a.low, a.high) if a.base else a


def leq(a: LaneWord, b: LaneWord) -> bool:
    """Say whether every word of `a` is one of `b`."""
    if a.lanes != b.lanes:
        if b.lanes is not None:
            return False
        a = flat(a)
    if a.base != b.base:
        if b.base:
            return False
        a = loose(a)
    return a.modulus % b.modulus == 0 and (a.offset - b.offset) % b.modulus == 0 and b.low <= a.low and a.high <= b.high


def join(a: LaneWord, b: LaneWord) -> LaneWord:
    """Return the least word above both."""
    if a == b:
        return a
    if a.lanes != b.lanes:
        a, b = flat(a), flat(b)
    if a.base != b.base:
        a, b = loose(a), loose(b)
    modulus = gcd(a.modulus, b.modulus, a.offset - b.offset)
    return word(a.offset, modulus, a.lanes, (min(a.low, b.low), max(a.high, b.high)), a.base)


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
            if both != UNKNOWN:
                out[name] = both
        return LaneState(out)
