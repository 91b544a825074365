"""The effect of an instruction as functions over the state of one thread."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import cast

from sassan.domains import ranges
from sassan.ipet.loop_bounds import arithmetic, floats, logic, moves
from sassan.ipet.loop_bounds.operands import CONDITIONS, IMMEDIATES, Step, number
from sassan.ipet.loop_bounds.values import NO, YES, Known, State, Truth, Value, constant
from sassan.ir import Instruction, Operand, Register, Variable
from sassan.isa.computations import Apply, Certain, Computation, Fixed, Flag, Local, Number, Read, Select, Term, Write

FUNCTIONS: Mapping[str, Callable[..., Known]] = {**arithmetic.FUNCTIONS, **floats.FUNCTIONS, **logic.FUNCTIONS, **moves.FUNCTIONS}
"""The functions of the language of effects; what the text of an instruction decides does not come here."""
Evaluator = Callable[[Step], Known]
MASKS = (1, 3)
"""A conjunction with one of these leaves a state for each remainder (`Evaluated.apart`)."""


@dataclass(frozen=True, slots=True)
class Selected:
    """What is written where a condition holds, and where it does not."""

    condition: Evaluator
    first: tuple[Evaluator, ...]
    second: tuple[Evaluator, ...]
    targets: tuple[int, ...]

    def outcomes(self, step: Step) -> tuple[Truth, dict[int, Known], dict[int, Known]]:
        """Return the condition, and what registers hold afterwards where it holds and where it does not."""
        first = {step.names[target]: value(step) for target, value in zip(self.targets, self.first, strict=True)}
        second = {step.names[target]: value(step) for target, value in zip(self.targets, self.second, strict=True)}
        return cast("Truth", self.condition(step)), first, second


@dataclass(frozen=True, slots=True)
class Masked:
    """A result that is the conjunction of a word and a mask, where the third word is 0 (None: whatever it is)."""

    word: Evaluator
    mask: int
    third: Evaluator | None


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An instruction ready to be evaluated; without parts, its results are unknown."""

    writes: tuple[tuple[tuple[int, ...], str, Evaluator], ...] = ()
    selected: Selected | None = None
    masked: Masked | None = None

    def run(self, step: Step) -> dict[int, Known]:
        """Return what registers hold afterwards, by bit number."""
        if len(self.writes) == 1:
            ((targets, name, value),) = self.writes
            known = step.values[name] = value(step)
            return {step.names[target]: known for target in targets}
        out: dict[int, Known] = {}
        for targets, name, value in self.writes:
            known = step.values[name] = value(step)
            for target in targets:
                out[step.names[target]] = known
        return out

    def apart(self, step: Step, capacity: int) -> list[State]:
        """Return a state for each remainder that a conjunction with 1 or 3 may leave of a word, up to `capacity`; else the state as it is.

        So `n & 3` iterations of a loop, and the test that there are any, fit together.
        """
        state, masked = step.state, self.masked
        if masked is None or masked.mask > capacity or (masked.third is not None and _word(masked.third(step)).constant != 0):
            return [state]
        word, modulus = _word(masked.word(step)), masked.mask + 1
        if word.symbol is None or abs(word.factor) != 1 or word.range.constant is None:
            return [state]
        old = state.facts.get(word.symbol, word.symbol.range)
        if old.step > 1 or state.range_of(word).unsigned[1] <= masked.mask:
            return [state]
        # factor x symbol + constant = remainder
        remainders = [(remainder - word.range.low) * word.factor % modulus for remainder in range(modulus)]
        parts = [ranges.residue(old, remainder, modulus) for remainder in remainders]
        return [state._replace(facts={**state.facts, word.symbol: part}) for part in parts if part is not None]


def evaluated(computes: Computation | None, instruction: Instruction) -> Evaluated:
    """Return the functions of an instruction; none of them where the tables do not say what it computes."""
    steps = () if computes is None else computes.of(instruction)
    parts = {step.name: covered for step in steps if isinstance(step, Write) and (covered := _covered(step.value))}
    writes = tuple(
        (step.targets, step.name, _evaluator(_with_parts(step.value, parts) if parts else step.value))
        for step in steps
        if isinstance(step, Write)
    )
    selected = next((_selected(step) for step in steps if isinstance(step, Select)), None)
    masked = next((_masked(step.value) for step in steps if isinstance(step, Write) and step.name == "d"), None)
    return Evaluated(writes, selected, masked)


def _covered(value: Term) -> tuple[Term, ...]:
    """Return the words of which a function of three words has every bit: where it is 0, so are they."""
    match value:
        case Apply("lop3", (*words, Fixed(value=int() as table))):
            return tuple(word for word, column in zip(words, logic.COLUMNS, strict=True) if table & column == column)
        case _:
            return ()


def _with_parts(term: Term, parts: Mapping[str, Sequence[Term]]) -> Term:
    """Return a term in which a test for 0 of a word that covers others tests these too: `counter | (word & 7)` in one comparison."""
    match term:
        case Apply("equal", (Local(name), Number(0) as zero)) if name in parts:
            tests: Iterable[Term] = (Apply("equal", (part, zero)) for part in parts[name])
            return reduce(lambda first, second: Apply("conjunction", (first, second)), tests, term)
        case Apply(function, arguments):
            return Apply(function, tuple(_with_parts(argument, parts) for argument in arguments))
        case _:
            return term


def _selected(step: Select) -> Selected:
    return Selected(_evaluator(step.condition), tuple(map(_evaluator, step.first)), tuple(map(_evaluator, step.second)), step.targets)


def _masked(value: Term) -> Masked | None:
    match value:
        case Apply("bit_and", (word, Number(1 | 3 as mask))):
            return Masked(_evaluator(word), mask, None)
        case Apply("lop3", (word, Number(1 | 3 as mask), third, Fixed(value=192))):
            return Masked(_evaluator(word), mask, _evaluator(third))
        case _:
            return None


def _word(known: Known) -> Value:
    return cast("Value", known)


def _evaluator(term: Term) -> Evaluator:
    match term:
        case Number() | Certain():
            known = constant(term.value) if isinstance(term, Number) else YES if term.value else NO
            return lambda _: known
        case Read():
            return _operand(term.operand, term.place)
        case Flag(flag):
            return lambda step: step.flag(flag)
        case Local(name):
            return lambda step: step.values[name]
        case Fixed():
            raise AssertionError(term)
        case Apply(function, arguments):
            return _applied(FUNCTIONS[function], arguments)


def _operand(operand: Operand, place: int) -> Evaluator:
    match operand:
        case Register(file=file) if file in CONDITIONS:
            return lambda step: step.truth(operand)
        case Variable(bits=1):
            return lambda step: step.truth(operand)
        case Register(file="R" | "UR", negated=False, absolute=False, inverted=False, modifiers=()):
            return _register(number(operand, place))
        case Register(file=file, index=int() as index) if file == IMMEDIATES:
            return lambda step: step.immediate(index, place)
        case _:
            return lambda step: step.word(operand, place)


def _register(name: int | None) -> Evaluator:
    """Return the reader of a plain register, the commonest operand."""
    if name is None:
        zero = constant(0)
        return lambda _: zero

    def read(step: Step) -> Known:
        held = step.state.registers.get(step.names[name])
        return held if isinstance(held, Value) else step.unknown()

    return read


def _applied(function: Callable[..., Known], arguments: Sequence[Term]) -> Evaluator:
    parts = [_argument(argument) for argument in arguments]
    match parts:
        case [first]:
            return lambda step: function(step, first(step))
        case [first, second]:
            return lambda step: function(step, first(step), second(step))
        case [first, second, third]:
            return lambda step: function(step, first(step), second(step), third(step))
        case [first, second, third, fourth]:
            return lambda step: function(step, first(step), second(step), third(step), fourth(step))
        case _:
            return lambda step: function(step, *[part(step) for part in parts])


def _argument(term: Term) -> Callable[[Step], object]:
    """Return what gives an argument: a value of the domain, or what the instruction fixes."""
    if not isinstance(term, Fixed):
        return _evaluator(term)
    value = term.value
    return lambda _: value
