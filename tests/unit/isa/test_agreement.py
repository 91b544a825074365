"""When the threads that execute an instruction agree on what it writes; whatever is not listed never agrees."""

from assembly import agreement, instruction
from sassan.isa.tables import load


def test_arithmetic_agrees_when_its_operands_do():
    assert agreement("sm_61", "IADD R0, R1, R2") == [("R0", "R1 R2")]


def test_a_partial_write_needs_the_old_value_too():
    assert agreement("sm_61", "HADD2.MRG_H1 R0, R1, R2") == [("R0", "R0 R1 R2")]


def test_an_immediate_agrees():
    assert agreement("sm_61", "MOV32I R0, 0x1") == [("R0", "")]


def test_a_kernel_parameter_agrees():
    assert agreement("sm_61", "MOV R0, c[0x0][0x140]") == [("R0", "")]


def test_a_load_agrees_at_an_agreed_address():
    assert agreement("sm_61", "LDG.E.64 R0, [R2]") == [("R0 R1", "R2 R3")]


def test_a_shared_load_agrees_at_an_agreed_address():
    assert agreement("sm_61", "LDS.U.32 R0, [R2]") == [("R0", "R2")]


def test_a_generic_load_never_agrees():
    assert agreement("sm_61", "LD.E R0, [R2]") == [("R0", None)]


def test_a_local_load_never_agrees():
    assert agreement("sm_61", "LDL R0, [R1]") == [("R0", None)]


def test_a_constant_load_agrees_at_an_agreed_index():
    assert agreement("sm_61", "LDC R0, c[0x2][R1]") == [("R0", "R1")]


def test_an_atomic_never_agrees():
    assert agreement("sm_61", "ATOM.E.ADD R0, [R2], R4") == [("R0", None)]


def test_the_thread_index_never_agrees():
    assert agreement("sm_61", "S2R R0, SR_TID.X") == [("R0", None)]


def test_the_lane_index_never_agrees():
    assert agreement("sm_61", "S2R R0, SR_LANEID") == [("R0", None)]


def test_the_lane_mask_never_agrees():
    assert agreement("sm_61", "S2R R0, SR_LTMASK") == [("R0", None)]


def test_the_second_thread_index_never_agrees_by_itself():
    assert agreement("sm_61", "S2R R0, SR_TID.Y") == [("R0", None)]


def test_the_second_thread_index_agrees_when_the_caller_knows_the_block():
    found = load("sm_61", agreeing=frozenset({"SR_TID.Y"})).facts(instruction("S2R R0, SR_TID.Y"))
    assert found is not None
    assert [one.needs for one in found.effects] == [0]


def test_the_registers_that_a_known_block_shape_would_settle_are_listed():
    assert load("sm_61").table.block_dim == frozenset({"SR_TID.Y", "SR_TID.Z"})


def test_the_block_index_agrees():
    assert agreement("sm_61", "S2R R0, SR_CTAID.X") == [("R0", "")]


def test_the_clock_agrees():
    assert agreement("sm_61", "CS2R R0, SR_CLOCKLO") == [("R0", "")]


def test_a_vote_agrees():
    assert agreement("sm_61", "VOTE.ALL R0, P1, P2") == [("R0 P1", "")]


def test_the_result_of_a_block_reduction_agrees():
    assert agreement("sm_61", "B2R.RESULT RZ, P0") == [("P0", "")]


def test_a_shuffle_from_one_lane_needs_that_lane_and_its_predicate_never_agrees():
    assert agreement("sm_61", "SHFL.IDX P0, R0, R1, R2, 0x1f") == [("R0", "R2"), ("P0", None)]


def test_a_shuffle_from_a_printed_lane_agrees():
    assert agreement("sm_61", "SHFL.IDX PT, R0, R1, 0x3, 0x1f") == [("R0", "")]


def test_a_shuffle_in_segments_never_agrees():
    assert agreement("sm_61", "SHFL.IDX PT, R0, R1, R2, 0x181f") == [("R0", None)]


def test_a_shuffle_that_may_keep_the_own_value_never_agrees():
    assert agreement("sm_61", "SHFL.IDX PT, R0, R1, R2, 0xf") == [("R0", None)]


def test_a_shuffle_with_a_clamp_in_a_register_never_agrees():
    assert agreement("sm_61", "SHFL.IDX PT, R0, R1, R2, R3") == [("R0", None)]


def test_a_relative_shuffle_never_agrees():
    assert agreement("sm_61", "SHFL.DOWN PT, R0, R1, R2, 0x1f") == [("R0", None)]


def test_a_carry_agrees_with_its_sum():
    assert agreement("sm_61", "IADD.X R0.CC, R1, R2") == [("R0 CC", "R1 R2 CC")]


def test_predicates_written_under_a_mask_need_their_source():
    assert agreement("sm_61", "R2P PR, R3, 0x6") == [("P1 P2", "R3")]


def test_predicates_written_under_an_unknown_mask_need_their_old_values():
    assert agreement("sm_61", "R2P PR, R3, R4") == [("P0 P1 P2 P3 P4 P5 P6", "R3 R4 P0 P1 P2 P3 P4 P5 P6")]


def test_a_quad_sum_never_agrees():
    assert agreement("sm_61", "FSWZADD R0, R1, R2, NPNPNPNP") == [("R0", None)]


def test_a_uniform_register_always_agrees():
    assert agreement("sm_75", "R2UR UR4, R2") == [("UR4", "")]


def test_a_uniform_destination_agrees_whatever_is_read():
    assert agreement("sm_75", "VOTEU.ANY UR4, UP0, P1") == [("UR4 UP0", "")]


def test_a_match_never_agrees():
    assert agreement("sm_70", "MATCH.ANY R2, R4") == [("R2", None)]


def test_a_matrix_fragment_never_agrees():
    assert agreement("sm_75", "MOVM.16.MT88 R2, R4") == [("R2", None)]


def test_the_elected_thread_does_not_agree():
    assert agreement("sm_90", "ELECT P0, UR4, PT") == [("P0", None), ("UR4", "")]


def test_one_test_of_a_barrier_in_shared_memory_has_one_answer_and_arrivals_together_are_in_one_phase():
    assert agreement("sm_90", "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R6") == [("P0", "R6 UR9")]
    assert agreement("sm_90", "SYNCS.ARRIVE.TRANS64 R2, [UR9], R6") == [("R2 R3", "R6 UR9")]
    assert agreement("sm_90", "SYNCS.EXCH.64 R2, [UR9], UR4")[0][1] is None


def test_a_warp_gets_registers_for_all_of_its_threads_or_for_none():
    assert agreement("sm_90", "USETMAXREG.TRY_ALLOC.CTAPOOL P0, 0x28") == [("P0", "")]
