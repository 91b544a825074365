"""From a term of an effect (`isa/computations.py`) to a function of what a thread holds, over any algebra of values.

Operands are read here, for every algebra: signs are differences, half words are shifts and masks. What an algebra does not follow has no
function, or one that says so (`Algebra.unread`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, cast

from sassan.ir import Constant, Immediate, Operand, Register, Special, Variable
from sassan.isa.computations import Apply, Certain, Fixed, Flag, Number, Read, StepValue, Term
from sassan.isa.effects import FUNCTIONS, ExpressionKind
from sassan.isa.registers import STACK
from sassan.values.patterns import IMMEDIATES, number_of

F = TypeVar("F")
"""Where functions find what a thread holds."""
V = TypeVar("V")
Evaluate = Callable[[F], V]
"""The value of a term."""
Argument = Callable[[F], object]
"""An argument of a function: a value, or what the instruction fixes."""
_NO_MEANING = frozenset({"reuse", "64"})
_WORDS, _TRUTHS = frozenset({"R", "UR", STACK}), frozenset({"P", "UP"})
_LONG, _WORD_BITS = 64, 32
_HALF_BITS, _HALF_MASK = 16, 0xFFFF


class Algebra(Protocol[F, V]):
    """What values are made of: lanes of a warp, ranges of symbols. None stands for what is not followed."""

    @property
    def functions(self) -> Mapping[str, Callable[..., V]]:
        """The functions of the language that it computes."""
        ...

    def apply(self, function: Callable[..., V], arguments: Sequence[Argument[F]]) -> Evaluate[F, V]:
        """Return what applies one of its functions."""
        ...

    def number(self, value: int) -> V:
        """Return a word that is known."""
        ...

    def truth(self, value: bool) -> V:
        """Return a predicate that is known."""
        ...

    def register(self, number: int) -> Evaluate[F, V]:
        """Return what reads a word register, by its number in the pattern."""
        ...

    def predicate(self, number: int) -> Evaluate[F, V]:
        """Return what reads a predicate, by its number in the pattern."""
        ...

    def flag(self, number: int) -> Evaluate[F, V] | None:
        """Return what reads the carry or the zero flag."""
        ...

    def local(self, name: str) -> Evaluate[F, V]:
        """Return what reads a value that an earlier step has computed."""
        ...

    def immediate(self, index: int, place: int) -> Evaluate[F, V]:
        """Return what reads a word of the number that is an operand of the instruction."""
        ...

    def special(self, name: str) -> Evaluate[F, V] | None:
        """Return what reads a special register."""
        ...

    def constant(self, offset: int, size: int, *, signed: bool) -> Evaluate[F, V]:
        """Return what reads so many bytes of constant bank 0."""
        ...

    def unread(self, operand: Operand) -> Evaluate[F, V] | None:
        """Return what stands for an operand that has no reader here."""
        ...


@dataclass(slots=True)
class EffectCompiler(Generic[F, V]):
    """Compiles the terms of one effect, in order; `known` are the steps whose values later ones may use."""

    algebra: Algebra[F, V]
    known: set[str] = field(default_factory=set[str])

    def term(self, term: Term) -> Evaluate[F, V] | None:
        """Return what evaluates a term, None where it is not followed."""
        match term:
            case Number(value):
                return _fixed(self.algebra.number(value))
            case Certain(value):
                return _fixed(self.algebra.truth(value))
            case Read(operand, place):
                return self.operand(operand, place)
            case Flag(number):
                return self.algebra.flag(number)
            case StepValue(name):
                return self.algebra.local(name) if name in self.known else None
            case Apply(function, arguments):
                return self._applied(function, arguments)
            case Fixed():
                raise AssertionError(term)

    def _applied(self, function: str, arguments: tuple[Term, ...]) -> Evaluate[F, V] | None:
        match function, arguments:
            case "whole", (Fixed(value=operand),):
                return self._whole(cast("Operand", operand))
            case "half", (Fixed(value=operand),):
                return self._half(cast("Operand", operand))
            case "carry" | "carries", _:
                parts = [self._summand(cast("Operand", each.value)) for each in arguments if isinstance(each, Fixed)]
            case "special", (Fixed(value=Special(name=name)),):
                return self.algebra.special(name)
            case "constant", (Fixed(value=Constant(bank=0, base=base, offset=offset)), *rest) if all(each.index is None for each in base):
                behind, size, signed = [cast("int", each.value) for each in rest if isinstance(each, Fixed)]
                return self.algebra.constant(offset + behind, size, signed=bool(signed))
            case _ if function in FUNCTIONS and any(map(_is_other, FUNCTIONS[function].of(len(arguments)), arguments)):
                return None  # PTX that no compiler takes: a sum of predicates
            case _:
                parts = [_fixed(each.value) if isinstance(each, Fixed) else self.term(each) for each in arguments]
        return self._call(function, *parts)

    def _call(self, function: str, *parts: Argument[F] | None) -> Evaluate[F, V] | None:
        computed = self.algebra.functions.get(function)
        followed = [part for part in parts if part is not None]
        return self.algebra.apply(computed, followed) if computed is not None and len(followed) == len(parts) else None

    def operand(self, operand: Operand, place: int = 0) -> Evaluate[F, V] | None:
        """Return what reads a word of an operand, or a predicate; `place` counts the words behind the first."""
        read: Evaluate[F, V] | None = None
        match operand:
            case Register(file=file, index=index) if file in _TRUTHS:
                return self._predicate(None if index is None else number_of(file, index), negated=operand.negated)
            case Register(file=file) if file in _WORDS and not operand.absolute and _NO_MEANING.issuperset(operand.modifiers):
                read = (
                    _fixed(self.algebra.number(0))
                    if operand.index is None
                    else self.algebra.register(number_of(file, operand.index) + place)
                )
                return self._signs(read, negated=operand.negated, inverted=operand.inverted)
            case Register(file=file, index=int() as index) if file == IMMEDIATES:
                read = self.algebra.immediate(index, place)
            case Immediate(value=int() as value, modifiers=()):
                read = _fixed(self.algebra.number(value >> _WORD_BITS * place))
            case Variable(bits=1):
                return self._predicate(operand.number, negated=operand.negated)
            case Variable(part="", bits=bits) if bits == _LONG or (bits and not place):
                read = self.algebra.register(operand.number + place)
            case Special() if not place:
                read = self.algebra.special(operand.name)
            case Constant(bank=0, modifiers=(), absolute=False) if all(register.index is None for register in operand.base):
                read = self.algebra.constant(operand.offset + 4 * place, 4, signed=False)
                return self._signs(read, negated=operand.negated, inverted=operand.inverted)
            case _:
                pass
        return read or self.algebra.unread(operand)

    def _predicate(self, number: int | None, *, negated: bool) -> Evaluate[F, V] | None:
        truth = _fixed(self.algebra.truth(True)) if number is None else self.algebra.predicate(number)
        return self._call("negation", truth) if negated else truth

    def _signs(self, read: Evaluate[F, V], *, negated: bool, inverted: bool) -> Evaluate[F, V] | None:
        if negated or inverted:
            return self._call("subtract", _fixed(self.algebra.number(0 if negated else -1)), read)
        return read

    def _whole(self, operand: Operand) -> Evaluate[F, V] | None:
        """Return what reads a register or a constant without signs and part selectors."""
        match operand:
            case Register():
                return self.operand(Register(operand.file, operand.index))
            case Constant():
                return self.operand(Constant(operand.bank, operand.base, operand.offset))
            case _:
                return self.operand(operand)

    def _half(self, operand: Operand) -> Evaluate[F, V] | None:
        """Return what reads the half word that an operand selects, else the low one."""
        selectors = {*getattr(operand, "modifiers", ())} - {"reuse"}
        if getattr(operand, "negated", False) or selectors - {"H1"}:
            return self.algebra.unread(operand)
        whole = self._whole(operand)
        if selectors:
            return self._call("shift_right", whole, _fixed(self.algebra.number(_HALF_BITS)), _fixed(False))
        return self._call("bit_and", whole, _fixed(self.algebra.number(_HALF_MASK)))

    def _summand(self, operand: Operand) -> Argument[F] | None:
        """Return what reads a summand, as a pair: whether it is subtracted (-x, not ~x, which adds no 1), and the word that is added."""
        read = self.operand(operand)
        subtracted = isinstance(operand, Register | Constant) and operand.negated and not operand.inverted
        return None if read is None else lambda frame: (subtracted, read(frame))


def _is_other(kind: ExpressionKind, term: Term) -> bool:
    """Say whether a term reads a predicate where a function takes a word, or the other way round."""
    match term:
        case Read(Variable(bits=bits)) if bits:
            is_truth = bits == 1
        case Read(Register(file=file)):
            is_truth = file in _TRUTHS
        case _:
            return False
    return (kind is ExpressionKind.WORD and is_truth) or (kind is ExpressionKind.TRUTH and not is_truth)


def _fixed(value: V) -> Callable[[object], V]:
    return lambda _: value
