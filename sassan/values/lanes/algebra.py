"""Effects over words of lanes: what an instruction computes, as functions of the words that it reads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sassan.domains.lanes import UNKNOWN, flat
from sassan.ir import Constant, Operand, Register
from sassan.isa.computations import ZERO, Apply, Number, Read, Select, Step, Term
from sassan.values import compiler
from sassan.values.compiler import Argument, EffectCompiler
from sassan.values.environment import LaunchEnvironment
from sassan.values.lanes import arithmetic, bitwise, conditions
from sassan.values.lanes.abstract_word import AbstractWord, number
from sassan.values.lanes.conditions import choose, decided
from sassan.values.patterns import Patterns


def _same_word(a: AbstractWord) -> AbstractWord:
    return a


def _of_one_thread(a: AbstractWord) -> AbstractWord:
    """Return the word of one of the threads that execute an instruction: whichever it is, it is one of those that they may hold."""
    return AbstractWord(flat(a.value), None if a.value.varies else a.needs)


FUNCTIONS: Mapping[str, Callable[..., AbstractWord]] = {
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "shift_left": arithmetic.shift_left,
    "shift_right": arithmetic.shift_right,
    "funnel_left": arithmetic.funnel_left,
    "extract": arithmetic.extract,
    "high": arithmetic.high,
    "abs": arithmetic.magnitude,
    "popc": arithmetic.count_ones,
    "bit_and": bitwise.bit_and,
    "bit_or": bitwise.bit_or,
    "bit_xor": bitwise.bit_xor,
    "lop3": bitwise.lop3,
    "equal": conditions.equal,
    "compare": conditions.compare,
    "extended": conditions.extended,
    "conjunction": conditions.conjunction,
    "disjunction": conditions.disjunction,
    "difference": conditions.difference,
    "negation": conditions.negation,
    "same": conditions.same,
    "plop3": conditions.plop3,
    "bit": _same_word,
    "lane": _of_one_thread,
    "picked": _of_one_thread,
    "shuffled": _of_one_thread,
    "carry": conditions.carry,
}
"""The functions that are followed; what is not there leaves its result unknown."""


class LaneOperands(NamedTuple):
    """What is read, in the order of `LanePattern.reads`, and what earlier steps of the effect have computed, by name."""

    inputs: Sequence[AbstractWord]
    local: dict[str, AbstractWord]


Evaluate = compiler.Evaluate[LaneOperands, AbstractWord]


class LaneResult(NamedTuple):
    """A value that goes to registers, and under `name` to later results."""

    targets: tuple[int, ...]
    name: str
    evaluate: Evaluate


@dataclass(frozen=True, slots=True)
class LanePattern:
    """What instructions compute that differ only in their registers: `reads` are the inputs, in order."""

    reads: tuple[int, ...] = ()
    results: tuple[LaneResult, ...] = ()


def lane_patterns(environment: LaunchEnvironment) -> Patterns[LanePattern]:
    """Return the patterns of the instructions of one function, for a launch."""

    def translate(steps: tuple[Step, ...]) -> LanePattern:
        algebra = _Lanes(environment)
        results = tuple(_results(EffectCompiler(algebra), steps))
        return LanePattern(tuple(algebra.reads), results)

    return Patterns(translate)


def _results(compiled: EffectCompiler[LaneOperands, AbstractWord], steps: tuple[Step, ...]) -> Iterator[LaneResult]:
    for step in steps:
        if isinstance(step, Select):
            yield from _selected(compiled, step)
            continue
        evaluate = compiled.term(_ordered(step.value))
        if evaluate is not None:
            compiled.known.add(step.name)
            yield LaneResult(_registers(step.targets), step.name, evaluate)


def _selected(compiled: EffectCompiler[LaneOperands, AbstractWord], step: Select) -> Iterator[LaneResult]:
    condition = compiled.term(_ordered(step.condition)) or _always(AbstractWord(UNKNOWN, None))
    for target, *terms in zip(step.targets, step.first, step.second, strict=True):
        first, second = (compiled.term(_ordered(term)) for term in terms)
        if first is not None and second is not None:
            yield LaneResult(_registers((target,)), "", _chosen(condition, first, second))


def _chosen(condition: Evaluate, first: Evaluate, second: Evaluate) -> Evaluate:
    return lambda frame: choose(condition(frame), first(frame), second(frame))


def _registers(targets: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([target for target in targets if target != ZERO])  # the zero flag is not a register


class _Lanes:
    """The algebra of lanes; `reads` are the registers that a pattern reads, each with its place among the inputs."""

    functions: Mapping[str, Callable[..., AbstractWord]] = FUNCTIONS

    def __init__(self, environment: LaunchEnvironment) -> None:
        self._environment = environment
        self.reads: dict[int, int] = {}

    def apply(self, function: Callable[..., AbstractWord], arguments: Sequence[Argument[LaneOperands]]) -> Evaluate:
        if len(arguments) == 2:  # noqa: PLR2004  # two arguments, the commonest case
            first, second = arguments
            return lambda frame: function(first(frame), second(frame))
        return lambda frame: function(*[argument(frame) for argument in arguments])

    def number(self, value: int) -> AbstractWord:
        return number(value)

    def truth(self, value: bool) -> AbstractWord:
        return decided(value)

    def register(self, number: int) -> Evaluate:
        index = self.reads.setdefault(number, len(self.reads))
        return lambda frame: frame.inputs[index]

    predicate = register

    def flag(self, number: int) -> None:
        del number  # flags are not followed

    def local(self, name: str) -> Evaluate:
        return lambda frame: frame.local[name]

    def immediate(self, index: int, place: int) -> Evaluate:
        raise AssertionError(index, place)  # numbers are part of a pattern

    def special(self, name: str) -> Evaluate | None:
        word = self._environment.special(name)
        return None if word is None or not word.shared else _always(AbstractWord(word.value, 0))

    def constant(self, offset: int, size: int, *, signed: bool) -> Evaluate:
        return _always(AbstractWord(self._environment.constant(offset, size, signed=signed).value, 0))

    def unread(self, operand: Operand) -> Evaluate | None:
        match operand:
            case Constant(bank=int(), modifiers=(), absolute=False) if operand.bank and all(each.index is None for each in operand.base):
                return _always(AbstractWord(UNKNOWN, 0))  # every bank reads the same in all lanes
            case _:
                return None


def _always(held: AbstractWord) -> Evaluate:
    return lambda _: held


def _ordered(term: Term) -> Term:
    """Return a term in which sums take away last, so that the bounds of `n - i` with i <= n are known."""
    match term:
        case Apply("add", _):
            summands = [_ordered(each) for each in _summands(term)]
            total: Term | None = None
            for each in summands:
                if not _is_negated(each):
                    total = each if total is None else Apply("add", (total, each))
            for each in summands:
                if _is_negated(each):
                    total = Apply("subtract", (total or Number(0), _opposite(each)))
            return total or Number(0)
        case Apply(function, arguments):
            return Apply(function, tuple(map(_ordered, arguments)))
        case _:
            return term


def _summands(term: Term) -> Iterator[Term]:
    match term:
        case Apply("add", arguments):
            for each in arguments:
                yield from _summands(each)
        case _:
            yield term


def _is_negated(term: Term) -> bool:
    return isinstance(term, Read) and isinstance(term.operand, Register | Constant) and term.operand.negated


def _opposite(term: Term) -> Term:
    """Return the negative of a term that is negated."""
    assert isinstance(term, Read)
    assert isinstance(term.operand, Register | Constant)
    return replace(term, operand=replace(term.operand, negated=False))
