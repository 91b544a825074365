"""Where a function is cut, and what a block does to agreement."""

from listing import assemble
from sassan.isa.registers import EVERY, bit
from sassan.isa.tables import load
from sassan.warpcfg.blocks import Blocks, Straight, TokenPush, cut, static_successors
from sassan.warpcfg.recursion import direct_calls, recursive_calls

R0, R1, R2, R3 = (bit("R", index) for index in range(4))
P0 = bit("P", 0)


def blocks(text: str) -> Blocks:
    return cut(assemble(text).function, load("sm_61").facts)


def starts(text: str) -> list[int]:
    return [block.start for block in blocks(text).blocks]


def transform(text: str, agreed: int) -> int:
    (step,) = blocks(text + "\n EXIT").blocks[0].steps
    assert isinstance(step, Straight)
    return step.transform(agreed)


def test_control_ends_a_block_and_its_targets_begin_one():
    assert starts("MOV R0, RZ\n @P0 BRA far\n MOV R1, RZ\n MOV R2, RZ\n far:\n EXIT") == [0x08, 0x18, 0x30]


def test_the_target_of_a_push_begins_a_block_and_the_push_ends_none():
    assert starts("MOV R0, RZ\n SSY far\n SYNC\n far:\n EXIT") == [0x08, 0x28]


def test_a_jump_table_stands_alone_because_it_may_run_again():
    assert starts("MOV R0, RZ\n BRX R0 -0x10 -> far\n far:\n EXIT") == [0x08, 0x10, 0x18]


def test_the_entry_begins_a_block():
    assert starts("MOV R0, RZ\n kernel:\n EXIT") == [0x08, 0x10]


def test_a_block_is_straight_code_and_pushes_in_order():
    (block, *_) = blocks("MOV R0, RZ\n SSY far\n MOV R1, RZ\n MOV R2, RZ\n PBK far\n SYNC\n far:\n EXIT").blocks
    straight = [step if isinstance(step, TokenPush) else step.writes for step in block.steps]
    assert straight == [R0, TokenPush(0x48, "SYNC"), R1 | R2, TokenPush(0x48, "BRK")]


def test_agreement_passes_through_an_instruction_whose_inputs_agree():
    assert transform("IADD R2, R0, R1", R0 | R1) == R0 | R1 | R2


def test_agreement_is_lost_where_one_input_differs():
    assert transform("IADD R2, R0, R1", R0 | R2) == R0


def test_instructions_are_applied_in_order():
    assert transform("MOV R1, R0\n S2R R0, SR_TID.X\n MOV R2, R0\n MOV R3, R1", R0) == R1 | R3


def test_under_an_agreed_guard_a_written_register_keeps_its_agreement_if_it_had_it():
    assert transform("@P0 MOV R1, R0", P0 | R0 | R1) == P0 | R0 | R1
    assert transform("@P0 MOV R1, R0", P0 | R0) == P0 | R0


def test_under_another_guard_a_written_register_loses_its_agreement():
    assert transform("@P0 MOV R1, R0", R0 | R1) == R0


def test_a_guard_that_never_holds_gains_nothing():
    assert transform("@!PT MOV R1, R0", R0) == R0


def test_an_unknown_opcode_loses_everything():
    assert transform("FROB R0", EVERY) == 0


def test_static_successors_treat_a_push_as_a_jump_and_step_over_calls():
    code = blocks("SSY end\n @P0 BRA else\n CAL f\n SYNC\n else:\n EXIT\n end:\n EXIT\n f():\n RET")
    assert static_successors(code) == [[1, 3, 4], [2], [], [], [], []]


def test_only_calls_that_close_a_cycle_are_recursive():
    code = blocks("CAL f\n EXIT\n f():\n CAL g\n RET\n g():\n @P0 RET\n CAL g\n RET")
    assert recursive_calls(code, static_successors(code), 0, direct_calls(code, ())) == {0x38}
