"""What a few opcodes copy and add: enough to follow return addresses, stack pointers and saved barriers from register to register.

Nothing here is needed for agreement; whatever is not listed is an unknown value, which is always a safe answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sassan.ir import CodeAddress, Constant, Immediate, Instruction, Memory, Operand, Register, Special
from sassan.isa.registers import bit

WORD = 0xFFFFFFFF
_STACK_POINTER = 1
_COPIES = frozenset({"MOV", "UMOV", "MOV32I", "R2UR", "S2UR"})
_SUMS = frozenset({"IADD3", "UIADD3", "IADD", "VIADD", "IADD32I"})
_EXACT = frozenset({"MOV", "IADD", "U32", "S32", "MMA", "32", "64", "reuse"})
"""Modifiers under which the opcodes below still move or add whole words."""
_SIZES = {"64": 2, "128": 4}
_NARROW = frozenset({"U8", "S8", "U16", "S16"})


@dataclass(frozen=True, slots=True)
class Put:
    """A number, or half of a code address, goes to the register with bit index `to`."""

    to: int
    value: int | CodeAddress


@dataclass(frozen=True, slots=True)
class Add:
    """`to` = `source` + `addend`, modulo 2^32; a copy where the addend is 0."""

    to: int
    source: int
    addend: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """`to` becomes the stack pointer as the kernel starts with it."""

    to: int


@dataclass(frozen=True, slots=True)
class Store:
    """Words go to local memory from `base` + `offset` on; `base` None: nobody knows where. A source None is not known, or is narrow."""

    base: int | None
    offset: int
    sources: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """Words come from local memory at `base` + `offset` into `to` and the registers after it."""

    to: int
    count: int
    base: int
    offset: int


@dataclass(frozen=True, slots=True)
class SaveBarrier:
    """The mask of a convergence barrier goes to register `to` (None: nowhere); with `clear`, the barrier is emptied."""

    to: int | None
    barrier: int
    clear: bool


@dataclass(frozen=True, slots=True)
class RestoreBarrier:
    """A convergence barrier gets the mask that register `source` holds (None: RZ)."""

    barrier: int
    source: int | None


Move = Put | Add | Frame | Store | Load | SaveBarrier | RestoreBarrier


def moves(one: Instruction) -> tuple[Move, ...]:
    """Return what an instruction moves where, as far as it is one of the few; its guard aside. () says nothing about what it writes."""
    base, *modifiers = one.opcode.split(".")
    special = _SPECIAL.get(base)
    if special is not None:
        return special(one, modifiers)
    if base in _COPIES and _EXACT.issuperset(modifiers) and len(one.operands) == 2 and "64" not in modifiers:  # noqa: PLR2004 - to, from
        return _copy(one, one.operands[1])
    return _sum(one, one.operands[1:]) if base in _SUMS and not modifiers else ()


def _product(one: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    """Return moves that are written as arithmetic: `IMAD.MOV R2, RZ, RZ, x`, `IMAD.IADD R2, R3, 0x1, R4`."""
    if len(one.operands) != 4 or not _EXACT.issuperset(modifiers):  # noqa: PLR2004 - to, two factors, addend
        return ()
    _, left, right, addend = one.operands
    if _is_zero(left) or _is_zero(right):
        return _copy(one, addend)
    if _number(right) == 1:
        return _sum(one, (left, addend))
    return ()


def _half_product(one: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    """Return the zero of `HFMA2.MMA R2, -RZ, RZ, 0, 0`."""
    _, *factors, high, low = one.operands
    zero = len(factors) == 2 and all(map(_is_zero, factors)) and _number(high) == _number(low) == 0  # noqa: PLR2004 - two factors
    return _zeros(one, 1) if zero and _EXACT.issuperset(modifiers) else ()


def _constant(one: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    """Return what loads the stack pointer: `LDC R1, c[0x0][0x37c]`."""
    return _copy(one, one.operands[1]) if not modifiers and _to(one.operands[0]) == _STACK_POINTER else ()


def _special(one: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    zero = isinstance(one.operands[-1], Special) and one.operands[-1].name == "SRZ"
    return _zeros(one, 1 if "32" in modifiers else 2) if zero else ()


def _to(operand: Operand) -> int | None:
    return _index(operand) if isinstance(operand, Register) else None


def _index(operand: Operand) -> int | None:
    """Return the bit index of a plain, whole register."""
    if not isinstance(operand, Register) or operand.negated or operand.absolute or operand.inverted or set(operand.modifiers) - {"reuse"}:
        return None
    mask = bit(operand.file, operand.index)
    return mask.bit_length() - 1 if mask else None


def _number(operand: Operand) -> int | None:
    if isinstance(operand, Immediate) and operand.value == 0:
        return 0
    if isinstance(operand, Immediate) and isinstance(operand.value, int) and not operand.modifiers:
        return operand.value & WORD
    return 0 if _is_zero(operand) else None


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.index is None and operand.file in ("R", "UR") and not operand.inverted


def _copy(one: Instruction, source: Operand) -> tuple[Move, ...]:
    to = _to(one.operands[0])
    if to is None:
        return ()
    if isinstance(source, CodeAddress):
        return (Put(to, source),)
    if isinstance(source, Constant) and to == _STACK_POINTER and source.bank == 0 and not source.base:
        return (Frame(to),)
    number, index = _number(source), _index(source)
    if number is not None:
        return (Put(to, number),)
    return () if index is None else (Add(to, index),)


def _sum(one: Instruction, terms: tuple[Operand, ...]) -> tuple[Move, ...]:
    """Return the sum of at most one register and any numbers; predicates are carries, and must be constant."""
    to, source, addend = _to(one.operands[0]), None, 0
    for term in terms:
        if isinstance(term, Register) and term.file in ("P", "UP"):
            continue
        number, index = _number(term), _index(term)
        if number is not None:
            addend += number
        elif index is not None and source is None:
            source = index
        else:
            return ()
    if to is None:
        return ()
    return (Put(to, addend & WORD),) if source is None else (Add(to, source, addend & WORD),)


def _zeros(one: Instruction, count: int) -> tuple[Move, ...]:
    to = _to(one.operands[0])
    if to is None:
        return ()
    return tuple(Put(to + place, 0) for place in range(count))


def _lepc(one: Instruction, _: list[str]) -> tuple[Move, ...]:
    to = _to(one.operands[0])
    halves = [operand for operand in one.operands[1:] if isinstance(operand, CodeAddress)]
    if to is None or not halves:
        return ()
    address = halves[0].address
    return Put(to, CodeAddress(address, high=False)), Put(to + 1, CodeAddress(address, high=True))


def _address(memory: Operand) -> tuple[int | None, int]:
    if not isinstance(memory, Memory) or len(memory.base) != 1 or memory.descriptor:
        return None, 0
    return _index(memory.base[0]), memory.offset


def _anywhere(_: Instruction, __: list[str]) -> tuple[Move, ...]:
    """Return what a store through a generic address may do to local memory."""
    return (Store(None, 0, ()),)


def _store(one: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    base, offset = _address(one.operands[0])
    if base is None:
        return (Store(None, 0, ()),)
    count = max((_SIZES[name] for name in modifiers if name in _SIZES), default=1)
    source = _to(one.operands[-1])
    if source is None or _NARROW.intersection(modifiers):
        # A narrow store spoils the word, or two where it is not aligned: both are unknown then.
        return (Store(base, offset & ~3, (None,) * (count + 1)),)
    return (Store(base, offset, tuple(source + place for place in range(count))),)


def _load(one: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    to, (base, offset) = _to(one.operands[0]), _address(one.operands[-1])
    if to is None or base is None or _NARROW.intersection(modifiers):
        return ()
    return (Load(to, max((_SIZES[name] for name in modifiers if name in _SIZES), default=1), base, offset),)


def _barrier(one: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    first, second = one.operands
    if isinstance(first, Register) and first.file == "B" and first.index is not None:
        return (RestoreBarrier(first.index, _index(second)),)
    if isinstance(second, Register) and second.file == "B" and second.index is not None:
        return (SaveBarrier(_index(first), second.index, "CLEAR" in modifiers),)
    return ()


_SPECIAL: Mapping[str, Callable[[Instruction, list[str]], tuple[Move, ...]]] = {
    "BMOV": _barrier,
    "CS2R": _special,
    "HFMA2": _half_product,
    "IMAD": _product,
    "LDC": _constant,
    "LDL": _load,
    "LEPC": _lepc,
    "ST": _anywhere,
    "STL": _store,
    "UIMAD": _product,
}
