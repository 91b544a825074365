"""Chaotic iteration to a fixpoint, and a verification of the result by code that is simpler than the solver.

Nodes are discovered by the transfer function, so call strings need not be enumerated before. The worklist is a priority queue: the rank of
a node is its place in a weak topological order (F. Bourdoncle, "Efficient chaotic iteration strategies with widenings", FMPA 1993), so that
a loop is stable before what lies behind it is visited.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, TypeVar

from sassan.analysis.lattice import Lattice, Widening
from sassan.errors import SelfCheckError

N = TypeVar("N", bound=Hashable)
V = TypeVar("V")
Transfer = Callable[[N, V], Iterable[tuple[N, V]]]
"""From a node and its state to the nodes that may run next, each with the state in which it is entered."""
Rank = Callable[[N], tuple[int, ...]]
"""The place of a node in the order of visits; no two nodes share one."""


@dataclass(frozen=True, slots=True)
class FixpointProblem(Generic[N, V]):
    """What is to be solved: the least states that cover `start` and that the transfer does not leave.

    The solver gives up once `spent` says that the budget is used up. `widens` says at which nodes it widens instead of joining: the
    heads of loops, for a domain that has `widen`. A transfer may read more than the state of its node, for example which calls enter a
    function: `revisit` returns, after each transfer, the nodes whose further inputs grew since it was last asked.
    """

    domain: Lattice[V]
    transfer: Transfer[N, V]
    start: Mapping[N, V]
    rank: Rank[N]
    spent: Callable[[], bool] = lambda: False
    widens: Callable[[N], bool] = lambda _: False
    revisit: Callable[[], Iterable[N]] = tuple


@dataclass(frozen=True, slots=True)
class FixpointSolution(Generic[N, V]):
    """The state of every node that was reached; where the budget stopped the solver (not `complete`) it is not a fixpoint."""

    states: dict[N, V]
    complete: bool = True


def solve(problem: FixpointProblem[N, V], solved: Mapping[N, V] | None = None) -> FixpointSolution[N, V]:
    """Return the least solution above `solved`, a solution from other starts."""
    iteration = _Iteration(problem, dict(solved or {}))
    for node, state in problem.start.items():
        iteration.enter(node, state)
    return FixpointSolution(iteration.states, iteration.run())


class _Iteration(Generic[N, V]):
    def __init__(self, problem: FixpointProblem[N, V], states: dict[N, V]) -> None:
        self.states = states
        self._problem = problem
        self._widening = problem.domain if isinstance(problem.domain, Widening) else None
        self._waiting: list[tuple[tuple[int, ...], N]] = []
        self._queued: set[N] = set()

    def run(self) -> bool:
        """Visit nodes until nothing changes; return False where the budget is spent."""
        problem, states, waiting = self._problem, self.states, self._waiting
        while waiting:
            _, node = heappop(waiting)
            self._queued.discard(node)
            for following, state in problem.transfer(node, states[node]):
                self.enter(following, state)
            for dependent in problem.revisit():
                self._enqueue(dependent)
            if problem.spent():
                return False
        return True

    def enter(self, node: N, state: V) -> None:
        """Add a state in which a node is entered; where that adds something the node will be visited."""
        domain, old = self._problem.domain, self.states.get(node)
        if old is None:
            self.states[node] = state
        elif domain.leq(state, old):
            return
        elif self._widening is not None and self._problem.widens(node):
            self.states[node] = self._widening.widen(old, state)
        else:
            self.states[node] = domain.join(old, state)
        self._enqueue(node)

    def _enqueue(self, node: N) -> None:
        if node not in self._queued:
            self._queued.add(node)
            heappush(self._waiting, (self._problem.rank(node), node))


def verify(problem: FixpointProblem[N, V], states: Mapping[N, V], *, name: Callable[[N], str] = str) -> None:
    """Apply the transfer to every state, in the order of `states`: each result must be covered by what is stored where it leads.

    Nor may a further input of a transfer grow. Raises SelfCheckError `not-a-fixpoint`, naming the node, with the domain's explanation.
    """
    for node, state in problem.start.items():
        _covered(problem.domain, node, state, states, f"start of {name(node)}")
    for node, state in states.items():
        for following, after in problem.transfer(node, state):
            _covered(problem.domain, following, after, states, name(node))
        if dependents := list(problem.revisit()):
            raise SelfCheckError("not-a-fixpoint", f"{name(node)}: an input of {name(dependents[0])} grew")


def _covered(domain: Lattice[V], node: N, state: V, states: Mapping[N, V], place: str) -> None:
    stored = states.get(node, domain.bottom)
    if not domain.leq(state, stored):
        raise SelfCheckError("not-a-fixpoint", f"{place}: {domain.explain(state, stored)}")
