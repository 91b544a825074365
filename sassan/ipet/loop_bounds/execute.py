"""One instruction over a set of states, each a way that one thread may have come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sassan.domains import ranges
from sassan.domains.bits import bits
from sassan.ipet.loop_bounds import arithmetic, logic, moves
from sassan.ipet.loop_bounds.conditions import assume
from sassan.ipet.loop_bounds.logic import apart
from sassan.ipet.loop_bounds.operands import CARRY, PREDICATES, ZERO, Choice, Operation, Step, number
from sassan.ipet.loop_bounds.states import join, with_registers
from sassan.ipet.loop_bounds.surroundings import Surroundings
from sassan.ipet.loop_bounds.values import NO, YES, Known, Maybe, State, Truth, unknown
from sassan.ir import Guard, Instruction, Register
from sassan.isa.facts import Facts

OPERATIONS: Mapping[str, Operation] = {**moves.OPERATIONS, **arithmetic.OPERATIONS, **logic.OPERATIONS}
CHOICES = logic.CHOICES
_BITWISE = ("LOP", "ULOP")
_MEMORY = ("LD", "ATOM", "TEX", "TLD", "TXQ", "SU", "RED")


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is the same whenever an instruction is executed: `writes` are its registers that matter, `forgets` those that do not."""

    writes: tuple[int, ...]
    forgets: tuple[int, ...]
    operation: Operation | None
    choice: Choice | None
    masks: bool
    """Whether it may be the conjunction of a word with a mask (`apart`)."""
    reason: frozenset[str]
    """Why a result is not known."""


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
    _plans: dict[int, _Plan] = field(default_factory=dict[int, _Plan])

    def run(self, states: Sequence[State], instruction: Instruction) -> list[State]:
        """Return the states after a data instruction."""
        plan = self._plans.get(instruction.address) or self._plan(instruction)
        # What does not matter is not worked out, but an old value must not stand for the new one.
        if plan.forgets:
            states = [_forget(state, plan.forgets) for state in states]
        if not plan.writes:
            return list(states)
        self.steps += len(states)
        room = self.room - len(states)
        if instruction.guard is None and not plan.masks:
            return [late for state in states for late in self._write(state, instruction, plan, room)]
        return [late for state in states for late in self._one(state, instruction, plan, room)]

    def _plan(self, instruction: Instruction) -> _Plan:
        writes = self.facts[instruction.address].writes
        matter = writes & self.wanted[instruction.address]
        name = instruction.opcode.partition(".")[0]
        plan = _Plan(
            _with_zero(matter),
            _with_zero(writes & ~matter),
            OPERATIONS.get(name),
            CHOICES.get(name),
            name.startswith(_BITWISE),
            frozenset({_why(instruction)}),
        )
        self._plans[instruction.address] = plan
        return plan

    def _one(self, state: State, instruction: Instruction, plan: _Plan, room: int) -> list[State]:
        guard = truth_of(state, instruction.guard)
        runs, skips = assume(state, guard, True, 1), assume(state, guard, False, 1)
        if skips and runs and room <= 0:
            return [join([*self._write(runs[0], instruction, plan, 0), *skips])]
        if plan.masks:
            runs = [part for one in runs for part in apart(Step(instruction, one, self.around, {}), room)]
        return [late for one in runs for late in self._write(one, instruction, plan, room)] + skips

    def _write(self, state: State, instruction: Instruction, plan: _Plan, room: int) -> list[State]:
        """Return the states after the writes of an instruction that runs: several where a choice is kept."""
        step = Step(instruction, state, self.around, {})
        try:
            if plan.operation is not None:
                plan.operation(step)
            outcomes = plan.choice(step) if plan.choice is not None else None
        except ValueError:
            # A form with other operands than those that are known: its results stay unknown.
            step.writes, outcomes = {}, None
        if outcomes is None:
            return [_after(state, step.writes, plan)]
        truth, *writes = outcomes
        found = [
            _after(one, written, plan)
            for wanted, written in zip((True, False), writes, strict=True)
            for one in assume(state, truth, wanted, 1)
        ]
        return found if room > 0 or len(found) <= 1 else [join(found)]


def _with_zero(registers: int) -> tuple[int, ...]:
    """Return the numbers of registers; the zero flag stands behind the carry flag."""
    names = tuple(bits(registers))
    return (*names, ZERO) if CARRY in names else names


def _after(state: State, found: Mapping[int, Known], plan: _Plan) -> State:
    """Return the state after writes: what was found, and nothing known of the other registers that are written."""
    registers = dict(state.registers)
    for name in plan.writes:
        known = found.get(name)
        registers[name] = _anything(name, plan.reason) if known is None else known
    return with_registers(state, registers)


def _anything(name: int, why: frozenset[str]) -> Known:
    return Truth(Maybe(why)) if name in PREDICATES or name in {CARRY, ZERO} else unknown(ranges.EVERY, why)


def _why(instruction: Instruction) -> str:
    kind = "memory, read by" if instruction.opcode.startswith(_MEMORY) else "the result of"
    return f"{kind} {instruction.opcode.partition('.')[0]} at 0x{instruction.address:04x}"


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
