"""What integer instructions really compute: `Values` for the operations that decide how often a loop turns.

Whatever is not listed (memory, floating point, votes, and forms that nobody looked at) draws a word for each run, thread and moment: such a
run is one that could be, for some contents of memory. Words are 32 bits; the carry flag until Pascal is bit 0 of CC, the zero flag bit 1.
"""

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from sassan.ir import Constant, Immediate, Instruction, Operand, Register, Special
from sassan.isa.registers import bit
from sassan.simt.code import Operation, number
from sassan.simt.values import LANES, ONE_COPY, PREDICATES, Moment, Rows, Truth, Words, key, stir

Longs = npt.NDArray[np.uint64]
_MASK = np.uint64(0xFFFFFFFF)
_WORD = 0xFFFFFFFF
_CC = bit("CC", 0).bit_length() - 1
_SMALL = 24


@dataclass(frozen=True, slots=True)
class Place:
    """N warps of a launch.

    `salt` (N) names each, `special` are special registers (N, 32), `bank` returns a word of constant bank 0 (N). `short` says that IADD3
    has immediates of 20 bits, which are printed without their sign: until Pascal.
    """

    salt: Words
    special: Mapping[str, Words]
    bank: Callable[[int], Words]
    short: bool = False

    def __len__(self) -> int:
        """Return N."""
        return len(self.salt)


@dataclass(slots=True)
class _Work:
    """One operation on a group: what it reads, and what it has written so far, 64 bits to a word to have room for carries."""

    instruction: Instruction
    place: Place
    rows: Rows
    inputs: Mapping[int, Words]
    out: dict[int, Longs]

    @property
    def modifiers(self) -> set[str]:
        return set(self.instruction.opcode.split(".")[1:]) - {"reuse"}

    @property
    def signed(self) -> bool:
        return self.modifiers.isdisjoint({"U32", "U64"})

    def word(self, operand: Operand, half: int = 0) -> Longs:
        """Return an operand; signs and inversions applied."""
        match operand:
            case Register():
                if set(operand.modifiers) - {"reuse", "64"} or operand.absolute:
                    raise _UnknownError
                return self._sign(self._register(operand, half), operand.negated, operand.inverted)
            case Immediate(value=int() as value, modifiers=()):
                return self.full((value >> 32 * half) & _WORD)
            case Constant(bank=0, modifiers=()) if all(one.index is None for one in operand.base) and not operand.absolute:
                words = self.place.bank(operand.offset + 4 * half)[self.rows]
                return self._sign(np.repeat(words[:, None], LANES, axis=1).astype(np.uint64), operand.negated, operand.inverted)
            case _:
                raise _UnknownError

    def full(self, value: int) -> Longs:
        return np.full((len(self.rows), LANES), value, dtype=np.uint64)

    def _register(self, one: Register, half: int) -> Longs:
        name = number(one.file, one.index)
        return self.full(0) if name is None else self.inputs[name + half].astype(np.uint64)

    def _sign(self, words: Longs, negated: bool, inverted: bool) -> Longs:
        if negated:
            return (~words + np.uint64(1)) & _MASK
        return ~words & _MASK if inverted else words

    def truth(self, operand: Operand) -> Truth:
        if not isinstance(operand, Register) or operand.file not in {"P", "UP"}:
            raise _UnknownError
        name = number(operand.file, operand.index)
        held = np.ones((len(self.rows), LANES), dtype=np.bool_) if name is None else self.inputs[name] != 0
        return np.asarray(held != operand.negated)

    def put(self, operand: Operand, words: Longs | Truth, half: int = 0) -> None:
        name = number(operand.file, operand.index) if isinstance(operand, Register) else None
        if name is not None:
            self.out[name + half] = words.astype(np.uint64) & _MASK

    def integer(self, operand: Operand) -> int:
        if not isinstance(operand, Immediate) or not isinstance(operand.value, int):
            raise _UnknownError
        return operand.value


class _UnknownError(Exception):
    """Nobody looked at a form: its results are drawn."""


class Integers:
    """`Values` by integer arithmetic, for the warps of a place."""

    def __init__(self, place: Place) -> None:
        """Hold the warps; their order is that of the runs."""
        self._place = place

    def initial(self, registers: tuple[int, ...]) -> Words:
        """Return a word that is drawn for every register and lane of every run."""
        lanes = np.arange(LANES, dtype=np.uint32)
        out = np.empty((len(registers), len(self._place), LANES), dtype=np.uint32)
        for index, register in enumerate(registers):
            word = stir(stir(self._place.salt, np.uint32(register))[:, None], lanes * np.uint32(register not in ONE_COPY))
            out[index] = word >> np.uint32(31) if register in PREDICATES else word
        return out

    def outputs(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> tuple[Words, ...]:
        """Return one array per written register: computed, or drawn where nobody says what the operation computes."""
        work = _Work(operation.instruction, self._place, at.rows, dict(zip(operation.reads, inputs, strict=True)), {})
        compute = _OPERATIONS.get(operation.instruction.opcode.partition(".")[0])
        if compute is not None:
            try:
                compute(work)
            except (_UnknownError, ValueError, KeyError):
                work.out.clear()
        drawn = self._drawn(operation, at)
        return tuple(
            work.out[register].astype(np.uint32) if register in work.out else self._one(register, stir(drawn, np.uint32(place)))
            for place, register in enumerate(operation.writes)
        )

    def _drawn(self, operation: Operation, at: Moment) -> Words:
        state = stir(stir(self._place.salt[at.rows], np.uint32(operation.instruction.address)), at.time)
        return stir(state[:, None], np.arange(LANES, dtype=np.uint32))

    def _one(self, register: int, word: Words) -> Words:
        """Return a drawn word: small every other time, as counts and indices in memory are."""
        if register in PREDICATES:
            return word >> np.uint32(31)
        return np.where(word & np.uint32(64), word % np.uint32(_SMALL), word).astype(np.uint32)

    def holds(self, test: int, flags: Words, at: Moment) -> Truth:
        """Return a truth that is drawn: no test of the flags is listed."""
        return np.asarray(stir(stir(self._place.salt[at.rows], np.uint32(test)), at.time)[:, None] + flags > np.uint32(1 << 31))

    def choose(self, selector: int, inputs: tuple[Words, ...], count: int, at: Moment) -> Rows:
        """Return a target that is drawn."""
        state = stir(stir(self._place.salt[at.rows], np.uint32(selector)), at.time)[:, None]
        for word in inputs:
            state = stir(state, word)
        return (stir(state, np.uint32(1)) % np.uint32(count)).astype(np.intp)

    def coin(self, at: Moment) -> Words:
        """Return a word that is drawn."""
        return stir(stir(self._place.salt[at.rows], at.time), np.uint32(key("coin")))


def _as_signed(words: Longs) -> npt.NDArray[np.int64]:
    return words.astype(np.uint32).view(np.int32).astype(np.int64)


def _numbers(words: Longs, signed: bool) -> npt.NDArray[np.int64]:
    return _as_signed(words) if signed else words.astype(np.int64)


def _back(numbers: npt.NDArray[np.int64]) -> Longs:
    return numbers.view(np.uint64) & _MASK


def _is_truth(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.file in {"P", "UP"}


def _split(operands: tuple[Operand, ...]) -> tuple[Operand, list[Operand], list[Operand], list[Operand]]:
    """Return destination, condition destinations, words, and conditions at the end."""
    to, *rest = operands
    outs = rest[: next((place for place, one in enumerate(rest) if not _is_truth(one)), 0)]
    rest = rest[len(outs) :]
    late = next((place for place, one in enumerate(reversed(rest)) if not _is_truth(one)), 0)
    return to, outs, rest[: len(rest) - late], rest[len(rest) - late :]


def _move(work: _Work) -> None:
    to, source, *mask = work.instruction.operands
    if mask and work.integer(mask[0]) != 15:  # noqa: PLR2004  # every byte
        raise _UnknownError
    for half in range(2 if "64" in work.modifiers else 1):
        work.put(to, work.word(source, half), half)


def _add(work: _Work) -> None:
    to, outs, words, ins = _split(work.instruction.operands)
    modifiers = work.modifiers
    if modifiers - {"X", "64"}:
        raise _UnknownError
    if "64" in modifiers:
        _add_pairs(work, to, words)
        return
    values = [_summand(work, one) for one in words]
    total = reduce(lambda a, b: a + b, values, work.full(0))
    # -x is ~x + 1: the carry of a difference counts the 1.
    minus_zero = [getattr(one, "negated", False) and not getattr(one, "inverted", False) for one in words]
    carry = total + sum((value == 0).astype(np.uint64) << np.uint64(32) for value, flag in zip(values, minus_zero, strict=True) if flag)
    if "X" in modifiers:
        if not ins and any(minus_zero):
            raise _UnknownError
        for one in [work.truth(one) for one in ins] or [(work.inputs[_CC] & 1) != 0]:
            total = total + one
            carry = carry + one
    work.put(to, total)
    for out in outs:
        work.put(out, carry >> np.uint64(32) != 0)
    if isinstance(to, Register) and "CC" in to.modifiers:
        work.out[_CC] = (carry >> np.uint64(32) != 0).astype(np.uint64) | ((total & _MASK) == 0).astype(np.uint64) << np.uint64(1)


def _summand(work: _Work, operand: Operand) -> Longs:
    """Return a word; until Pascal IADD3 prints its 20-bit immediate without the sign."""
    if work.place.short and work.instruction.opcode.startswith("IADD3") and isinstance(operand, Immediate):
        value = work.integer(operand)
        return work.full((value - (1 << 20) if 1 << 19 <= value < 1 << 20 else value) & _WORD)
    return work.word(operand)


def _add_pairs(work: _Work, to: Operand, words: list[Operand]) -> None:
    low = sum(work.word(one) for one in words)
    high = sum(work.word(one, 1) for one in words)
    if any(getattr(one, "negated", False) for one in words):
        raise _UnknownError
    work.put(to, np.asarray(low))
    work.put(to, np.asarray(high) + (np.asarray(low) >> np.uint64(32)), 1)


def _multiply(work: _Work) -> None:
    to, outs, (left, right, addend, *_), ins = _split(work.instruction.operands)
    modifiers = work.modifiers - {"MOV", "SHL", "IADD", "U32", "S32"}
    if outs or modifiers - {"HI", "WIDE", "X"}:
        raise _UnknownError
    a, b = work.word(left), work.word(right)
    if modifiers & {"HI", "WIDE"}:
        pair = work.word(addend) | work.word(addend, 1) << np.uint64(32)
        whole = (_numbers(a, work.signed).view(np.uint64) * _numbers(b, work.signed).view(np.uint64)) + pair
        if "WIDE" in modifiers:
            work.put(to, whole)
        work.put(to, whole >> np.uint64(32), int("WIDE" in modifiers))
        return
    total = a * b + work.word(addend)
    for one in [work.truth(one) for one in ins] if "X" in modifiers else []:
        total = total + one
    work.put(to, total)


def _short_multiply(work: _Work) -> None:
    to, left, right, addend = work.instruction.operands
    modifiers = work.modifiers
    if modifiers - {"PSL", "MRG", "CBCC"} or (isinstance(to, Register) and "CC" in to.modifiers):
        raise _UnknownError
    found = _half(work, left) * _half(work, right)
    whole, c = work.word(_plain(right)), work.word(addend)
    found = found << np.uint64(16) if "PSL" in modifiers else found
    c = c + (whole << np.uint64(16)) if "CBCC" in modifiers else c
    found = found + c
    if "MRG" in modifiers:
        found = (found & np.uint64(0xFFFF)) | whole << np.uint64(16)
    work.put(to, found)


def _half(work: _Work, operand: Operand) -> Longs:
    modifiers = set(getattr(operand, "modifiers", ())) - {"reuse"}
    if modifiers - {"H1"} or getattr(operand, "negated", False):
        raise _UnknownError
    word = work.word(_plain(operand))
    return (word >> np.uint64(16) if modifiers else word) & np.uint64(0xFFFF)


def _plain(operand: Operand) -> Operand:
    """Return an operand without the part that is selected of it."""
    if isinstance(operand, Register):
        return Register(operand.file, operand.index)
    return Constant(operand.bank, operand.base, operand.offset) if isinstance(operand, Constant) else operand


def _left(work: _Work) -> None:
    to, source, places = work.instruction.operands[:3]
    if work.modifiers - {"U32", "S32"}:
        raise _UnknownError
    work.put(to, _shifted_left(work.word(source), work.word(places)))


def _shifted_left(words: Longs, places: Longs) -> Longs:
    return np.where(places < np.uint64(32), words << np.minimum(places, np.uint64(32)), np.uint64(0))


def _right(work: _Work) -> None:
    to, source, places = work.instruction.operands
    if work.modifiers - {"U32", "S32"}:
        raise _UnknownError
    work.put(to, _shifted_right(work, work.word(source), work.word(places)))


def _shifted_right(work: _Work, words: Longs, places: Longs) -> Longs:
    numbers = _numbers(words, work.signed)
    return _back(numbers >> np.minimum(places, np.uint64(63)).astype(np.int64))


def _funnel(work: _Work) -> None:
    to, low, places, high = work.instruction.operands
    match sorted(work.modifiers):
        case ["L", "U32"] | ["L", "S32"]:
            work.put(to, _shifted_left(work.word(low), work.word(places)))
        case ["HI", "R", "U32"] | ["HI", "R", "S32"]:
            work.put(to, _shifted_right(work, work.word(high), work.word(places)))
        case ["HI", "L", "U32"]:
            whole: Longs = work.word(low) | work.word(high) << np.uint64(32)
            moved: Longs = np.left_shift(whole, np.minimum(work.word(places), np.uint64(32)))
            work.put(to, moved >> np.uint64(32))
        case _:
            raise _UnknownError


def _scaled_add(work: _Work) -> None:
    to, outs, words, ins = _split(work.instruction.operands)
    if ins or outs or (isinstance(to, Register) and "CC" in to.modifiers):
        raise _UnknownError
    source, places = work.word(words[0]), np.uint64(work.integer(words[-1]) & 31)
    match sorted(work.modifiers):
        case []:
            found = source << places
        case ["HI"]:
            found = (source | work.word(words[2]) << np.uint64(32)) >> (np.uint64(32) - places)
        case ["HI", "SX32"]:
            found = _back(_as_signed(source) >> (32 - places.astype(np.int64)))
        case _:
            raise _UnknownError
    work.put(to, found + work.word(words[1]))


def _bitwise(work: _Work) -> None:
    operands = list(work.instruction.operands)
    out = operands.pop(0) if _is_truth(operands[0]) else None
    to, left, right = operands
    a, b = work.word(left), work.word(right)
    match sorted(work.modifiers - {"NZ"}):
        case ["AND"]:
            found = a & b
        case ["OR"]:
            found = a | b
        case ["XOR"]:
            found = a ^ b
        case ["PASS_B"]:
            found = b
        case _:
            raise _UnknownError
    work.put(to, found)
    if out is not None:
        work.put(out, found != 0)


def _table(work: _Work) -> None:
    operands = list(work.instruction.operands)
    out = operands.pop(0) if _is_truth(operands[0]) else None
    to, *inputs, code = operands[:5]
    a, b, c = (work.word(one) for one in inputs)
    found = work.full(0)
    for row in range(8):
        if work.integer(code) >> row & 1:
            found |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c) & _MASK
    work.put(to, found)
    if out is not None:
        more = work.truth(operands[5]) if len(operands) > 5 else np.zeros_like(found, dtype=np.bool_)  # noqa: PLR2004  # behind the table
        work.put(out, (found != 0) | more)


def _truth_table(work: _Work) -> None:
    operands = work.instruction.operands
    a, b, c = (work.truth(one).astype(np.uint64) for one in operands[2:5])
    row = a << np.uint64(2) | b << np.uint64(1) | c
    for to, code in ((operands[0], operands[5]), (operands[1], operands[6])):
        work.put(to, np.uint64(work.integer(code)) >> row & np.uint64(1))


_COMBINE: Mapping[str, Callable[[Truth, Truth], Truth]] = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


def _two_truths(work: _Work) -> None:
    to, other, *inputs = work.instruction.operands
    first, second = (_COMBINE[one] for one in work.instruction.opcode.split(".")[1:])
    a, b, c = (work.truth(one) for one in inputs)
    work.put(to, second(first(a, b), c))
    work.put(other, second(~first(a, b), c))


def _compared(name: str, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], below: Truth | None) -> Truth:
    """Return a comparison; `below` is the outcome for the low words where these are the high ones."""
    if below is None:
        below = np.full(a.shape, name in {"EQ", "LE", "GE"})
    match name:
        case "EQ":
            return np.asarray((a == b) & below)
        case "NE":
            return np.asarray((a != b) | below)
        case "LT" | "LE":
            return np.asarray((a < b) | ((a == b) & below))
        case "GT" | "GE":
            return np.asarray((a > b) | ((a == b) & below))
        case _:
            raise _UnknownError


def _integer_test(work: _Work, left: Operand, right: Operand, low: list[Operand]) -> Truth:
    name = work.instruction.opcode.split(".")[1]
    below = None
    half = 0
    if "EX" in work.modifiers:
        below = work.truth(low[0])
    elif "X" in work.modifiers:
        carry, zero = (work.inputs[_CC] & 1) != 0, (work.inputs[_CC] & 2) != 0
        below = {"GE": carry, "LT": ~carry, "EQ": zero, "NE": ~zero}[name]
    elif work.modifiers & {"U64", "S64"}:
        below, half = _compared(name, _numbers(work.word(left), False), _numbers(work.word(right), False), None), 1
    return _compared(name, _numbers(work.word(left, half), work.signed), _numbers(work.word(right, half), work.signed), below)


def _how(work: _Work) -> Callable[[Truth, Truth], Truth]:
    return _COMBINE[next(one for one in work.instruction.opcode.split(".")[2:] if one in _COMBINE)]


def _set_truth(work: _Work) -> None:
    to, other, left, right, third, *low = work.instruction.operands
    found, also = _integer_test(work, left, right, low), work.truth(third)
    work.put(to, _how(work)(found, also))
    work.put(other, _how(work)(~found, also))


def _set_word(work: _Work) -> None:
    to, left, right, third = work.instruction.operands
    if "BF" in work.modifiers:
        raise _UnknownError
    work.put(to, _all_or_none(_how(work)(_integer_test(work, left, right, []), work.truth(third))))


def _all_or_none(truth: Truth) -> Longs:
    return truth.astype(np.uint64) * _MASK


def _set_float(work: _Work) -> None:
    if "BF" in work.modifiers:
        raise _UnknownError
    draw = stir(stir(work.place.salt[work.rows], np.uint32(work.instruction.address))[:, None], np.arange(LANES, dtype=np.uint32))
    work.put(work.instruction.operands[0], _all_or_none(np.asarray(draw & np.uint32(8) != 0)))


def _select(work: _Work) -> None:
    to, left, right, which = work.instruction.operands
    for half in range(2 if "64" in work.modifiers else 1):
        work.put(to, np.where(work.truth(which), work.word(left, half), work.word(right, half)), half)


def _select_by_word(work: _Work) -> None:
    to, left, right, word = work.instruction.operands
    name = work.instruction.opcode.split(".")[1]
    which = _compared(name, _numbers(work.word(word), work.signed), np.zeros((len(work.rows), LANES), dtype=np.int64), None)
    work.put(to, np.where(which, work.word(left), work.word(right)))


def _extreme(work: _Work) -> None:
    to, *sources, which = work.instruction.operands
    if work.modifiers - {"U32", "S32"}:
        raise _UnknownError
    words = [work.word(one) for one in sources if not _is_truth(one)]
    if len(words) == 3:  # noqa: PLR2004  # a sum and another
        words = [(words[0] + words[1]) & _MASK, words[2]]
    lesser = _numbers(words[0], work.signed) <= _numbers(words[1], work.signed)
    work.put(to, np.where(lesser == work.truth(which), words[0], words[1]))


def _magnitude(work: _Work) -> None:
    to, source = work.instruction.operands
    work.put(to, _back(np.abs(_as_signed(work.word(source)))))


def _field(work: _Work) -> None:
    to, source, where = work.instruction.operands
    if work.modifiers != {"U32"}:
        raise _UnknownError
    places, width = work.integer(where) & 255, work.integer(where) >> 8 & 255
    if max(places, width) > 31:  # noqa: PLR2004  # the last place of a word
        raise _UnknownError
    work.put(to, work.word(source) >> np.uint64(places) & np.uint64((1 << width) - 1))


def _count(work: _Work) -> None:
    to, source = work.instruction.operands
    work.put(to, np.unpackbits(work.word(source).astype("<u8")[..., None].view(np.uint8), axis=-1).sum(axis=-1, dtype=np.uint64))


def _special(work: _Work) -> None:
    to, source = work.instruction.operands
    known = work.place.special.get(source.name) if isinstance(source, Special) else None
    if known is None:
        raise _UnknownError
    for half in range(2 if work.instruction.opcode == "CS2R" else 1):
        work.put(to, known[work.rows].astype(np.uint64), half)


_WIDTHS = {"U8": (1, False), "S8": (1, True), "U16": (2, False), "S16": (2, True)}


def _load_constant(work: _Work) -> None:
    to, source = work.instruction.operands
    if not isinstance(source, Constant) or work.modifiers - {*_WIDTHS, "64", "128"}:
        raise _UnknownError
    size, signed = next((_WIDTHS[one] for one in work.modifiers if one in _WIDTHS), (4, False))
    if size < 4:  # noqa: PLR2004  # bytes of a word
        aligned = Constant(source.bank, source.base, source.offset & ~3)
        word = work.word(aligned) >> np.uint64(8 * (source.offset & 3)) & np.uint64((1 << 8 * size) - 1)
        sign = np.uint64(1 << 8 * size - 1)
        work.put(to, ((word ^ sign) - sign) & _MASK if signed else word)
        return
    for half in range({"64": 2, "128": 4}.get(next(iter(work.modifiers), ""), 1)):
        work.put(to, work.word(source, half), half)


def _half_constant(work: _Work) -> None:
    """HFMA2 of zeros: how ptxas loads a number by way of the floating-point unit."""
    to, first, second, high, low = work.instruction.operands
    if work.modifiers - {"MMA"} or not isinstance(high, Immediate) or not isinstance(low, Immediate):
        raise _UnknownError
    if work.word(first).any() or work.word(second).any() or re.search(r", -0(\.0*)?(,|$)", work.instruction.text):
        raise _UnknownError
    (bits,) = struct.unpack("<I", struct.pack("<ee", low.value, high.value))
    work.put(to, work.full(bits))


_OPERATIONS: Mapping[str, Callable[[_Work], None]] = {
    **dict.fromkeys(("MOV", "MOV32I", "UMOV"), _move),
    **dict.fromkeys(("IADD", "IADD3", "IADD32I", "VIADD", "UIADD3"), _add),
    **dict.fromkeys(("IMAD", "UIMAD", "IMAD32I"), _multiply),
    "XMAD": _short_multiply,
    "SHL": _left,
    "SHR": _right,
    **dict.fromkeys(("SHF", "USHF"), _funnel),
    **dict.fromkeys(("LEA", "ULEA", "ISCADD", "ISCADD32I"), _scaled_add),
    **dict.fromkeys(("LOP", "LOP32I"), _bitwise),
    **dict.fromkeys(("LOP3", "ULOP3"), _table),
    **dict.fromkeys(("PLOP3", "UPLOP3"), _truth_table),
    "PSETP": _two_truths,
    **dict.fromkeys(("ISETP", "UISETP"), _set_truth),
    "ISET": _set_word,
    **dict.fromkeys(("FSET", "DSET"), _set_float),
    **dict.fromkeys(("SEL", "USEL"), _select),
    "ICMP": _select_by_word,
    **dict.fromkeys(("IMNMX", "VIMNMX", "VIADDMNMX", "UIMNMX", "UVIMNMX"), _extreme),
    "IABS": _magnitude,
    "BFE": _field,
    **dict.fromkeys(("POPC", "UPOPC"), _count),
    **dict.fromkeys(("S2R", "S2UR", "CS2R"), _special),
    **dict.fromkeys(("LDC", "ULDC", "LDCU"), _load_constant),
    "HFMA2": _half_constant,
}
