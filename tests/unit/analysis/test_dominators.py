"""Reachability and dominators, held to networkx."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from sassan.analysis.graph import immediate_dominators, reachable

graphs = st.integers(1, 9).flatmap(lambda count: st.lists(st.lists(st.integers(0, count - 1), max_size=3), min_size=count, max_size=count))


def peer(graph: list[list[int]]) -> "nx.DiGraph[int]":
    out: nx.DiGraph[int] = nx.DiGraph()
    out.add_nodes_from(range(len(graph)))
    out.add_edges_from((src, dst) for src, row in enumerate(graph) for dst in row)
    return out


@given(graph=graphs)
def test_reachable_nodes_are_the_descendants(graph: list[list[int]]):
    assert reachable([0], graph.__getitem__) == {0} | nx.descendants(peer(graph), 0)


@given(graph=graphs)
def test_immediate_dominators_are_those_of_networkx(graph: list[list[int]]):
    expected = dict(nx.immediate_dominators(peer(graph), 0))
    found = immediate_dominators(0, dict(enumerate(graph)))
    assert found == {**{node: to for node, to in expected.items() if node}, 0: None}
