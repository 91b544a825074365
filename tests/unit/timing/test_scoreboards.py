"""What the check of control codes finds, and what it leaves alone."""

import pytest

from samples import program
from sassan.isa.tables import load
from sassan.timing import hazards
from sassan.timing.scoreboards import check
from scheduled import found, report


def test_a_result_that_is_read_too_early_is_found():
    text = """
        IADD3 R0, R2, R3, RZ | 3
        IADD3 R1, R0, R0, RZ | 4
        EXIT | 5
    """
    assert found(text) == ["short-distance: 'IADD3 R1, R0, R0, RZ' reads R0, 3 cycles after 'IADD3 R0, R2, R3, RZ' at 0x0000; it needs 4"]


def test_stalls_on_the_way_add_up():
    text = """
        IADD3 R0, R2, R3, RZ | 2
        IADD3 R4, R2, R3, RZ | 2
        IADD3 R1, R0, R0, RZ | 4
        EXIT | 5
    """
    assert found(text) == []


def test_the_distance_depends_on_the_reader():
    text = """
        IADD3 R0, R2, R3, RZ | 4
        FADD R1, R0, R0 | 5
        EXIT | 5
    """
    assert found(text) == ["short-distance: 'FADD R1, R0, R0' reads R0, 4 cycles after 'IADD3 R0, R2, R3, RZ' at 0x0000; it needs 5"]


def test_a_guard_is_read_earlier_than_a_predicate_operand():
    text = """
        ISETP.NE.AND P0, PT, R2, RZ, PT | 5
        SEL R0, R2, R3, P0 | 5
        @P0 EXIT | 5
        EXIT | 5
    """
    assert found(text) == ["short-distance: '@P0 EXIT' reads P0, 10 cycles after 'ISETP.NE.AND P0, PT, R2, RZ, PT' at 0x0000; it needs 13"]


def test_the_high_half_of_a_wide_product_comes_later_than_the_low_one():
    text = """
        IMAD.WIDE R4, R2, R3, R6 | 3
        IADD3 R0, R4, 0x1, RZ | 1
        IADD3 R1, R5, 0x1, RZ | 1
        EXIT | 5
    """
    assert found(text) == [
        "short-distance: 'IADD3 R1, R5, 0x1, RZ' reads R5, 4 cycles after 'IMAD.WIDE R4, R2, R3, R6' at 0x0000; it needs 5"
    ]


def test_the_shortest_of_several_ways_counts():
    text = """
        ISETP.NE.AND P0, PT, R2, RZ, PT | 13
        UIADD3 UR4, UR5, UR6, URZ | 1
        @P0 BRA far | 5
        NOP | 10
    far:
        IADD3 R0, R2, UR4, RZ | 1
        EXIT | 5
    """
    assert found(text) == []
    assert found(text.replace("BRA far | 5", "BRA far | 4")) == [
        "short-distance: 'IADD3 R0, R2, UR4, RZ' reads UR4, 5 cycles after 'UIADD3 UR4, UR5, UR6, URZ' at 0x0010; it needs 6"
    ]


def test_a_load_that_nobody_waits_for_is_found():
    text = """
        LDG.E R0, [R2.64] | 2 w0
        IADD3 R1, R0, R0, RZ | 4
        EXIT | 5
    """
    assert found(text) == [
        "missing-wait: 'IADD3 R1, R0, R0, RZ' reads R0 without a wait for 'LDG.E R0, [R2.64]' at 0x0000, which sets barrier 0"
    ]


def test_a_wait_anywhere_on_the_way_is_enough():
    text = """
        LDG.E R0, [R2.64] | 2 w0
        IADD3 R5, R4, R4, RZ | 4 wait0
        IADD3 R1, R0, R0, RZ | 4
        EXIT | 5
    """
    assert found(text) == []


def test_a_wait_on_one_of_two_ways_is_not_enough():
    text = """
        ISETP.NE.AND P0, PT, R4, RZ, PT | 13
        LDG.E R0, [R2.64] | 2 w0
        @P0 BRA join | 5
        NOP | 1 wait0
    join:
        IADD3 R1, R0, R0, RZ | 4
        EXIT | 5
    """
    assert [one.partition(" reads")[0] for one in found(text)] == ["missing-wait: 'IADD3 R1, R0, R0, RZ'"]


def test_a_use_around_a_loop_is_found():
    text = """
        ISETP.NE.AND P0, PT, R4, RZ, PT | 13
    loop:
        IADD3 R1, R0, R1, RZ | 4
        LDG.E R0, [R2.64] | 2 w0
        @P0 BRA loop | 5
        EXIT | 5 wait0
    """
    assert found(text) == [
        "missing-wait: 'IADD3 R1, R0, R1, RZ' reads R0 without a wait for 'LDG.E R0, [R2.64]' at 0x0020, which sets barrier 0"
    ]


def test_a_barrier_can_be_waited_for_two_cycles_after_it_was_set():
    text = """
        LDG.E R0, [R2.64] | 1 w0
        IADD3 R1, R0, R0, RZ | 4 wait0
        EXIT | 5
    """
    assert found(text) == [
        "early-wait: 'IADD3 R1, R0, R0, RZ' waits for barrier 0, 1 cycle after 'LDG.E R0, [R2.64]' at 0x0000, which sets it; it needs 2"
    ]


def test_operands_that_are_still_to_be_read_must_not_be_overwritten():
    text = """
        STG.E [R2.64], R0 | 2 r3
        MOV R0, R4 | 4
        EXIT | 5
    """
    assert found(text) == [
        "missing-wait: 'MOV R0, R4' overwrites R0 without a wait for 'STG.E [R2.64], R0' at 0x0000, which sets barrier 3"
    ]
    assert found(text.replace("MOV R0, R4 | 4", "MOV R0, R4 | 4 wait3")) == []


def test_what_has_been_written_has_been_read():
    text = """
        LDG.E R0, [R2.64] | 2 w0
        MOV R2, R4 | 4 wait0
        EXIT | 5
    """
    assert found(text) == []


def test_a_result_that_is_overwritten_before_it_comes_is_found():
    text = """
        LDG.E R0, [R2.64] | 2 w0
        MOV R0, R4 | 4
        EXIT | 5
    """
    assert [one.partition(" without")[0] for one in found(text)] == ["missing-wait: 'MOV R0, R4' overwrites R0"]


def test_threads_under_the_opposite_guard_need_no_wait():
    text = """
        ISETP.NE.AND P0, PT, R4, RZ, PT | 13
        @P0 LDG.E R0, [R2.64] | 2 w0
        @!P0 MOV R0, RZ | 5
        EXIT | 5 wait0
    """
    assert found(text) == []


def test_the_opposite_guard_is_another_one_once_its_predicate_was_written():
    text = """
        ISETP.NE.AND P0, PT, R4, RZ, PT | 13
        @P0 LDG.E R0, [R2.64] | 2 w0
        ISETP.NE.AND P0, PT, R5, RZ, PT | 13
        @!P0 MOV R0, RZ | 5
        EXIT | 5 wait0
    """
    assert len(found(text)) == 1


SHARED = """
        LDS R0, [R2] | 1
        LDS R1, [R3] | 2 w0
        IADD3 R4, R0, R1, RZ | 4 wait0
        EXIT | 5
"""


def test_a_later_load_of_shared_memory_covers_an_earlier_one():
    assert found(SHARED) == []


def test_a_later_transposition_covers_an_earlier_shuffle():
    assert found(SHARED.replace("LDS R0, [R2]", "SHFL.BFLY PT, R0, R2, 0x1, 0x1f").replace("LDS R1, [R3]", "MOVM.16.MT88 R1, R3")) == []


def test_a_store_to_another_block_of_the_cluster_reads_behind_an_earlier_store():
    text = """
        STS [R4], R8 | 1
        STAS [R6.64], R10 | 2 r0
        MOV R8, RZ | 5 wait0
        EXIT | 5
    """
    assert found(text, "sm_90") == []
    assert len(found(text.replace("wait0", ""), "sm_90")) == 1


def test_loads_of_global_memory_may_end_in_any_order():
    text = SHARED.replace("LDS R0, [R2]", "LDG.E R0, [R2.64]").replace("LDS R1, [R3]", "LDG.E R1, [R6.64]")
    assert [one.partition("without")[2] for one in found(text)] == [" a wait for 'LDG.E R0, [R2.64]' at 0x0000, which sets no barrier"]


def test_a_later_result_of_the_special_function_unit_covers_an_earlier_one():
    text = """
        POPC R0, R2 | 1
        FLO.U32 R1, R3 | 2 w0
        IADD3 R4, R0, R1, RZ | 4 wait0
        EXIT | 5
    """
    assert found(text) == []


TEXTURE = """
        TEX R4, R8, R10, UR4, 2D | 1 w0
        IADD3 R0, {register}, 0x1, RZ | 4
        EXIT | 5
"""


def test_of_a_texture_fetch_the_named_destination_is_surely_written():
    assert len(found(TEXTURE.replace("{register}", "R4"), "sm_90")) == 1


def test_what_only_the_widest_texture_fetch_writes_is_left_alone():
    assert found(TEXTURE.replace("{register}", "R7"), "sm_90") == []


def test_operands_of_a_matrix_product_are_read_in_order():
    text = """
        HMMA.884.F32.F32.STEP0 R8, R10.reuse.ROW, R14.reuse.COL, R24 | 2 w5 r0
        HMMA.884.F32.F32.STEP1 R10, R10.ROW, R14.COL, R26 | 2 w5 r0
        EXIT | 5 wait05
    """
    assert found(text, "sm_70") == []


MAXWELL = """
        LDG.E R0, [R2] | 1 w5
        LDG.E R1, [R2+0x4] | 1 w5
        LDG.E R4, [R2+0x8] | 2 w5
        DEPBAR.LE SB5, 0x1 | 6
        IADD R6, R0, R1 | 6
        IADD R7, R6, R4 | 6
        EXIT | 15
"""


def test_depbar_leaves_the_last_setters_open():
    assert found(MAXWELL, "sm_61") == [
        "missing-wait: 'IADD R7, R6, R4' reads R4 without a wait for 'LDG.E R4, [R2+0x8]' at 0x0018, which sets barrier 5"
    ]


@pytest.mark.parametrize(("wait", "findings"), [("DEPBAR {5}", 0), ("DEPBAR.LE SB5, 0x0", 0), ("DEPBAR.LE SB5, 0x2", 2), ("DEPBAR {4}", 3)])
def test_depbar_waits_for_what_it_lists(wait: str, findings: int):
    assert len(found(MAXWELL.replace("DEPBAR.LE SB5, 0x1", wait), "sm_61")) == findings


def test_an_access_can_be_open_across_a_call_and_its_return():
    text = """
        LDG.E R0, [R2.64] | 2 w0
        MOV R20, 0x40 | 4
        MOV R21, 0x0 | 5
        CALL.REL.NOINC callee | 5
        IADD3 R1, R0, R4, RZ | 4
        EXIT | 5
    callee:
        IADD3 R4, R0, 0x1, RZ | 4 {wait}
        RET.REL.NODEC R20 0x0 | 5
    """
    assert [one.partition(" reads")[0] for one in found(text.replace("{wait}", ""))] == ["missing-wait: 'IADD3 R4, R0, 0x1, RZ'"]
    assert found(text.replace("{wait}", "wait0")) == []


def test_a_function_without_control_codes_is_not_checked():
    (function,) = program("sm_80", "saxpy", "nvdisasm").functions
    plain = check(function, load("sm_80").facts, hazards.load("sm_80"))
    assert plain.findings == ()
    assert [gap.code for gap in plain.gaps] == ["no-control-codes"]


def test_an_unknown_opcode_is_a_gap():
    assert [(gap.address, gap.code) for gap in report("FROB R0, R1 | 5\n EXIT | 5").gaps] == [(0, "unknown-opcode")]


def test_a_call_out_of_the_listing_is_a_gap():
    text = """
        CALL.ABS.NOINC 0x0 | 5
        EXIT | 5
    """
    assert [gap.code for gap in report(text).gaps] == ["unknown-callee"]


def test_a_stall_of_zero_is_a_cycle_where_no_two_instructions_issue_together():
    text = """
        IADD3 R0, R2, R3, RZ | 3
        NOP | 0
        IADD3 R1, R0, R0, RZ | 4
        EXIT | 5
    """
    assert found(text) == []
    assert found(text.replace("RZ | 3", "RZ | 2")) == [
        "short-distance: 'IADD3 R1, R0, R0, RZ' reads R0, 3 cycles after 'IADD3 R0, R2, R3, RZ' at 0x0000; it needs 4"
    ]


@pytest.mark.parametrize(("fence", "arch"), [("ERRBAR", "sm_75"), ("MEMBAR.SC.GPU", "sm_75"), ("USETMAXREG.DEALLOC.CTAPOOL 0x28", "sm_90")])
def test_behind_a_fence_every_result_of_fixed_latency_is_there(fence: str, arch: str):
    text = f"""
        IADD3 R0, R2, R3, RZ | 1
        {fence} | 0
        IADD3 R1, R0, R0, RZ | 4
        EXIT | 5
    """
    assert found(text, arch) == []
    assert len(found(text.replace(fence, "NOP"), arch)) == 1


GENERIC = """
        ATOM.E.ADD.64.STRONG.GPU P0, RZ, desc[UR4][R2.64], R4 | 2 r0
        @P0 EXIT | 5 {wait}
        EXIT | 5
"""


@pytest.mark.parametrize("arch", ["sm_90", "sm_100", "sm_120"])
def test_the_read_barrier_of_a_generic_atomic_covers_its_predicate(arch: str):
    assert found(GENERIC.format(wait="wait0"), arch) == []
    (finding,) = found(GENERIC.format(wait=""), arch)
    assert "reads P0 without a wait" in finding


@pytest.mark.parametrize(("wait", "few"), [("wait0", []), ("", ["P0"]), ("wait1", [])])
def test_it_covers_no_register_of_the_result(wait: str, few: list[str]):
    text = f"""
        ATOM.E.CAS.64.STRONG.GPU P0, R2, [R22], R12, R14 | 2 w1 r0
        @P0 EXIT | 5 {wait}
        IADD3 R4, R2, R2, RZ | 5
        EXIT | 5
    """
    read = [*few, *([] if wait == "wait1" else ["R2"])]
    assert [finding.split(" reads ")[1].split()[0] for finding in found(text, "sm_90")] == read


def test_a_query_of_an_address_ends_behind_accesses_of_shared_memory():
    text = """
        STL.64 [R1], R2 | 1
        LDS.64 R38, [R38] | 1
        QSPC.E.L P0, RZ, [R4] | 2 w0
        @P0 EXIT | 5 wait0
        IADD3 R2, R38, R38, RZ | 5
        EXIT | 5
    """
    assert found(text, "sm_90") == []


def test_before_hopper_it_covers_the_operands_alone():
    (finding,) = found(GENERIC.replace("desc[UR4][R2.64]", "[R2.64]").format(wait="wait0"), "sm_80")
    assert "reads P0 without a wait" in finding


@pytest.mark.parametrize("product", ["IMAD.WIDE.U32", "IMAD.HI.U32"])
@pytest.mark.parametrize(
    ("producer", "arch", "cycles"),
    [("VIADD R5, R8, 0x1", "sm_90", 2), ("VIADD R5, R8, 0x1", "sm_100", 2), ("IADD3.X R5, PT, PT, R8, 0x1, RZ, P0, !PT", "sm_100", 3)],
)
def test_a_product_reads_the_high_half_of_its_addend_late(product: str, producer: str, arch: str, cycles: int):
    text = "{} | {}\n{} R2, R9, 0x38, R4 | 5\nEXIT | 5"
    assert [len(found(text.format(producer, stall, product), arch)) for stall in (cycles, cycles - 1)] == [0, 1]


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_the_next_instruction_may_wait_for_the_barrier_of_setmaxnreg(arch: str):
    text = "USETMAXREG.DEALLOC.CTAPOOL 0x28 | 1 w1\nLDL R4, [R1+0x8] | 2 w0 wait1\nEXIT | 5"
    assert found(text, arch) == []
    (early,) = found(text.replace("USETMAXREG.DEALLOC.CTAPOOL 0x28", "LDL R6, [R1]"), arch)
    assert early.startswith("early-wait")


def test_a_product_of_double_precision_lasts_no_longer_than_libraries_say():
    text = """
        DMMA.8x8x4 R4, R20, R22, R4 | 8 w5
{stalls}
        DMMA.8x8x4 R4, R24, R26, R4 | 8 w5
        EXIT | 5 wait5
    """
    enough = text.format(stalls="\n".join(["        NOP | 15"] * 7 + ["        NOP | 13"]))
    assert found(enough, "sm_100") == []
    assert len(found(enough.replace("| 13", "| 12"), "sm_100")) == 1


def test_a_transposition_writes_behind_the_reads_of_earlier_accesses_of_shared_memory():
    text = """
        LDSM.16.M88.4 R4, [R8] | 2 w0
        MOVM.16.MT88 R8, R10 | 2 w1
        EXIT | 5 wait1
    """
    assert found(text, "sm_90") == []


def test_accesses_of_barriers_in_shared_memory_read_in_order():
    text = """
        SYNCS.ARRIVE.TRANS64.ART0 RZ, [R16+URZ+0x10], R17 | 2 r0
        SYNCS.ARRIVE.TRANS64.ART0 R16, [R20+URZ], R17 | 2 w1
        EXIT | 5 wait1
    """
    assert found(text, "sm_100") == []
    assert len(found(text.replace("SYNCS.ARRIVE.TRANS64.ART0 R16, [R20+URZ], R17 | 2 w1", "MOV R16, R17 | 5"), "sm_100")) == 1
