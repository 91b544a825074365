"""What one instruction computes: the effect of its row with its own operands put in, ready to be evaluated over any domain.

    for step in facts.computes.of(instruction): ...

Whatever the text of the instruction decides is decided here: modifiers, absent operands, RZ and PT, immediates. What is left are reads of
registers and calls of the functions of `effects.FUNCTIONS` that a domain implements. A destination of which nothing is known has no step.
"""

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from sassan.ir import Constant, Immediate, Instruction, Operand, Register, Variable
from sassan.isa.effects import (
    ABOUT_OPERANDS,
    BOOLEANS,
    FUNCTIONS,
    RELATIONS,
    Assignment,
    Call,
    Conditional,
    Effect,
    Expression,
    ExpressionKind,
    Literal,
    Name,
)
from sassan.isa.registers import bit

CARRY = bit("CC", 0).bit_length() - 1
"""Bit number of the carry flag until Pascal."""
ZERO = -1
"""That of the zero flag until Pascal, a number that no register has."""
_FLAGS = {"cc": CARRY, "zf": ZERO}
_PREDICATES = ("P", "UP")
_WHOLE = frozenset({"reuse", "CC", "64"})
"""Suffixes of a destination that is written as a whole."""
_UNSIGNED_RELATIONS = {"LO": "LT", "LS": "LE", "HI": "GT", "HS": "GE"}
"""How PTX calls comparisons of unsigned words."""
_LONG = 64
_COMBINE = {"AND": "conjunction", "OR": "disjunction", "XOR": "difference"}
_MINUS_ZERO = re.compile(r", -0(\.0*)?(,|$)")
_FULL_MASK = 15
_SIGNED_20 = (1 << 19, 1 << 20)


@dataclass(frozen=True, slots=True)
class Number:
    """A known word."""

    value: int


@dataclass(frozen=True, slots=True)
class Certain:
    """A predicate whose value is known."""

    value: bool


@dataclass(frozen=True, slots=True)
class Fixed:
    """An argument that is not a value of a domain: a relation, whether words are signed, an operand as it stands."""

    value: object


@dataclass(frozen=True, slots=True)
class Read:
    """A register, a predicate or a constant; `place` counts the registers behind it."""

    operand: Operand
    place: int = 0


@dataclass(frozen=True, slots=True)
class Flag:
    """The carry or the zero flag."""

    number: int


@dataclass(frozen=True, slots=True)
class StepValue:
    """What an earlier step has computed under this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of the language with its arguments."""

    function: str
    arguments: tuple["Term", ...]


Term = Number | Certain | Fixed | Read | Flag | StepValue | Apply


@dataclass(frozen=True, slots=True)
class Write:
    """A value that goes to registers (bit numbers; CARRY and ZERO for the flags), and under `name` to later steps."""

    targets: tuple[int, ...]
    name: str
    value: Term


@dataclass(frozen=True, slots=True)
class Select:
    """Values that go to registers where a condition holds, and others where it does not."""

    targets: tuple[int, ...]
    condition: Term
    first: tuple[Term, ...]
    second: tuple[Term, ...]


Step = Write | Select


@dataclass(frozen=True, slots=True)
class Computation:
    """The effect of an instruction; `places` are the operands by the names of the effect."""

    effect: Effect
    places: Mapping[str, int]

    def of(self, instruction: Instruction) -> tuple[Step, ...]:
        """Return the steps for an instruction of this shape; none for what nothing is known of."""
        return _Specialised(self, instruction).steps()


NEVER_HOLDS = Computation(Effect("", (), (Assignment((Name("q"),), (Literal(value=False),)),), frozenset(), frozenset()), {"q": 0})
"""Of an instruction whose first operand is a predicate that never holds."""


class _Specialised:
    """One effect with the operands of one instruction; None stands for an unknown value."""

    def __init__(self, computation: Computation, instruction: Instruction) -> None:
        self.effect = computation.effect
        self.instruction = instruction
        self.operands = {name: instruction.operands[place] for name, place in computation.places.items()}
        self.modifiers = instruction.opcode.upper().split(".")[1:]
        self.assigned: dict[str, Term | None] = {}

    def steps(self) -> tuple[Step, ...]:
        out: list[Step] = []
        for assignment in self.effect.assignments:
            values = assignment.values
            if isinstance(values[0], Conditional) and not values[0].fixed:
                condition = self.value(values[0].condition, ExpressionKind.TRUTH)
                if not isinstance(condition, Certain):
                    out += self.selection(assignment.targets, condition, values[0])
                    continue
                values = values[0].first if condition.value else values[0].second
            if len(values) == len(assignment.targets):
                for target, value in zip(assignment.targets, values, strict=True):
                    out += self.write((target,), value)
            else:
                out += self.write(assignment.targets, values[0])
        return _needed(out)

    def write(self, targets: tuple[Name, ...], value: Expression) -> Iterator[Write]:
        """Yield the step that computes a value and puts it into its targets, unless nothing is known of it."""
        name = _key(targets[0])
        term = self.value(value, _kind(targets[0]))
        self.assigned.update(dict.fromkeys(map(_key, targets), None if term is None else StepValue(name)))
        if isinstance(term, Number | Certain):
            self.assigned.update(dict.fromkeys(map(_key, targets), term))
        if term is not None:
            yield Write(tuple(number for target in targets for number in self.numbers(target)), name, term)

    def selection(self, targets: tuple[Name, ...], condition: Term | None, choice: Conditional) -> Iterator[Select]:
        first, second = ([self.value(value, ExpressionKind.WORD) for value in values] for values in (choice.first, choice.second))
        places = [tuple(self.numbers(target)) for target in targets]
        kept = [
            (target, a, b)
            for numbers, a, b in zip(places, first, second, strict=True)
            for target in numbers
            if a is not None and b is not None
        ]
        self.assigned.update(dict.fromkeys(map(_key, targets), None))
        if condition is not None and kept:
            yield Select(tuple(entry[0] for entry in kept), condition, tuple(entry[1] for entry in kept), tuple(entry[2] for entry in kept))

    def numbers(self, target: Name) -> Iterator[int]:
        """Yield the bit number of a destination: none for RZ, PT, an absent operand, and a part of a register."""
        if target.name in _FLAGS:
            to = self.operands.get("d")
            if isinstance(to, Register) and "CC" in to.modifiers:
                yield _FLAGS[target.name]
            return
        operand = self.operands.get(target.name)
        if isinstance(operand, Register) and operand.index is not None and _WHOLE.issuperset(operand.modifiers):
            yield bit(operand.file, operand.index).bit_length() - 1 + target.place
        if isinstance(operand, Variable) and not operand.part and (not target.place or operand.bits == _LONG):
            yield operand.number + target.place

    def value(self, node: Expression, kind: ExpressionKind | None = None) -> Term | None:
        """Return a value of a kind; without one, of that of the expression."""
        term = self.term(node)
        if not isinstance(term, Fixed) or kind is ExpressionKind.FIXED:
            return term
        match term.value:
            case bool() as truth if kind is not ExpressionKind.WORD:
                return Certain(truth)
            case int() as number if kind is not ExpressionKind.TRUTH:
                return Number(int(number))
            case _:
                return None

    def term(self, node: Expression) -> Term | None:
        match node:
            case Literal(value):
                return Fixed(value)
            case Name(name, place):
                return self.named(name, place)
            case Call(function, arguments):
                return self.call(function, arguments)
            case Conditional(condition, (first,), (second,), _):
                return self.term(first if _truth(self.term(condition)) else second)
            case _:
                raise AssertionError(node)

    def named(self, name: str, place: int) -> Term | None:
        key = _key(Name(name, place))
        if key in self.assigned:
            return self.assigned[key]
        if name in _FLAGS:
            return Flag(_FLAGS[name])
        if name in self.operands:
            return _immediate(self.operands[name]) if name[0] == "i" else _read(self.operands[name], place)
        return self.about_opcode(name)

    def about_opcode(self, name: str) -> Fixed | None:
        match name:
            case "signed":
                return Fixed("U32" not in self.modifiers and "U64" not in self.modifiers)
            case "relation":
                return self.modifier(RELATIONS, 0) or self.unsigned_relation()
            case "boolean" | "boolean2":
                return self.modifier(BOOLEANS, int(name == "boolean2"))
            case _:
                return Fixed(name in self.modifiers) if name.isupper() else None

    def unsigned_relation(self) -> Fixed | None:
        return next((Fixed(_UNSIGNED_RELATIONS[modifier]) for modifier in self.modifiers if modifier in _UNSIGNED_RELATIONS), None)

    def modifier(self, names: tuple[str, ...], index: int) -> Fixed | None:
        have = [modifier for modifier in self.modifiers if modifier in names]
        return Fixed(have[index]) if index < len(have) else None

    def call(self, function: str, arguments: tuple[Expression, ...]) -> Term | None:
        if function in ABOUT_OPERANDS:
            return Fixed(_about(function, [self.operands.get(name.name) for name in arguments if isinstance(name, Name)]))
        if function == "bit" and isinstance(arguments[0], Name) and arguments[0].name[0] == "p" and arguments[0].name not in self.operands:
            return Number(0)
        kinds = FUNCTIONS[function].of(len(arguments))
        terms: list[Term] = []
        for kind, argument in zip(kinds, arguments, strict=True):
            term = self.operand(argument) if kind is ExpressionKind.OPERAND else self.value(argument, kind)
            if term is None:
                return None
            terms.append(term)
        return _folded(function, tuple(terms), self.instruction)

    def operand(self, node: Expression) -> Fixed | None:
        """Return an operand as it stands."""
        if isinstance(node, Call):
            inner = self.operand(node.arguments[0])
            return None if inner is None else Fixed(_short(cast("Operand", inner.value)))
        assert isinstance(node, Name)
        return Fixed(self.operands[node.name]) if node.name in self.operands else None


def _key(name: Name) -> str:
    return f"{name.name}[{name.place}]" if name.place else name.name


def _kind(target: Name) -> ExpressionKind | None:
    if target.name in _FLAGS or target.name in {"q", "q2"}:
        return ExpressionKind.TRUTH
    return ExpressionKind.WORD if target.name == "d" else None


def _immediate(operand: Operand) -> Fixed | None:
    known = isinstance(operand, Immediate) and isinstance(operand.value, int) and not operand.modifiers
    return Fixed(operand.value) if known and isinstance(operand, Immediate) else None


def _read(operand: Operand, place: int = 0) -> Term:
    match operand:
        case Register(index=None) if operand.file in _PREDICATES:
            return Certain(not operand.negated)
        case Register(index=None):
            return Number(-1 if operand.inverted else 0)
        case Immediate(value=int() as value, modifiers=()):
            return Number(value >> 32 * place)
        case _:
            return Read(operand, place)


def _truth(term: Term | None) -> bool:
    assert isinstance(term, Fixed | Certain), "the loader lets only conditions pass that the instruction decides"
    return bool(term.value)


def _is_bare(operand: Operand | None) -> bool:
    return not (_is_negated(operand) or _is_inverted(operand))


def _is_negated(operand: Operand | None) -> bool:
    return isinstance(operand, Register | Constant) and operand.negated


def _is_inverted(operand: Operand | None) -> bool:
    return isinstance(operand, Register | Constant) and operand.inverted


def _is_zero(operand: Operand | None) -> bool:
    return isinstance(operand, Register) and operand.index is None and not operand.inverted


def _about(function: str, operands: Sequence[Operand | None]) -> bool:
    """Return what the text of an instruction says of its operands."""
    match function:
        case "given":
            return None not in operands
        case "minus":
            return sum(map(_is_negated, operands)) == 1 and not any(map(_is_inverted, operands))
        case "number":
            return isinstance(operands[0], Immediate)
        case "single":
            return sum(isinstance(operand, Register) and operand.index is not None for operand in operands) <= 1
        case "zero":
            return all(map(_is_zero, operands))
        case _:
            return all(map(_is_bare, operands))


def _short(operand: Operand) -> Operand:
    """Return the operand that a 20-bit immediate until Pascal stands for, where the disassembler prints it without its sign."""
    low, high = _SIGNED_20
    if isinstance(operand, Immediate) and isinstance(operand.value, int) and low <= operand.value < high:
        return Immediate(operand.value - high, operand.modifiers)
    return operand


def _folded(function: str, terms: tuple[Term, ...], instruction: Instruction) -> Term | None:
    """Return a call as far as its arguments decide it."""
    match function, terms:
        case "short" | "as_float" | "borrowing", (Fixed(value=operand),):
            return _as_read(function, cast("Operand", operand), instruction)
        case "combine", (Fixed(value=str(name)), first, second):
            return _logic(_COMBINE[name], (first, second))
        case "bit", (Certain(value),):
            return Number(int(value))
        case "masked", (word, Fixed(value=mask)):
            return word if mask == _FULL_MASK else None
        case "float_halves", (Fixed(value=Immediate() as high), Fixed(value=Immediate() as low)):
            return _halves(high, low, instruction)
        case _:
            return _logic(function, terms)


def _logic(function: str, terms: tuple[Term, ...]) -> Term:
    match function, terms:
        case "conjunction", (Certain(value), other) | (other, Certain(value)):
            return other if value else Certain(value=False)
        case "disjunction", (Certain(value), other) | (other, Certain(value)):
            return Certain(value=True) if value else other
        case "difference", (Certain(value), other) | (other, Certain(value)):
            return _logic("negation", (other,)) if value else other
        case "negation", (Certain(value),):
            return Certain(not value)
        case _:
            return Apply(function, terms)


def _halves(high: Immediate, low: Immediate, instruction: Instruction) -> Number | None:
    if high.modifiers or low.modifiers or _MINUS_ZERO.search(instruction.text):
        return None
    try:
        (word,) = struct.unpack("<I", struct.pack("<ee", low.value, high.value))
    except (OverflowError, struct.error):
        return None
    return Number(word)


def _as_read(function: str, operand: Operand, instruction: Instruction) -> Term | None:
    """Return an operand as some instructions read it."""
    if function == "as_float":
        return _single(operand, instruction)
    if function == "borrowing" and isinstance(operand, Register | Constant) and operand.negated:
        return _read(replace(operand, negated=False, inverted=True))
    return _read(_short(operand) if function == "short" else operand)


def _single(operand: Operand, instruction: Instruction) -> Term | None:
    """Return an operand of a floating-point instruction: a printed number is a value, not a word."""
    if not isinstance(operand, Immediate):
        return _read(operand)
    if operand.modifiers or (isinstance(operand.value, int) and "0x" in instruction.text) or _MINUS_ZERO.search(instruction.text):
        return None
    try:
        (word,) = struct.unpack("<I", struct.pack("<f", operand.value))
    except (OverflowError, struct.error):
        return None
    return Number(word)


def _needed(steps: list[Step]) -> tuple[Step, ...]:
    """Return the steps that write a register or compute what such a step uses."""
    used: set[str] = set()
    out: list[Step] = []
    for step in reversed(steps):
        if not step.targets and not (isinstance(step, Write) and step.name in used):
            continue
        terms = (step.value,) if isinstance(step, Write) else (step.condition, *step.first, *step.second)
        used.update(name for term in terms for name in _locals(term))
        out.append(step)
    return tuple(reversed(out))


def _locals(term: Term) -> Iterator[str]:
    if isinstance(term, StepValue):
        yield term.name
    elif isinstance(term, Apply):
        for argument in term.arguments:
            yield from _locals(argument)
