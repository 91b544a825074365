"""The experiment of Jeanmougin et al. 2023 (section 4.1): each loop of the *warp* graph has at most ten back edges per entry.

Nothing else is known. Kept for comparison with the paper; it is not a bound, since a thread's loop bound is not
a warp's (docs/proofs/ipet-rows.md, "Rows").
"""

from collections.abc import Iterator, Sequence

from sassan.analysis.graph import nest
from sassan.ilp.model import Model, Row, combine
from sassan.ipet.rows import Columns, flow_rows
from sassan.ipet.steps import steps_of
from sassan.ipet.system import objective, warp_variables
from sassan.warpcfg.graph import WarpCfg


def build(cfg: WarpCfg, costs: Sequence[int], bound: int) -> Model:
    """The system of the paper: flow conservation, and for each loop of the warp graph sum(x_back) <= bound * sum(x_entry)."""
    columns = Columns(0, tuple(range(1, 1 + len(cfg.edges))))
    rows = (*flow_rows(steps_of(cfg), columns), *_loop_rows(cfg, columns, bound))
    title = f"experiment of Jeanmougin et al. 2023 on {cfg.function.name} ({cfg.function.arch}): no bound"
    return Model(cfg.function.name, warp_variables(cfg), objective(cfg, columns, costs), rows, title)


def _loop_rows(cfg: WarpCfg, columns: Columns, bound: int) -> Iterator[Row]:
    successors: list[list[int]] = [[] for _ in cfg.nodes]
    for edge in cfg.edges:
        if edge.dst is not None:
            successors[edge.src].append(edge.dst)
    for index, loop in enumerate(nest(len(cfg.nodes), successors, cfg.entry)):
        inside = frozenset(loop.nodes)
        terms: list[tuple[int, int]] = []
        for column, edge in zip(columns.warp, cfg.edges, strict=True):
            if edge.src in inside and edge.dst == loop.head:
                terms.append((column, 1))
            elif edge.src not in inside and edge.dst in inside:
                terms.append((column, -bound))
        if cfg.entry in inside:
            terms.append((columns.start, -bound))
        name = cfg.nodes[loop.head].id
        yield Row(f"loop_{index:05d}", combine(terms), "<=", 0, f"warp loop at {name}: sum(x_back) - {bound} * sum(x_entry) <= 0")
