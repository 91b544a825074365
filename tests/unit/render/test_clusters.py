from dataclasses import replace

from sassan.render.graph.clusters import Cluster, forest
from sassan.warpcfg.graph import CfgLoop, WarpCfg


def shape(box: Cluster) -> tuple[list[int], list[object]]:
    return box.nodes, [shape(one) for one in box.inner]


def test_an_inner_loop_is_inside_the_outer_one(nested: WarpCfg):
    assert shape(forest(nested)) == ([0, 4], [([1, 3], [([2], [])])])


def test_a_callee_is_inside_the_loop_that_calls_it(called: WarpCfg):
    assert shape(forest(called)) == ([2], [([0, 1], [([3], [])])])


def test_a_loop_that_overlaps_another_is_omitted_and_its_blocks_stay(nested: WarpCfg):
    crossing = CfgLoop(3, (3, 4), ((4, 3),), None, single_witness=True)
    assert shape(forest(replace(nested, loops=(*nested.loops, crossing)))) == ([0, 4], [([1, 3], [([2], [])])])


def test_every_block_is_in_exactly_one_box(called: WarpCfg):
    def nodes_of(box: Cluster) -> list[int]:
        return [*box.nodes, *(at for one in box.inner for at in nodes_of(one))]

    assert sorted(nodes_of(forest(called))) == [0, 1, 2, 3]
