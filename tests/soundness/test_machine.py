"""The token stack of section 1, on programs small enough to follow by hand."""

import numpy as np
import pytest

from sassan.errors import SassanError
from sassan.ir import Function, Guard, Immediate, Instruction, Register, Special, Target
from sassan.simt import code as simt
from sassan.simt.code import Condition, ControlTransfer, Decoded, Flow, Operation, lower
from sassan.simt.machine import Limits, Machine
from sassan.simt.state import RunStatus, SideOrder
from sassan.simt.trace import RunOutcome
from simt.uninterpreted import Uninterpreted, draw
from soundness.drafts import NOWHERE
from soundness.maxwell import Maxwell

P0, PT = Register("P", 0), Register("P", None)
R0, R1 = Register("R", 0), Register("R", 1)
ON_P0 = Guard("P", 0, negated=False)
LANE_PARITY = 1


class Parity(Maxwell):
    """Lets `S2R R0, SR_LANEID` write P0 = (lane is odd), so that a test knows who takes a branch."""

    def decode(self, instruction: Instruction) -> Decoded:
        found = super().decode(instruction)
        if isinstance(found, Operation) and found.instruction.opcode == "S2R":
            return Operation(instruction, LANE_PARITY, (), (256,), lane=True)
        return found


class ParityValues(Uninterpreted):
    """Values in which that operation is what it says."""

    def outputs(self, operation, inputs, at):
        if operation.key == LANE_PARITY:
            return (np.broadcast_to(np.arange(32, dtype=np.uint32) & np.uint32(1), (len(at.rows), 32)),)
        return super().outputs(operation, inputs, at)


def function(*rows: tuple) -> Function:
    """Return instructions at 0x00, 0x08, …; a row is (opcode, operands…), the guard last where there is one."""
    instructions = []
    for index, (opcode, *rest) in enumerate(rows):
        guard = rest[-1] if rest and isinstance(rest[-1], Guard) else None
        operands = tuple(one for one in rest if not isinstance(one, (Guard, tuple)))
        targets = next((one for one in rest if isinstance(one, tuple)), ())
        instructions.append(Instruction(8 * index, 8 * index + 8, opcode, operands, guard, NOWHERE, "", targets))
    return Function("hand_made", "sm_61", tuple(instructions))


def execute(program: Function, mask: int = 0xFFFFFFFF, order: SideOrder = SideOrder.TAKEN_FIRST, steps: int = 50) -> RunOutcome:
    runs = draw(0, 1)
    machine = Machine(lower(program, Parity()), ParityValues(runs), order, Limits(steps=steps))
    return machine.run(np.array([mask], dtype=np.uint32))


def steps(outcome: RunOutcome) -> dict[str, int]:
    return {str(step): int(count) for step, count in zip(outcome.transitions, outcome.counts[0], strict=True)}


LANE = ("S2R", R0, Special("SR_LANEID"))

IF_ELSE = function(LANE, ("SSY", Target(0x28)), ("BRA", Target(0x20), ON_P0), ("SYNC",), ("SYNC",), ("EXIT",))


def test_the_taken_side_runs_first_and_both_sides_meet_at_the_token():
    assert steps(execute(IF_ELSE)) == {
        "0010 -> 0020 diverge": 1,
        "0020 -> 0018 reactivate": 1,
        "0018 -> 0028 reconverge": 1,
        "0028 -> end exit": 1,
    }


def test_the_other_order_runs_the_fall_through_first():
    assert list(steps(execute(IF_ELSE, order=SideOrder.FALLTHROUGH_FIRST))) == [
        "0010 -> 0018 diverge",
        "0018 -> 0020 reactivate",
        "0020 -> 0028 reconverge",
        "0028 -> end exit",
    ]


@pytest.mark.parametrize(("mask", "first"), [(0xAAAAAAAA, "0010 -> 0020 taken"), (0x55555555, "0010 -> 0018 fallthrough")])
def test_threads_that_agree_do_not_diverge(mask: int, first: str):
    assert first in steps(execute(IF_ELSE, mask))


def test_an_exit_takes_its_threads_out_of_the_token():
    program = function(LANE, ("SSY", Target(0x20)), ("EXIT", ON_P0), ("SYNC",), ("EXIT",))
    assert steps(execute(program, 0x55555555)) == steps(execute(program))


def test_a_token_that_nobody_is_left_of_is_dropped():
    program = function(LANE, ("SSY", Target(0x18)), ("EXIT",), ("NOP",), ("EXIT",))
    assert steps(execute(program)) == {"0010 -> end exit": 1}


def test_a_break_leaves_the_tokens_above_its_own():
    program = function(LANE, ("PBK", Target(0x28)), ("SSY", Target(0x20)), ("BRK",), ("NOP",), ("EXIT",))
    assert steps(execute(program)) == {"0018 -> 0028 reconverge": 1, "0028 -> end exit": 1}


def test_a_divergent_break_resumes_the_nearer_token_with_the_rest():
    program = function(LANE, ("PBK", Target(0x28)), ("SSY", Target(0x20)), ("BRK", ON_P0), ("BRK",), ("EXIT",))
    assert list(steps(execute(program))) == ["0018 -> 0020 fallthrough", "0020 -> 0028 reconverge", "0028 -> end exit"]


def test_a_return_goes_back_to_its_own_call_site():
    program = function(("CAL", Target(0x18)), ("CAL", Target(0x18)), ("EXIT",), ("RET",))
    assert steps(execute(program)) == {
        "0000 -> 0018_c0000 call": 1,
        "0008 -> 0018_c0008 call": 1,
        "0010 -> end exit": 1,
        "0018_c0000 -> 0008 return": 1,
        "0018_c0008 -> 0010 return": 1,
    }


def test_a_return_inside_a_call_from_nowhere_ends_the_warp():
    runs = draw(0, 1)
    code = lower(function(("RET",)), Maxwell())
    assert steps(Machine(code, Uninterpreted(runs)).run(runs.active, called=True)) == {"0000 -> end exit": 1}


def test_a_diverged_indirect_branch_runs_again_for_the_other_targets():
    program = function(("BRX", R0, Immediate(0), (0x08, 0x10, 0x18)), ("EXIT",), ("EXIT",), ("EXIT",))
    found = steps(execute(program))
    assert found == {
        "0000 -> 0008 diverge": 1,
        "0000 -> 0010 taken": 1,
        "0000 -> 0018 diverge": 1,
        "0008 -> 0000 reactivate": 1,
        "0010 -> end exit": 1,
        "0018 -> 0000 reactivate": 1,
    }


def test_a_trap_of_one_thread_ends_the_warp():
    outcome = execute(function(LANE, ("BRA", Target(0x18), ON_P0), ("EXIT",), ("BPT.TRAP", Immediate(1))))
    assert (steps(outcome), outcome.status.tolist()) == ({"0008 -> 0018 diverge": 1, "0018 -> end exit": 1}, [RunStatus.TRAPPED])


def test_a_run_that_goes_on_is_cut():
    outcome = execute(function(("BRA", Target(0x0))), steps=7)
    assert (steps(outcome), outcome.status.tolist()) == ({"0000 -> 0000 taken": 7}, [RunStatus.CUT])


def test_a_token_instruction_without_its_token_is_a_fault():
    outcome = execute(function(("PBK", Target(0x8)), ("SYNC",), ("EXIT",)))
    assert (outcome.faults, outcome.status.tolist()) == (((0x8, 1, "there is no token"),), [RunStatus.FAULT])


def test_the_token_of_a_leave_is_noted_even_when_another_side_resumes():
    assert execute(IF_ELSE).leaves == {(0x18, 0x28), (0x20, 0x28)}


def test_a_guarded_push_is_refused():
    with pytest.raises(SassanError) as error:
        lower(function(("SSY", Target(0x0), ON_P0)), Maxwell())
    assert error.value.code == "oracle-unknown-opcode"


def test_a_broadcast_register_has_one_copy_per_warp():
    class Uniform(Maxwell):
        def decode(self, instruction: Instruction) -> Decoded:
            found = super().decode(instruction)
            if isinstance(found, Operation):
                return Operation(instruction, 5, (0,), (528,), lane=True, broadcast=True)
            return ControlTransfer(Flow.BRANCH, Condition((simt.Test(528),)), target=0x10) if instruction.opcode == "BRA" else found

    for seed in range(8):
        runs = draw(seed, 4)
        code = lower(function(("MOV", R0, R1), ("BRA", Target(0x10), ON_P0), ("EXIT",)), Uniform())
        found = Machine(code, Uninterpreted(runs)).run(runs.active)
        assert {step.move.value for step in found.transitions} <= {"taken", "fallthrough", "exit"}
