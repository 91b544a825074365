"""What an instruction moves where: enough to follow return addresses, stack pointers and saved barriers from register to register.

Copies and sums are the effects of the opcode tables over linear values: a number, or a register plus a number. Memory and barriers have
rules of their own. Nothing here is needed for agreement; whatever is not listed is an unknown value, which is always a safe answer.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sassan.ir import CodeAddress, Constant, Immediate, Instruction, Memory, Operand, Register, Special, Variable
from sassan.isa.computations import Apply, Computation, Fixed, Number, Read, Select, StepValue, Term, Write
from sassan.isa.effects import ABOUT_OPERANDS
from sassan.isa.registers import bit

WORD = 0xFFFFFFFF
POINTERS = 4
"""The constant bank in which the compiler keeps addresses of variables and functions."""
_STACK_POINTER = 1
_SIZES = {"64": 2, "128": 4}
_FETCHES = frozenset({"LDC", "LDCU", "ULDC"})
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
class RoundDown:
    """`to` = `source` with the low bits of `mask` cleared."""

    to: int
    source: int
    mask: int


@dataclass(frozen=True, slots=True)
class InitialStackPointer:
    """`to` becomes the stack pointer as the kernel starts with it."""

    to: int


@dataclass(frozen=True, slots=True)
class Store:
    """Words go to local memory from `base` + `offset` on; `base` None: at an unknown address. A source None is not known, or is narrow.

    With `zeros`, whole words are stored that are 0.
    """

    base: int | None
    offset: int
    sources: tuple[int | None, ...]
    zeros: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """Words come from local memory at `base` + `offset` into `to` and the registers after it."""

    to: int
    count: int
    base: int
    offset: int


@dataclass(frozen=True, slots=True)
class Fetch:
    """Words come from the constant bank of the compiler at `base` (None: 0) + `offset` into `to` and the registers after it."""

    to: int
    count: int
    base: int | None
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


@dataclass(frozen=True, slots=True)
class WriteBarrier:
    """A convergence barrier gets a mask that stands in the instruction."""

    barrier: int
    mask: int


@dataclass(frozen=True, slots=True)
class CopyBarrier:
    """Convergence barrier `to` gets the mask of `source`, which is emptied with `clear`."""

    to: int
    source: int
    clear: bool


Move = Put | Add | RoundDown | InitialStackPointer | Store | Load | Fetch | SaveBarrier | RestoreBarrier | WriteBarrier | CopyBarrier


def moves(instruction: Instruction, computes: Computation | None) -> tuple[Move, ...]:
    """Return what an instruction moves where, its guard aside; `computes` is its effect. () says nothing about what it writes."""
    base, *modifiers = instruction.opcode.split(".")
    special = _SPECIAL.get(base)
    if special is not None:
        return special(instruction, modifiers)
    if base in _FETCHES and (fetched := _fetch(instruction, modifiers)):
        return fetched
    if any(isinstance(operand, Variable) for operand in instruction.operands):
        # The return addresses of PTX are in no register.
        return ()
    if computes is None or not computes.effect.word_functions <= _LINEAR:
        return ()
    return tuple(_written(computes.of(instruction)))


def reads_stack(instruction: Instruction) -> bool:
    """Say whether an instruction may bring back what was stored in local memory."""
    return instruction.opcode.partition(".")[0] == "LDL"


_LINEAR = frozenset(
    {"add", "subtract", "multiply", "bit", "lane", "special", "constant", "float_halves", "masked", "negation", *ABOUT_OPERANDS}
)
"""Functions of effects that may leave a linear value."""


@dataclass(frozen=True, slots=True)
class _Linear:
    """The word of a register (None: 0) plus a number, modulo 2^32."""

    register: int | None
    number: int


_Word = _Linear | CodeAddress | Constant
"""Constant: a word of constant bank 0 or of that of the compiler, at a known address."""


def _written(steps: tuple[Write | Select, ...]) -> Iterator[Move]:
    known: dict[str, _Word | None] = {}
    for step in steps:
        if isinstance(step, Write):
            value = known[step.name] = _value(step.value, known)
            for target in step.targets:
                yield from _put(target, value)


def _put(to: int, value: _Word | None) -> Iterator[Move]:
    match value:
        case CodeAddress():
            yield Put(to, value)
        case Constant(bank=0) if to == _STACK_POINTER:
            yield InitialStackPointer(to)
        case Constant(bank=bank, offset=offset) if bank == POINTERS:
            yield Fetch(to, 1, None, offset)
        case _Linear(None, number):
            yield Put(to, number)
        case _Linear(int(register), number):
            yield Add(to, register, number)
        case _:
            pass


def _value(term: Term, known: Mapping[str, _Word | None]) -> _Word | None:
    """Return a linear value, None for any other."""
    match term:
        case Number(value):
            return _Linear(None, value & WORD)
        case Read(operand, 0):
            return _operand(operand)
        case StepValue(name):
            return known[name]
        case Apply():
            return _applied(term, known)
        case _:
            return None


def _applied(term: Apply, known: Mapping[str, _Word | None]) -> _Word | None:
    match term:
        case Apply("add", (first, second)):
            return _sum(_value(first, known), _value(second, known))
        case Apply("multiply", (first, second)):
            return _product(_value(first, known), _value(second, known))
        case Apply("lane", (word,)):
            return _value(word, known)
        case Apply("special", (Fixed(value=Special(name="SRZ")),)):
            return _Linear(None, 0)
        case Apply("constant", (Fixed(value=Constant() as operand), Fixed(value=0), Fixed(value=4), _)):
            return _operand(operand)
        case _:
            return None


def _operand(operand: Operand) -> _Word | None:
    if isinstance(operand, CodeAddress):
        return operand
    if isinstance(operand, Constant):
        changed = operand.base or operand.negated or operand.absolute or operand.inverted or operand.modifiers
        plain = operand.bank in {0, POINTERS} and not changed
        return operand if plain else None
    index = _index(operand)
    return None if index is None else _Linear(index, 0)


def _sum(first: _Word | None, second: _Word | None) -> _Word | None:
    for word, other in ((first, second), (second, first)):
        if isinstance(other, _Linear) and other.register is None:
            if isinstance(word, _Linear):
                return _Linear(word.register, word.number + other.number & WORD)
            return word if not other.number else None
    return None


def _product(first: _Word | None, second: _Word | None) -> _Word | None:
    for word, factor in ((first, second), (second, first)):
        if factor == _Linear(None, 0):
            return factor
        if factor == _Linear(None, 1):
            return word
    return None


def _to(operand: Operand) -> int | None:
    return _index(operand) if isinstance(operand, Register) else None


def _index(operand: Operand) -> int | None:
    """Return the bit index of a plain, whole register."""
    if not isinstance(operand, Register) or operand.negated or operand.absolute or operand.inverted or set(operand.modifiers) - {"reuse"}:
        return None
    mask = bit(operand.file, operand.index)
    return mask.bit_length() - 1 if mask else None


def _lepc(instruction: Instruction, _: list[str]) -> tuple[Move, ...]:
    to = _to(instruction.operands[0])
    halves = [operand for operand in instruction.operands[1:] if isinstance(operand, CodeAddress)]
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


def _store(instruction: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    base, offset = _address(instruction.operands[0])
    if base is None:
        return (Store(None, 0, ()),)
    count = _count(modifiers)
    source = _to(instruction.operands[-1])
    if _NARROW.intersection(modifiers):
        # It spoils the word, or two where it is not aligned: both are unknown then.
        return (Store(base, offset & ~3, (None, None)),)
    zeros = isinstance(last := instruction.operands[-1], Register) and last.index is None
    return (Store(base, offset, tuple(None if source is None else source + place for place in range(count)), zeros),)


def _load(instruction: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    to, (base, offset) = _to(instruction.operands[0]), _address(instruction.operands[-1])
    if to is None or base is None or _NARROW.intersection(modifiers):
        return ()
    return (Load(to, _count(modifiers), base, offset),)


def _count(modifiers: list[str]) -> int:
    return max((_SIZES[name] for name in modifiers if name in _SIZES), default=1)


def _fetch(instruction: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    """Return the move of a load from the bank of pointers, () for any other."""
    to, constant = _to(instruction.operands[0]), instruction.operands[-1]
    if to is None or not isinstance(constant, Constant) or constant.bank != POINTERS or constant.modifiers or set(modifiers) - set(_SIZES):
        return ()
    bases = [operand for operand in constant.base if operand.index is not None]
    registers = [_index(operand) for operand in bases]
    if len(bases) > 1 or None in registers:
        return ()
    return (Fetch(to, _count(modifiers), registers[0] if registers else None, constant.offset),)


def _lop3(instruction: Instruction, _: list[str]) -> tuple[Move, ...]:
    """Return the move of an AND with a number that ends in zeros: how a function aligns its frame."""
    match instruction.operands:
        case (Register(), Register() as word, Immediate(value=int() as number), Register(index=None), Immediate(value=0xC0), *_):
            to, source, mask = _to(instruction.operands[0]), _index(word), ~number & WORD
            return (RoundDown(to, source, mask),) if to is not None and source is not None and not mask & mask + 1 else ()
        case _:
            return ()


def _barrier(instruction: Instruction, modifiers: list[str]) -> tuple[Move, ...]:
    first, second = instruction.operands
    match first, second:
        case Register("B", int() as to), Register("B", int() as source):
            return (CopyBarrier(to, source, "CLEAR" in modifiers),)
        case Register("B", int() as to), Immediate(value=int() as mask):
            return (WriteBarrier(to, mask),)
        case Register("B", int() as to), _:
            return (RestoreBarrier(to, _index(second)),)
        case _, Register("B", int() as source):
            return (SaveBarrier(_index(first), source, "CLEAR" in modifiers),)
        case _:
            return ()


_SPECIAL: Mapping[str, Callable[[Instruction, list[str]], tuple[Move, ...]]] = {
    "BMOV": _barrier,
    "LDL": _load,
    "LEPC": _lepc,
    "LOP3": _lop3,
    "ST": _anywhere,
    "STL": _store,
}
