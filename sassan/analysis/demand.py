"""Demand: what is read later, followed backwards over the steps of a program, so that nothing else need be worked out.

This is liveness of the registers that matter (B. Horwitz, A. Demers, T. Teitelbaum, "An efficient general iterative algorithm for
dataflow analysis", Acta Informatica 1987: faint variables): what an instruction reads is demanded only where one of its results is.
Registers are the bits of sets; nodes are followed by the fixpoint engine, the last ones first.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Protocol, TypeVar

from sassan.analysis.fixpoint import FixpointProblem, solve, verify

N = TypeVar("N", bound=Hashable)
NodeT_contra = TypeVar("NodeT_contra", contravariant=True)
EntryT_co = TypeVar("EntryT_co", covariant=True)


class ByNode(Protocol[NodeT_contra, EntryT_co]):
    """What there is for each node: a mapping, or a sequence where nodes are numbered."""

    def __getitem__(self, node: NodeT_contra, /) -> EntryT_co:
        """Return what there is for a node."""
        ...


class Use(NamedTuple):
    """An instruction: what it writes, all but what it surely writes, and what it reads for that. `roots` it demands whatever it is for."""

    writes: int
    kept: int
    reads: int
    roots: int = 0


@dataclass(frozen=True, slots=True)
class DemandSolution(Generic[N]):
    """What is demanded before each node, and behind each instruction of a node; nothing of a node that is not there."""

    before: Mapping[N, int]
    behind: Mapping[N, tuple[int, ...]]


class _Sets:
    """The lattice of sets of bits."""

    bottom = 0

    def leq(self, a: int, b: int) -> bool:
        return not a & ~b

    def join(self, a: int, b: int) -> int:
        return a | b

    def explain(self, a: int, b: int) -> str:
        return f"{a & ~b:#x}" if a & ~b else ""


def demand(
    uses: ByNode[N, Sequence[Use]], predecessors: ByNode[N, Sequence[N]], order: Sequence[N], ends: Mapping[N, int]
) -> DemandSolution[N]:
    """Return the demand in some nodes, in the order from the entry on, where `ends` are demanded behind nodes; others are not followed.

    Raises SelfCheckError when the fixpoint fails its re-check.
    """
    places = {node: place for place, node in enumerate(order)}
    before: dict[N, int] = {}

    def transfer(node: N, live: int) -> Iterator[tuple[N, int]]:
        return leading(node, _behind(uses[node], live)[-1])

    def leading(node: N, live: int) -> Iterator[tuple[N, int]]:
        return ((src, live) for src in predecessors[node] if live and src in places)

    def last(node: N, _: int) -> Iterator[tuple[N, int]]:
        return leading(node, before[node])

    start = {node: ends.get(node, 0) for node in order if ends.get(node) or any(use.roots for use in uses[node])}
    problem = FixpointProblem(_Sets(), transfer, start, lambda node: (-places[node],))
    states = solve(problem).states
    behind: dict[N, tuple[int, ...]] = {}
    for node, state in states.items():
        *each, before[node] = _behind(uses[node], state)
        behind[node] = tuple(reversed(each))
    verify(replace(problem, transfer=last), states, name=lambda node: f"demand behind {node}")
    return DemandSolution(before, behind)


def _behind(uses: Sequence[Use], live: int) -> list[int]:
    """Return what is demanded behind each instruction, the last one first, and before the first one."""
    out = [live]
    for writes, kept, reads, roots in reversed(uses):
        if writes & live:
            live = live & kept | reads
        live |= roots
        out.append(live)
    return out
