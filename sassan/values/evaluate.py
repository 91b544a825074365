"""One instruction over the words of a thread: what its registers hold afterwards, and when the threads of a warp agree on that."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sassan.domains.bits import bits
from sassan.domains.lanes import SIZE, UNKNOWN, LaneWord, Rows, alone, equal_lanes, flat, join
from sassan.ir import Guard, Instruction
from sassan.isa.facts import Facts, Flow, WriteEffect
from sassan.isa.registers import ONE_PER_WARP, bit, span
from sassan.values.divisions import Dividend, DivisionResult, Divisions
from sassan.values.environment import LaunchEnvironment
from sassan.values.lanes.abstract_word import AbstractWord
from sassan.values.lanes.algebra import Evaluate, LaneOperands, LanePattern, lane_patterns
from sassan.values.lanes.arithmetic import divide, modulo
from sassan.values.patterns import SAME, InstructionEffect

PREDICATES = span("P", 0, 16) | span("UP", 0, 8) | span("CC", 0, 8)
"""Registers whose agreement is meant without lanes, whatever is known of their lanes."""


class Words:
    """The words of registers at one point of a thread; `known` is the set of those in `held`, `laned` of those that have lanes."""

    __slots__ = ("held", "known", "laned")

    def __init__(self, held: Mapping[int, LaneWord]) -> None:
        """Take the words by bit number of their register."""
        self.held = dict(held)
        self.known = self.laned = 0
        for name, value in held.items():
            self.known |= 1 << name
            if value.varies:
                self.laned |= 1 << name

    def put(self, name: int, value: LaneWord) -> None:
        """Write a register."""
        if value == UNKNOWN:
            self.held.pop(name, None)
            self.known &= ~(1 << name)
        else:
            self.held[name] = value
            self.known |= 1 << name
        if value.varies:
            self.laned |= 1 << name
        else:
            self.laned &= ~(1 << name)

    def forget_lanes(self, registers: int) -> None:
        """Take these registers as words without lanes."""
        for name in bits(registers & self.laned):
            self.put(name, flat(self.held[name]))


class Evaluation(NamedTuple):
    """What an instruction writes, and its effects on agreement; `unguarded`: whatever its guard, if it has one."""

    words: dict[int, LaneWord]
    effects: tuple[WriteEffect, ...]
    unguarded: bool = False


@dataclass(slots=True)
class _Plan:
    """An instruction ready to be run: how its registers are computed, and what the tables say of those that are not.

    `reads` are registers by bit number, each with what is read where nothing is known of it. `results` are (registers, local name, value,
    whether threads always agree on it). `picks`: what the tables say of their agreement, where they are words of other threads. `rest` are
    the effects on other registers, `unfollowed`; they depend on the lanes of `sources`, by rows where the instruction is `wanted`.
    `dividend` and `result` are its part in a division.
    """

    reads: tuple[tuple[int, AbstractWord], ...]
    results: tuple[tuple[tuple[int, ...], str, Evaluate, bool], ...]
    picks: tuple[WriteEffect, ...]
    rest: tuple[WriteEffect, ...]
    runs: bool
    guarded: bool
    inputs: tuple[int, ...]
    unfollowed: int
    sources: int
    wanted: bool
    guard: Guard | None
    dividend: Dividend | None
    result: DivisionResult | None
    given: object = None
    """What the instruction was last run with: all that its outcome depends on."""
    outcome: "Evaluation" = field(default_factory=lambda: Evaluation({}, ()))


class Evaluator:
    """Runs instructions of one function for a launch; `facts` are those of the tables, by address.

    Only those instructions are followed whose addresses are `wanted`: what others write is unknown.
    """

    def __init__(self, environment: LaunchEnvironment, facts: Mapping[int, Facts], wanted: Container[int], divisions: Divisions) -> None:
        """Take the launch, the facts, which instructions matter, and the divisions."""
        self._wanted = wanted
        self._divisions = divisions
        self._patterns = lane_patterns(environment)
        self._facts = facts
        self._plans: dict[int, _Plan] = {}

    def run(self, words: Words, instruction: Instruction) -> Evaluation:
        """Write what an instruction computes, and return that with its effects on agreement, meant up to lanes."""
        plan = self._plans.get(instruction.address)
        if plan is None:
            plan = self._plans[instruction.address] = self._plan(instruction)
        if not plan.runs:
            return _NOTHING
        laned = words.laned & plan.sources
        rows = [words.held[name] for name in bits(laned)] if laned and plan.wanted else ()
        given = [words.held.get(name) for name in plan.inputs], words.known & plan.unfollowed, laned, rows
        if given != plan.given:
            plan.given, plan.outcome = given, _outcome(plan, words)
        for target, word in plan.outcome.words.items():
            words.put(target, word)
        return plan.outcome

    def _plan(self, instruction: Instruction) -> _Plan:
        facts = self._facts[instruction.address]
        guard = instruction.guard
        wanted = instruction.address in self._wanted
        pattern, names = self._patterns.effect(facts.computes, instruction) if facts.computes is not None and wanted else _NOT_FOLLOWED
        results: list[tuple[tuple[int, ...], str, Evaluate, bool]] = []
        followed = 0
        always = _union([effect.writes for effect in facts.effects if effect.needs == 0])
        writes = facts.writes
        for targets, name, evaluate in pattern.results:
            kept = tuple([names[target] for target in targets if writes >> names[target] & 1])
            registers = _union([1 << target for target in kept])
            results.append((kept, name, evaluate, always & registers != 0))
            followed |= registers
        rest = tuple([WriteEffect(effect.writes & ~followed, effect.needs) for effect in facts.effects if effect.writes & ~followed])
        unfollowed = _union([effect.writes for effect in rest])
        reads = [names[number] for number in pattern.reads]
        dividend = self._divisions.dividends.get(instruction.address) if wanted else None
        result = self._divisions.results.get(instruction.address) if wanted else None
        decides = guard is not None and guard.index is not None and facts.flow is Flow.NONE
        guards = tuple(bits(bit(guard.file, guard.index))) if decides and guard is not None else ()
        parts = [*guards, *([dividend.register] if dividend else []), *([result.name] if result else [])]
        return _Plan(
            tuple([(name, AbstractWord(UNKNOWN, 1 << name)) for name in reads]),
            tuple(results),
            facts.effects if facts.computes is not None and not _OF_OTHERS.isdisjoint(facts.computes.effect.functions) else (),
            rest,
            runs=bool(facts.effects) and not (guard is not None and guard.index is None),  # @!PT: no thread runs it
            guarded=guard is not None,
            inputs=(*reads, *parts, *bits(followed)) if guard is not None else (*reads, *parts),
            unfollowed=unfollowed,
            sources=_union([effect.needs or 0 for effect in rest]) | (unfollowed if guard is not None else 0),
            wanted=wanted,
            guard=guard if guards else None,
            dividend=dividend,
            result=result,
        )


_NOTHING = Evaluation({}, ())
_OF_OTHERS = frozenset({"picked", "shuffled"})
_NOT_FOLLOWED = InstructionEffect(LanePattern(), SAME)


def _outcome(plan: _Plan, words: Words) -> Evaluation:
    """Return what an instruction writes, and its effects on agreement."""
    held = words.held
    if plan.result is not None and plan.result.name in held:
        return _quotient(plan.result, held[plan.result.name])
    holds = _holds(plan.guard, words)
    if holds is False:
        return _NOTHING
    inputs = [_read(held[name], unknown.needs) if name in held else unknown for name, unknown in plan.reads]
    effects: list[WriteEffect] = []
    new: dict[int, LaneWord] = {}
    frame = LaneOperands(inputs, {})
    for targets, name, evaluate, shared in plan.results:
        value, needs = frame.local[name] = evaluate(frame)
        for target in targets:
            needs = _picked(plan, target, needs, words) if plan.picks else needs
            if not value.varies or not (shared or 1 << target & (ONE_PER_WARP | PREDICATES)):
                new[target] = value
                effects.append(WriteEffect(1 << target, 0 if shared else needs))
            else:
                # One word for a warp, or a predicate that lanes decide: what is known of lanes makes no agreement.
                new[target] = value if 1 << target & PREDICATES and not 1 << target & ONE_PER_WARP else UNKNOWN
                effects.append(WriteEffect(1 << target, 0 if shared else None))
    new.update([(name, UNKNOWN) for name in bits(words.known & plan.unfollowed)])
    for effect in plan.rest:
        rows = _rows(plan, effect, words)
        new.update([(name, LaneWord(rows=rows)) for name in bits(effect.writes)] if rows is not None else ())
        effects.append(effect if rows is not None or not (effect.needs or 0) & words.laned else WriteEffect(effect.writes, None))
    if plan.dividend is not None:
        value, needs = _read(held.get(plan.dividend.register, UNKNOWN), 1 << plan.dividend.register)
        new[plan.dividend.name] = value
        effects.append(WriteEffect(1 << plan.dividend.name, needs))
    if plan.guarded and not holds:
        new = {name: join(words.held.get(name, UNKNOWN), value) for name, value in new.items()}
    return Evaluation(new, _together(effects) if len(effects) > 1 else tuple(effects), unguarded=bool(holds))


def _picked(plan: _Plan, target: int, needs: int | None, words: Words) -> int | None:
    """Return on what threads must agree to agree on a word of another thread: on which thread that is, or on what all of them have."""
    named = next((effect.needs for effect in plan.picks if effect.writes >> target & 1), None)
    return needs if needs == 0 or named is None or named & words.laned else named


def _holds(guard: Guard | None, words: Words) -> bool | None:
    """Say whether a guard holds in every thread, None where that is not known."""
    if guard is None:
        return None
    value = words.held.get(bit(guard.file, guard.index).bit_length() - 1, UNKNOWN).constant
    return None if value is None else bool(value) != guard.negated


def _quotient(result: DivisionResult, dividend: LaneWord) -> Evaluation:
    """Return the end of a division: all threads hold its result, those with a false guard since the step before."""
    value, needs = (modulo if result.remainder else divide)(_read(dividend, 1 << result.name), result.divisor)
    return Evaluation({result.register: value}, (WriteEffect(1 << result.register, needs),), unguarded=True)


def _rows(plan: _Plan, effect: WriteEffect, words: Words) -> Rows | None:
    """Return the rows of lanes that get the same from an instruction that is not followed, such as a load; None: it is not known."""
    laned = (effect.needs or 0) & words.laned
    if not laned or not plan.wanted or effect.writes & (ONE_PER_WARP | PREDICATES):
        return None
    rows = equal_lanes(*[words.held[name] for name in bits(laned)])
    return None if rows is None or alone(rows) else rows


def _read(value: LaneWord, registers: int | None) -> AbstractWord:
    return AbstractWord(value, 0 if value.modulus == SIZE and not value.base else registers)


def _together(effects: list[WriteEffect]) -> tuple[WriteEffect, ...]:
    """Return effects that happen at once in an order in which none needs what one before it writes; a cycle becomes one effect."""
    left = [effect for effect in effects if effect.writes]
    out: list[WriteEffect] = []
    while len(left) > 1:
        for place, effect in enumerate(left):
            if all(other is effect or not effect.writes & (other.needs or 0) for other in left):
                out.append(left.pop(place))
                break
        else:
            return (*out, _joined(left))
    return (*out, *left)


def _joined(effects: list[WriteEffect]) -> WriteEffect:
    writes, needs = 0, 0
    for effect in effects:
        writes |= effect.writes
        needs |= effect.needs or 0
    return WriteEffect(writes, None if any(effect.needs is None for effect in effects) else needs)


def _union(sets: Iterable[int]) -> int:
    out = 0
    for registers in sets:
        out |= registers
    return out
