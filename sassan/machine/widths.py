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
    """How wide a value may be that begins at an offset: `at` are the widths of reads there, `behind` what later reads leave of it."""

    at: frozenset[int]
    behind: frozenset[int]

    @property
    def all(self) -> frozenset[int]:
        """Return both; none where nothing is read."""
        return self.at | self.behind


def widths(function: Function, offset: int, limit: int, *, whole: bool = False) -> Widths:
    """Return how wide the values may be that stand in `limit` bytes from an offset, by what the function reads there.

    What is wider than a word counts as words. A word inside of which another read begins may be two values. `whole` says that all the bytes
    are taken for one value; otherwise it ends no later than what is read at its beginning.
    """
    reads = [read for instruction in function.instructions for read in _reads(instruction)]
    at = frozenset(width for start, width in reads if start == offset)
    reach = limit if whole or max(at, default=WORD) == WORD else max(at)
    behind = [(start - offset, width) for start, width in reads if offset < start < offset + reach]
    return Widths(at, frozenset(place if place < WORD else width for place, width in behind if place % WORD or width < WORD))


def _reads(instruction: Instruction) -> Iterator[tuple[int, int]]:
    """Return place and width of what an instruction reads from constant bank 0, word by word."""
    name, *modifiers = instruction.opcode.split(".")
    narrow = min((_NARROW[modifier] for modifier in modifiers if modifier in _NARROW), default=WORD)
    for operand in instruction.operands:
        if not isinstance(operand, Constant) or operand.bank != 0 or any(base.index is not None for base in operand.base):
            continue
        if name in _LOADS:
            words = max((int(wide) // 32 for wide in modifiers if wide in {"64", "128"}), default=1)
            yield from ((operand.offset + WORD * index, narrow) for index in range(words))
        elif name in _CONVERSIONS:
            place, width = next((_SELECTED[part] for part in operand.modifiers if part in _SELECTED), (0, narrow))
            yield operand.offset + place, width
        else:
            yield operand.offset, WORD
