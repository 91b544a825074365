"""The bound for W warps: what instructions take of an SM, optima over the graph, and the launch; soundness/ tries every execution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from listing import assemble
from sassan.alphabet import UNITS, Letter
from sassan.errors import UsageError
from sassan.ipet.flow_facts import bounds_of
from sassan.ipet.sm.barriers import NO_BARRIERS, BlockBarriers, block_barriers
from sassan.ipet.sm.bounds import Optima, block_lifetime, grid_bound, resident_bound
from sassan.ipet.sm.makespan import path_bound
from sassan.ipet.sm.optima import Bound, path_optima
from sassan.ipet.sm.residency import Grid, Residents, check_warps
from sassan.ipet.sm.shares import Interference, of_code, of_letters
from sassan.ipet.wcet import WcetProblem, problem, wcet
from sassan.ir import Instruction
from sassan.isa import tables
from sassan.machine import Multiprocessor, load
from sassan.machine.occupancy import BlockDemand, occupancy
from sassan.source import Span
from sassan.timing import UnitCostModel
from unit.ipet.brute import Op, graph


def machine(load_lanes: int, compute_lanes: int, issue: int) -> Multiprocessor:
    return Multiprocessor("0.0", compute_lanes, compute_lanes, 32, 32, load_lanes, issue, 1, 64, 32, 65536, (48, 48), (), "a test")


def counts(path: str) -> dict[Letter, int]:
    return {letter: path.count(letter.value) for letter in UNITS}


def bound(
    of: WcetProblem, shares: Sequence[Interference], sm: Multiprocessor, barriers: BlockBarriers = NO_BARRIERS, *, partition: bool = False
) -> Bound:
    """The bound of 8 warps that are resident on an SM."""
    return path_optima(of, shares, sm, barriers, partition=partition).bound(lambda optima: resident_bound(optima, Residents(8)), "")


def instruction(opcode: str) -> Instruction:
    return Instruction(0, 8, opcode, (), None, Span(1, 1, 1))


@pytest.mark.parametrize(("path", "warps", "longest_known"), [("LCL", 4, 9), ("CCCC", 8, 11), ("LCCL", 3, 8), ("LLCLL", 3, 13)], ids=str)
def test_the_vectors_of_the_makespan_page_are_not_above_the_bound(path: str, warps: int, longest_known: int) -> None:
    sm = machine(32, 128, 8) if path == "CCCC" else machine(32, 32, 8)
    assert path_bound(len(path), of_letters(sm, counts(path)), Residents(warps), barriers=False) >= longest_known


def test_the_bound_of_one_path_is_no_bound_of_the_kernel() -> None:
    # docs/concepts/time.md: CCCC or LLL, sigma_L = 1, sigma_C = 4, W = 8: 11 for the path that is worst alone, 24 in truth.
    cfg = graph([Op("bra", (5,), some=True, uniform=True), Op("op"), Op("op"), Op("op"), Op("exit"), Op("op"), Op("op"), Op("exit")])
    sm = machine(32, 128, 8)
    shares = [of_letters(sm, {Letter.LOAD: 3} if node.start == 40 else {Letter.COMPUTE: len(node.instructions)}) for node in cfg.nodes]
    whole = bound(problem(cfg, UnitCostModel(), bounds_of(cfg)), shares, sm)
    assert whole.value is not None
    assert whole.value >= 24


def test_a_letter_of_a_slow_unit_takes_it_for_several_slots() -> None:
    assert of_letters(load("sm_61"), {Letter.DOUBLE: 1, Letter.COMPUTE: 4}) == Interference(Fraction(7), Fraction(9), Fraction(9))


def test_in_a_partition_shared_units_concern_every_warp_and_its_own_only_its_own() -> None:
    # 6.1: C one per cycle and partition, one D every 8 cycles of the SM.
    assert of_letters(load("sm_61"), {Letter.DOUBLE: 1, Letter.COMPUTE: 4}, partition=True) == Interference(
        Fraction(7), Fraction(12), Fraction(8)
    )


def test_of_opcodes_the_unit_map_says_how_long_they_keep_their_unit() -> None:
    # 6.1: FADD 128 lanes in 4 partitions; SHL 64 results per clock; DADD 4 lanes of the whole SM.
    code = [instruction("FADD"), instruction("SHL"), instruction("DADD")]
    assert of_code(load("sm_61"), code) == Interference(scheduler_stall=Fraction(35, 4), sm_stall=Fraction(35, 4))


def test_warps_of_other_partitions_take_only_what_is_shared() -> None:
    found = Optima(Fraction(100), Fraction(10), Fraction(3))
    assert resident_bound(found, Residents(16), 4) == 100 + 3 * 10 + 12 * 3


def test_with_barriers_only_the_warps_of_a_block_are_charged_one_after_the_other() -> None:
    found = Optima(Fraction(100), Fraction(10), Fraction(10), barriers=True)
    assert [resident_bound(found, Residents(8, block)) for block in (None, 8, 2)] == [800, 800, 260]


def test_short_segments_between_barriers_are_charged_once_for_the_block() -> None:
    found = Optima(Fraction(100), Fraction(10), Fraction(10), barriers=True, segment=Fraction(30), openings=4)
    assert block_lifetime(found, 8) == 5 * 30 + 8 * 10
    assert block_lifetime(replace(found, relay=Fraction(120)), 8) == 120 + 8 * 10


def test_more_warps_than_are_resident_is_a_usage_error() -> None:
    with pytest.raises(UsageError) as caught:
        check_warps(65, load("sm_61"))
    assert (caught.value.code, caught.value.hint) == ("bad-warps", "1 to 64")


def test_more_warps_than_the_launch_allows_is_a_usage_error_that_says_what_limits_them() -> None:
    with pytest.raises(UsageError) as caught:
        check_warps(33, load("sm_61"), occupancy(load("sm_61"), BlockDemand(256, 64, 0)))
    assert (caught.value.code, caught.value.hint) == ("bad-warps", "1 to 32, or another --block-dim (registers limit it)")


def test_a_problem_with_gaps_has_no_bound_and_says_why() -> None:
    cfg = graph([Op("op"), Op("bra", (0,), some=True), Op("exit")])
    result = bound(problem(cfg, UnitCostModel(), bounds_of(cfg)), [Interference()] * len(cfg.nodes), load("sm_61"))
    assert (result.value, [gap.code for gap in result.gaps]) == (None, ["unbounded-loop"])


def test_without_a_proof_of_an_optimum_there_is_no_bound() -> None:
    cfg = graph([Op("op"), Op("exit")])
    one = problem(cfg, UnitCostModel(), bounds_of(cfg))
    huge = replace(one, costs=tuple(2**60 for _ in one.costs))
    found = bound(huge, [Interference()] * len(cfg.nodes), load("sm_61"))
    assert (found.value, [gap.code for gap in found.gaps]) == (None, ["no-proof"])


def test_two_barriers_in_one_block_count_by_the_pieces_of_it() -> None:
    body = ("BAR.SYNC 0x0", *["MOV R1, R2"] * 8, "BAR.SYNC 0x0", "IADD32I R0, R0, 0x1", "ISETP.NE.AND P0, PT, R0, R3, PT", "@P0 BRA head")
    cfg = assemble("\n".join(("MOV R0, RZ", "head:", *body, "EXIT"))).graph()
    bounds = bounds_of(cfg, None, 10)
    shares = [of_letters(load("sm_61"), {Letter.COMPUTE: len(node.code)}) for node in cfg.nodes]
    barriers = block_barriers(cfg, tables.load("sm_61").facts)
    one = problem(cfg, UnitCostModel(), bounds)
    # 1 + 11 * 13 instructions and 11 exits, once for the warps that take over from each other.
    assert bound(one, shares, load("sm_61"), barriers).value == 155 + 8 * 155 / 4
    # A model that does not know the pieces counts the block for each of the three.
    assert bound(replace(one, pieces=()), shares, load("sm_61"), barriers).value == 1 + 11 * 3 * 13 + 11 + 8 * 155 / 4


def test_where_blocks_of_a_cluster_wait_for_each_other_neither_an_sm_nor_a_grid_has_a_bound() -> None:
    cfg = assemble("MOV R0, RZ\nUCGABAR_ARV\nUCGABAR_WAIT\nEXIT", "sm_90").graph()
    one = problem(cfg, UnitCostModel(), bounds_of(cfg))
    barriers = block_barriers(cfg, tables.load("sm_90").facts)
    for partition in (False, True):
        found = path_optima(one, [Interference()] * len(cfg.nodes), load("sm_90"), barriers, partition=partition)
        sm = found.bound(lambda optima: resident_bound(optima, Residents(8)), "")
        whole = found.bound(lambda optima: grid_bound(optima, Grid(4, 1, 1, 8)), "")
        assert (sm.value, whole.value) == (None, None)
        assert [(gap.address, gap.code) for gap in (*sm.gaps, *whole.gaps)] == [(0x20, "cluster-barrier")] * 2
    assert wcet(one).value == 4
