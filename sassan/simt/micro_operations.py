"""Integer operations as rows of numbers, which compiled code executes (`kernel.py`) as `integers.py` does one by one.

A form that has no row here is executed there; what both compute is held to be the same (tests/unit/simt/test_kernel.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, auto

from sassan.ir import Constant, Immediate, Operand, Register
from sassan.isa.registers import bit
from sassan.simt.code import Operation, number
from sassan.simt.integer_work import UnknownError, WarpInputs, is_truth
from sassan.simt.values import Words

_WORD = 0xFFFFFFFF
_BANK = 1 << 16
_CC = bit("CC", 0).bit_length() - 1
MOST_WORDS = 4
"""Words that an operation reads, and that it writes, at most."""
_TRUTHS = 3
ZERO = -1
"""The place of a word that is 0, and of a truth that holds; below it are those of constants."""


class Code(IntEnum):
    """What an operation computes of its words a, b, c, d and its truths p, q, r. `kernel.py` has the numbers compiled in."""

    MOVE = auto()
    ADD = auto()
    SCALED_ADD = auto()
    MULTIPLY = auto()
    MULTIPLY_WIDE = auto()
    MULTIPLY_HALVES = auto()
    SUM = auto()
    QUOTIENT = auto()
    REMAINDER = auto()
    SHIFT_LEFT = auto()
    SHIFT_RIGHT = auto()
    FUNNEL_RIGHT = auto()
    FUNNEL_LEFT = auto()
    FIELD = auto()
    TABLE = auto()
    TRUTHS = auto()
    BYTES = auto()
    COMPARE = auto()
    SELECT = auto()
    SELECT_BY_WORD = auto()
    EXTREME = auto()
    MAGNITUDE = auto()
    DRAW = auto()


MINUS_A, X, FROM_FLAGS, PARTS = 1, 8, 16, 32
"""Options of ADD; the first is followed by those of b and c."""
PSL, MERGE, ADD_WHOLE, LOW, HIGH, HIGH_A, HIGH_B = (1 << place for place in range(7))
"""Options of MULTIPLY_HALVES."""
OF_NEXT, SIGNED_NEXT, CARRIES, MINUS_SHIFTED, MINUS_ADDEND = 1, 2, 4, 8, 16
"""Options of SCALED_ADD: what is added is shifted out of two words, or of one with a sign; the flags are a carry; words with a minus."""
EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = range(6)
COMPARISONS: Mapping[str, int] = {"EQ": EQUAL, "NE": NOT_EQUAL, "LT": LESS, "LE": LESS_EQUAL, "GT": GREATER, "GE": GREATER_EQUAL}
AND, OR, XOR = range(3)
LOW_IS_TRUTH, LOW_IS_FLAGS, WHOLE_WORD = 1, 2, 4
"""Options of COMPARE: what is known of the lower words, and that the result is a word of ones or zeros."""


@dataclass(slots=True)
class MicroOperation:
    """One row. Words and truths are places of registers, `ZERO`, or places of constants below it; `results` are which word each write gets.

    `negated` and `inverted` are bits by word, `otherwise` by truth. `numbers` are what the code needs besides.
    """

    code: Code
    words: list[int] = field(default_factory=list[int])
    truths: list[int] = field(default_factory=list[int])
    negated: int = 0
    inverted: int = 0
    otherwise: int = 0
    numbers: tuple[int, ...] = ()
    signed: bool = True
    is_computed: bool = True
    results: dict[int, int] = field(default_factory=dict[int, int])


class Translator:
    """Makes rows for one code, in the warps of `place`; `slots` are the places of its registers.

    `constants` are the words that rows read: the same for all warps, or one for each (N).
    """

    def __init__(self, place: WarpInputs, slots: Mapping[int, int]) -> None:
        """Hold nothing."""
        self.place, self._slots = place, slots
        self.constants: list[int | Words] = []
        self._numbered: dict[tuple[str, int], int] = {}

    def slot(self, register: int) -> int:
        """Return the place of a register."""
        return self._slots[register]

    def fixed(self, value: int) -> int:
        """Return the place of a number."""
        return ZERO if value == 0 else self._constant(("number", value), value)

    def of_bank(self, offset: int) -> int:
        """Return the place of a word of constant bank 0. Raises UnknownError where it is not known."""
        return self._constant(("bank", offset), self.place.bank(offset))

    def _constant(self, key: tuple[str, int], value: int | Words) -> int:
        if key not in self._numbered:
            self._numbered[key] = ZERO - 1 - len(self.constants)
            self.constants.append(value)
        return self._numbered[key]


class RowWork:
    """An operation for which a row is made: the same reading of operands as `GroupOperation`, as places."""

    def __init__(self, rows: Translator, operation: Operation) -> None:
        """Begin a row without words."""
        self.rows, self.operation = rows, operation
        self.instruction = operation.instruction
        self.modifiers = set(operation.instruction.opcode.split(".")[1:]) - {"reuse"}
        self.signed = self.modifiers.isdisjoint({"U32", "U64"})
        self.made = MicroOperation(Code.MOVE, signed=self.signed)

    def word(self, operand: Operand, half: int = 0) -> None:
        """Take an operand as the next word."""
        made, place = self.made, len(self.made.words)
        match operand:
            case Register():
                if set(operand.modifiers) - {"reuse", "64"} or operand.absolute:
                    raise UnknownError
                made.words.append(self._register(operand, half))
                self._sign(place, operand)
            case Immediate(value=int() as value, modifiers=()):
                made.words.append(self.rows.fixed((value >> 32 * half) & _WORD))
            case Constant(bank=0, base=(), modifiers=(), absolute=False) if operand.offset % 4 == 0 and 0 <= operand.offset < _BANK:
                made.words.append(self.rows.of_bank(operand.offset + 4 * half))
                self._sign(place, operand)
            case _:
                raise UnknownError

    def number(self, value: int) -> None:
        """Take a number as the next word."""
        self.made.words.append(self.rows.fixed(value & _WORD))

    def _register(self, register: Register, half: int) -> int:
        name = number(register.file, register.index)
        if name is None:
            return ZERO
        if name + half not in self.operation.reads:
            raise UnknownError
        return self.rows.slot(name + half)

    def _sign(self, place: int, operand: Register | Constant) -> None:
        if operand.negated:
            self.made.negated |= 1 << place
        elif operand.inverted:
            self.made.inverted |= 1 << place

    def truth(self, operand: Operand) -> None:
        """Take a condition operand as the next truth."""
        if not is_truth(operand) or not isinstance(operand, Register):
            raise UnknownError
        self.made.otherwise |= operand.negated << len(self.made.truths)
        self.made.truths.append(self._register(operand, 0))
        if len(self.made.truths) > _TRUTHS:
            raise UnknownError

    def flags(self) -> int:
        """Return the place of the carry flag."""
        if _CC not in self.operation.reads:
            raise UnknownError
        return self.rows.slot(_CC)

    def integer(self, operand: Operand) -> int:
        """Return a plain number."""
        if not isinstance(operand, Immediate) or not isinstance(operand.value, int):
            raise UnknownError
        return operand.value

    def done(self, code: Code, *results: tuple[Operand | int, int], numbers: tuple[int, ...] = ()) -> MicroOperation:
        """Return the row; `results` are operands (or registers by number) with the word that each gets."""
        self.made.code, self.made.numbers = code, numbers
        for to, which in results:
            name = to if isinstance(to, int) else number(to.file, to.index) if isinstance(to, Register) else None
            if name is not None:
                self.made.results[name] = which
        return self.made
