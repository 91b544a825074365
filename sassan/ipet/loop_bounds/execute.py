"""One instruction over a set of states, each a way that one thread may have come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sassan.domains import ranges
from sassan.ipet.loop_bounds.conditions import assume
from sassan.ipet.loop_bounds.evaluate import Evaluated, evaluated
from sassan.ipet.loop_bounds.operands import PREDICATES, Step, number, reason
from sassan.ipet.loop_bounds.states import join, with_registers
from sassan.ipet.loop_bounds.surroundings import Surroundings
from sassan.ipet.loop_bounds.values import NO, YES, Known, Maybe, State, Truth, unknown
from sassan.ir import Guard, Instruction, Register
from sassan.isa.computations import CARRY, ZERO
from sassan.isa.facts import Facts


@dataclass(slots=True)
class Machine:
    """What states are executed with.

    `wanted` are the registers that matter behind each instruction; `room` is how many states stay apart.
    """

    around: Surroundings
    facts: Mapping[int, Facts]
    wanted: Mapping[int, int]
    room: int
    steps: int = 0
    """Instructions executed so far, once per state."""
    _evaluated: dict[int, Evaluated] = field(default_factory=dict[int, Evaluated])

    def run(self, states: Sequence[State], instruction: Instruction) -> list[State]:
        """Return the states after a data instruction."""
        writes = self.facts[instruction.address].writes
        lost = writes & self.wanted[instruction.address]
        if not lost:
            # What does not matter is not worked out, but an old value must not stand for the new one.
            return [_forget(state, writes) for state in states] if writes else list(states)
        self.steps += len(states)
        out: list[State] = []
        for state in [_forget(one, writes & ~lost) for one in states]:
            out.extend(self._one(state, instruction, lost, self.room - len(states)))
        return out

    def _one(self, state: State, instruction: Instruction, lost: int, room: int) -> list[State]:
        guard = truth_of(state, instruction.guard)
        runs, skips = assume(state, guard, True, 1), assume(state, guard, False, 1)
        if skips and runs and room <= 0:
            return [join([*self._write(runs[0], instruction, lost, 0), *skips])]
        effect = self._effect(instruction)
        if effect.masked is not None:
            runs = [part for one in runs for part in effect.apart(Step(instruction, one, self.around, {}), room)]
        return [late for one in runs for late in self._write(one, instruction, lost, room)] + skips

    def _effect(self, instruction: Instruction) -> Evaluated:
        effect = self._evaluated.get(instruction.address)
        if effect is None:
            effect = self._evaluated[instruction.address] = evaluated(self.facts[instruction.address].computes, instruction)
        return effect

    def _write(self, state: State, instruction: Instruction, lost: int, room: int) -> list[State]:
        """Return the states after the writes of an instruction that runs: several where a choice is kept."""
        step, effect = Step(instruction, state, self.around, {}), self._effect(instruction)
        writes = effect.run(step)
        if effect.selected is None:
            return [_after(state, _all_of(writes, lost, instruction))]
        truth, *outcomes = effect.selected.outcomes(step)
        states = [
            _after(one, _all_of({**writes, **written}, lost, instruction))
            for wanted, written in zip((True, False), outcomes, strict=True)
            for one in assume(state, truth, wanted, 1)
        ]
        return states if room > 0 or len(states) <= 1 else [join(states)]


def _all_of(found: Mapping[int, Known], lost: int, instruction: Instruction) -> dict[int, Known]:
    """Return what the registers of a set hold after an instruction: what was found, and nothing known of the others."""
    why = frozenset({reason(instruction)})
    written: dict[int, Known] = {}
    while lost:
        name = (lost & -lost).bit_length() - 1
        lost &= lost - 1
        written[name] = found[name] if name in found else _anything(name, why)
    if CARRY in written:
        written[ZERO] = found.get(ZERO, Truth(Maybe(why)))
    return written


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


def _forget(state: State, registers: int) -> State:
    """Return the state without some registers."""
    kept = {name: known for name, known in state.registers.items() if not registers >> (CARRY if name == ZERO else name) & 1}
    return state if len(kept) == len(state.registers) else with_registers(state, kept)


def _after(state: State, written: Mapping[int, Known]) -> State:
    return with_registers(state, {**state.registers, **written}) if written else state
