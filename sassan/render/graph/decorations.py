"""Results of later stages that are shown with a graph."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sassan.warpcfg.graph import WarpCfg


@dataclass(frozen=True, slots=True)
class Decorations:
    """Results to show with a graph; empty ones are not shown.

    `letters` and `costs` (of one execution, None: unknown) are in the order of `WarpCfg.nodes`, `counts` (executions on the worst path)
    in the order of `WarpCfg.edges`. `bounds` maps the address of a loop head to the back edges of one thread per entry.
    `wcet` is its text in the title, with its unit and model; `name` is that of the function there, '' for the name in the input.
    """

    letters: tuple[str, ...] = ()
    costs: tuple[int | None, ...] = ()
    counts: tuple[int, ...] = ()
    bounds: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    wcet: str = ""
    name: str = ""

    def node_counts(self, cfg: WarpCfg) -> tuple[int, ...]:
        """Return how often the worst path executes each block: the flow into it; empty without a worst path."""
        if not self.counts:
            return ()
        totals = [0] * len(cfg.nodes)
        totals[cfg.entry] = 1
        for edge, count in zip(cfg.edges, self.counts, strict=True):
            if edge.dst is not None:
                totals[edge.dst] += count
        return tuple(totals)
