"""One instruction over the words of a thread: what its registers hold afterwards, and when the threads of a warp agree on that."""

from collections.abc import Mapping
from typing import cast

from sassan.domains.bits import bits
from sassan.domains.lanes import UNKNOWN, LaneWord, flat, join
from sassan.ir import Constant, Immediate, Instruction, Operand, Register, Special
from sassan.isa.computations import Apply, Certain, Fixed, Local, Number, Read, Select, Step, Term, Write
from sassan.isa.facts import Effect, Facts
from sassan.isa.registers import bit, span
from sassan.values.environment import Environment
from sassan.values.words import FUNCTIONS, Held, bit_and, choose, decided, inverted, negated, negation, number, shift_right

PREDICATES = span("P", 0, 16) | span("UP", 0, 8) | span("CC", 0, 8)
"""Registers whose agreement is meant without lanes, whatever is known of their lanes."""
_WARP_WIDE = span("UR", 0, 256) | span("UP", 0, 8)
_NO_MEANING = frozenset({"reuse", "64"})
_HALF_BITS = 16
_HALF_MASK = 0xFFFF


class Words:
    """The words of registers at one point of a thread; `laned` is the set of those that have lanes."""

    __slots__ = ("held", "laned")

    def __init__(self, held: Mapping[int, LaneWord]) -> None:
        """Take the words by bit number of their register."""
        self.held = dict(held)
        self.laned = sum(1 << name for name, value in held.items() if value.lanes is not None)

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

    @property
    def kept(self) -> int:
        """Return the set of registers of which something is known."""
        return sum(1 << name for name in self.held)

    def forget_lanes(self, registers: int) -> None:
        """Take these registers as words without lanes."""
        for name in bits(registers & self.laned):
            self.put(name, flat(self.held[name]))


class Evaluator:
    """Runs instructions of one function for a launch; `facts` are those of the tables, by address."""

    def __init__(self, environment: Environment, facts: Mapping[int, Facts]) -> None:
        """Take the launch and the facts."""
        self._environment = environment
        self._facts = facts
        self._steps: dict[int, tuple[Step, ...]] = {}

    def run(self, words: Words, instruction: Instruction) -> tuple[Effect, ...]:
        """Write what an instruction computes, and return its effects on agreement, meant up to lanes."""
        facts = self._facts[instruction.address]
        if not facts.effects:
            return ()
        guard = instruction.guard
        if guard is not None and guard.index is None:
            return ()  # @!PT: no thread runs it
        results = self._results(words, instruction, facts)
        effects: list[Effect] = []
        new: dict[int, LaneWord] = {}
        for effect in facts.effects:
            rest = effect.writes
            for name, (value, needs) in results.items():
                if rest >> name & 1 and not (effect.needs == 0 and value.lanes is not None):
                    rest &= ~(1 << name)
                    new[name] = value
                    effects.append(Effect(1 << name, 0 if effect.needs == 0 else _altogether(name, value, needs)))
            if rest:
                new.update(dict.fromkeys(bits(rest & words.kept), UNKNOWN))
                effects.append(Effect(rest, None if effect.needs is None or effect.needs & words.laned else effect.needs))
        if guard is not None:
            lost = self._mixed(words, new)
            effects = [Effect(effect.writes & ~lost, effect.needs) for effect in effects] + [Effect(lost, None)]
        for name, value in new.items():
            words.put(name, value)
        return _together(effects)

    @staticmethod
    def _mixed(words: Words, new: dict[int, LaneWord]) -> int:
        """Let registers hold what they held or what is written; return those whose lanes are not the same in both."""
        lost = 0
        for name, value in new.items():
            old = words.held.get(name, UNKNOWN)
            new[name] = join(old, value)
            lost |= 1 << name if old.lanes != value.lanes else 0
        return lost

    def _results(self, words: Words, instruction: Instruction, facts: Facts) -> dict[int, Held]:
        """Return what is known of the registers that an instruction computes, as if no guard kept it from running."""
        steps = self._steps.get(instruction.address)
        if steps is None:
            steps = self._steps[instruction.address] = () if facts.computes is None else facts.computes.of(instruction)
        results: dict[int, Held] = {}
        local: dict[str, Held | None] = {}
        for step in steps:
            if isinstance(step, Write):
                local[step.name] = value = self._value(step.value, words, local)
                results.update({name: value for name in step.targets if value is not None})
            else:
                results.update(self._selected(step, words, local))
        # The uniform datapath has one word for a warp, whatever the lanes of what it reads.
        return {name: held for name, held in results.items() if name >= 0 and not (held.value.lanes is not None and _WARP_WIDE >> name & 1)}

    def _selected(self, step: Select, words: Words, local: Mapping[str, Held | None]) -> dict[int, Held]:
        condition = self._value(step.condition, words, local)
        out: dict[int, Held] = {}
        for name, one, other in zip(step.targets, step.first, step.second, strict=True):
            first, second = self._value(one, words, local), self._value(other, words, local)
            if first is not None and second is not None:
                out[name] = choose(condition or Held(UNKNOWN, None), first, second)
        return out

    def _value(self, term: Term, words: Words, local: Mapping[str, Held | None]) -> Held | None:
        """Return the value of a term, None where it is not followed."""
        match term:
            case Number(value):
                return number(value)
            case Certain(value):
                return decided(value)
            case Read(operand, place):
                return self._operand(operand, place, words)
            case Local(name):
                return local[name]
            case Apply(function, arguments):
                return self._applied(function, arguments, words, local)
            case _:
                return None

    def _applied(self, function: str, arguments: tuple[Term, ...], words: Words, local: Mapping[str, Held | None]) -> Held | None:
        first = arguments[0]
        if isinstance(first, Fixed) and function not in FUNCTIONS:
            return self._of_operand(function, cast("Operand", first.value), arguments, words)
        known = FUNCTIONS.get(function)
        if known is None:
            return None
        values: list[object] = []
        for argument in arguments:
            value = argument.value if isinstance(argument, Fixed) else self._value(argument, words, local)
            if value is None:
                return None
            values.append(value)
        return known(*values)

    def _of_operand(self, function: str, operand: Operand, arguments: tuple[Term, ...], words: Words) -> Held | None:
        """Return a function that reads an operand as it stands."""
        match function, operand:
            case "special", Special(name):
                return self._environment.special(name)
            case "constant", Constant(bank=0, base=base, offset=offset) if all(register.index is None for register in base):
                behind, size, signed = (cast("Fixed", argument).value for argument in arguments[1:])
                return self._environment.constant(offset + cast("int", behind), cast("int", size), signed=bool(signed))
            case "half", _:
                return self._half(operand, words)
            case "whole", _:
                return self._whole(operand, words)
            case _:
                return None

    def _whole(self, operand: Operand, words: Words) -> Held | None:
        """Return a register or a constant without signs and part selectors."""
        match operand:
            case Register():
                return self._register(Register(operand.file, operand.index), 0, words)
            case Constant():
                return self._operand(Constant(operand.bank, operand.base, operand.offset), 0, words)
            case _:
                return self._operand(operand, 0, words)

    def _half(self, operand: Operand, words: Words) -> Held | None:
        selectors = {*getattr(operand, "modifiers", ())} - {"reuse"}
        whole = self._whole(operand, words)
        if whole is None or getattr(operand, "negated", False) or selectors - {"H1"}:
            return None
        return shift_right(whole, number(_HALF_BITS), signed=False) if selectors else bit_and(whole, number(_HALF_MASK))

    def _operand(self, operand: Operand, place: int, words: Words) -> Held | None:
        match operand:
            case Register(file="R" | "UR") if _NO_MEANING.issuperset(operand.modifiers):
                return self._register(operand, place, words)
            case Register(file="P" | "UP", negated=inverse):
                truth = decided(value=True) if operand.index is None else self._held(operand, 0, words)
                return negation(truth) if inverse else truth
            case Immediate(value=int() as value, modifiers=()):
                return number(value >> 32 * place)
            case Constant(bank=int() as bank, modifiers=(), absolute=False) if all(register.index is None for register in operand.base):
                # Every bank reads the same in all lanes.
                return _signs(Held(UNKNOWN, 0) if bank else self._environment.constant(operand.offset + 4 * place), operand)
            case _:
                return None

    def _register(self, register: Register, place: int, words: Words) -> Held | None:
        return None if register.absolute else _signs(self._held(register, place, words), register)

    @staticmethod
    def _held(register: Register, place: int, words: Words) -> Held:
        if register.index is None:
            return number(0)
        registers = bit(register.file, register.index) << place
        value = words.held.get(registers.bit_length() - 1, UNKNOWN)
        return Held(value, 0 if value.known else registers)


def _altogether(name: int, value: LaneWord, needs: int | None) -> int | None:
    """Return what a register needs so that threads agree on it: on a predicate altogether, on a word up to lanes."""
    return None if value.lanes is not None and 1 << name & PREDICATES else needs


def _signs(held: Held, operand: Register | Constant) -> Held:
    if operand.negated:
        return negated(held)
    return inverted(held) if operand.inverted else held


def _together(effects: list[Effect]) -> tuple[Effect, ...]:
    """Return effects that happen at once in an order in which none needs what one before it writes; a cycle becomes one effect."""
    left = [effect for effect in effects if effect.writes]
    out: list[Effect] = []
    while left:
        needed = [0] * len(left)
        for place, effect in enumerate(left):
            for other in range(len(left)):
                needed[other] |= (effect.needs or 0) if other != place else 0
        first = next((place for place, effect in enumerate(left) if not effect.writes & needed[place]), None)
        if first is None:
            return (*out, _joined(left))
        out.append(left.pop(first))
    return tuple(out)


def _joined(effects: list[Effect]) -> Effect:
    writes, needs = 0, 0
    for effect in effects:
        writes |= effect.writes
        needs |= effect.needs or 0
    return Effect(writes, None if any(effect.needs is None for effect in effects) else needs)
