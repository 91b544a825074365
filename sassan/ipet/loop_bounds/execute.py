"""One instruction over a set of states, each of one path of a thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sassan.domains import ranges
from sassan.domains.bits import bits
from sassan.ipet.loop_bounds.conditions import assume
from sassan.ipet.loop_bounds.evaluate import Evaluated
from sassan.ipet.loop_bounds.launch_environment import LaunchEnvironment
from sassan.ipet.loop_bounds.operands import PREDICATES, Step, number, reason
from sassan.ipet.loop_bounds.patterns import Effect, Patterns
from sassan.ipet.loop_bounds.states import join, with_registers
from sassan.ipet.loop_bounds.values import NO, YES, Known, Maybe, State, Truth, unknown
from sassan.ir import Guard, Instruction, Register
from sassan.isa.computations import CARRY, ZERO
from sassan.isa.facts import Facts

_NO_EFFECT = Effect(Evaluated(), {})
"""That of an instruction of which the tables do not say what it computes."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is the same whenever an instruction is executed: `writes` are its registers that matter, `forgets` those that do not."""

    effect: Effect
    writes: tuple[int, ...]
    forgets: tuple[int, ...]
    reason: frozenset[str]
    """Why a result is unknown."""


@dataclass(slots=True)
class Machine:
    """What states are executed with.

    `wanted` are the registers that matter behind each instruction; `capacity` is how many states stay apart.
    """

    environment: LaunchEnvironment
    facts: Mapping[int, Facts]
    wanted: Mapping[int, int]
    capacity: int
    steps: int = 0
    """Instructions executed so far, once per state."""
    _plans: dict[int, _Plan] = field(default_factory=dict[int, _Plan])
    _patterns: Patterns = field(default_factory=Patterns)

    def sliced(self, wanted: Mapping[int, int]) -> "Machine":
        """Return a machine for which other registers matter, with nothing executed so far."""
        return Machine(self.environment, self.facts, wanted, self.capacity, _patterns=self._patterns)

    def run(self, states: Sequence[State], instruction: Instruction) -> list[State]:
        """Return the states after a data instruction."""
        plan = self._plans.get(instruction.address) or self._plan(instruction)
        # What does not matter is not worked out, but an old value must not stand for the new one.
        if plan.forgets:
            states = [_forget(state, plan.forgets) for state in states]
        if not plan.writes:
            return list(states)
        self.steps += len(states)
        capacity = self.capacity - len(states)
        if instruction.guard is None and plan.effect.evaluated.masked is None:
            return [late for state in states for late in self._write(state, instruction, plan, capacity)]
        return [late for state in states for late in self._one(state, instruction, plan, capacity)]

    def _plan(self, instruction: Instruction) -> _Plan:
        facts = self.facts[instruction.address]
        matter = facts.writes & self.wanted[instruction.address]
        effect = self._patterns.effect(facts.computes, instruction) if matter and facts.computes is not None else _NO_EFFECT
        plan = _Plan(effect, _with_zero(matter), _with_zero(facts.writes & ~matter), frozenset({reason(instruction)}))
        self._plans[instruction.address] = plan
        return plan

    def _one(self, state: State, instruction: Instruction, plan: _Plan, capacity: int) -> list[State]:
        guard = truth_of(state, instruction.guard)
        runs, skips = assume(state, guard, True, 1), assume(state, guard, False, 1)
        if skips and runs and capacity <= 0:
            return [join([*self._write(runs[0], instruction, plan, 0), *skips])]
        if plan.effect.evaluated.masked is not None:
            steps = [Step(instruction, run, self.environment, plan.effect.names, {}) for run in runs]
            runs = [part for step in steps for part in plan.effect.evaluated.apart(step, capacity)]
        return [late for run in runs for late in self._write(run, instruction, plan, capacity)] + skips

    def _write(self, state: State, instruction: Instruction, plan: _Plan, capacity: int) -> list[State]:
        """Return the states after the writes of an instruction that runs: several where a choice is kept."""
        step, effect = Step(instruction, state, self.environment, plan.effect.names, {}), plan.effect.evaluated
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


def _with_zero(registers: int) -> tuple[int, ...]:
    """Return the numbers of registers; the zero flag stands behind the carry flag."""
    names = tuple(bits(registers))
    return (*names, ZERO) if CARRY in names else names


def _after(state: State, results: Mapping[int, Known], plan: _Plan) -> State:
    """Return the state after writes: the results, and nothing known of the other registers that are written."""
    registers = dict(state.registers)
    for name in plan.writes:
        known = results.get(name)
        registers[name] = _anything(name, plan.reason) if known is None else known
    return with_registers(state, registers)


def _anything(name: int, why: frozenset[str]) -> Known:
    return Truth(Maybe(why)) if name in PREDICATES or name in {CARRY, ZERO} else unknown(ranges.EVERY, why)


def truth_of(state: State, guard: Guard | None) -> Truth:
    """Return the condition under which an instruction runs."""
    if guard is None:
        return YES
    name = number(Register(guard.file, guard.index))
    if name is None:
        return NO if guard.negated else YES
    held = state.registers.get(name)
    truth = held if isinstance(held, Truth) else Truth(Maybe())
    return truth.negate() if guard.negated else truth


def _forget(state: State, registers: Sequence[int]) -> State:
    """Return the state without some registers."""
    if state.registers.keys().isdisjoint(registers):
        return state
    kept = dict(state.registers)
    for name in registers:
        kept.pop(name, None)
    return with_registers(state, kept)
