"""From a warp-level CFG, block costs and loop bounds to the integer linear program whose optimum bounds the execution of a warp."""

from collections.abc import Iterator, Sequence

from sassan.ilp.model import IntegerVariable, Model, Row, combine
from sassan.ipet.rows import (
    NO_ARRIVAL_ROWS,
    NO_PUSH_ROWS,
    NO_THREAD_ROWS,
    Columns,
    arrival_rows,
    flow_rows,
    loop_rows,
    push_rows,
    reissue_rows,
    thread_rows,
)
from sassan.ipet.steps import EdgeIndex
from sassan.warpcfg.graph import Edge, WarpCfg


def build(steps: EdgeIndex, costs: Sequence[int], bounds: Sequence[int], without: frozenset[str] = frozenset()) -> Model:
    """The system: `costs` per node, `bounds` per loop of the graph; `without` names the families of rows to omit."""
    cfg, columns = steps.cfg, columns_of(steps.cfg, without)
    variables = (*warp_variables(cfg), *thread_variables(cfg, len(columns.thread)))
    rows = (
        *flow_rows(steps, columns),
        *loop_rows(steps, columns, bounds),
        *_optional_rows(steps, columns, bounds, without),
        *reissue_rows(steps, columns),
    )
    return Model(cfg.function.name, variables, objective(cfg, columns, costs), rows, _title(cfg))


def columns_of(cfg: WarpCfg, without: frozenset[str] = frozenset()) -> Columns:
    """The variables of the system of a graph."""
    first_thread = 1 + len(cfg.edges)
    threads = 0 if NO_THREAD_ROWS in without else len(cfg.thread_edges)
    return Columns(0, tuple(range(1, first_thread)), tuple(range(first_thread, first_thread + threads)))


def objective(cfg: WarpCfg, columns: Columns, costs: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The sum of (cost of the source block * x): every execution of a block leaves it by one edge."""
    return combine((columns.warp[index], costs[edge.src]) for index, edge in enumerate(cfg.edges))


def _optional_rows(steps: EdgeIndex, columns: Columns, bounds: Sequence[int], without: frozenset[str]) -> Iterator[Row]:
    if NO_PUSH_ROWS not in without:
        yield from push_rows(steps, columns)
    if NO_ARRIVAL_ROWS not in without:
        yield from arrival_rows(steps, columns)
    if NO_THREAD_ROWS not in without:
        yield from thread_rows(steps, columns, bounds)


def _title(cfg: WarpCfg) -> str:
    return (
        f"IPET system of the warp-level CFG of {cfg.function.name} ({cfg.function.arch})\n"
        "maximise sum(cost(block) * x): x counts executions of warp edges, y steps of the 32 threads over thread edges"
    )


def warp_variables(cfg: WarpCfg) -> tuple[IntegerVariable, ...]:
    """The variable of the start and one per warp edge."""
    return (IntegerVariable("x_start", "the warp starts"), *_edge_variables(cfg))


def _edge_variables(cfg: WarpCfg) -> Iterator[IntegerVariable]:
    names = [node.id for node in cfg.nodes]
    starts = [f"{node.start:04x}" for node in cfg.nodes]
    for index, edge in enumerate(cfg.edges):
        end = "end" if edge.dst is None else starts[edge.dst]
        yield IntegerVariable(f"x{index:05d}_{starts[edge.src]}_{end}", _meaning(names, edge))


def _meaning(names: Sequence[str], edge: Edge) -> str:
    end = "end of the warp" if edge.dst is None else names[edge.dst]
    pushed = "" if edge.pushed is None else f", pushes {edge.pushed}"
    popped = "" if edge.popped is None else f", pops {edge.popped}"
    return f"{names[edge.src]} -> {end}, {edge.kind}{pushed}{popped}"


def thread_variables(cfg: WarpCfg, count: int) -> Iterator[IntegerVariable]:
    """One variable per thread edge, of the first `count`."""
    names = [node.id for node in cfg.nodes]
    starts = [f"{node.start:04x}" for node in cfg.nodes]
    for index, step in enumerate(cfg.thread_edges[:count]):
        yield IntegerVariable(f"y{index:05d}_{starts[step.src]}_{starts[step.dst]}", f"thread steps {names[step.src]} -> {names[step.dst]}")
