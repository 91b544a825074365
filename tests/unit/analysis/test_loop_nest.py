from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from sassan.analysis.graph import Component, nest, weak_order

Graph = list[list[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(1, 9))
    return draw(st.lists(st.lists(st.integers(0, count - 1), max_size=3), min_size=count, max_size=count))


def simple_cycles(graph: Graph) -> list[list[int]]:
    """Every simple cycle, by plain search: each one is found from its smallest node."""
    found: list[list[int]] = []

    def extend(path: list[int]) -> None:
        for after in graph[path[-1]]:
            if after == path[0]:
                found.append(list(path))
            elif after > path[0] and after not in path:
                extend([*path, after])

    for start in range(len(graph)):
        extend([start])
    return found


def test_straight_code_has_no_loop() -> None:
    assert nest(3, [[1], [2], []], 0) == ()


def test_a_block_that_branches_to_itself_is_a_loop() -> None:
    assert nest(2, [[0, 1], []], 0) == (Component(head=0, nodes=(0,), back=((0, 0),), parent=None),)


def test_an_inner_loop_knows_its_outer_loop() -> None:
    # 0 -> 1 -> 2 <-> 3, 2 -> 4 -> 1
    assert nest(5, [[1], [2], [3, 4], [2], [1]], 0) == (
        Component(head=1, nodes=(1, 2, 3, 4), back=((4, 1),), parent=None),
        Component(head=2, nodes=(2, 3), back=((3, 2),), parent=0),
    )


def test_the_example_of_bourdoncle() -> None:
    # Figure 2 of the 1993 paper: 1 2 (3 4 (5 6) 7) 8, here counted from 0.
    graph: Graph = [[1], [2, 7], [3], [4, 6], [5], [4, 6], [2, 7], []]
    assert [(c.head, c.nodes) for c in nest(8, graph, 0)] == [(2, (2, 3, 4, 5, 6)), (4, (4, 5))]
    assert weak_order(8, graph, 0) == (0, 1, 2, 3, 4, 5, 6, 7)


def test_a_loop_with_two_entries_has_one_head_and_all_its_nodes() -> None:
    (loop,) = nest(3, [[1, 2], [2], [1]], 0)
    assert (loop.head, loop.nodes, loop.back) == (1, (1, 2), ((2, 1),))


def test_parallel_back_edges_are_listed_once() -> None:
    (loop,) = nest(1, [[0, 0]], 0)
    assert loop.back == ((0, 0),)


def test_a_part_that_the_entry_does_not_reach_is_walked_too() -> None:
    assert [c.nodes for c in nest(3, [[], [2], [1]], 0)] == [(1, 2)]


def test_no_node_at_all_has_no_loop() -> None:
    assert nest(0, [], 0) == ()


@given(graphs())
def test_every_cycle_passes_the_head_of_a_loop_that_holds_it(graph: Graph) -> None:
    loops = nest(len(graph), graph, 0)
    for cycle in simple_cycles(graph):
        assert any(loop.head in cycle and set(cycle) <= set(loop.nodes) for loop in loops)


@given(graphs())
def test_two_loops_are_nested_or_disjoint_and_have_different_heads(graph: Graph) -> None:
    loops = nest(len(graph), graph, 0)
    assert len({loop.head for loop in loops}) == len(loops)
    for one in loops:
        for other in loops:
            a, b = set(one.nodes), set(other.nodes)
            assert not a & b or a <= b or b <= a


@given(graphs())
def test_the_parent_is_the_smallest_loop_around(graph: Graph) -> None:
    loops = nest(len(graph), graph, 0)
    for loop in loops:
        around = [other for other in loops if set(loop.nodes) < set(other.nodes)]
        smallest = min(around, key=lambda other: len(other.nodes), default=None)
        assert (None if loop.parent is None else loops[loop.parent]) == smallest


@given(graphs())
def test_each_edge_leads_forward_or_to_the_head_of_a_loop_that_holds_its_source(graph: Graph) -> None:
    loops = nest(len(graph), graph, 0)
    order = weak_order(len(graph), graph, 0)
    place = {node: index for index, node in enumerate(order)}
    assert sorted(order) == list(range(len(graph)))
    for src, targets in enumerate(graph):
        for dst in targets:
            forward = place[src] < place[dst]
            back = any(loop.head == dst and src in loop.nodes for loop in loops)
            assert forward != back


@given(graphs())
def test_a_loop_is_strongly_connected(graph: Graph) -> None:
    for loop in nest(len(graph), graph, 0):
        inside = set(loop.nodes)
        for start in loop.nodes:
            reached, frontier = set[int](), [start]
            while frontier:
                frontier = [after for node in frontier for after in graph[node] if after in inside and after not in reached]
                reached.update(frontier)
            assert reached == inside


def test_ten_thousand_nodes_in_a_row_of_loops_take_no_quadratic_time() -> None:
    count = 10_000
    graph = [[min(node + 1, count - 1), node - node % 10] for node in range(count)]
    start = process_time()
    loops = nest(count, graph, 0)
    assert process_time() - start < 30
    assert len(loops) == 1001  # the last node branches to itself as well


def test_a_cycle_of_ten_thousand_nodes_needs_no_deep_recursion() -> None:
    count = 10_000
    (loop,) = nest(count, [[(node + 1) % count] for node in range(count)], 0)
    assert loop.back == ((9999, 0),)
