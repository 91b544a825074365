"""How wide the values are that a function reads from constant bank 0, which a listing does not say.

Nothing but its instructions shows that two parameters of 16 bits share a word: `LDC.U16 R0, c[0x0][0x162]`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sassan.ir import Constant, Function, Instruction

WORD = 4
_NARROW = {"U8": 1, "S8": 1, "U16": 2, "S16": 2}
_SELECTED = {"B0": (0, 1), "B1": (1, 1), "B2": (2, 1), "B3": (3, 1), "H0": (0, 2), "H1": (2, 2)}
"""Part of a word by the suffix of the operand: place and width."""
_LOADS = frozenset({"LDC", "ULDC", "LDCU"})
_CONVERSIONS = frozenset({"I2I", "I2F", "I2FP"})
"""Their constant may be a part of a word. That of XMAD is half of a product, and of a number of any width."""


@dataclass(frozen=True, slots=True)
class Widths:
    """How wide a value may be that begins at an offset: `own` are the widths of reads there, `cut` what others leave that begin behind."""

    own: frozenset[int]
    cut: frozenset[int]

    @property
    def all(self) -> frozenset[int]:
        """Return both; none where nothing is read."""
        return self.own | self.cut


def widths(function: Function, offset: int, limit: int, *, whole: bool = False) -> Widths:
    """Return how wide the values may be that stand in `limit` bytes from an offset, by what the function reads there.

    What is wider than a word counts as words. A word inside of which another read begins may be two values. `whole` says that all the bytes
    are taken for one value; otherwise it ends no later than what is read at its beginning.
    """
    reads = [one for instruction in function.instructions for one in _reads(instruction)]
    own = frozenset(width for start, width in reads if start == offset)
    reach = limit if whole or max(own, default=WORD) == WORD else max(own)
    behind = [(start - offset, width) for start, width in reads if offset < start < offset + reach]
    return Widths(own, frozenset(place if place < WORD else width for place, width in behind if place % WORD or width < WORD))


def _reads(instruction: Instruction) -> Iterator[tuple[int, int]]:
    """Return place and width of what an instruction reads from constant bank 0, word by word."""
    name, *modifiers = instruction.opcode.split(".")
    narrow = min((_NARROW[one] for one in modifiers if one in _NARROW), default=WORD)
    for one in instruction.operands:
        if not isinstance(one, Constant) or one.bank != 0 or any(base.index is not None for base in one.base):
            continue
        if name in _LOADS:
            words = max((int(wide) // 32 for wide in modifiers if wide in {"64", "128"}), default=1)
            yield from ((one.offset + WORD * index, narrow) for index in range(words))
        elif name in _CONVERSIONS:
            place, width = next((_SELECTED[part] for part in one.modifiers if part in _SELECTED), (0, narrow))
            yield one.offset + place, width
        else:
            yield one.offset, WORD
