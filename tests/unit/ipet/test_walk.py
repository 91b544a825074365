from sassan.ipet.walk import matches, walk
from sassan.strings.fold import Repeat, total
from sassan.warpcfg.graph import Edge, EdgeKind, WarpCfg
from unit.ipet.brute import Op, graph

STRAIGHT = graph([Op("op"), Op("exit")])


def cfg_of(*pairs: tuple[int, int | None]) -> WarpCfg:
    """A graph with these edges; block 0 is the entry."""
    count = 1 + max(max(src, dst or 0) for src, dst in pairs)
    edges = tuple(Edge(src, dst, EdgeKind.EXIT if dst is None else EdgeKind.TAKEN) for src, dst in pairs)
    return WarpCfg(STRAIGHT.function, STRAIGHT.nodes[:1] * count, edges, 0)


NEST = cfg_of((0, 1), (1, 2), (2, 2), (2, 1), (2, None))


def test_a_straight_path_is_its_edges() -> None:
    assert walk(cfg_of((0, 1), (1, None)), (1, 1)) == (0, 1)


def test_a_loop_is_written_once_with_its_turns() -> None:
    assert walk(cfg_of((0, 0), (0, None)), (7, 1)) == (Repeat((0,), 7), 1)


def test_an_inner_loop_is_shared_out_over_the_turns_of_the_outer_one() -> None:
    assert walk(NEST, (1, 10, 100, 9, 1)) == (0, Repeat((1, Repeat((2,), 10), 3), 9), 1, Repeat((2,), 10), 4)


def test_turns_that_do_not_divide_are_taken_in_one_place() -> None:
    path = walk(NEST, (1, 10, 103, 9, 1))
    assert path is not None
    assert matches(NEST, path, (1, 10, 103, 9, 1))


def test_turns_of_an_innermost_loop_that_do_not_divide_are_not_lost() -> None:
    used = {
        (0, 1): 1,
        (1, 2): 9,
        (1, 3): 11,
        (2, 4): 20,
        (5, 6): 20,
        (7, 3): 20,
        (6, 8): 20,
        (9, 10): 20,
        (10, 11): 20,
        (11, 12): 20,
        (12, 13): 20,
        (13, 14): 20,
        (14, 15): 20,
        (8, 15): 20,
        (16, 17): 20,
        (17, 18): 20,
        (18, 15): 20,
        (15, 9): 20,
        (15, 16): 20,
        (15, 4): 20,
        (4, 5): 20,
        (4, 7): 20,
        (19, 20): 19,
        (19, 3): 1,
        (20, 1): 19,
        (3, 2): 11,
        (3, 19): 20,
        (3, 21): 1,
        (21, None): 1,
    }
    deep, counts = cfg_of(*used), tuple(used.values())
    path = walk(deep, counts)
    assert path is not None
    assert matches(deep, path, counts)


def test_counts_of_astronomic_size_are_not_expanded() -> None:
    counts = (1, 10**9 + 1, 10**18, 10**9, 1)
    path = walk(NEST, counts)
    assert path is not None
    assert total(path, lambda _: 1) == sum(counts)
    assert matches(NEST, path, counts)


def test_a_support_that_does_not_hang_together_has_no_path() -> None:
    assert walk(cfg_of((0, None), (1, 1)), (1, 3)) is None


def test_counts_that_never_reach_the_end_have_no_path() -> None:
    assert walk(cfg_of((0, 1), (1, None)), (1, 0)) is None


def test_counts_that_are_no_flow_have_no_path() -> None:
    assert walk(cfg_of((0, 1), (1, None), (0, 1)), (1, 1, 1)) is None


def test_a_path_with_a_jump_does_not_match() -> None:
    assert not matches(NEST, (0, 4), (1, 0, 0, 0, 1))


def test_a_repeat_that_does_not_close_does_not_match() -> None:
    assert not matches(NEST, (0, Repeat((1,), 2), 4), (1, 2, 0, 0, 1))


def test_a_path_with_other_counts_does_not_match() -> None:
    assert not matches(NEST, (0, 1, 4), (1, 1, 1, 0, 1))
