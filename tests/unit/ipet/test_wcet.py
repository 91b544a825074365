import pytest

from sassan.errors import SelfCheckError
from sassan.ipet.flow_facts import bounds_of
from sassan.ipet.steps import steps_of
from sassan.ipet.wcet import Setup, Wcet, WcetProblem, greatest, problem, wcet
from sassan.strings.fold import Repeat
from sassan.timing import UnitCostModel
from sassan.warpcfg.graph import EdgeKind, WarpCfg
from unit.ipet.brute import Op, graph

EXIT = Op("exit")
STRAIGHT = [Op("op"), Op("op"), EXIT]
DO_WHILE = [Op("op"), Op("op"), Op("bra", (1,), some=True), EXIT]
UNIFORM = [Op("op"), Op("op"), Op("bra", (1,), some=True, uniform=True), EXIT]
NESTED = [Op("op"), Op("op"), Op("op"), Op("bra", (2,), some=True, uniform=True), Op("bra", (1,), some=True, uniform=True), EXIT]
IF_ELSE = [Op("ssy", (5,)), Op("bra", (4,), some=True), Op("op"), Op("sync"), Op("sync"), EXIT]
EARLY_RETURNS = [*(Op("bra", (9,), some=True) for _ in range(8)), EXIT, Op("op"), EXIT]
TWO_HEADS = [Op("bra", (3,), some=True), Op("op"), Op("op"), Op("op"), Op("bra", (1,), some=True), Op("bra", (3,), some=True), EXIT]
SWITCH = [Op("ssy", (8,)), Op("brx", (2, 4, 6)), Op("op"), Op("sync"), Op("op"), Op("sync"), Op("op"), Op("sync"), EXIT]
ENDLESS = [Op("op"), Op("bra", (0,)), EXIT]


def solved(ops: list[Op], bound: int | None = None, *without: str, paper: bool = False) -> Wcet:
    cfg = graph(ops)
    return wcet(problem(cfg, UnitCostModel(), bounds_of(cfg, None, bound), Setup(without=frozenset(without), paper=paper)))


def system(ops: list[Op], bound: int | None = None) -> WcetProblem:
    cfg = graph(ops)
    return problem(cfg, UnitCostModel(), bounds_of(cfg, None, bound), Setup())


def test_the_greatest_total_of_the_costs_is_the_wcet() -> None:
    for ops in (STRAIGHT, DO_WHILE, UNIFORM, NESTED, IF_ELSE, EARLY_RETURNS, SWITCH):
        asked = system(ops, 10)
        assert greatest(asked, asked.costs) == wcet(asked).value


def test_the_greatest_total_of_other_costs_may_be_on_another_path() -> None:
    # A uniform branch around two instructions: the path that costs less time meets the block that is counted.
    asked = system([Op("bra", (4,), some=True, uniform=True), Op("op"), Op("op"), EXIT, Op("op"), EXIT])
    counted = [7 if node.start == 4 * 8 else 0 for node in asked.cfg.nodes]
    assert greatest(asked, counted) == 7
    assert wcet(asked).value == 4


def test_the_greatest_total_is_known_without_bounds_where_nothing_is_counted() -> None:
    asked = system(DO_WHILE)
    assert greatest(asked, asked.costs) is None
    assert greatest(asked, [0] * len(asked.cfg.nodes)) == 0


def test_straight_code_costs_its_instructions() -> None:
    assert solved(STRAIGHT).value == 3


def test_the_optimum_of_a_small_system_is_proved_by_its_dual() -> None:
    assert solved(DO_WHILE, 10).proof == "dual"


def test_a_loop_bound_counts_the_turns_after_the_first() -> None:
    # op, then 11 times (op, bra), then exit
    assert solved(UNIFORM, 10).value == 1 + 11 * 2 + 1


def test_threads_that_leave_a_loop_one_by_one_run_what_follows_one_by_one() -> None:
    assert solved(DO_WHILE, 10).value == 1 + 11 * 2 + 11


def test_no_more_than_32_groups_of_threads_can_leave_a_loop() -> None:
    assert solved(DO_WHILE, 1000).value == 1 + 1001 * 2 + 32


def test_without_thread_rows_a_group_may_leave_in_every_turn() -> None:
    assert solved(DO_WHILE, 1000, "no-thread-rows").value == 1 + 1001 * 2 + 1001


def test_the_path_through_a_divergent_if_runs_both_sides() -> None:
    # ssy bra | sync | op sync | exit
    assert solved(IF_ELSE).value == 6


def test_a_diverged_indirect_branch_is_issued_once_per_target() -> None:
    # ssy, three times (brx op sync), exit
    assert solved(SWITCH).value == 11


def test_without_thread_rows_early_returns_still_cost_what_the_pushes_allow() -> None:
    assert solved(EARLY_RETURNS, None, "no-thread-rows").value == 8 + 8 * 2 + 1


def test_a_loop_with_two_heads_is_bounded_by_its_threads() -> None:
    with_threads, without = solved(TWO_HEADS, 3), solved(TWO_HEADS, 3, "no-thread-rows")
    assert with_threads.value is not None
    assert without.value is not None
    assert with_threads.value < without.value


def test_a_loop_without_a_bound_is_a_gap_at_its_head() -> None:
    result = solved(DO_WHILE)
    assert (result.value, [(gap.code, gap.address) for gap in result.gaps]) == (None, [("unbounded-loop", 8)])


def test_every_loop_without_a_bound_is_listed_before_anything_is_solved() -> None:
    assert [gap.address for gap in solved(NESTED).gaps] == [8, 16]


def test_a_warp_that_cannot_end_has_no_bound() -> None:
    result = solved(ENDLESS, 5)
    assert (result.value, [gap.code for gap in result.gaps]) == (None, ["never-ends"])


def test_the_worst_path_of_nested_loops_is_nested() -> None:
    result = solved(NESTED, 10)
    assert result.path is not None
    assert any(isinstance(item, Repeat) and any(isinstance(inner, Repeat) for inner in item.body) for item in result.path)


def test_nested_bounds_multiply() -> None:
    # op, 11 times (op, 11 times (op bra), bra), exit
    assert solved(NESTED, 10).value == 1 + 11 * (1 + 11 * 2 + 1) + 1


def test_a_bound_of_a_million_in_each_of_two_loops_is_exact() -> None:
    assert solved(NESTED, 10**6).value == 1 + (10**6 + 1) * (1 + (10**6 + 1) * 2 + 1) + 1


def test_a_bound_beyond_the_precision_of_doubles_is_a_gap_and_not_a_number() -> None:
    result = solved(NESTED, 10**9)
    assert (result.value, [gap.code for gap in result.gaps]) == (None, ["no-proof"])


def test_the_papers_experiment_says_that_it_is_no_bound() -> None:
    result = solved(DO_WHILE, paper=True)
    assert (result.value, result.bound) == (34, False)
    assert any("no bound" in line for line in result.assumptions)


def test_the_papers_experiment_needs_no_loop_bound() -> None:
    assert solved(DO_WHILE, None, paper=True).gaps == ()


def test_a_family_of_rows_that_is_left_out_is_said() -> None:
    assert "rows omitted for an experiment: no-push-rows" in solved(DO_WHILE, 3, "no-push-rows").assumptions


def test_without_push_rows_a_cycle_of_reactivations_is_a_gap_and_not_a_number() -> None:
    ops = [Op("ssy", (3,)), Op("bra", (2,), some=True), Op("sync"), Op("bra", (5,), some=True), Op("bra", (0,)), EXIT]
    result = solved(ops, 3, "no-push-rows", "no-arrival-rows", "no-thread-rows")
    assert (result.value, [gap.code for gap in result.gaps]) == (None, ["unbounded-cycle"])


def test_gaps_of_the_graph_forbid_a_bound() -> None:
    result = solved([Op("sync"), EXIT])
    assert (result.value, result.gaps[0].code) == (None, "unmatched-token")


def without_edges(cfg: WarpCfg, kind: EdgeKind) -> WarpCfg:
    kept = tuple(edge for edge in cfg.edges if edge.kind is not kind)
    return WarpCfg(cfg.function, cfg.nodes, kept, cfg.entry, cfg.thread_edges, cfg.loops, cfg.token_targets, stack_points=cfg.stack_points)


def test_a_block_without_an_end_is_a_defect() -> None:
    with pytest.raises(SelfCheckError) as caught:
        steps_of(without_edges(graph(STRAIGHT), EdgeKind.EXIT))
    assert caught.value.code == "dead-end"


def test_a_pop_of_something_that_nothing_pushes_is_a_defect() -> None:
    cfg = graph(EARLY_RETURNS)
    edges = tuple(edge for edge in cfg.edges if edge.kind is not EdgeKind.DIVERGE)
    with pytest.raises(SelfCheckError) as caught:
        steps_of(WarpCfg(cfg.function, cfg.nodes, edges, cfg.entry, cfg.thread_edges, cfg.loops))
    assert caught.value.code == "pop-without-push"


def test_a_warp_edge_without_a_thread_step_is_a_defect() -> None:
    cfg = graph(DO_WHILE)
    with pytest.raises(SelfCheckError) as caught:
        steps_of(WarpCfg(cfg.function, cfg.nodes, cfg.edges, cfg.entry, cfg.thread_edges[1:], cfg.loops))
    assert caught.value.code == "no-thread-step"


def test_unknown_bounds_are_found_before_the_system_is_built() -> None:
    assert problem(graph(DO_WHILE), UnitCostModel(), bounds_of(graph(DO_WHILE))).model is None


def test_bounds_are_matched_to_the_loops_of_the_graph() -> None:
    found = bounds_of(graph(DO_WHILE), None, 7)
    assert found.of_loop == (7,)
    assert found.assumptions == ("--loop-bound: at most 7 back edges per entry (8 iterations of the header) of the loop at 0x0008",)
