"""The program of a block whose warps have paths of their own: their visits one after the other, and their events."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Self

import numpy as np

from sassan.estimate.program import LAST_WORD, Numbers, Program
from sassan.estimate.roles.phases import Matched
from sassan.estimate.roles.traces import Trace
from sassan.warpcfg.graph import WarpCfg


@dataclass(frozen=True, slots=True)
class Alone:
    """Warps of a block, with `traces`, and what was `matched` of them; `rows` are the rows of instructions within each node, by address."""

    traces: tuple[Trace, ...]
    matched: Matched
    rows: tuple[dict[int, int], ...]

    @classmethod
    def of(cls, cfg: WarpCfg, traces: tuple[Trace, ...], matched: Matched) -> Self:
        """Return the warps of a block of a graph."""
        firsts = accumulate((len(node.code) for node in cfg.nodes), initial=0)
        rows = ({each.address: first + at for at, each in enumerate(node.code)} for node, first in zip(cfg.nodes, firsts, strict=False))
        return cls(traces, matched, tuple(rows))

    @property
    def ended(self) -> bool:
        """Whether all of them came to their end."""
        return all(trace.ended for trace in self.traces)

    def nodes(self, warp: int) -> Numbers:
        """Return the nodes that a warp is simulated at."""
        return self.traces[warp].nodes[: self.matched.visits[warp]]

    def executions(self, nodes: int) -> Numbers:
        """Return how often all warps together visit each node."""
        return sum((np.bincount(self.nodes(warp), minlength=nodes) for warp in range(len(self.traces))), np.zeros(nodes, np.int64))

    def program(self, rows: Numbers, starts: Numbers, shared: Numbers) -> Program:
        """Return the program with the rows of all instructions."""
        nodes = [self.nodes(warp) for warp in range(len(self.traces))]
        firsts = [0, *accumulate(map(len, nodes))]
        several = self.matched.events
        events_from = [0, *accumulate(map(len, several))]
        events = [
            (first + event.visit, self.rows[some[event.visit]][event.address], int(event.act), event.barrier, event.count)
            for first, some, of_warp in zip(firsts, nodes, several, strict=False)
            for event in of_warp
        ]
        every = np.concatenate(nodes)
        paths = list(zip(firsts[:-1], firsts[1:], events_from[:-1], events_from[1:], strict=True))
        return Program(
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
