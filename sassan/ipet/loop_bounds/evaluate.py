"""The effect of an instruction as functions over the state of one thread."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import cast

from sassan.domains import ranges
from sassan.ipet.loop_bounds import arithmetic, floats, logic, moves
from sassan.ipet.loop_bounds.step import InstructionStep
from sassan.ipet.loop_bounds.values import NO, NOWHERE, YES, Known, SymbolicState, Truth, Value, constant
from sassan.ir import Constant, Operand
from sassan.isa.computations import Apply, Fixed, Number, Select, StepValue, Term, Write
from sassan.values.compiler import Argument, EffectCompiler, Evaluate
from sassan.values.patterns import Patterns

FUNCTIONS: Mapping[str, Callable[..., Known]] = {**arithmetic.FUNCTIONS, **floats.FUNCTIONS, **logic.FUNCTIONS, **moves.FUNCTIONS}
"""The functions of the language of effects; what the text of an instruction decides does not come here."""
Evaluator = Evaluate[InstructionStep, Known]
MASKS = (1, 3)
"""A conjunction with one of these leaves a state for each remainder (`Evaluated.apart`)."""


@dataclass(frozen=True, slots=True)
class ConditionalWrite:
    """What is written where a condition holds, and where it does not."""

    condition: Evaluator
    first: tuple[Evaluator, ...]
    second: tuple[Evaluator, ...]
    targets: tuple[int, ...]

    def outcomes(self, step: InstructionStep) -> tuple[Truth, dict[int, Known], dict[int, Known]]:
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
    selected: ConditionalWrite | None = None
    masked: Masked | None = None

    def run(self, step: InstructionStep) -> dict[int, Known]:
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

    def apart(self, step: InstructionStep, capacity: int) -> list[SymbolicState]:
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


def evaluated(steps: Sequence[Write | Select]) -> Evaluated:
    """Return the functions of the steps of an effect."""
    compiler = EffectCompiler(SYMBOLIC)
    parts = {step.name: covered for step in steps if isinstance(step, Write) and (covered := _covered(step.value))}
    writes: list[tuple[tuple[int, ...], str, Evaluator]] = []
    for step in steps:
        if isinstance(step, Write) and (value := compiler.term(_with_parts(step.value, parts) if parts else step.value)) is not None:
            compiler.known.add(step.name)
            writes.append((step.targets, step.name, value))
    selected = next((_selected(compiler, step) for step in steps if isinstance(step, Select)), None)
    masked = next((_masked(compiler, step.value) for step in steps if isinstance(step, Write) and step.name == "d"), None)
    return Evaluated(tuple(writes), selected, masked)


def patterns() -> Patterns[Evaluated]:
    """Return the effects of the instructions of one function; a conjunction with some numbers leaves states apart."""
    return Patterns(evaluated, lambda number: number not in MASKS)


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
        case Apply("equal", (StepValue(name), Number(0) as zero)) if name in parts:
            tests: Iterable[Term] = (Apply("equal", (part, zero)) for part in parts[name])
            return reduce(lambda first, second: Apply("conjunction", (first, second)), tests, term)
        case Apply(function, arguments):
            return Apply(function, tuple(_with_parts(argument, parts) for argument in arguments))
        case _:
            return term


def _selected(compiler: EffectCompiler[InstructionStep, Known], step: Select) -> ConditionalWrite | None:
    condition, *values = [compiler.term(term) for term in (step.condition, *step.first, *step.second)]
    followed = [value for value in values if value is not None]
    if condition is None or len(followed) < len(values):
        return None
    return ConditionalWrite(condition, tuple(followed[: len(step.first)]), tuple(followed[len(step.first) :]), step.targets)


def _masked(compiler: EffectCompiler[InstructionStep, Known], value: Term) -> Masked | None:
    match value:
        case Apply("bit_and", (word, Number(1 | 3 as mask))):
            third: Term | None = None
        case Apply("lop3", (word, Number(1 | 3 as mask), third, Fixed(value=192))):
            pass
        case _:
            return None
    masked, other = compiler.term(word), compiler.term(third) if third is not None else None
    return None if masked is None or (third is not None and other is None) else Masked(masked, mask, other)


def _word(known: Known) -> Value:
    return cast("Value", known)


class _Symbolic:
    """The algebra of ranges of symbols and of conditions, over the state of one thread."""

    functions = FUNCTIONS

    def apply(self, function: Callable[..., Known], arguments: Sequence[Argument[InstructionStep]]) -> Evaluator:
        match arguments:
            case [first]:
                return lambda step: function(step, first(step))
            case [first, second]:
                return lambda step: function(step, first(step), second(step))
            case [first, second, third]:
                return lambda step: function(step, first(step), second(step), third(step))
            case [first, second, third, fourth]:
                return lambda step: function(step, first(step), second(step), third(step), fourth(step))
            case _:
                return lambda step: function(step, *[argument(step) for argument in arguments])

    def number(self, value: int) -> Known:
        return constant(value)

    def truth(self, value: bool) -> Known:
        return YES if value else NO

    def register(self, number: int) -> Evaluator:
        return lambda step: step.register(number)

    def predicate(self, number: int) -> Evaluator:
        return lambda step: step.truth(number)

    def flag(self, number: int) -> Evaluator:
        return lambda step: step.flag(number)

    def local(self, name: str) -> Evaluator:
        return lambda step: step.values[name]

    def immediate(self, index: int, place: int) -> Evaluator:
        return lambda step: step.immediate(index, place)

    def special(self, name: str) -> Evaluator:
        return lambda step: step.environment.special(name)

    def constant(self, offset: int, size: int, *, signed: bool) -> Evaluator:
        return lambda step: step.environment.constant(offset, size, is_signed=signed)

    def unread(self, operand: Operand) -> Evaluator:
        is_bank = isinstance(operand, Constant) and isinstance(operand.bank, int)
        why = frozenset({f"constant bank {operand.bank}"}) if isinstance(operand, Constant) and is_bank else NOWHERE
        return lambda step: step.unknown(why)


SYMBOLIC = _Symbolic()
