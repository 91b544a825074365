"""The WCET of one warp that runs alone: bounds of loops, the system, its proven optimum, and a path that shows it.

What cannot be bounded is a gap, and then there is no number.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sassan.access.traffic import Traffic
from sassan.domains.lanes import LANES
from sassan.errors import Gap, SelfCheckError
from sassan.ilp.model import Model, Row, combine
from sassan.ilp.solve import Solution, Status, solve
from sassan.ipet.facts.rows import fact_rows
from sassan.ipet.flow_facts import EXTERNAL, LoopBounds
from sassan.ipet.merged_calls import merged_calls
from sassan.ipet.paper import build as build_paper
from sassan.ipet.rows import ROW_SWITCHES, Columns
from sassan.ipet.steps import steps_of
from sassan.ipet.system import build, columns_of
from sassan.ipet.walk import matches, walk
from sassan.strings.fold import Sequence, total
from sassan.timing import BlockCosts, CostModel, Quantity
from sassan.timing.engines import PartedCosts
from sassan.warpcfg.graph import EdgeKind, WarpCfg

UNRECONSTRUCTED = "path not reconstructible: the blocks of the optimum are not connected; the bound holds"
PAPER_LABEL = "experiment of Jeanmougin et al. 2023: no bound"
PAPER_BOUND = 10
NOTED = "the notes BRANCH_TARGETS of the listing name every target of its switches"
_SWITCHES = ("BRX", "JMX")


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
    """How to solve: the solver, its time limit in seconds, and the families of rows to omit (`rows.ROW_SWITCHES`)."""

    solver: str = "highs"
    time_limit: float | None = None
    without: frozenset[str] = frozenset()
    paper: bool = False


@dataclass(frozen=True, slots=True)
class WcetProblem:
    """A system ready to be solved or written; without a model, `gaps` say why. `pieces` are those of `timing.model.BlockCosts`."""

    cfg: WarpCfg
    costs: tuple[int, ...]
    model: Model | None
    cost_model: CostModel
    assumptions: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    setup: Setup = field(default_factory=Setup)
    pieces: tuple[tuple[int, ...], ...] = ()
    loop_bounds: tuple[int, ...] = ()
    """Of the loops of the graph, where there is a model."""
    traffic: Traffic = field(default_factory=Traffic)
    """What the accesses of the graph move, where they are followed."""
    known_costs: tuple[int | None, ...] = ()
    """Of one execution of each block, None where a gap says why it is not known: what a table or a drawing shows."""
    parted: PartedCosts | None = None
    """The costs where engines work while warps go on; None where no instruction asks one."""
    classes: "tuple[WarpsAlike, ...]" = ()
    """The warps of a block with a system of their own each, where they take different ways; none: all have this one."""


class WarpsAlike(NamedTuple):
    """Warps of a block, by their indices, that have one system."""

    warps: tuple[int, ...]
    problem: WcetProblem


def problem(  # noqa: PLR0913, PLR0917 - a graph, and all that its system is made of
    cfg: WarpCfg,
    costs: CostModel,
    bounds: LoopBounds,
    setup: Setup | None = None,
    traffic: Traffic | None = None,
    blocks: BlockCosts | None = None,
    threads: Many[int] = (),
) -> WcetProblem:
    """The system of a graph, or the gaps that forbid it: those of the graph and of the costs, and loops without a bound.

    `traffic` is what its accesses move, where they are followed; `blocks` what its blocks cost, where that has been worked out.
    `threads`: how many threads of a warp may be at each node, where that is known.
    """
    setup, traffic = setup or Setup(), traffic or Traffic()
    blocks = blocks or costs.block_costs(cfg, traffic.cycles)
    external, absent = dict(bounds.external), {gap.address for gap in bounds.gaps if gap.code == EXTERNAL}
    shown = tuple(
        None if cost is None or node.end in absent else cost + (external.get(node.end) or 0)
        for cost, node in zip(blocks.known(cfg), cfg.nodes, strict=True)
    )
    per_node = tuple(
        0 if node.start in bounds.facts.never else cost + (external.get(node.end) or 0)
        for cost, node in zip(blocks.costs, cfg.nodes, strict=True)
    )
    steps = None if cfg.gaps or setup.paper else steps_of(cfg)
    unknown = () if setup.paper else (*bounds.gaps, *(() if steps is None else merged_calls(steps)))
    gaps = tuple(sorted({*cfg.gaps, *blocks.gaps, *unknown}))
    moved = traffic.assumptions if costs.quantity is Quantity.CYCLES else ()
    assumptions = (
        *blocks.assumptions,
        *moved,
        *cfg.assumptions,
        *_switch_assumptions(cfg),
        *bounds.assumptions,
        *_experiment_assumptions(setup),
    )
    if gaps:
        return WcetProblem(cfg, per_node, None, costs, assumptions, gaps, setup, traffic=traffic, known_costs=shown)
    known = tuple(bound for bound in bounds.of_loop if bound is not None)
    if steps is None:
        model = build_paper(cfg, per_node, PAPER_BOUND)
    else:
        model = _without_calls(build(steps, per_node, known, setup.without), cfg, external)
        rows = (
            *model.rows,
            *fact_rows(steps, columns_of(cfg, setup.without), bounds.facts, known),
            *_of_threads(cfg, columns_of(cfg, setup.without), threads),
        )
        model = replace(model, rows=rows)
    return WcetProblem(cfg, per_node, model, costs, assumptions, (), setup, blocks.pieces, known, traffic, shown)


def _without_calls(model: Model, cfg: WarpCfg, external: Mapping[int, int | None]) -> Model:
    """The model with a row for each call that is never made, by a flow fact."""
    rows: list[Row] = []
    for index, node in enumerate(cfg.nodes):
        if external.get(node.end, 0) is None:
            terms = tuple((1 + number, 1) for number, edge in enumerate(cfg.edges) if edge.src == index)
            rows.append(Row(f"never_{node.id[1:]}", terms, "=", 0, "a call that is never made"))
    return replace(model, rows=(*model.rows, *rows)) if rows else model


def _of_threads(cfg: WarpCfg, columns: Columns, threads: Many[int]) -> Iterator[Row]:
    """Yield rows where few threads of the warp may be at a node: one does not part, and an execution moves no more of them on."""
    if not threads:
        return
    for number, edge in enumerate(cfg.edges):
        if threads[edge.src] <= 1 and edge.kind is EdgeKind.DIVERGE:
            yield Row(f"whole_{number:05d}", ((columns.warp[number], 1),), "=", 0, "one thread does not part")
    for number, (step, column) in enumerate(zip(cfg.thread_edges, columns.thread, strict=False)):
        most = min(threads[step.src], threads[step.dst])
        if most < LANES:
            left = [(columns.warp[place], -most) for place, edge in enumerate(cfg.edges) if edge.src == step.src]
            yield Row(f"few_{number:05d}", combine([(column, 1), *left]), "<=", 0, f"an execution moves {most} threads at most")


def _switch_assumptions(cfg: WarpCfg) -> tuple[str, ...]:
    """That the notes of a listing are complete: its encodings do not hold the tables of its switches, a cubin does."""
    if cfg.function.compiler is not None:
        return ()
    noted = (node.instructions[-1] for node in cfg.nodes if node.instructions[-1].targets)
    return (NOTED,) if any(last.opcode.startswith(_SWITCHES) for last in noted) else ()


def _experiment_assumptions(setup: Setup) -> tuple[str, ...]:
    if setup.paper:
        return (f"{PAPER_LABEL} (unit cost, at most {PAPER_BOUND} back edges per entry for every loop of the warp graph, no further rows)",)
    return tuple(f"rows omitted for an experiment: {name}" for name in ROW_SWITCHES if name in setup.without)


def wcet(problem: WcetProblem) -> Wcet:
    """The bound of a problem, proven and re-checked, or the gaps that forbid it.

    Raises MissingToolError, UsageError (solver), SelfCheckError.
    """
    if problem.model is None:
        return _none(problem, "gaps", problem.gaps)
    solution = solve(problem.model, problem.setup.solver, problem.setup.time_limit)
    match solution.status:
        case Status.OPTIMAL:
            return _bounded(problem, solution)
        case Status.INFEASIBLE:
            return _none(problem, "infeasible", (_infeasible_gap(problem),))
        case Status.UNBOUNDED:
            return _none(problem, "unbounded", (_unbounded_gap(problem, problem.model),))
        case _:
            start = problem.cfg.nodes[problem.cfg.entry].start
            message = f"the solver {problem.setup.solver} proved no optimum (time limit, or numbers beyond its precision)"
            return _none(problem, "unproven", (Gap(start, "no-proof", message),))


def greatest(problem: WcetProblem, costs: Many[int]) -> int | None:
    """The greatest total of other costs per block that an execution may have; None where no bound is known or proven.

    Raises MissingToolError, UsageError (solver), SelfCheckError.
    """
    if not any(costs):
        return 0
    if problem.model is None:
        return None
    objective = combine((1 + number, costs[edge.src]) for number, edge in enumerate(problem.cfg.edges))
    solution = solve(replace(problem.model, objective=objective), problem.setup.solver, problem.setup.time_limit)
    return solution.value if solution.status is Status.OPTIMAL else None


def _none(problem: WcetProblem, status: str, gaps: tuple[Gap, ...]) -> Wcet:
    return Wcet(None, status, problem.cost_model.name, problem.assumptions, gaps, bound=not problem.setup.paper)


def _bounded(problem: WcetProblem, solution: Solution) -> Wcet:
    counts = solution.values[1 : 1 + len(problem.cfg.edges)]
    recosted = sum(problem.costs[edge.src] * count for edge, count in zip(problem.cfg.edges, counts, strict=True))
    if recosted != solution.value:
        raise SelfCheckError("recost", f"the optimum {solution.value} is not the cost {recosted} of its counts")
    path = walk(problem.cfg, counts)
    if path is not None:
        _check_path(problem, path, counts, recosted)
    return Wcet(
        recosted,
        Status.OPTIMAL.value,
        problem.cost_model.name,
        problem.assumptions,
        counts=counts,
        path=path,
        note=UNRECONSTRUCTED if path is None else "",
        proof=solution.proof,
        bound=not problem.setup.paper,
    )


def _check_path(problem: WcetProblem, path: Sequence, counts: Many[int], value: int) -> None:
    if not matches(problem.cfg, path, counts):
        raise SelfCheckError("path", "the reconstructed path does not have the counts of the optimum")
    walked = total(path, lambda edge: problem.costs[problem.cfg.edges[edge].src])
    if walked != value:
        raise SelfCheckError("path-cost", f"the reconstructed path costs {walked}, the optimum {value}")


def _infeasible_gap(problem: WcetProblem) -> Gap:
    start = problem.cfg.nodes[problem.cfg.entry].start
    if any(text.startswith("flow fact: ") for text in problem.assumptions):
        return Gap(start, "contradictory-facts", "no path from the entry to the end of the warp obeys the flow facts")
    return Gap(start, "never-ends", "no path leads from the entry to the end of the warp")


def _unbounded_gap(problem: WcetProblem, model: Model) -> Gap:
    """A gap at the first block of a cycle that no row bounds: the system is solved once more with every variable at most 10^6."""
    limit = 10**6
    boxed = _boxed(model, limit)
    solution = solve(boxed, problem.setup.solver, problem.setup.time_limit)
    counts = solution.values[1 : 1 + len(problem.cfg.edges)]
    endless = [edge.src for edge, count in zip(problem.cfg.edges, counts, strict=False) if count == limit]
    node = problem.cfg.nodes[min(endless, default=problem.cfg.entry)]
    return Gap(node.start, "unbounded-cycle", f"no row bounds a cycle of the warp through block {node.id}")


def _boxed(model: Model, limit: int) -> Model:
    rows = tuple(Row(f"box_{index:05d}", ((index, 1),), "<=", limit) for index, _ in enumerate(model.variables))
    return Model(model.name, model.variables, model.objective, (*model.rows, *rows), model.math)
