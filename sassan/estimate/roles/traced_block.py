"""The program of a block whose warps have paths of their own: their visits one after the other, and their events."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

import numpy as np

from sassan.estimate.program import LAST_WORD, Figures, Numbers, WarpProgram
from sassan.estimate.roles.phases import MatchedEvents
from sassan.estimate.roles.traces import WarpTrace
from sassan.warpcfg.graph import WarpCfg

_TOGETHER = "L2 answers a part of the requests for boxes that other SMs ask for at the same time together with theirs, as on an H100"


@dataclass(frozen=True, slots=True)
class TracedBlock:
    """Warps of a block, with `traces`, and what was `matched` of them; `rows` are the rows of instructions within each node, by address.

    `every`: the visits of each node by all of them to their ends; None where that is not known. `loops` are those that warps did
    not leave, by the addresses of their heads, and the back edges per entry that they are taken to have.
    """

    traces: tuple[WarpTrace, ...]
    matched: MatchedEvents
    rows: tuple[dict[int, int], ...]
    every: Figures | None
    loops: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls, cfg: WarpCfg, traces: tuple[WarpTrace, ...], matched: MatchedEvents, back_edges: Sequence[int | None], longest: Sequence[float]
    ) -> Self:
        """Return the warps of a block of a graph; `back_edges` per entry are expected of its loops, `longest` visits on the worst path."""
        firsts = accumulate((len(node.code) for node in cfg.nodes), initial=0)
        rows = ({each.address: first + at for at, each in enumerate(node.code)} for node, first in zip(cfg.nodes, firsts, strict=False))
        whole = [
            _whole(cfg, trace.nodes[:visits], back_edges, np.asarray(longest, np.float64))
            for trace, visits in zip(traces, matched.visits, strict=True)
        ]
        known = [some for some in whole if some is not None]
        every = sum((counts for counts, _ in known), np.zeros(len(cfg.nodes))) if len(known) == len(whole) else None
        cut = {loop for _, loop in known if loop is not None}
        loops = sorted((cfg.nodes[cfg.loops[loop].head].start, back_edges[loop] or 0) for loop in cut)
        return cls(traces, matched, tuple(rows), every, tuple(loops))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what is taken for granted of the traces."""
        waits = (
            "waits are over when those that are counted have arrived, in any order; a block stands for all, and for those of its cluster"
        )
        alike = any(each.different < 1 for each in self.matched.copies.values())
        known = (*self.matched.notes, waits, *([_TOGETHER] if alike else []))
        loops = (
            f"the loop at 0x{head:04x} has {back_edges} back edges per entry, and each of its iterations is like those that were run"
            for head, back_edges in self.loops
        )
        return (*known, *loops)

    def nodes(self, warp: int) -> Numbers:
        """Return the nodes that a warp is simulated at."""
        return self.traces[warp].nodes[: self.matched.visits[warp]]

    def executions(self, nodes: int) -> Numbers:
        """Return how often all warps together visit each node."""
        return sum((np.bincount(self.nodes(warp), minlength=nodes) for warp in range(len(self.traces))), np.zeros(nodes, np.int64))

    def program(self, rows: Numbers, starts: Numbers, shared: Numbers) -> WarpProgram:
        """Return the program with the rows of all instructions."""
        nodes = [self.nodes(warp) for warp in range(len(self.traces))]
        firsts = [0, *accumulate(map(len, nodes))]
        several = self.matched.events
        events_from = [0, *accumulate(map(len, several))]
        events = [
            (first + event.visit, self.rows[some[event.visit]][event.address], int(event.act), event.barrier, event.arrivals)
            for first, some, of_warp in zip(firsts, nodes, several, strict=False)
            for event in of_warp
        ]
        every = np.concatenate(nodes)
        paths = list(zip(firsts[:-1], firsts[1:], events_from[:-1], events_from[1:], strict=True))
        return WarpProgram(
            rows,
            starts,
            every,
            np.ones(len(every)),
            shared,
            np.full(len(every), LAST_WORD + 1, np.int64),
            np.zeros(len(every), np.int64),
            np.array(paths, np.int64),
            np.array(events, np.int64).reshape(-1, 5),
            self.matched.barriers,
        )


def _whole(cfg: WarpCfg, nodes: Numbers, back_edges: Sequence[int | None], longest: Figures) -> tuple[Figures, int | None] | None:
    """Return the visits of each node by a warp to its end, and the loop whose further iterations are like those that were run.

    None where the visits end in a loop of which no iteration is whole, or that has no bound.
    """
    counts = np.bincount(nodes, minlength=len(cfg.nodes)).astype(np.float64)
    ends = {edge.src for edge in cfg.edges if edge.dst is None}
    if len(nodes) == 0 or int(nodes[-1]) in ends:
        return counts, None
    around = [index for index, each in enumerate(cfg.loops) if int(nodes[-1]) in each.nodes]
    inside: tuple[int, Figures] | None = None
    for loop in sorted(around, key=lambda index: len(cfg.loops[index].nodes)):
        inside = _to_exit(cfg, nodes, loop, back_edges[loop], inside, longest)
    if inside is None:
        return None
    first, rest = inside
    return np.bincount(nodes[:first], minlength=len(cfg.nodes)) + rest, max(around, key=lambda index: len(cfg.loops[index].nodes))


def _to_exit(  # noqa: PLR0913, PLR0917 - a loop, what is known of it, and of one inside
    cfg: WarpCfg, nodes: Numbers, loop: int, back_edges: int | None, inside: tuple[int, Figures] | None, longest: Figures
) -> tuple[int, Figures] | None:
    """Return where visits enter a loop that they do not leave, and the visits of each node from there to its exit.

    `inside` is that of an inner one. Iterations are like those that are whole; where none is, like the first one, which goes on behind
    the inner loop as the longest path does.
    """
    outside = np.flatnonzero(~np.isin(nodes, list(cfg.loops[loop].nodes)))
    first = int(outside[-1]) + 1 if len(outside) else 0
    heads = first + np.flatnonzero(nodes[first:] == cfg.loops[loop].head)
    if back_edges is None or not len(heads):
        return inside if back_edges == 0 else None
    if len(heads) > 1:
        iteration = np.bincount(nodes[heads[0] : heads[-1]], minlength=len(cfg.nodes)) / (len(heads) - 1)
    elif inside is not None:
        iteration = np.bincount(nodes[heads[0] : inside[0]], minlength=len(cfg.nodes)) + inside[1]
        ahead = [node for node in cfg.loops[loop].nodes if not iteration[node]]
        iteration[ahead] = longest[ahead] / max(1.0, longest[cfg.loops[loop].head])
    else:
        return None
    return int(heads[0]), iteration * (back_edges + 1)
