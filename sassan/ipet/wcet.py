"""The WCET of one warp that runs alone: bounds of loops, the system, its proven optimum, and a path that shows it.

What cannot be bounded is a gap, and then there is no number.
"""

from collections.abc import Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass, field, replace

from sassan.errors import Gap, SelfCheckError
from sassan.ilp.model import Model, Row
from sassan.ilp.solve import Solution, Status, solve
from sassan.ipet.flow_facts import Bounds
from sassan.ipet.merged_calls import merged_calls
from sassan.ipet.paper import build as build_paper
from sassan.ipet.rows import ROW_SWITCHES
from sassan.ipet.steps import steps_of
from sassan.ipet.system import build
from sassan.ipet.walk import matches, walk
from sassan.strings.fold import Sequence, total
from sassan.timing import CostModel
from sassan.warpcfg.graph import WarpCfg

UNRECONSTRUCTED = "path not reconstructible: the blocks of the optimum do not hang together; the bound holds"
PAPER_LABEL = "experiment of the 2023 paper: no bound"
PAPER_BOUND = 10


@dataclass(frozen=True, slots=True)
class Wcet:
    """`value` is in cycles of the cost model, None where there is no bound; `status` is `optimal`, or why there is none.

    `counts` are executions per edge of the graph, `path` the edges of a path with these counts (repeats folded), both empty or None
    without a value. `proof` says who proved the optimum: `dual` (exactly re-checked) or `solver`. `bound` is False for an experiment.
    """

    value: int | None
    status: str
    model: str
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    counts: tuple[int, ...] = ()
    path: Sequence | None = None
    note: str = ""
    proof: str = ""
    bound: bool = True


@dataclass(frozen=True, slots=True)
class Setup:
    """How to solve: the solver, its time limit in seconds, and the families of rows to leave out (`rows.ROW_SWITCHES`)."""

    solver: str = "highs"
    time_limit: float | None = None
    without: frozenset[str] = frozenset()
    paper: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """A system ready to be solved or written; without a model, `gaps` say why. `pieces` are those of `timing.model.BlockCosts`."""

    cfg: WarpCfg
    costs: tuple[int, ...]
    model: Model | None
    cost_name: str
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    setup: Setup = field(default_factory=Setup)
    pieces: tuple[tuple[int, ...], ...] = ()
    loop_bounds: tuple[int, ...] = ()
    """Of the loops of the graph, where there is a model."""


def problem(cfg: WarpCfg, costs: CostModel, bounds: Bounds, setup: Setup | None = None) -> Problem:
    """Return the system of a graph, or the gaps that forbid it: those of the graph and of the costs, and loops without a bound."""
    setup = setup or Setup()
    prices = costs.block_costs(cfg)
    external = dict(bounds.external)
    per_node = tuple(cost + (external.get(node.end) or 0) for cost, node in zip(prices.costs, cfg.nodes, strict=True))
    unknown = () if setup.paper else (*bounds.gaps, *(() if cfg.gaps else merged_calls(steps_of(cfg))))
    gaps = tuple(sorted({*cfg.gaps, *prices.gaps, *unknown}))
    assumptions = (*prices.assumptions, *cfg.assumptions, *bounds.assumptions, *_said(setup))
    if gaps:
        return Problem(cfg, per_node, None, costs.name, assumptions, gaps, setup)
    known = tuple(bound for bound in bounds.of_loop if bound is not None)
    if setup.paper:
        model = build_paper(cfg, per_node, PAPER_BOUND)
    else:
        model = _without_calls(build(steps_of(cfg), per_node, known, setup.without), cfg, external)
    return Problem(cfg, per_node, model, costs.name, assumptions, (), setup, prices.pieces, known)


def _without_calls(model: Model, cfg: WarpCfg, external: Mapping[int, int | None]) -> Model:
    """Return the model with a row for each call that a fact says is never made."""
    rows: list[Row] = []
    for node, one in enumerate(cfg.nodes):
        if external.get(one.end, 0) is None:
            terms = tuple((1 + index, 1) for index, edge in enumerate(cfg.edges) if edge.src == node)
            rows.append(Row(f"never_{one.id[1:]}", terms, "=", 0, "a call that is never made"))
    return replace(model, rows=(*model.rows, *rows)) if rows else model


def _said(setup: Setup) -> tuple[str, ...]:
    if setup.paper:
        return (f"{PAPER_LABEL} (unit cost, {PAPER_BOUND} turns for every loop of the warp graph, no further rows)",)
    return tuple(f"rows left out for an experiment: {name}" for name in ROW_SWITCHES if name in setup.without)


def wcet(one: Problem) -> Wcet:
    """Return the bound of a problem, proven and re-checked, or the gaps that forbid it.

    Raises MissingToolError, UsageError (solver), SelfCheckError.
    """
    if one.model is None:
        return _none(one, "gaps", one.gaps)
    solution = solve(one.model, one.setup.solver, one.setup.time_limit)
    match solution.status:
        case Status.OPTIMAL:
            return _bounded(one, solution)
        case Status.INFEASIBLE:
            start = one.cfg.nodes[one.cfg.entry].start
            return _none(one, "infeasible", (Gap(start, "never-ends", "no path leads from the entry to the end of the warp"),))
        case Status.UNBOUNDED:
            return _none(one, "unbounded", (_unbounded_gap(one, one.model),))
        case _:
            start = one.cfg.nodes[one.cfg.entry].start
            message = f"the solver {one.setup.solver} proved no optimum (time limit, or numbers beyond its precision)"
            return _none(one, "unproven", (Gap(start, "no-proof", message),))


def _none(one: Problem, status: str, gaps: tuple[Gap, ...]) -> Wcet:
    return Wcet(None, status, one.cost_name, one.assumptions, gaps, bound=not one.setup.paper)


def _bounded(one: Problem, solution: Solution) -> Wcet:
    counts = solution.values[1 : 1 + len(one.cfg.edges)]
    recosted = sum(one.costs[edge.src] * count for edge, count in zip(one.cfg.edges, counts, strict=True))
    if recosted != solution.value:
        raise SelfCheckError("recost", f"the optimum {solution.value} is not the cost {recosted} of its counts")
    path = walk(one.cfg, counts)
    if path is not None:
        _check_path(one, path, counts, recosted)
    return Wcet(
        recosted,
        Status.OPTIMAL.value,
        one.cost_name,
        one.assumptions,
        counts=counts,
        path=path,
        note=UNRECONSTRUCTED if path is None else "",
        proof=solution.proof,
        bound=not one.setup.paper,
    )


def _check_path(one: Problem, path: Sequence, counts: Many[int], value: int) -> None:
    if not matches(one.cfg, path, counts):
        raise SelfCheckError("path", "the reconstructed path does not have the counts of the optimum")
    walked = total(path, lambda edge: one.costs[one.cfg.edges[edge].src])
    if walked != value:
        raise SelfCheckError("path-cost", f"the reconstructed path costs {walked}, the optimum {value}")


def _unbounded_gap(one: Problem, model: Model) -> Gap:
    """Return a gap at the first block of a cycle that no row bounds: the system is solved once more with everything at most 10^6."""
    limit = 10**6
    boxed = _boxed(model, limit)
    solution = solve(boxed, one.setup.solver, one.setup.time_limit)
    counts = solution.values[1 : 1 + len(one.cfg.edges)]
    endless = [edge.src for edge, count in zip(one.cfg.edges, counts, strict=False) if count == limit]
    node = one.cfg.nodes[min(endless, default=one.cfg.entry)]
    return Gap(node.start, "unbounded-cycle", f"no row bounds a cycle of the warp through block {node.id}")


def _boxed(model: Model, limit: int) -> Model:
    rows = tuple(Row(f"box_{index:05d}", ((index, 1),), "<=", limit) for index, _ in enumerate(model.variables))
    return Model(model.name, model.variables, model.objective, (*model.rows, *rows), model.math)
