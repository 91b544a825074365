"""Recorded executions against the rows: what the graph allows of many warps, and what it does not."""

import pytest

from listing import assemble
from sassan.ipet.flow_facts import bounds_of
from sassan.validation.counts import CountCheck, Excess, check_counts
from sassan.warpcfg.graph import WarpCfg

# 0x08 BRA, 0x10 MOV, 0x18 MOV, 0x28 EXIT.
BRANCH = "@P0 BRA out\n MOV R1, R2\n MOV R3, R4\n out:\n EXIT"
LOOP = "loop:\n IADD32I R0, R0, 0x1\n @P0 BRA loop\n EXIT"
WARPS = 10


def checked(cfg: WarpCfg, recorded: dict[int, int], bound: int | None = None, worst: tuple[int, ...] = ()) -> CountCheck:
    return check_counts(cfg, bounds_of(cfg, default=bound), worst, recorded, WARPS)


def test_every_warp_may_take_a_side_of_its_own():
    # 4 warps skip, 3 fall through, 3 do both and run EXIT twice.
    result = checked(assemble(BRANCH).graph(), {0x08: 10, 0x10: 6, 0x18: 6, 0x28: 13})
    assert result == CountCheck(checked=4)


def test_an_instruction_runs_no_more_often_than_a_warp_can():
    result = checked(assemble(BRANCH).graph(), {0x08: 10, 0x10: 11, 0x18: 11, 0x28: 13})
    assert (result.consistent, result.above) == (False, (Excess(0x10, 11, 10), Excess(0x18, 11, 10)))


def test_counts_that_are_possible_each_may_be_impossible_together():
    result = checked(assemble(BRANCH).graph(), {0x08: 10, 0x10: 6, 0x18: 5, 0x28: 13})
    assert (result.consistent, result.above) == (False, ())


def test_a_warp_that_diverged_runs_what_follows_twice():
    assert not checked(assemble(BRANCH).graph(), {0x08: 10, 0x10: 0, 0x28: 13}).consistent


def test_a_bounded_loop_iterates_no_more_often_than_its_bound():
    cfg = assemble(LOOP).graph()
    assert checked(cfg, {0x08: 40, 0x10: 40, 0x18: 10}, bound=3).consistent
    result = checked(cfg, {0x08: 41, 0x10: 41, 0x18: 10}, bound=0)
    assert result.above[0].address == 0x08
    assert result.above[0].most < 41


def test_a_loop_without_a_bound_may_iterate_as_often_as_recorded():
    assert checked(assemble(LOOP).graph(), {0x08: 4000, 0x10: 4000, 0x18: 10}).consistent


def test_what_is_never_reached_is_never_executed():
    cfg = assemble("EXIT\n MOV R1, R2\n EXIT").graph()
    assert checked(cfg, {0x08: 10, 0x10: 0}).consistent
    result = checked(cfg, {0x08: 10, 0x10: 1})
    assert (result.consistent, result.above) == (False, (Excess(0x10, 1, 0),))


def test_executions_of_the_worst_path_are_equal():
    cfg = assemble("MOV R1, R2\n EXIT").graph()
    assert checked(cfg, {0x08: 10, 0x10: 10}, worst=(1,)).equal == 2
    assert checked(cfg, {0x08: 10}, worst=()).equal == 0


@pytest.mark.parametrize(
    ("text", "recorded", "why"),
    [
        ("FROB R1\n EXIT", {0x08: 1}, "the graph has gaps: unknown-opcode"),
        ("EXIT", {}, "the recording has no instruction counts"),
    ],
)
def test_an_impossible_check_has_a_reason(text: str, recorded: dict[int, int], why: str):
    assert checked(assemble(text).graph(), recorded) == CountCheck(why=why)
