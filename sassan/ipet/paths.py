"""Paths of a warp one by one, in the order of the graph: what `--path all` lists.

A path is kept as long as it breaks no row of the IPET system over warp edges (flow, loops, pushes, arrivals, reissues;
docs/proofs/ipet-rows.md): every execution obeys them at each of its steps, since what a row allows happens before what it limits.
Paths that obey all rows and that no warp can take may remain. There may be many: the caller limits their number and the steps of the
search.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sassan.ilp.model import Row, violated
from sassan.ipet.rows import NO_THREAD_ROWS
from sassan.ipet.steps import steps_of
from sassan.ipet.system import build
from sassan.warpcfg.graph import WarpCfg

LONGEST = 100_000
"""Steps of a path: longer ones are not listed."""
MOST_STEPS = 1_000_000
"""Steps of the search, all paths together: about a second."""


@dataclass(slots=True)
class _Search:
    """`limits[e]` are (row, factor) of the rows that edge `e` counts in; `left` is how much each row still allows."""

    limits: list[list[tuple[int, int]]]
    left: list[int]
    counts: list[int]
    path: list[int] = field(default_factory=list[int])

    def push(self, edge: int) -> bool:
        """Take an edge; return whether every row still holds."""
        self.path.append(edge)
        self.counts[edge] += 1
        fits = True
        for row, factor in self.limits[edge]:
            self.left[row] -= factor
            fits = fits and self.left[row] >= 0
        return fits

    def pop(self) -> None:
        """Undo the last edge."""
        edge = self.path.pop()
        self.counts[edge] -= 1
        for row, factor in self.limits[edge]:
            self.left[row] += factor


def paths(cfg: WarpCfg, bounds: Sequence[int], facts: Sequence[Row] = ()) -> Iterator[tuple[int, ...]]:
    """Yield paths as tuples of edges, from the entry to the end, until the steps are spent.

    `bounds` are per loop of the graph; `facts` are rows over warp edges that a whole path obeys, too.
    """
    model = build(steps_of(cfg), (0,) * len(cfg.nodes), tuple(bounds), frozenset({NO_THREAD_ROWS}))
    # What only takes away may be held against a path that is not complete; other facts may be made good later.
    taking = [row for row in facts if row.sense == "<=" and all(factor > 0 for column, factor in row.terms if column)]
    upper = [*(row for row in model.rows if row.sense == "<="), *taking]
    model = replace(model, rows=(*model.rows, *facts))
    limits: list[list[tuple[int, int]]] = [[] for _ in cfg.edges]
    left: list[int] = []
    for number, row in enumerate(upper):
        factors = dict(row.terms)
        left.append(row.rhs - factors.pop(0, 0))  # variable 0 is the start: it counts once
        for column, factor in factors.items():
            limits[column - 1].append((number, factor))
    search = _Search(limits, left, [0] * len(cfg.edges))
    for path in _walk(cfg, search):
        if violated(model, (1, *search.counts)) is None:
            yield path


def _walk(cfg: WarpCfg, search: _Search) -> Iterator[tuple[int, ...]]:
    out: list[list[int]] = [[] for _ in cfg.nodes]
    for index, warp_edge in enumerate(cfg.edges):
        out[warp_edge.src].append(index)
    stack = [iter(out[cfg.entry])]
    steps = 0
    while stack and steps < MOST_STEPS:
        edge = next(stack[-1], None)
        if edge is None:
            stack.pop()
            if search.path:
                search.pop()
            continue
        steps += 1
        fits = search.push(edge)
        after = cfg.edges[edge].dst
        if fits and after is not None and len(search.path) < LONGEST:
            stack.append(iter(out[after]))
            continue
        if fits and after is None:
            yield tuple(search.path)
        search.pop()
