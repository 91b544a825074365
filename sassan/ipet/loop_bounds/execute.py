"""One instruction over a set of states, each of one path of a thread."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from sassan.domains import ranges
from sassan.domains.bits import bits
from sassan.ipet.loop_bounds.conditions import assume, chosen
from sassan.ipet.loop_bounds.evaluate import Evaluated, patterns
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ipet.loop_bounds.states import join, with_registers
from sassan.ipet.loop_bounds.step import CONDITION_REGISTERS, InstructionStep, reason
from sassan.ipet.loop_bounds.values import ANY, NO, YES, Known, Maybe, SymbolicState, Truth, unknown
from sassan.ir import Guard, Instruction
from sassan.isa.computations import CARRY, ZERO, Computation
from sassan.isa.facts import Facts
from sassan.values.patterns import SAME, InstructionEffect, Patterns, number_of

_NO_EFFECT = InstructionEffect(Evaluated(), SAME)
"""That of an instruction of which the tables do not say what it computes."""


class Writer(NamedTuple):
    """An instruction that writes registers, what it reads for that and computes.

    `kept` are all but those that it surely writes.
    """

    instruction: Instruction
    written: int
    kept: int
    read: int
    computes: Computation | None


def writers(instructions: Iterable[Instruction], facts_of: Mapping[int, Facts]) -> tuple[Writer, ...]:
    """Return the instructions that write registers."""
    out: list[Writer] = []
    for instruction in instructions:
        facts = facts_of[instruction.address]
        if written := facts.writes:
            kept = -1 if instruction.guard is not None else ~written
            out.append(Writer(instruction, written, kept, facts.reads | facts.guard, facts.computes))
    return tuple(out)


class InstructionPlan(NamedTuple):
    """What is the same whenever an instruction is executed: `writes` are its registers that matter, `forgets` those that do not.

    `straight`: each state has one state afterwards, whatever it holds.
    """

    instruction: Instruction
    effect: InstructionEffect[Evaluated]
    writes: tuple[int, ...]
    forgets: tuple[int, ...]
    conditions: frozenset[int]
    straight: bool


@dataclass(slots=True)
class SymbolicExecutor:
    """What states are executed with.

    `wanted` are the registers that matter behind each instruction; `capacity` is how many states stay apart.
    """

    environment: LaunchSymbols
    wanted: Mapping[int, int]
    capacity: int
    conditions: frozenset[int] = CONDITION_REGISTERS
    """The registers that hold conditions."""
    same: frozenset[int] = frozenset()
    """Where the word of another thread is that of this one, by address."""
    steps: int = 0
    """Instructions executed so far, once per state."""
    _patterns: Patterns[Evaluated] = field(default_factory=patterns)
    _effects: dict[int, InstructionEffect[Evaluated]] = field(default_factory=dict[int, InstructionEffect[Evaluated]])

    def sliced(self, wanted: Mapping[int, int]) -> "SymbolicExecutor":
        """Return a machine for which other registers matter, with nothing executed so far."""
        return SymbolicExecutor(
            self.environment, wanted, self.capacity, self.conditions, self.same, _patterns=self._patterns, _effects=self._effects
        )

    def plans(self, line: Iterable[Writer], held: int) -> list[list[InstructionPlan]]:
        """Return how to execute a line of instructions in states that hold no other registers; those that change nothing are omitted.

        Instructions in a row after which every state is still one state are one part; each other instruction is a part of its own.
        """
        out: list[list[InstructionPlan]] = []
        wanted, straight = self.wanted, False
        for instruction, written, _, _, computes in line:
            matter = written & wanted[instruction.address]
            # What does not matter is not worked out, but an old value must not stand for the new one.
            forgets = written & held & ~matter
            if matter or forgets:
                before, effect = straight, self._effect(instruction, computes) if matter else _NO_EFFECT
                straight = not matter or (
                    instruction.guard is None and effect.translated.masked is None and effect.translated.selected is None
                )
                plan = InstructionPlan(instruction, effect, numbers(matter), numbers(forgets), self.conditions, straight)
                if before and straight:
                    out[-1].append(plan)
                else:
                    out.append([plan])
                held = held & ~forgets | matter
        return out

    def _effect(self, instruction: Instruction, computes: Computation | None) -> InstructionEffect[Evaluated]:
        effect = self._effects.get(instruction.address)
        if effect is None:
            effect = _NO_EFFECT if computes is None else self._patterns.effect(computes, instruction)
            self._effects[instruction.address] = effect
        return effect

    def run(self, states: Sequence[SymbolicState], parts: Iterable[Sequence[InstructionPlan]]) -> Sequence[SymbolicState]:
        """Return the states after the parts of a line of instructions."""
        for part in parts:
            first = part[0]
            if first.straight:
                states = [self._straight(state, part) for state in states]
            else:
                self.steps += len(states)
                capacity = self.capacity - len(states)
                share = capacity // max(1, len(states))
                states = [late for state in states for late in self._branching(state, first, capacity, share)]
        return states

    def _straight(self, state: SymbolicState, part: Sequence[InstructionPlan]) -> SymbolicState:
        """Return the state after instructions that leave it one state: all of them write the registers of one new state."""
        registers = dict(state.registers)
        late = with_registers(state, registers)
        step = InstructionStep(part[0].instruction, late, self.environment, part[0].effect.names, {}, self.same)
        for plan in part:
            results: Mapping[int, Known] = {}
            if plan.writes:
                self.steps += 1
                step.instruction, step.names = plan.instruction, plan.effect.names
                results = plan.effect.translated.run(step)
            # The high word of a product may go where a factor of it was.
            for name in plan.forgets:
                registers.pop(name, None)
            _put(registers, results, plan)
        return late

    def _branching(self, state: SymbolicState, plan: InstructionPlan, capacity: int, share: int) -> list[SymbolicState]:
        """Return the states after an instruction that may leave several: one with a guard, or that chooses; up to a `share` for rests."""
        guard = truth_of(state, plan.instruction.guard)
        runs, skips = assume(state, guard, True, 1), assume(state, guard, False, 1)
        skips = [_forget(each, plan.forgets) for each in skips]
        if skips and runs and capacity <= 0:
            return [join([*self._write(runs[0], plan, 0), *skips])]
        if plan.effect.translated.masked is not None:
            steps = [InstructionStep(plan.instruction, run, self.environment, plan.effect.names, {}, self.same) for run in runs]
            runs = [part for step in steps for part in plan.effect.translated.apart(step, share)]
        return [late for run in runs for late in self._write(run, plan, capacity)] + skips

    def _write(self, state: SymbolicState, plan: InstructionPlan, capacity: int) -> list[SymbolicState]:
        """Return the states after the writes of an instruction that runs: several where a choice is kept."""
        step, effect = InstructionStep(plan.instruction, state, self.environment, plan.effect.names, {}, self.same), plan.effect.translated
        writes = effect.run(step)
        if effect.selected is None:
            return [_after(state, writes, plan)]
        truth, *outcomes = effect.selected.outcomes(step)
        states = [
            _after(branch, {**writes, **{name: chosen(branch, truth, known, holds=wanted) for name, known in written.items()}}, plan)
            for wanted, written in zip((True, False), outcomes, strict=True)
            for branch in assume(state, truth, wanted, 1)
        ]
        return states if capacity > 0 or len(states) <= 1 else [join(states)]


@lru_cache(maxsize=1 << 10)
def numbers(registers: int) -> tuple[int, ...]:
    """Return the numbers of registers; the zero flag stands behind the carry flag."""
    names = tuple(bits(registers))
    return (*names, ZERO) if CARRY in names else names


def _after(state: SymbolicState, results: Mapping[int, Known], plan: InstructionPlan) -> SymbolicState:
    """Return the state after writes."""
    registers = dict(_forget(state, plan.forgets).registers)
    _put(registers, results, plan)
    return with_registers(state, registers)


def _put(registers: dict[int, Known], results: Mapping[int, Known], plan: InstructionPlan) -> None:
    """Write the results of an instruction; nothing is known of the other registers that it writes."""
    for name in plan.writes:
        known = results.get(name)
        registers[name] = _anything(name, plan.instruction, plan.conditions) if known is None else known


def _anything(name: int, instruction: Instruction, conditions: frozenset[int]) -> Known:
    why = frozenset({reason(instruction)})
    return Truth(Maybe(why)) if name in conditions else unknown(ranges.EVERY, why)


def truth_of(state: SymbolicState, guard: Guard | None) -> Truth:
    """Return the condition under which an instruction runs."""
    if guard is None:
        return YES
    if guard.index is None:
        return NO if guard.negated else YES
    name = guard.index if guard.variable else number_of(guard.file, guard.index)
    held = state.registers.get(name)
    truth = held if isinstance(held, Truth) else ANY
    return truth.negate() if guard.negated else truth


def _forget(state: SymbolicState, registers: Sequence[int]) -> SymbolicState:
    """Return the state without some registers."""
    if state.registers.keys().isdisjoint(registers):
        return state
    kept = dict(state.registers)
    for name in registers:
        kept.pop(name, None)
    return with_registers(state, kept)
