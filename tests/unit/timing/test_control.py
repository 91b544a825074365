"""BlockCosts of `control`, by hand, with the latencies of TOLD; on sm_80 a warp has 4 special-function lanes: MUFU every 8 cycles."""

from dataclasses import replace

import pytest

from samples import VOLTA, explored, program
from sassan.isa.tables import load
from sassan.timing.control import INTERLEAVED, SCHEDULED, ControlCostModel
from sassan.timing.control_residuals import interleaved_blocks
from sassan.timing.model import BlockCosts, CostModel
from sassan.timing.rates import ALONE, Tables
from sassan.timing.table import TableCostModel
from sassan.timing.unit import UnitCostModel
from sassan.warpcfg import explore
from sassan.warpcfg.graph import WarpCfg
from scheduled import scheduled

TOLD = {"global": 100, "store": 90, "sfu": 48, "special": 64, "alu": 6, "branch": 16, "barrier": 48, "double": 128, "compare": 13}


def price(text: str, arch: str = "sm_80", **told: int) -> BlockCosts:
    return ControlCostModel(Tables(given={**TOLD, **told})).block_costs(explore(scheduled(text, arch), load(arch).facts))


def costs(text: str, arch: str = "sm_80", **told: int) -> tuple[int, ...]:
    found = price(text, arch, **told)
    assert found.gaps == ()
    return found.costs


def test_stalls_add_up_and_an_exit_takes_its_branch() -> None:
    assert costs("IADD3 R0, R0, R0, RZ | 4\nIADD3 R0, R0, R0, RZ | 5\nEXIT | 5") == (4 + 5 + 16,)


def test_a_wait_lasts_until_the_access_has_ended() -> None:
    assert costs("LDG.E R0, [R2.64] | 2 w0\nIADD3 R1, R0, R0, RZ | 5 wait0\nEXIT | 5") == (100 + 5 + 16,)


def test_what_passes_before_a_wait_is_not_charged_again() -> None:
    text = "LDG.E R0, [R2.64] | 2 w0\nIADD3 R4, R5, R5, RZ | 15\nIADD3 R1, R0, R0, RZ | 5 wait0\nEXIT | 5"
    assert costs(text) == (100 + 5 + 16,)


def test_a_barrier_is_clear_when_all_of_its_setters_have_ended() -> None:
    text = "LDG.E R0, [R2.64] | 2 w0\nMUFU.RCP R3, R3 | 2 w0\nIADD3 R1, R0, R3, RZ | 5 wait0\nEXIT | 5"
    assert costs(text) == (100 + 5 + 16,)


def test_an_instruction_waits_for_the_lanes_of_its_unit() -> None:
    text = "MUFU.RCP R0, R0 | 1\nMUFU.RCP R1, R1 | 1\nMUFU.RCP R2, R2 | 1\nEXIT | 5"
    # The third issues at 16, and has ended 48 later.
    assert costs(text) == (16 + 48,)


def test_what_is_open_at_the_end_is_charged_once() -> None:
    assert costs("STG.E [R2.64], R0 | 1\nEXIT | 5") == (90,)
    text = "MOV R1, RZ | 4\nagain:\nISETP.NE.AND P0, PT, R1, RZ, PT | 13\nSTG.E [R2.64], R0 | 1\n@!P0 EXIT | 5\nBRA again | 5"
    # 90 from the store, of which 1 and 16 pass.
    assert costs(text) == (4 + 73, 13 + 1 + 16, 16)


def test_a_unit_that_outlives_its_instruction_is_charged_at_the_end() -> None:
    # MUFU ends after 3 cycles and keeps its unit for 8; the EXIT behind it would be over after 1 and 5.
    assert costs("MUFU.RCP R0, R0 | 1\nEXIT | 5", sfu=3, branch=2) == (8,)


def test_a_block_barrier_awaits_units_that_outlive_their_instructions() -> None:
    found = price("MUFU.RCP R0, R0 | 1\nBAR.SYNC 0x0 | 1\nMUFU.RCP R0, R0 | 1\nEXIT | 5", sfu=3, barrier=1, branch=2)
    assert (found.costs, found.pieces) == ((8 + 1 + 1 + 5 + 2,), ((8 + 1 + 2, 1 + 5),))


def test_two_instructions_may_issue_together_before_volta() -> None:
    assert costs("MOV R0, RZ | 0\nMOV32I R1, 0x2 | 6\nEXIT | 15", "sm_61", branch=15) == (1 + 6 + 15,)


def test_units_of_their_own_do_not_keep_each_other_back() -> None:
    assert costs("MOV R0, RZ | 0\nMUFU.RCP R1, R1 | 6 w0\nEXIT | 15", "sm_61", branch=15, sfu=10) == (6 + 15,)


def test_back_to_back_doubles_of_a_consumer_part_wait_for_its_lanes() -> None:
    text = "DFMA R0, R0, R0, R0 | 2\nDFMA R2, R2, R2, R2 | 2\nEXIT | 5"
    assert (costs(text, "sm_80", double=10), costs(text, "sm_75", double=10)) == ((4 + 2 + 16,), (16 + 2 + 16,))


def test_the_pieces_of_a_block_begin_behind_its_barriers_where_nothing_else_is_open() -> None:
    text = "LDG.E R0, [R2.64] | 2 w0\nBAR.SYNC 0x0 | 6\nIADD3 R0, R0, R0, RZ | 4 wait0\nEXIT | 5"
    found = price(text)
    # The barrier waits for the load, so what follows does not.
    assert (found.costs, found.pieces) == ((100 + 48 + 4 + 16,), ((100 + 48, 4 + 16),))


def test_a_barrier_that_opened_early_may_keep_the_next_one_back() -> None:
    text = "BAR.SYNC 0x0 | 6\nIADD3 R0, R0, R0, RZ | 4\nBAR.SYNC 0x0 | 6\nEXIT | 5"
    assert price(text).pieces == ((48, 42 + 48, 16),)


def test_the_last_piece_pays_what_its_block_pays_for_the_next() -> None:
    found = price("BAR.SYNC 0x0 | 6\n" + LOOP.replace("BRA.U UP0, `(loop)", "BRA.U UP0, loop"))
    # As below: 5 are for the loop, and 77 for what is open at the end, which is charged once, to the first piece.
    assert (found.costs[0], found.pieces) == (48 + 2 + 5 + 77, ((48 + 77, 2 + 5), (), ()))


def test_what_is_open_at_the_end_is_charged_to_the_first_piece() -> None:
    assert price("BAR.SYNC 0x0 | 6\nSTG.E [R2.64], R0 | 1\nEXIT | 5").pieces == ((48 + 73, 1 + 16),)


@pytest.mark.parametrize("model", [UnitCostModel(), TableCostModel(Tables(given=TOLD))])
def test_the_pieces_of_a_sum_add_up(model: CostModel) -> None:
    text = "LDG.E R0, [R2.64] | 2 w0\nBAR.SYNC 0x0 | 6\nIADD3 R0, R0, R0, RZ | 4 wait0\nEXIT | 5"
    found = model.block_costs(explore(scheduled(text, "sm_80"), load("sm_80").facts))
    assert len(found.pieces[0]) == 2
    assert sum(found.pieces[0]) == found.costs[0]


LOOP = """
        LDG.E R0, [R2.64]            | 2 w0
    loop:
        IADD3 R1, R0, R1, RZ         | 5 wait0
        ISETP.NE.AND P0, PT, R1, RZ, PT | 13
        LDG.E R0, [R2.64]            | 2 w0
        BRA.U UP0, `(loop)           | 5
        EXIT                         | 5
    """


def test_what_is_open_comes_over_the_edges_of_the_graph() -> None:
    text = LOOP.replace("BRA.U UP0, `(loop)", "BRA.U UP0, loop")
    # Around the loop the load has 100 - 2 - 5 cycles left. Into it 98: the 5 more are charged to the block that only leads there. When the
    # warp has passed the exit, 93 - 16 are left: charged to the first block.
    assert costs(text) == (2 + 5 + (93 - 16), 93 + 5 + 13 + 2 + 16, 16)


def test_a_remainder_leaves_the_barrier_open() -> None:
    text = "LDG.E R0, [R2.64] | 2 w0\nDEPBAR.LE SB0, 0x1 | 1\nIADD3 R1, R0, R0, RZ | 5 wait0\nEXIT | 5"
    assert costs(text) == (100 + 1 + 5 + 16,)


READ = "STG.E [R2.64], R0 | 2 r0\nIADD3 R0, R1, R1, RZ | 5 wait0\nBRA 0x0 | 5"


def test_a_read_barrier_is_clear_when_operands_have_been_read() -> None:
    assert [price(READ, **told).costs for told in ({}, {"read": 20})] == [(36 + 5 + 16,), (20 + 5 + 16,)]
    assert [price(READ, arch, store=900, alu=6).costs[0] for arch in ("sm_70", "sm_80", "sm_120")] == [48 + 21, 36 + 21, 48 + 21]


def test_operands_are_read_no_later_than_the_access_ends() -> None:
    assert costs(READ, store=30) == (30 + 5 + 16,)


def test_an_access_behind_others_of_its_unit_reads_its_operands_when_its_turn_comes() -> None:
    text = "STS [R2], R0 | 1 r0\n" * 8 + "IADD3 R0, R1, R1, RZ | 5 wait0\nBRA 0x0 | 5"
    # On sm_75 the unit takes one every other cycle.
    assert costs(text, "sm_75", shared=100, read=20) == (7 * 2 + 20 + 5 + 16,)


def test_a_load_of_constants_keeps_its_address_until_it_ends() -> None:
    text = "LDC R0, c[0x3][R2] | 2 r0\nIADD3 R2, R1, R1, RZ | 5 wait0\nBRA 0x0 | 5"
    assert (costs(text, constant=90), costs(text, constant=90, read=20)) == ((90 + 5 + 16,), (20 + 5 + 16,))


def test_a_bound_says_how_long_operands_take_to_be_read() -> None:
    def said(text: str, arch: str, **told: int) -> list[str]:
        return [one for one in price(text, arch, **told).assumptions if one.startswith("operands are read")]

    within = "operands are read within {} cycles of when the unit takes the instruction ({})".format
    assert said(READ, "sm_80") == [within(36, "published; set it with --latency read=N")]
    assert said(READ, "sm_90") == [within(48, "no publication gives this; set it with --latency read=N")]
    assert said(READ, "sm_90", read=30) == [within(30, "--latency read")]
    assert said("IADD3 R0, R1, R1, RZ | 5\nEXIT | 5", "sm_90") == []


DIVERGENT = """
        S2R R0, SR_LANEID            | 2 w1
        ISETP.NE.AND P0, PT, R0, RZ, PT | 13 wait1
        BSSY B0, join                | 1
        @P0 BRA other                | 5
        LDG.E R4, [R2.64]            | 2 w0
        IADD3 R4, R4, R4, RZ         | 5 wait0
        BRA join                     | 5
    other:
        IADD3 R5, R5, R5, RZ         | 4
        MUFU.RCP R5, R5              | 2 w0
        IADD3 R5, R5, R5, RZ         | 5 wait0
    join:
        BSYNC B0                     | 5
        EXIT                         | 5
    """


def test_a_wait_beside_a_pending_side_is_charged_the_longest_setter() -> None:
    found = price(DIVERGENT)
    assert INTERLEAVED in found.assumptions
    # MUFU of the second side: the wait behind it may be for the load of the first one, issued at the same time.
    assert found.costs[2] >= 4 + 100 + 5


def test_what_was_open_before_a_divergence_is_waited_for_by_both_sides() -> None:
    text = DIVERGENT.replace("BSSY B0, join                | 1", "LDG.E R6, [R2.64]            | 1 w0").replace(
        "LDG.E R4, [R2.64]            | 2 w0", "MUFU.RCP R4, R4              | 2 w0"
    )
    text = text.replace("BSYNC B0 ", "NOP      ")
    # The load has 100 - 1 - 5 cycles left behind the branch.
    assert price(text).costs[1] == 94 + 5 + 16


def test_before_volta_sides_run_one_after_the_other() -> None:
    text = """
        S2R R0, SR_LANEID            | 2 w1
        ISETP.NE.AND P0, PT, R0, RZ, PT | 13 wait1
        SSY join                     | 1
        @P0 BRA other                | 13
        LDG.E R4, [R2]               | 2 w0
        SYNC                         | 15
    other:
        MUFU.RCP R5, R5              | 2 w0
        IADD R5, R5, R5              | 6 wait0
        SYNC                         | 15
    join:
        EXIT                         | 15
    """
    found = price(text, "sm_61", branch=15)
    assert INTERLEAVED not in found.assumptions
    # The taken side runs first: nothing of the load is open there.
    assert found.costs[2] == 48 + 6 + 15


def test_a_block_barrier_is_charged_as_if_nobody_were_awaited() -> None:
    found = price("BAR.SYNC 0x0 | 5\nEXIT | 5")
    assert (found.costs, ALONE in found.assumptions) == ((48 + 16,), True)


def test_the_assumptions_name_latencies_that_are_no_bounds() -> None:
    said = price("LDG.E R0, [R2.64] | 2 w0\nMUFU.RCP R3, R3 | 2 w1\nEXIT | 5").assumptions
    assert said[0] == SCHEDULED
    assert said[1] == "no instruction takes longer than its latency, under whatever contention; in cycles: branch 16, global 100, sfu 48"


def test_an_instruction_whose_time_nobody_knows_is_a_gap() -> None:
    found = price("CLMAD.LO R8, R4, R6, R4 | 5\nEXIT | 5", "sm_89")
    assert [(gap.address, gap.code) for gap in found.gaps] == [(0, "no-latency")]


@pytest.mark.parametrize("opcode", ["MEMBAR.SC.GPU", "ERRBAR", "CCTL.IVALL"])
def test_a_fence_has_a_default_that_no_publication_gives(opcode: str) -> None:
    found = price(f"{opcode} | 5\nEXIT | 5")
    assert not found.gaps
    assert any("fence" in each and "no publication" in each for each in found.assumptions)


def test_code_without_encodings_is_a_gap() -> None:
    (gap,) = ControlCostModel().block_costs(explored(program("sm_80", "saxpy", "nvdisasm").functions[0])).gaps
    assert gap.code == "no-control-codes"


GRID_STRIDE = """
        S2R R0, SR_LANEID            | 2 w1
        ISETP.NE.AND P0, PT, R0, RZ, PT | 13 wait1
        BSSY B0, behind              | 1
    again:
        LDG.E R4, [R2.64]            | 2 w0
        IADD3 R0, R0, R4, RZ         | 5 wait0
        STG.E [R2.64], R4            | 1 r1
        ISETP.NE.AND P0, PT, R0, RZ, PT | 13 wait1
        @P0 BRA again                | 5
        BSYNC B0                     | 5
    behind:
        EXIT                         | 5
    """


def without_turns(found: WarpCfg) -> WarpCfg:
    return replace(found, stack_points=((),) * len(found.nodes))


def test_a_loop_that_lanes_leave_to_wait_costs_what_a_uniform_one_costs() -> None:
    uniform = GRID_STRIDE.replace("@P0 BRA again", "@!UPT BRA.U UP0, again").replace("@!UPT ", "")
    assert costs(GRID_STRIDE) == costs(uniform)


@pytest.mark.parametrize("arch", VOLTA)
@pytest.mark.parametrize(("sample", "kernel"), [("memory_patterns", "strided_copy"), ("reduce_shuffle", "reduce_shuffle")])
def test_the_grid_stride_loops_of_the_compiler_pay_for_no_turns(arch: str, sample: str, kernel: str) -> None:
    (function,) = (one for one in program(arch, sample, "cuobjdump").functions if one.name == kernel)
    found = explored(function)
    assert interleaved_blocks(found)
    assert ControlCostModel().block_costs(found).costs == ControlCostModel().block_costs(without_turns(found)).costs


def test_a_side_that_does_more_than_wait_is_charged() -> None:
    text = GRID_STRIDE.replace("BSYNC B0 ", "LDG.E R6, [R2.64] | 1 w0\nBSYNC B0 ")
    found = explore(scheduled(text, "sm_80"), load("sm_80").facts)
    model = ControlCostModel(Tables(given=TOLD))
    # The store of the loop and its wait for the load: the load of who left may have been issued just before.
    assert model.block_costs(found).costs[1] > model.block_costs(without_turns(found)).costs[1]


def test_a_read_barrier_that_covers_a_predicate_lasts_as_long_as_the_access():
    text = "ATOM.E.ADD.64.STRONG.GPU {}, RZ, desc[UR4][R2.64], R4 | 2 {}\nIADD3 R0, R1, R1, RZ | 5 wait0\nBRA 0x0 | 5"
    cases = [("P0", "r0"), ("P0", "w1 r0"), ("PT", "r0")]
    assert [costs(text.format(*each), "sm_90", atomic=900, read=20)[0] for each in cases] == [900 + 21, 900 + 21, 20 + 21]
