"""Patterns: instructions that differ only in their registers, whose effect is translated once into functions of the words that are read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, cast

from sassan.domains.lanes import UNKNOWN
from sassan.ir import Constant, Immediate, Instruction, Operand, Register, Special
from sassan.isa.computations import CARRY, Apply, Certain, Computation, Fixed, Local, Number, Read, Select, Step, Term, Write
from sassan.isa.registers import bit
from sassan.values.environment import LaunchEnvironment
from sassan.values.words import FUNCTIONS, Held, add, bit_and, choose, decided, inverted, negated, negation, number, shift_right, subtract

_NO_MEANING = frozenset({"reuse", "64"})
_HALF_BITS = 16
_HALF_MASK = 0xFFFF
_SPANS = {"R": 8, "UR": 8, "P": 1, "UP": 1}
"""Registers that an operand stands for, at most, by its file."""

Locals = dict[str, Held]
"""What earlier steps of an effect have computed, by name."""
Evaluate = Callable[[Sequence[Held], Locals], Held]
"""A value, of what is read and of what was computed before."""
Place = tuple[int, int]
"""An operand, and how many registers behind its first one; operand -1 is the carry flag."""


class Result(NamedTuple):
    """A value that goes to registers, and under `name` to later results."""

    targets: tuple[Place, ...]
    name: str
    evaluate: Evaluate


@dataclass(frozen=True, slots=True)
class Pattern:
    """What instructions compute that differ only in their registers; `reads` are the inputs, in order."""

    reads: tuple[Place, ...] = ()
    results: tuple[Result, ...] = ()


class Patterns:
    """The patterns of the instructions of one function, for a launch."""

    def __init__(self, environment: LaunchEnvironment) -> None:
        """Take what special registers and constants hold."""
        self._environment = environment
        self._known: dict[object, Pattern] = {}

    def of(self, instruction: Instruction, computes: Computation) -> Pattern:
        """Return the pattern of an instruction, by what it computes."""
        key = (instruction.opcode, instruction.condition, *map(_kind, instruction.operands), ", -0" in instruction.text)
        pattern = self._known.get(key)
        if pattern is None:
            pattern = self._known[key] = self._translated(instruction, computes)
        return pattern

    def _translated(self, instruction: Instruction, computes: Computation) -> Pattern:
        numbered, places = _numbered(instruction)
        compiler = _Compiler(self._environment, places)
        results = compiler.steps(computes.of(numbered))
        return Pattern(tuple(compiler.reads), tuple(results))


def names(instruction: Instruction) -> list[int]:
    """Return the bit number of the first register of each operand, -1 where it is none; then that of the carry flag."""
    return [*map(_name, instruction.operands), CARRY]


def _name(operand: Operand) -> int:
    return _number(operand.file, operand.index) if isinstance(operand, Register) else -1


@lru_cache(maxsize=1 << 10)
def _number(file: str, index: int | None) -> int:
    return bit(file, index).bit_length() - 1


def _kind(operand: Operand) -> object:
    """Return all that an effect may depend on but which register it is."""
    if isinstance(operand, Register) and operand.file in _SPANS:
        return operand.file, operand.index is None, operand.negated, operand.absolute, operand.inverted, operand.modifiers
    # 0, 0.0 and -0.0 are equal, and mean different words.
    return (repr(operand.value), operand.modifiers) if isinstance(operand, Immediate) else operand


def _numbered(instruction: Instruction) -> tuple[Instruction, Mapping[int, Place]]:
    """Return an instruction with registers of its own for each operand, and their places by bit number."""
    places: dict[int, Place] = {CARRY: (-1, 0)}
    following = dict.fromkeys(_SPANS, 0)
    operands: list[Operand] = []
    for position, operand in enumerate(instruction.operands):
        if isinstance(operand, Register) and operand.file in _SPANS and operand.index is not None:
            operand = replace(operand, index=following[operand.file])  # noqa: PLW2901 - the same operand, numbered
            following[operand.file] += _SPANS[operand.file]
            first = _name(operand)
            places |= {first + behind: (position, behind) for behind in range(_SPANS[operand.file])}
        operands.append(operand)
    return replace(instruction, operands=tuple(operands)), places


class _Compiler:
    """Translates the steps of effects into functions; what is not followed has none. `places` are those of registers by bit number."""

    def __init__(self, environment: LaunchEnvironment, places: Mapping[int, Place]) -> None:
        self._environment = environment
        self._places = places
        self.reads: dict[Place, int] = {}

    def steps(self, steps: tuple[Step, ...]) -> list[Result]:
        out: list[Result] = []
        known: set[str] = set()
        for step in steps:
            if isinstance(step, Write):
                evaluate = self.term(step.value, known)
                if evaluate is not None:
                    known.add(step.name)
                    out.append(Result(self.targets(step.targets), step.name, evaluate))
            else:
                out += self.selection(step, known)
        return out

    def targets(self, registers: tuple[int, ...]) -> tuple[Place, ...]:
        return tuple([self._places[register] for register in registers if register in self._places])

    def selection(self, step: Select, known: set[str]) -> list[Result]:
        condition = self.term(step.condition, known) or _fixed(Held(UNKNOWN, None))
        pairs = [(self.term(first, known), self.term(second, known)) for first, second in zip(step.first, step.second, strict=True)]
        return [
            Result(self.targets((target,)), "", _chosen(condition, first, second))
            for target, (first, second) in zip(step.targets, pairs, strict=True)
            if first is not None and second is not None
        ]

    def term(self, term: Term, known: set[str]) -> Evaluate | None:
        """Return what evaluates a term, None where it is not followed."""
        match term:
            case Number(value):
                return _fixed(number(value))
            case Certain(value):
                return _fixed(decided(value))
            case Read(operand, place):
                return self.operand(operand, place)
            case Local(name):
                return (lambda _, local: local[name]) if name in known else None
            case Apply(function, arguments):
                return self.applied(function, arguments, known)
            case _:
                return None

    def applied(self, function: str, arguments: tuple[Term, ...], known: set[str]) -> Evaluate | None:
        if function == "add":
            return self.sum([each for argument in arguments for each in _summands(argument)], known)
        if isinstance(arguments[0], Fixed) and function not in FUNCTIONS:
            return self.of_operand(function, cast("Operand", arguments[0].value), arguments)
        computed = FUNCTIONS.get(function)
        parts = [_argument(each) if isinstance(each, Fixed) else self.term(each, known) for each in arguments]
        followed = [part for part in parts if part is not None]
        if computed is None or len(followed) < len(parts):
            return None
        if len(followed) == 2:  # noqa: PLR2004  # two arguments, the commonest case
            first, second = followed
            return lambda inputs, local: computed(first(inputs, local), second(inputs, local))
        return lambda inputs, local: computed(*[part(inputs, local) for part in followed])

    def sum(self, summands: Sequence[Term], known: set[str]) -> Evaluate | None:
        """Return a sum; what is taken away comes last, so that the bounds of `n - i` with i <= n are known."""
        taken = [each for each in summands if _is_negated(each)]
        given = [each for each in summands if not _is_negated(each)]
        total = self.term(given[0], known) if given else _fixed(number(0))
        for each in given[1:]:
            total = _binary(add, total, self.term(each, known))
        for each in taken:
            total = _binary(subtract, total, self.term(_opposite(each), known))
        return total

    def of_operand(self, function: str, operand: Operand, arguments: tuple[Term, ...]) -> Evaluate | None:
        """Return a function that reads an operand as it stands."""
        match function, operand:
            case "special", Special(name):
                read = self._environment.special(name)
                return None if read is None or not read.shared else _fixed(Held(read.value, 0))
            case "constant", Constant(bank=0, base=base, offset=offset) if all(register.index is None for register in base):
                behind, size, signed = (cast("Fixed", argument).value for argument in arguments[1:])
                word = self._environment.constant(offset + cast("int", behind), cast("int", size), signed=bool(signed))
                return _fixed(Held(word.value, 0))
            case "half", _:
                return self.half(operand)
            case "whole", _:
                return self.whole(operand)
            case _:
                return None

    def whole(self, operand: Operand) -> Evaluate | None:
        """Return a register or a constant without signs and part selectors."""
        match operand:
            case Register():
                return self.operand(Register(operand.file, operand.index), 0)
            case Constant():
                return self.operand(Constant(operand.bank, operand.base, operand.offset), 0)
            case _:
                return self.operand(operand, 0)

    def half(self, operand: Operand) -> Evaluate | None:
        selectors = {*getattr(operand, "modifiers", ())} - {"reuse"}
        whole = self.whole(operand)
        if whole is None or getattr(operand, "negated", False) or selectors - {"H1"}:
            return None
        if selectors:
            return lambda inputs, local: shift_right(whole(inputs, local), number(_HALF_BITS), signed=False)
        return lambda inputs, local: bit_and(whole(inputs, local), number(_HALF_MASK))

    def operand(self, operand: Operand, place: int) -> Evaluate | None:
        match operand:
            case Register(file="R" | "UR", absolute=False) if _NO_MEANING.issuperset(operand.modifiers):
                return _signs(self.register(operand, place), operand)
            case Register(file="P" | "UP", negated=inverse):
                truth = _fixed(decided(value=True)) if operand.index is None else self.register(operand, 0)
                return (lambda inputs, local: negation(truth(inputs, local))) if inverse else truth
            case Immediate(value=int() as value, modifiers=()):
                return _fixed(number(value >> 32 * place))
            case Constant(bank=int() as bank, modifiers=(), absolute=False) if all(register.index is None for register in operand.base):
                # Every bank reads the same in all lanes.
                word = UNKNOWN if bank else self._environment.constant(operand.offset + 4 * place).value
                return _fixed(_signs(_fixed(Held(word, 0)), operand)((), {}))
            case _:
                return None

    def register(self, register: Register, place: int) -> Evaluate:
        if register.index is None:
            return _fixed(number(0))
        position, behind = self._places[_name(register)]
        index = self.reads.setdefault((position, behind + place), len(self.reads))
        return lambda inputs, _local: inputs[index]


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


def _binary(function: Callable[[Held, Held], Held], first: Evaluate | None, second: Evaluate | None) -> Evaluate | None:
    if first is None or second is None:
        return None
    return lambda inputs, local: function(first(inputs, local), second(inputs, local))


def _chosen(condition: Evaluate, first: Evaluate, second: Evaluate) -> Evaluate:
    return lambda inputs, local: choose(condition(inputs, local), first(inputs, local), second(inputs, local))


def _fixed(held: Held) -> Evaluate:
    return lambda _inputs, _local: held


def _argument(term: Fixed) -> Callable[[Sequence[Held], Locals], object]:
    value = term.value
    return lambda _inputs, _local: value


def _signs(read: Evaluate, operand: Register | Constant) -> Evaluate:
    if operand.negated:
        return lambda inputs, local: negated(read(inputs, local))
    return (lambda inputs, local: inverted(read(inputs, local))) if operand.inverted else read
