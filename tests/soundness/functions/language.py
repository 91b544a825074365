"""Every function of the language of effects that inference implements, held to plain arithmetic of numbers in drawn worlds.

The functions are those of `evaluate.FUNCTIONS`, for SASS and for PTX; one without a line in `CASES` fails a test.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from operator import or_
from random import Random
from struct import pack, unpack
from typing import Any

import numpy as np

from assembly import instruction
from effects import selector
from listing import assemble
from sassan.domains import ranges
from sassan.ipet.loop_bounds.evaluate import FUNCTIONS, SYMBOLIC
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ipet.loop_bounds.step import InstructionStep
from sassan.ipet.loop_bounds.values import Known, UnknownWord, Value, constant
from sassan.ir import Constant, Function, Operand, Register, Special
from sassan.isa.computations import Apply, Fixed, Read
from sassan.isa.effects import RELATIONS
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting
from sassan.values.compiler import EffectCompiler
from sassan.values.patterns import SAME
from unit.values.lane_cases import REFERENCES, signed
from worlds import LAST, Numbers, Worlds

WORLDS = 256
"""Worlds of each abstract tuple of operands."""
Drawn = tuple[object, Sequence[Any]]
"""An argument as inference takes it, and as numbers: one of each world."""
_GIVEN = (0x180, 0x89ABCDEF)
"""A parameter that the launch gives: its place in the constant bank, and the word."""


_SPECIAL = {
    "SRZ": (0, 0),
    "SR_TID.X": (0, 1023),
    "SR_TID.Z": (0, 63),
    "SR_CTAID.X": (0, (1 << 31) - 2),
    "SR_CTAID.Y": (0, 65534),
    "SR_LANEID": (0, 31),
    "SR_NTID.X": (1, 1024),
    "SR_NCTAID.Z": (1, 65535),
    "SR_CLOCKLO": (0, LAST),
}
"""What special registers may hold (CUDA programming guide, technical specifications per compute capability)."""


@dataclass(frozen=True, slots=True)
class Case:
    """What the arguments are (`_DRAWS`), and what the function returns of numbers; None: no world has such operands."""

    kinds: str
    reference: Callable[..., int | None]


def _total(operands: Iterable[tuple[int, bool]]) -> int:
    """Return a sum; -x is ~x + 1."""
    return sum((word ^ LAST) + 1 if minus else word for word, minus in operands)


def _carry(*operands: tuple[int, bool]) -> int:
    return int(_total(operands) > LAST)


def _carries(*operands: tuple[int, bool] | int) -> int:
    """Return one of two carries: which one a sum sets that has one is not known."""
    *summands, drawn = operands
    count = _total(summands) >> 32
    return count and (drawn if count == 1 else 1)


def _first(word: int, *_: object) -> int:
    return word


def _last(*words: int) -> int:
    """Return what another thread, or what is not followed, has drawn."""
    return words[-1]


def _half(word: int, upper: bool) -> int:
    return word >> 16 if upper else word & 0xFFFF


def _funnel_left(high: int, low: int, places: int) -> int | None:
    return ((high << 32 | low) << places >> 32) if places <= 31 else None


def _funnel_right(high: int, low: int, places: int) -> int | None:
    return ((high << 32 | low) >> places) if places <= 63 else None


def _shift_right(word: int, places: int, is_signed: bool) -> int:
    return (signed(word) if is_signed else word) >> min(places, 32)


def _permute(a: int, select: int, b: int) -> int:
    parts = [*a.to_bytes(4, "little"), *b.to_bytes(4, "little")]
    out = 0
    for place in range(4):
        code = select >> 4 * place & 15
        part = parts[code % 8]
        out |= (part if code < 8 else 0xFF * (part > 127)) << 8 * place
    return out


def _extract(word: int, field: int) -> int | None:
    places, width = field & 255, field >> 8
    return word >> places & (1 << width) - 1 if max(places, width) <= 31 else None


def _extract_signed(word: int, field: int) -> int | None:
    places, width = field & 255, field >> 8
    if not 0 < width <= min(31, 32 - places):
        return None
    part = word >> places & (1 << width) - 1
    return part - (1 << width) if part >> width - 1 else part


def _number(word: int) -> float:
    return float(unpack("<f", pack("<I", word))[0])


def _word(number: float) -> int:
    with np.errstate(all="ignore"):
        return int(np.float32(number).view(np.uint32))


def _flushed(word: int, flush: bool) -> int:
    return word & 1 << 31 if flush and word & 0x7F800000 == 0 else word


def _float_of(word: int, is_signed: bool, rounding: str) -> int:
    exact = signed(word) if is_signed else word
    near = _word(exact)
    if rounding == "RP" and Fraction(_number(near)) < exact:
        return near + (1 if exact > 0 else -1)
    return near


def _float_product(a: int, b: int, flush: bool) -> int:
    # Products of two numbers of 24 digits are exact in double precision.
    return _flushed(_word(_number(_flushed(a, flush)) * _number(_flushed(b, flush))), flush)


_ROUND: Mapping[str, Callable[[float], int]] = {"TRUNC": math.trunc, "FLOOR": math.floor, "CEIL": math.ceil, "ROUND": round}


def _integer_of(word: int, is_signed: bool, rounding: str, flush: bool) -> int | None:
    number = _number(_flushed(word, flush))
    least, most = (-(1 << 31), (1 << 31) - 1) if is_signed else (0, LAST)
    if math.isnan(number):
        return None
    return max(least, min(most, _ROUND[rounding](number))) if math.isfinite(number) else most if number > 0 else least


def _reciprocal(word: int, beside: int) -> int | None:
    """Return a number within one ulp of the reciprocal: `beside` says which."""
    if not 0x00800000 <= word & 0x7FFFFFFF <= 0x7E800000:
        return None
    near = _word(1 / _number(word))
    product = Fraction(_number(near)) * Fraction(_number(word))
    options = (near, near + 1 if product <= 1 else near - 1)
    return options[beside]


def _borrowed(relation: str, carry: int, zero: int) -> int:
    """Compare a and b by the flags of a - b: the carry says that a is at least b."""
    return int({"EQ": zero, "NE": not zero, "GE": carry, "LT": not carry, "GT": carry and not zero, "LE": not carry or zero}[relation])


def _operand(word: int, how: str) -> int:
    """Return an operand as its signs say: a part of a word, its magnitude, its negative or its inverse."""
    word = word >> 16 if how == "H1" else abs(signed(word)) if how == "|" else word
    minus, inverted = how == "-", how == "~"
    return -word if minus else ~word if inverted else word


def _table(a: int, b: int, c: int, table: int) -> int:
    words = [(a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c) for row in range(8) if table >> row & 1]
    return reduce(or_, words, 0)


def _extended(relation: str, a: int, b: int, low: int, is_signed: bool) -> int:  # the arguments of the language
    if is_signed:
        a, b = signed(a), signed(b)
    if relation == "NE":
        return int(a != b or low)
    strict = {"EQ": False, "LT": a < b, "LE": a < b, "GT": a > b, "GE": a > b}[relation]
    return int(strict or (a == b and low))


def _of_bank(word: int, where: tuple[int, int, bool]) -> int:
    offset, size, is_signed = where
    part = word >> 8 * (offset % 4) & (1 << 8 * size) - 1
    return part - (1 << 8 * size) if is_signed and part >> 8 * size - 1 else part


CASES: Mapping[str, Case] = {
    **{name: Case(kinds, reference) for name, (kinds, reference) in REFERENCES.items() if name in FUNCTIONS},
    "lop3": Case("www8", _table),
    "plop3": Case("ttt8", lambda a, b, c, table: table >> (a << 2 | b << 1 | c) & 1),
    "shift_left": Case("wn", lambda word, places: word << min(places, 32)),
    "shift_right": Case("wns", _shift_right),
    "funnel_left": Case("wwn", _funnel_left),
    "funnel_right": Case("wwn", _funnel_right),
    "highest_one": Case("w", lambda word: word.bit_length() - 1),
    "permute": Case("wbw", _permute),
    "extract": Case("wf", _extract),
    "extract_signed": Case("wf", _extract_signed),
    "carry": Case("+", _carry),
    "carries": Case("+.", _carries),
    "whole": Case("o", _first),
    "half": Case("o", _half),
    "borrowed": Case("rtt", _borrowed),
    "extended": Case("rwwts", _extended),
    "float_of": Case("wsR", _float_of),
    "float_product": Case("ww.", _float_product),
    "integer_of": Case("wsI.", _integer_of),
    "reciprocal": Case("w.", _reciprocal),
    "lane": Case("w?", _last),
    "picked": Case("w?", _last),
    "shuffled": Case("w?", _last),
    "maybe": Case("w.", _last),
    "uncertain": Case("u.", _last),
    "special": Case("x", lambda word: word),
    "constant": Case("k", _of_bank),
    "operand": Case("O", _operand),
    "predicate": Case("P", lambda holds: holds),
}
"""`divide` and others that the value analysis alone has are left out."""


def _compiled(name: str) -> Callable[..., Known]:
    """Return a function that reads operands as they stand, compiled for these operands."""

    def call(step: InstructionStep, *arguments: object) -> Known:
        read = EffectCompiler(SYMBOLIC).term(Apply(name, tuple(map(Fixed, arguments))))
        assert read is not None
        return read(step)

    return call


def _operand_of(step: InstructionStep, operand: Operand) -> Known:
    read = EffectCompiler(SYMBOLIC).term(Read(operand))
    assert read is not None
    return read(step)


OF_OPERANDS = ("carry", "carries", "constant", "half", "special", "whole")
"""The functions that read operands as they stand."""
READ: Mapping[str, Callable[..., Known]] = {
    **FUNCTIONS,
    **{name: _compiled(name) for name in OF_OPERANDS},
    **dict.fromkeys(("operand", "predicate"), _operand_of),
}
"""The functions of the language, and how operands are read."""


@cache
def _function() -> Function:
    return assemble("EXIT", "sm_80").function


class Draw:
    """One call of a function: arguments, and what they are in each world."""

    def __init__(self, random: Random, name: str) -> None:
        """Draw the arguments of a function."""
        self.random = random
        self.worlds = Worlds(random, WORLDS)
        self.registers: dict[int, Known] = {}
        self.around = LaunchSymbols(_function(), LaunchConfiguration(parameters=(Setting("", *_GIVEN),)))
        self.arguments: list[object] = []
        self.numbers: list[Sequence[Any]] = []
        for kind in CASES[name].kinds:
            _ARGUMENTS[kind](self)
        self.expected = [CASES[name].reference(*numbers) for numbers in zip(*self.numbers, strict=True)]

    def _known(self, known: Known, numbers: Numbers) -> None:
        self.arguments.append(known)
        self.numbers.append(numbers.tolist())

    def _fixed(self, value: object) -> None:
        self.arguments.append(value)
        self.numbers.append([value] * WORLDS)

    def _few(self) -> tuple[Known, Numbers]:
        """Return a number of places."""
        random, worlds = self.random, self.worlds
        how = random.random()
        if how < 0.1:
            return worlds.word()
        if how < 0.6:
            return worlds.constant(random.choice((0, 1, 1, 16, 31, 32, random.randrange(66))))
        symbol = worlds.symbol()
        words = worlds.facts[symbol] = ranges.span(*sorted(random.randrange(40) for _ in range(2)))
        worlds.share(symbol, worlds.members(words))
        return Value(symbol, 1, ranges.const(0)), worlds.symbols[symbol]

    def _bytes(self) -> tuple[Known, Numbers]:
        """Return what selects bytes."""
        return self.worlds.word() if self.random.random() < 0.1 else self.worlds.constant(selector(self.random))

    def _either(self, count: int) -> None:
        """Draw what the machine may do one way or the other: no argument."""
        self.numbers.append(self.worlds.dice.integers(0, count, size=WORLDS).tolist())

    def _summands(self) -> None:
        for register in range(2, 2 + self.random.randrange(2, 4)):
            self._summand(register)

    def _operand(self) -> None:
        how = self.random.choice(("", "-", "~", "|", "H1"))
        modifiers = (how,) if how == "H1" else ()
        self.arguments.append(Register("R", 2, how == "-", how == "|", how == "~", modifiers))
        self.numbers += [self._held(2).tolist(), [how] * WORLDS]

    def _predicate(self) -> None:
        self.registers[256], numbers = self.worlds.truth()
        minus = self.random.random() < 0.5
        self.arguments.append(Register("P", 0, minus))
        self.numbers.append([number ^ minus for number in numbers.tolist()])

    def _table(self) -> None:
        self._fixed(self.random.choice((*_TABLES, *[self.random.randrange(256)] * len(_TABLES))))

    def _field(self) -> None:
        random = self.random
        self._fixed(random.choice((random.randrange(34) << 8 | random.randrange(34), random.randrange(1, 32) << 8)))

    def _held(self, register: int) -> Numbers:
        known, numbers = self.worlds.word()
        self.registers[register] = known
        return numbers

    def _about(self, register: int) -> Numbers:
        """Let a register be about what is missing to 2^32, or the negative of that."""
        of = np.array([word for word, _ in self.numbers[0]], dtype=np.int64)
        factor, more = self.random.choice((1, -1)), self.random.choice((-1, 0, 0, 1))
        symbol = UnknownWord(ranges.span(int(of.min()), int(of.max())))
        self.worlds.share(symbol, of)
        self.registers[register] = (
            Value(symbol, factor, ranges.const(more)) if of.min() < of.max() else constant(int(of[0]) * factor + more)
        )
        return (of * factor + more) & LAST

    def _summand(self, register: int) -> None:
        minus = self.random.random() < 0.4
        if self.random.random() < 0.15:
            self.arguments.append(Register("R", None, minus))
            self.numbers.append([(0, minus)] * WORLDS)
            return
        self.arguments.append(Register("R", register, minus))
        numbers = self._about(register) if self.numbers and self.random.random() < 0.2 else self._held(register)
        self.numbers.append([(word, minus) for word in numbers.tolist()])

    def _part(self) -> None:
        upper = self.random.random() < 0.5
        self.arguments.append(Register("R", 2, modifiers=("H1",) if upper else ()))
        self.numbers.append(self._held(2).tolist())
        self.numbers.append([upper] * WORLDS)

    def _special(self) -> None:
        name, limit = self.random.choice(tuple(_SPECIAL.items()))
        self.arguments.append(Special(name))
        self.numbers.append(self.worlds.members(ranges.span(*limit)).tolist())

    def _bank(self) -> None:
        size = self.random.choice((1, 2, 4, 4))
        offset = self.random.choice((_GIVEN[0], _GIVEN[0] + 8)) + self.random.randrange(0, 4, size)
        given = offset & ~3 == _GIVEN[0]
        is_signed = size < 4 and self.random.random() < 0.5
        operand: Operand = Constant(0, (), offset)
        if size == 4 and self.random.random() < 0.5:
            base, numbers = self.worlds.constant(self.random.choice((0, 4, 8, 0x100)))
            self.registers[2] = base
            operand = Constant(0, (Register("R", 2),), offset - int(numbers[0]))
        words = self.worlds.constant(_GIVEN[1])[1] if given else self.worlds.members(ranges.EVERY)
        self.arguments += [operand, 0, size, is_signed]
        self.numbers += [words.tolist(), [(offset, size, is_signed)] * WORLDS]

    def complaint(self, name: str, function: Callable[..., Known]) -> str:
        """Return what is wrong with the result of a function, '' where nothing is."""
        state = self.worlds.state(self.registers)
        step = InstructionStep(instruction(name.upper()), state, self.around, SAME, {})
        known = function(step, *self.arguments)
        kept = np.array([number is not None for number in self.expected])
        numbers = np.array([(number or 0) & LAST for number in self.expected], dtype=np.int64)
        wrong = kept & ~self.worlds.allows(state, [(known, numbers)])
        if not wrong.any():
            return ""
        world = int(np.argmax(wrong))
        operands = [each[world] for each in self.numbers]
        return f"{name}{tuple(operands)} is {int(numbers[world]):#x}, not {known}; operands {self.arguments}"


_TABLES = (0xC0, 0xFC, 0x3C, 0xF8, 0xEA, 0x0F)
_ARGUMENTS: Mapping[str, Callable[[Draw], None]] = {
    "w": lambda draw: draw._known(*draw.worlds.word()),
    "t": lambda draw: draw._known(*draw.worlds.truth()),
    "n": lambda draw: draw._known(*draw._few()),
    "b": lambda draw: draw._known(*draw._bytes()),
    "s": lambda draw: draw._fixed(draw.random.random() < 0.5),
    "r": lambda draw: draw._fixed(draw.random.choice(RELATIONS)),
    "R": lambda draw: draw._fixed(draw.random.choice(("RN", "RP"))),
    "I": lambda draw: draw._fixed(draw.random.choice(tuple(_ROUND))),
    "u": lambda draw: draw._fixed("what is not followed"),
    "8": Draw._table,
    "f": Draw._field,
    ".": lambda draw: draw._either(2),
    "?": lambda draw: draw._either(1 << 32),
    "+": Draw._summands,
    "o": Draw._part,
    "O": Draw._operand,
    "P": Draw._predicate,
    "x": Draw._special,
    "k": Draw._bank,
}
"""How each kind of argument is drawn: a word, a predicate, places, a selector of bytes, and what the instruction fixes."""


def check(random: Random, name: str, functions: Mapping[str, Callable[..., Known]] = READ) -> tuple[int, str]:
    """Return how many tuples of operands one draw tries, and what is wrong, '' where nothing is."""
    draw = Draw(random, name)
    return sum(number is not None for number in draw.expected), draw.complaint(name, functions[name])
