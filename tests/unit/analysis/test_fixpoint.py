"""The solver and the verification that every solution passes."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassan.analysis.fixpoint import FixpointProblem, solve, verify
from sassan.errors import SelfCheckError

Steps = Iterator[tuple[int, frozenset[int]]]


class Sets:
    """Sets of numbers, ordered by inclusion."""

    bottom: frozenset[int] = frozenset()

    def leq(self, a: frozenset[int], b: frozenset[int]) -> bool:
        return a <= b

    def join(self, a: frozenset[int], b: frozenset[int]) -> frozenset[int]:
        return a | b

    def explain(self, a: frozenset[int], b: frozenset[int]) -> str:
        return "".join(str(number) for number in sorted(a - b))


class Widened(Sets):
    """The same, widened to all numbers below 100."""

    def widen(self, a: frozenset[int], b: frozenset[int]) -> frozenset[int]:
        return a | b if b <= a else frozenset(range(100))


START = {0: frozenset({0})}
GRAPH = [[1], [2, 3], [1], []]


def marked(node: int, state: frozenset[int]) -> Steps:
    """Every node adds its own number."""
    return ((to, state | {to}) for to in GRAPH[node])


def place(node: int) -> tuple[int, ...]:
    return (node,)


PROBLEM = FixpointProblem(Sets(), marked, START, place)


def test_a_loop_is_solved():
    solution = solve(PROBLEM)
    assert solution.complete
    assert solution.states == {0: {0}, 1: {0, 1, 2}, 2: {0, 1, 2}, 3: {0, 1, 2, 3}}


@given(graph=st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=6, max_size=6), order=st.permutations(range(6)))
def test_no_order_of_visits_changes_the_solution(graph: list[list[int]], order: list[int]):
    def step(node: int, state: frozenset[int]) -> Steps:
        return ((to, state | {to}) for to in graph[node])

    first = solve(FixpointProblem(Sets(), step, START, place)).states
    problem = FixpointProblem(Sets(), step, START, lambda node: (order[node],))
    assert solve(problem).states == first
    verify(problem, first)


def test_a_solution_is_extended():
    solved = solve(FixpointProblem(Sets(), marked, {2: frozenset({9})}, place)).states
    assert solve(PROBLEM, solved).states == {0: {0}, 1: {0, 1, 2, 9}, 2: {0, 1, 2, 9}, 3: {0, 1, 2, 3, 9}}


def test_a_spent_budget_stops_the_solver():
    visited: list[int] = []

    def counted(node: int, state: frozenset[int]) -> Steps:
        visited.append(node)
        return marked(node, state)

    assert not solve(FixpointProblem(Sets(), counted, START, place, lambda: len(visited) >= 2)).complete


def test_the_head_of_a_loop_widens():
    def count(node: int, state: frozenset[int]) -> Steps:
        yield node, frozenset(min(number + 1, 99) for number in state)

    visits: list[int] = []

    def counted(node: int, state: frozenset[int]) -> Steps:
        visits.append(node)
        return count(node, state)

    problem = FixpointProblem(Widened(), counted, START, place, widens=lambda node: node == 0)
    assert solve(problem).states == {0: frozenset(range(100))}
    assert len(visits) == 2
    verify(problem, {0: frozenset(range(100))})


def test_a_node_whose_further_input_grew_is_visited_again():
    callers: set[int] = set()
    outdated: set[int] = set()

    def calls(node: int, state: frozenset[int]) -> Steps:
        if node == 0:
            yield 1, state
            yield 2, state
        elif node == 1:
            yield from ((caller, state) for caller in sorted(callers))
        elif 7 not in callers:
            callers.add(7)
            outdated.add(1)

    def revisit() -> list[int]:
        out = sorted(outdated)
        outdated.clear()
        return out

    problem = FixpointProblem(Sets(), calls, START, place, revisit=revisit)
    states = solve(problem).states
    assert sorted(states) == [0, 1, 2, 7]
    callers.clear()
    with pytest.raises(SelfCheckError, match="2: an input of 1 grew"):
        verify(problem, states)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({1: frozenset({0, 1}), 2: frozenset({0, 1, 2}), 3: frozenset({0, 1, 2, 3})}, "start of 0: 0"),
        ({0: frozenset({0})}, "0: 01"),
        ({0: frozenset({0}), 1: frozenset({0, 1}), 2: frozenset({0, 1, 2}), 3: frozenset({0, 1, 2, 3})}, "2: 2"),
    ],
)
def test_what_is_no_fixpoint_is_refused(states: dict[int, frozenset[int]], message: str):
    with pytest.raises(SelfCheckError) as caught:
        verify(PROBLEM, states)
    assert (caught.value.code, caught.value.message) == ("not-a-fixpoint", message)
