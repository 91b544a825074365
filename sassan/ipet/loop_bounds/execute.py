"""One instruction over a set of states, each of one path of a thread."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from sassan.domains import ranges
from sassan.domains.bits import bits
from sassan.ipet.loop_bounds.conditions import assume
from sassan.ipet.loop_bounds.evaluate import Evaluated
from sassan.ipet.loop_bounds.launch_environment import LaunchEnvironment
from sassan.ipet.loop_bounds.operands import CONDITION_REGISTERS, Step, number_of, reason
from sassan.ipet.loop_bounds.patterns import Effect, Patterns
from sassan.ipet.loop_bounds.states import join, with_registers
from sassan.ipet.loop_bounds.values import ANY, NO, YES, Known, Maybe, State, Truth, unknown
from sassan.ir import Guard, Instruction
from sassan.isa.computations import CARRY, ZERO, Computation
from sassan.isa.facts import Facts

_NO_EFFECT = Effect(Evaluated(), {})
"""That of an instruction of which the tables do not say what it computes."""


class Writer(NamedTuple):
    """An instruction that writes registers, what it reads for that and computes; `kept` are all but those that it surely writes."""

    instruction: Instruction
    written: int
    kept: int
    read: int
    computes: Computation | None


def writers(instructions: Iterable[Instruction], facts_of: Mapping[int, Facts]) -> tuple[Writer, ...]:
    """Return the instructions that write registers."""
    out: list[Writer] = []
    for one in instructions:
        facts = facts_of[one.address]
        written = facts.writes
        if written:
            out.append(Writer(one, written, ~written if one.guard is None else -1, facts.reads | facts.guard, facts.computes))
    return tuple(out)


class Plan(NamedTuple):
    """What is the same whenever an instruction is executed: `writes` are its registers that matter, `forgets` those that do not."""

    instruction: Instruction
    effect: Effect
    writes: tuple[int, ...]
    forgets: tuple[int, ...]
    conditions: frozenset[int]


@dataclass(slots=True)
class Machine:
    """What states are executed with.

    `wanted` are the registers that matter behind each instruction; `capacity` is how many states stay apart.
    """

    environment: LaunchEnvironment
    wanted: Mapping[int, int]
    capacity: int
    conditions: frozenset[int] = CONDITION_REGISTERS
    """The registers that hold conditions."""
    steps: int = 0
    """Instructions executed so far, once per state."""
    _patterns: Patterns = field(default_factory=Patterns)
    _effects: dict[int, Effect] = field(default_factory=dict[int, Effect])

    def sliced(self, wanted: Mapping[int, int]) -> "Machine":
        """Return a machine for which other registers matter, with nothing executed so far."""
        return Machine(self.environment, wanted, self.capacity, self.conditions, _patterns=self._patterns, _effects=self._effects)

    def plans(self, line: Iterable[Writer], held: int) -> list[Plan]:
        """Return how to execute a line of instructions in states that hold no other registers; those that change nothing are left out."""
        out: list[Plan] = []
        for one, written, _, _, computes in line:
            matter = written & self.wanted[one.address]
            # What does not matter is not worked out, but an old value must not stand for the new one.
            forgets = written & held & ~matter
            if matter or forgets:
                effect = self._effect(one, computes) if matter else _NO_EFFECT
                out.append(Plan(one, effect, numbers(matter), numbers(forgets), self.conditions))
                held = held & ~forgets | matter
        return out

    def _effect(self, instruction: Instruction, computes: Computation | None) -> Effect:
        effect = self._effects.get(instruction.address)
        if effect is None:
            effect = _NO_EFFECT if computes is None else self._patterns.effect(computes, instruction)
            self._effects[instruction.address] = effect
        return effect

    def run(self, states: Sequence[State], plan: Plan) -> list[State]:
        """Return the states after a data instruction."""
        if plan.forgets:
            states = [_forget(state, plan.forgets) for state in states]
        if not plan.writes:
            return list(states)
        self.steps += len(states)
        capacity = self.capacity - len(states)
        if plan.instruction.guard is None and plan.effect.evaluated.masked is None:
            return [late for state in states for late in self._write(state, plan, capacity)]
        return [late for state in states for late in self._one(state, plan, capacity)]

    def _one(self, state: State, plan: Plan, capacity: int) -> list[State]:
        guard = truth_of(state, plan.instruction.guard)
        runs, skips = assume(state, guard, True, 1), assume(state, guard, False, 1)
        if skips and runs and capacity <= 0:
            return [join([*self._write(runs[0], plan, 0), *skips])]
        if plan.effect.evaluated.masked is not None:
            steps = [Step(plan.instruction, run, self.environment, plan.effect.names, {}) for run in runs]
            runs = [part for step in steps for part in plan.effect.evaluated.apart(step, capacity)]
        return [late for run in runs for late in self._write(run, plan, capacity)] + skips

    def _write(self, state: State, plan: Plan, capacity: int) -> list[State]:
        """Return the states after the writes of an instruction that runs: several where a choice is kept."""
        step, effect = Step(plan.instruction, state, self.environment, plan.effect.names, {}), plan.effect.evaluated
        writes = effect.run(step)
        if effect.selected is None:
            return [_after(state, writes, plan)]
        truth, *outcomes = effect.selected.outcomes(step)
        states = [
            _after(branch, {**writes, **written}, plan)
            for wanted, written in zip((True, False), outcomes, strict=True)
            for branch in assume(state, truth, wanted, 1)
        ]
        return states if capacity > 0 or len(states) <= 1 else [join(states)]


@lru_cache(maxsize=1 << 10)
def numbers(registers: int) -> tuple[int, ...]:
    """Return the numbers of registers; the zero flag stands behind the carry flag."""
    names = tuple(bits(registers))
    return (*names, ZERO) if CARRY in names else names


def _after(state: State, results: Mapping[int, Known], plan: Plan) -> State:
    """Return the state after writes: the results, and nothing known of the other registers that are written."""
    registers = dict(state.registers)
    for name in plan.writes:
        known = results.get(name)
        registers[name] = _anything(name, plan.instruction, plan.conditions) if known is None else known
    return with_registers(state, registers)


def _anything(name: int, instruction: Instruction, conditions: frozenset[int]) -> Known:
    why = frozenset({reason(instruction)})
    return Truth(Maybe(why)) if name in conditions else unknown(ranges.EVERY, why)


def truth_of(state: State, guard: Guard | None) -> Truth:
    """Return the condition under which an instruction runs."""
    if guard is None:
        return YES
    name = guard.index if guard.variable else number_of(guard.file, guard.index)
    if name is None:
        return NO if guard.negated else YES
    held = state.registers.get(name)
    truth = held if isinstance(held, Truth) else ANY
    return truth.negate() if guard.negated else truth


def _forget(state: State, registers: Sequence[int]) -> State:
    """Return the state without some registers."""
    if state.registers.keys().isdisjoint(registers):
        return state
    kept = dict(state.registers)
    for name in registers:
        kept.pop(name, None)
    return with_registers(state, kept)
