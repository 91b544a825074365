"""One instruction over the words of a thread: what its registers hold afterwards, and when the threads of a warp agree on that."""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from sassan.domains.bits import bits
from sassan.domains.lanes import SIZE, UNKNOWN, LaneWord, flat, join
from sassan.ir import Constant, Immediate, Instruction, Operand, Register, Special
from sassan.isa.computations import Apply, Certain, Fixed, Local, Number, Read, Select, Step, Term, Write
from sassan.isa.facts import Effect, Facts
from sassan.isa.registers import bit, span
from sassan.values.environment import Environment
from sassan.values.words import FUNCTIONS, Held, bit_and, choose, decided, inverted, negated, negation, number, shift_right

PREDICATES = span("P", 0, 16) | span("UP", 0, 8) | span("CC", 0, 8)
"""Registers whose agreement is meant without lanes, whatever is known of their lanes."""
WARP_WIDE = span("UR", 0, 256) | span("UP", 0, 8)
"""Registers of which a warp has one, whatever threads run."""
_NO_MEANING = frozenset({"reuse", "64"})
_HALF_BITS = 16
_HALF_MASK = 0xFFFF


class Words:
    """The words of registers at one point of a thread; `laned` is the set of those that have lanes."""

    __slots__ = ("held", "laned")

    def __init__(self, held: Mapping[int, LaneWord]) -> None:
        """Take the words by bit number of their register."""
        self.held = dict(held)
        self.laned = sum([1 << name for name, value in held.items() if value.lanes is not None])

    def put(self, name: int, value: LaneWord) -> None:
        """Write a register."""
        if value is UNKNOWN or value == UNKNOWN:
            self.held.pop(name, None)
        else:
            self.held[name] = value
        if value.lanes is None:
            self.laned &= ~(1 << name)
        else:
            self.laned |= 1 << name

    def forget_lanes(self, registers: int) -> None:
        """Take these registers as words without lanes."""
        for name in bits(registers & self.laned):
            self.put(name, flat(self.held[name]))


Locals = dict[str, Held]
"""What earlier steps of an effect have computed, by name."""
Evaluate = Callable[[Words, Locals], Held]


@dataclass(frozen=True, slots=True)
class _Plan:
    """An instruction ready to be run: how its registers are computed, and what the tables say of those that are not.

    `results` are (registers, local name, value, whether threads always agree on it). `rest` are the effects on other registers.
    """

    results: tuple[tuple[tuple[int, ...], str, Evaluate, bool], ...]
    rest: tuple[Effect, ...]
    runs: bool
    guarded: bool


class Evaluator:
    """Runs instructions of one function for a launch; `facts` are those of the tables, by address.

    Only those instructions are followed whose addresses are `wanted`: what others write is unknown.
    """

    def __init__(self, environment: Environment, facts: Mapping[int, Facts], wanted: Container[int]) -> None:
        """Take the launch, the facts, and which instructions matter."""
        self._wanted = wanted
        self._compiler = _Compiler(environment)
        self._facts = facts
        self._plans: dict[int, _Plan] = {}

    def run(self, words: Words, instruction: Instruction) -> tuple[Effect, ...]:
        """Write what an instruction computes, and return its effects on agreement, meant up to lanes."""
        plan = self._plans.get(instruction.address)
        if plan is None:
            plan = self._plans[instruction.address] = self._plan(instruction)
        if not plan.runs:
            return ()
        effects: list[Effect] = []
        new: dict[int, LaneWord] = {}
        local: Locals = {}
        held = words.held
        for targets, name, evaluate, shared in plan.results:
            value, needs = local[name] = evaluate(words, local)
            for target in targets:
                if value.lanes is None or not (shared or 1 << target & (WARP_WIDE | PREDICATES)):
                    new[target] = value
                    effects.append(Effect(1 << target, 0 if shared else needs))
                else:
                    # One word for a warp, or a predicate that lanes decide: what is known of lanes makes no agreement.
                    new[target] = value if 1 << target & PREDICATES and not 1 << target & WARP_WIDE else UNKNOWN
                    effects.append(Effect(1 << target, 0 if shared else None))
        for effect in plan.rest:
            new.update([(name, UNKNOWN) for name in held if effect.writes >> name & 1])
            effects.append(effect if effect.needs is None or not effect.needs & words.laned else Effect(effect.writes, None))
        if plan.guarded:
            lost = _mixed(words, new)
            effects = [Effect(effect.writes & ~lost, effect.needs) for effect in effects] + [Effect(lost, None)]
        for target, word in new.items():
            words.put(target, word)
        return _together(effects) if len(effects) > 1 else tuple(effects)

    def _plan(self, instruction: Instruction) -> _Plan:
        facts = self._facts[instruction.address]
        guard = instruction.guard
        steps = () if facts.computes is None or instruction.address not in self._wanted else facts.computes.of(instruction)
        results: list[tuple[tuple[int, ...], str, Evaluate, bool]] = []
        known = 0
        always = _union(effect.writes for effect in facts.effects if effect.needs == 0)
        for targets, name, evaluate in self._compiler.steps(steps):
            kept = tuple(target for target in targets if target >= 0 and facts.writes >> target & 1)
            results.append((kept, name, evaluate, any(always >> target & 1 for target in kept)))
            known |= sum(1 << target for target in kept)
        rest = tuple(Effect(effect.writes & ~known, effect.needs) for effect in facts.effects if effect.writes & ~known)
        runs = bool(facts.effects) and not (guard is not None and guard.index is None)  # @!PT: no thread runs it
        return _Plan(tuple(results), rest, runs, guard is not None)


def _mixed(words: Words, new: dict[int, LaneWord]) -> int:
    """Let registers hold what they held or what is written; return those whose lanes are not the same in both."""
    lost = 0
    for name, value in new.items():
        old = words.held.get(name, UNKNOWN)
        new[name] = join(old, value)
        lost |= 1 << name if old.lanes != value.lanes else 0
    return lost


class _Compiler:
    """Translates the steps of effects into functions of words; what is not followed has none."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def steps(self, steps: tuple[Step, ...]) -> list[tuple[tuple[int, ...], str, Evaluate]]:
        out: list[tuple[tuple[int, ...], str, Evaluate]] = []
        known: set[str] = set()
        for step in steps:
            if isinstance(step, Write):
                evaluate = self.term(step.value, known)
                if evaluate is not None:
                    known.add(step.name)
                    out.append((step.targets, step.name, evaluate))
            else:
                out += self.selection(step, known)
        return out

    def selection(self, step: Select, known: set[str]) -> list[tuple[tuple[int, ...], str, Evaluate]]:
        condition = self.term(step.condition, known) or _fixed(Held(UNKNOWN, None))
        pairs = [(self.term(first, known), self.term(second, known)) for first, second in zip(step.first, step.second, strict=True)]
        return [
            ((target,), "", _chosen(condition, first, second))
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
        if isinstance(arguments[0], Fixed) and function not in FUNCTIONS:
            return self.of_operand(function, cast("Operand", arguments[0].value), arguments)
        computed = FUNCTIONS.get(function)
        parts = [_argument(each) if isinstance(each, Fixed) else self.term(each, known) for each in arguments]
        followed = [part for part in parts if part is not None]
        if computed is None or len(followed) < len(parts):
            return None
        if len(followed) == 2:  # noqa: PLR2004  # two arguments, the commonest case
            first, second = followed
            return lambda words, local: computed(first(words, local), second(words, local))
        return lambda words, local: computed(*[part(words, local) for part in followed])

    def of_operand(self, function: str, operand: Operand, arguments: tuple[Term, ...]) -> Evaluate | None:
        """Return a function that reads an operand as it stands."""
        match function, operand:
            case "special", Special(name):
                held = self._environment.special(name)
                return None if held is None else _fixed(held)
            case "constant", Constant(bank=0, base=base, offset=offset) if all(register.index is None for register in base):
                behind, size, signed = (cast("Fixed", argument).value for argument in arguments[1:])
                return _fixed(self._environment.constant(offset + cast("int", behind), cast("int", size), signed=bool(signed)))
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
            return lambda words, local: shift_right(whole(words, local), number(_HALF_BITS), signed=False)
        return lambda words, local: bit_and(whole(words, local), number(_HALF_MASK))

    def operand(self, operand: Operand, place: int) -> Evaluate | None:
        match operand:
            case Register(file="R" | "UR", absolute=False) if _NO_MEANING.issuperset(operand.modifiers):
                return _signs(_register(operand, place), operand)
            case Register(file="P" | "UP", negated=inverse):
                truth = _fixed(decided(value=True)) if operand.index is None else _register(operand, 0)
                return (lambda words, local: negation(truth(words, local))) if inverse else truth
            case Immediate(value=int() as value, modifiers=()):
                return _fixed(number(value >> 32 * place))
            case Constant(bank=int() as bank, modifiers=(), absolute=False) if all(register.index is None for register in operand.base):
                # Every bank reads the same in all lanes.
                held = Held(UNKNOWN, 0) if bank else self._environment.constant(operand.offset + 4 * place)
                return _fixed(_signs(_fixed(held), operand)(_NOTHING, {}))
            case _:
                return None


_NOTHING = Words({})


def _chosen(condition: Evaluate, first: Evaluate, second: Evaluate) -> Evaluate:
    return lambda words, local: choose(condition(words, local), first(words, local), second(words, local))


def _fixed(held: Held) -> Evaluate:
    return lambda _words, _local: held


def _argument(term: Fixed) -> Callable[[Words, Locals], object]:
    value = term.value
    return lambda _words, _local: value


def _register(register: Register, place: int) -> Evaluate:
    if register.index is None:
        return _fixed(number(0))
    registers = bit(register.file, register.index) << place
    name = registers.bit_length() - 1
    unknown = Held(UNKNOWN, registers)

    def read(words: Words, _local: Locals) -> Held:
        value = words.held.get(name)
        if value is None:
            return unknown
        return Held(value, 0 if value.modulus == SIZE and not value.base else registers)

    return read


def _signs(read: Evaluate, operand: Register | Constant) -> Evaluate:
    if operand.negated:
        return lambda words, local: negated(read(words, local))
    return (lambda words, local: inverted(read(words, local))) if operand.inverted else read


def _together(effects: list[Effect]) -> tuple[Effect, ...]:
    """Return effects that happen at once in an order in which none needs what one before it writes; a cycle becomes one effect."""
    left = [effect for effect in effects if effect.writes]
    out: list[Effect] = []
    while len(left) > 1:
        for place, effect in enumerate(left):
            if all(other is effect or not effect.writes & (other.needs or 0) for other in left):
                out.append(left.pop(place))
                break
        else:
            return (*out, _joined(left))
    return (*out, *left)


def _joined(effects: list[Effect]) -> Effect:
    writes, needs = 0, 0
    for effect in effects:
        writes |= effect.writes
        needs |= effect.needs or 0
    return Effect(writes, None if any(effect.needs is None for effect in effects) else needs)


def _union(sets: Iterable[int]) -> int:
    out = 0
    for registers in sets:
        out |= registers
    return out
