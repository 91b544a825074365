"""The oracle for sides that take turns: it passes what is right, and fails by itself what is wrong."""

from dataclasses import replace

from samples import explored, program
from sassan.simt.code import ExecutableFunction, lower
from sassan.timing import CostModel, UnitCostModel
from sassan.warpcfg.graph import WarpCfg
from soundness.interleaved import Turns, interleave
from soundness.mutate_graph import Free
from soundness.volta import Volta

NESTED = program("sm_90", "nested_if").functions[0]


def prepared() -> tuple[ExecutableFunction, WarpCfg]:
    cfg = explored(NESTED)
    return lower(NESTED, Volta(NESTED), {node.start for node in cfg.nodes}), cfg


def turns(costs: CostModel) -> Turns:
    return Turns(runs=40, seed=1, steps=200, solve=3, called=False, depth=None, costs=costs)


def test_turns_stay_within_the_bound():
    found = interleave(*prepared(), turns(UnitCostModel()))
    assert (found.problems, found.watch.strays, found.watch.disagreements) == ((), {}, {})


def test_a_bound_that_forgets_a_block_is_noticed():
    found = interleave(*prepared(), turns(Free("n0000")))
    assert {kind for kind, _, _ in found.problems} == {"wcet"}


def test_a_missing_thread_edge_is_noticed():
    code, cfg = prepared()
    found = interleave(code, replace(cfg, thread_edges=cfg.thread_edges[1:]), replace(turns(UnitCostModel()), solve=0))
    assert len(found.watch.strays) == 1


def test_a_false_agreement_is_noticed():
    code, cfg = prepared()
    lying = replace(cfg, nodes=tuple(replace(node, agreement=node.agreement | 1 << 256) for node in cfg.nodes))
    assert interleave(code, lying, turns(UnitCostModel())).watch.disagreements
