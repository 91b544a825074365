"""Convergence barriers, warp barriers and calls by register, on programs small enough to follow by hand."""

import numpy as np
import pytest

from sassan.errors import SassanError
from sassan.ir import CodeAddress, Function, Guard, Immediate, Instruction, Memory, Register, Special, Target
from sassan.simt.code import Decoded, Operation, lower
from sassan.simt.machine import Limits, Machine
from sassan.simt.state import RunStatus, SideOrder
from sassan.simt.trace import RunOutcome
from simt.free import FreeMachine, FreeOutcome
from simt.uninterpreted import Uninterpreted, draw
from soundness.drafts import NOWHERE
from soundness.volta import Volta

P0, PT, RZ = Register("P", 0), Register("P", None), Register("R", None)
R0, R1, R2, R20, UR4 = Register("R", 0), Register("R", 1), Register("R", 2), Register("R", 20), Register("UR", 4)
B0, B1 = Register("B", 0), Register("B", 1)
ODD, EVEN = Guard("P", 0, negated=False), Guard("P", 0, negated=True)
LANE_PARITY = 1
LANE = ("S2R", R0, Special("SR_LANEID"))
EVERY = 0xFFFFFFFF


class Parity(Volta):
    """Lets `S2R R0, SR_LANEID` write P0 = (lane is odd), so that a test knows who takes a branch."""

    def decode(self, instruction: Instruction) -> Decoded:
        found = super().decode(instruction)
        if isinstance(found, Operation) and found.instruction.opcode == "S2R":
            return Operation(instruction, LANE_PARITY, (), (256,), lane=True)
        return found


class ParityValues(Uninterpreted):
    def outputs(self, operation, inputs, at):
        if operation.key == LANE_PARITY:
            return (np.broadcast_to(np.arange(32, dtype=np.uint32) & np.uint32(1), (len(at.rows), 32)),)
        return super().outputs(operation, inputs, at)


def function(*rows: tuple, symbols: tuple[tuple[int, str], ...] = ()) -> Function:
    """Return instructions at 0x00, 0x10, …; a row is (opcode, operands…), the guard last where there is one."""
    instructions = []
    for index, (opcode, *rest) in enumerate(rows):
        guard = rest[-1] if rest and isinstance(rest[-1], Guard) else None
        operands = tuple(one for one in rest if not isinstance(one, Guard))
        instructions.append(Instruction(16 * index, 16 * index + 16, opcode, operands, guard, NOWHERE))
    return Function("hand_made", "sm_90", tuple(instructions), symbols=symbols)


def execute(program: Function, mask: int = EVERY, order: SideOrder = SideOrder.TAKEN_FIRST, *, called: bool = False) -> RunOutcome:
    runs = draw(0, 1)
    machine = Machine(lower(program, Parity(program)), ParityValues(runs), order, Limits(steps=60))
    return machine.run(np.array([mask], dtype=np.uint32), called=called)


def take_turns(program: Function, runs: int = 20) -> FreeOutcome:
    drawn = draw(1, runs)
    machine = FreeMachine(lower(program, Parity(program)), ParityValues(drawn), Limits(steps=60))
    return machine.run(np.full(runs, EVERY, dtype=np.uint32))


def steps(outcome: RunOutcome) -> dict[str, int]:
    return {str(step): int(count) for step, count in zip(outcome.transitions, outcome.counts[0], strict=True)}


def what_went_wrong(outcome: RunOutcome) -> list[str]:
    return [what for _, _, what in outcome.faults]


IF_ELSE = function(LANE, ("BSSY", B0, Target(0x50)), ("BRA", Target(0x40), ODD), ("NOP",), ("BSYNC", B0), ("EXIT",))


def test_both_sides_meet_behind_the_bsync():
    assert steps(execute(IF_ELSE)) == {
        "0020 -> 0040 diverge": 1,
        "0030 -> 0040 fallthrough": 1,
        "0040 -> 0030 reactivate": 1,
        "0040 -> 0050 reconverge": 1,
        "0050 -> end exit": 1,
    }


def test_threads_that_broke_out_pass_the_bsync_and_the_others_wait_for_those_behind_it():
    program = function(LANE, ("BSSY", B0, Target(0x40)), ("BREAK", B0, ODD), ("BSYNC", B0), ("EXIT",))
    assert steps(execute(program)) == {
        "0020 -> 0030 fallthrough": 1,
        "0030 -> 0040 fallthrough": 1,
        "0040 -> 0040 reconverge": 1,
        "0040 -> end exit": 1,
    }


def test_a_barrier_that_all_broke_out_of_is_dropped():
    program = function(LANE, ("BSSY", B0, Target(0x40)), ("BREAK", B0), ("BSYNC", B0), ("EXIT",))
    assert "0030 -> 0040 fallthrough" in steps(execute(program))


def test_an_exit_takes_its_threads_out_of_the_barrier():
    program = function(LANE, ("BSSY", B0, Target(0x40)), ("EXIT", ODD), ("BSYNC", B0), ("EXIT",))
    assert (what_went_wrong(execute(program)), execute(program).status.tolist()) == ([], [RunStatus.ENDED])


def test_a_bsync_that_does_not_stand_before_the_place_of_its_barrier_is_a_fault():
    program = function(("BSSY", B0, Target(0x30)), ("BSYNC", B0), ("NOP",), ("EXIT",))
    assert what_went_wrong(execute(program)) == ["the token resumes somewhere else"]


def test_threads_that_left_to_an_outer_barrier_without_a_break_are_still_waited_for():
    program = function(
        LANE,
        ("BSSY", B0, Target(0x70)),
        ("BSSY", B1, Target(0x50)),
        ("BRA", Target(0x60), ODD),
        ("BSYNC", B1),
        ("NOP",),
        ("BSYNC", B0),
        ("EXIT",),
    )
    assert what_went_wrong(execute(program)) == ["register and token disagree on the threads to wait for"]


def test_with_the_break_they_are_not():
    program = function(
        LANE,
        ("BSSY", B0, Target(0x80)),
        ("BSSY", B1, Target(0x60)),
        ("BREAK", B1, ODD),
        ("BRA", Target(0x70), ODD),
        ("BSYNC", B1),
        ("NOP",),
        ("BSYNC", B0),
        ("EXIT",),
    )
    assert (what_went_wrong(execute(program)), execute(program).status.tolist()) == ([], [RunStatus.ENDED])


def test_a_register_that_is_used_again_while_threads_wait_is_a_fault():
    program = function(LANE, ("BSSY", B0, Target(0x50)), ("BRA", Target(0x40), ODD), ("BSSY", B0, Target(0x50)), ("BSYNC", B0), ("EXIT",))
    assert what_went_wrong(execute(program)) == ["register and token disagree on the threads that resume"]


def test_emptying_a_register_whose_barrier_is_live_is_a_fault():
    program = function(("BSSY", B0, Target(0x30)), ("BMOV.32.CLEAR", RZ, B0), ("BSYNC", B0), ("EXIT",))
    assert what_went_wrong(execute(program))[0] == "a barrier is emptied that threads are in"


SAVED = (
    ("BSSY", B0, Target(0x70)),
    ("BMOV.32.CLEAR", R2, B0),
    ("BMOV.32.CLEAR", RZ, B0),
    ("BSSY", B0, Target(0x50)),
    ("BSYNC", B0),
    ("BMOV.32", B0, R2),
    ("BSYNC", B0),
    ("EXIT",),
)


def test_a_saved_barrier_is_restored():
    assert (what_went_wrong(execute(function(*SAVED))), execute(function(*SAVED)).status.tolist()) == ([], [RunStatus.ENDED])


def test_a_barrier_that_is_not_restored_is_a_fault():
    program = function(*SAVED[:5], ("NOP",), *SAVED[6:])
    assert what_went_wrong(execute(program)) == ["register and token disagree on the threads that are here"]


LOOP_EXIT = function(LANE, ("BRA", Target(0x30), ODD), ("NOP",), ("WARPSYNC.ALL",), ("EXIT",))


def test_sides_merge_at_a_warpsync():
    assert steps(execute(LOOP_EXIT)) == {
        "0010 -> 0030 diverge": 1,
        "0020 -> 0030 fallthrough": 1,
        "0030 -> 0020 reactivate": 1,
        "0030 -> 0040 reconverge": 1,
        "0040 -> end exit": 1,
    }


def test_a_warpsync_that_all_reach_together_holds_nobody():
    assert "0030 -> 0040 fallthrough" in steps(execute(LOOP_EXIT, 0x55555555))


def test_sides_at_two_warpsyncs_go_on_apart():
    program = function(LANE, ("BRA", Target(0x40), ODD), ("WARPSYNC.ALL",), ("EXIT",), ("WARPSYNC.ALL",), ("EXIT",))
    assert steps(execute(program)) == {
        "0010 -> 0040 diverge": 1,
        "0020 -> 0030 fallthrough": 1,
        "0030 -> 0050 reconverge": 1,
        "0040 -> 0020 reactivate": 1,
        "0050 -> end exit": 1,
    }


def test_a_warpsync_that_a_waiting_side_cannot_reach_is_a_fault():
    program = function(LANE, ("BRA", Target(0x50), ODD), ("BSSY", B0, Target(0x50)), ("WARPSYNC.ALL",), ("BSYNC", B0), ("EXIT",))
    assert what_went_wrong(execute(program, order=SideOrder.FALLTHROUGH_FIRST)) == ["sides wait below the token that encloses a WARPSYNC"]


def test_a_warpsync_of_some_threads_lets_them_pass():
    program = function(LANE, ("BRA", Target(0x30), ODD), ("NOP",), ("WARPSYNC", R0), ("EXIT",))
    assert not any("reconverge" in one for one in steps(execute(program)))


CALLS = (("MOV", R20, Immediate(0x20)), ("CALL.REL.NOINC", Target(0x30)), ("EXIT",), ("RET.REL.NODEC", R20, Target(0)))


def test_a_return_goes_to_the_address_in_its_register():
    assert steps(execute(function(*CALLS))) == {"0010 -> 0030_c0010 call": 1, "0020 -> end exit": 1, "0030_c0010 -> 0020 return": 1}


def test_a_relative_return_counts_from_its_section():
    program = function(("MOV", R20, Immediate(0x10)), CALLS[1], ("EXIT",), ("RET.REL.NODEC", R20, Target(0x10)))
    assert "0030_c0010 -> 0020 return" in steps(execute(program))


def test_an_absolute_return_address_is_a_relocation():
    program = function(("MOV", R20, CodeAddress(0x20, high=False)), *CALLS[1:3], ("RET.ABS.NODEC", R20, Immediate(0)))
    assert "0030_c0010 -> 0020 return" in steps(execute(program))


def test_a_return_address_comes_back_from_local_memory():
    program = function(
        ("MOV", R20, Immediate(0x20)),
        ("CALL.REL.NOINC", Target(0x30)),
        ("EXIT",),
        ("IADD3", R1, R1, Immediate(-8), RZ),
        ("STL", Memory((R1,), 4), R20),
        ("IADD3", R1, R1, Immediate(8), RZ),
        ("MOV", R20, R0),
        ("LDL", R20, Memory((R1,), -4)),
        ("RET.REL.NODEC", R20, Target(0)),
    )
    assert "0080_c0010 -> 0020 return" in steps(execute(program))


def test_a_return_to_an_unknown_address_is_a_fault():
    assert what_went_wrong(execute(function(("MOV", R20, R2), *CALLS[1:]))) == ["the return address is unknown"]


def test_a_return_out_of_a_call_from_nowhere_ends_its_threads():
    assert steps(execute(function(("RET.REL.NODEC", R20, Target(0))), called=True)) == {"0000 -> end exit": 1}


def test_a_call_of_some_threads_is_a_divergence():
    program = function(
        LANE, ("MOV", R20, Immediate(0x30)), ("CALL.REL.NOINC", Target(0x40), ODD), ("EXIT",), ("RET.REL.NODEC", R20, Target(0))
    )
    assert steps(execute(program)) == {
        "0020 -> 0040_c0020 diverge": 1,
        "0030 -> 0030 reactivate": 1,
        "0030 -> end exit": 1,
        "0040_c0020 -> 0030 return": 1,
    }


def test_a_call_through_a_register_may_enter_every_device_function():
    symbols = ((0x0, "kernel"), (0x30, "one"), (0x40, "other"))
    program = function(("MOV", R20, Immediate(0x20)), ("CALL.REL.NOINC", R2, Target(0)), ("EXIT",), CALLS[3], CALLS[3], symbols=symbols)
    moves = {one[-7:] for one in steps(execute(program))}
    assert {"0010 -> 0030_c0010 diverge", "0010 -> 0040_c0010 call"} <= set(steps(execute(program))) or "diverge" in moves


@pytest.mark.parametrize("opcode", ["BRA.DIV", "BRA.CONV", "BRA.U"])
def test_some_branches_are_taken_by_all_or_none(opcode: str):
    program = function(LANE, (opcode, UR4, Target(0x30), ODD), ("NOP",), ("EXIT",))
    for seed in range(10):
        runs = draw(seed, 4)
        found = Machine(lower(program, Parity(program)), ParityValues(runs), SideOrder.RANDOM).run(np.full(4, EVERY, dtype=np.uint32))
        assert "diverge" not in {step.move.value for step in found.transitions}


def test_a_collective_warpsync_is_passed():
    assert steps(execute(function(("WARPSYNC.COLLECTIVE", R0, Target(0x20)), ("ENDCOLLECTIVE",), ("EXIT",)))) == {"0020 -> end exit": 1}


def test_a_second_predicate_must_hold_too():
    program = function(LANE, ("BRA", Register("P", 0, negated=True), Target(0x30), ODD), ("NOP",), ("EXIT",))
    assert "0010 -> 0020 fallthrough" in steps(execute(program))


def test_uniform_registers_have_one_copy_from_the_start():
    runs = draw(3, 2)
    words = Uninterpreted(runs).initial((272, 528, 0))
    assert ((words[:2] == words[:2, :, :1]).all(), (words[2] == words[2, :, :1]).all()) == (True, False)


def test_a_guarded_bssy_is_refused():
    program = function(("BSSY", B0, Target(0x10), ODD), ("EXIT",))
    with pytest.raises(SassanError) as error:
        lower(program, Volta(program))
    assert error.value.code == "oracle-unknown-opcode"


def test_sides_that_take_turns_execute_the_same_blocks():
    found = take_turns(IF_ELSE)
    assert (set(found.status.tolist()), found.visits.sum(axis=0).tolist(), found.faults) == ({RunStatus.ENDED}, [20, 20, 40, 20], ())


def test_sides_that_take_turns_merge_at_a_warpsync():
    assert take_turns(LOOP_EXIT).visits.sum(axis=0).tolist() == [20, 20, 40, 20]


def test_sides_that_take_turns_restore_their_barriers():
    assert (take_turns(function(*SAVED)).faults, set(take_turns(function(*SAVED)).status.tolist())) == ((), {RunStatus.ENDED})


def test_threads_that_wait_for_each_other_forever_are_stuck():
    program = function(LANE, ("BSSY", B0, Target(0x50)), ("BRA", Target(0x40), ODD), ("WARPSYNC.ALL",), ("BSYNC", B0), ("EXIT",))
    assert take_turns(program).stuck == 20
