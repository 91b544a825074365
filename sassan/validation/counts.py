"""Recorded executions of instructions checked against the rows of the integer program: a count above their limit is a defect of sassan.

The rows hold for every warp, so the sum over W warps satisfies them with each right-hand side W times as large. The recorded counts fix
the executions of blocks: if no solution has them, either a single count exceeds its maximum, or their combination contradicts the rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sassan.ilp import highs
from sassan.ilp.answer import Status
from sassan.ilp.model import Model, Row, Terms, combine
from sassan.ipet.flow_facts import LoopBounds
from sassan.ipet.steps import steps_of
from sassan.ipet.system import build
from sassan.warpcfg.graph import WarpCfg


@dataclass(frozen=True, slots=True)
class Excess:
    """An instruction executed by more warps than the rows allow."""

    address: int
    recorded: int
    most: int


@dataclass(frozen=True, slots=True)
class CountCheck:
    """`checked` instructions were recorded; `equal` of them run on the worst path as often as recorded, `above` more often than possible.

    `consistent`: all counts together satisfy the rows. `why`: the reason if nothing could be checked, else ''.
    """

    checked: int = 0
    equal: int = 0
    above: tuple[Excess, ...] = ()
    consistent: bool = True
    why: str = ""


def check_counts(cfg: WarpCfg, bounds: LoopBounds, worst: tuple[int, ...], recorded: Mapping[int, int], warps: int) -> CountCheck:
    """Check the recorded executions of a launch of `warps` warps against its graph.

    `worst` counts the edges of the worst path, or is empty. An unbounded loop is limited by the largest recorded count. Units:
    executions by warps, per address.
    """
    if cfg.gaps:
        return CountCheck(why=f"the graph has gaps: {', '.join(sorted({gap.code for gap in cfg.gaps}))}")
    if not recorded:
        return CountCheck(why="the recording has no instruction counts")
    most = max(recorded.values())
    system = build(steps_of(cfg), (0,) * len(cfg.nodes), tuple(most if bound is None else bound for bound in bounds.of_loop))
    system = replace(system, rows=tuple(row._replace(rhs=row.rhs * warps) for row in system.rows), objective=())
    executions = _executions(cfg)
    known = {address: count for address, count in recorded.items() if address in executions}
    fixed = tuple(Row(f"recorded_{address:04x}", executions[address], "=", count) for address, count in known.items())
    consistent = _feasible(replace(system, rows=(*system.rows, *fixed)))
    above = [Excess(address, count, 0) for address, count in recorded.items() if address not in executions and count]
    if not consistent:
        limits = ((address, count, _most(replace(system, objective=executions[address]))) for address, count in known.items())
        above += [Excess(address, count, limit) for address, count, limit in limits if limit is not None and count > limit]
    on_path = {address: warps * sum(worst[index - 1] for index, _ in executions[address]) for address in known} if worst else {}
    equal = sum(on_path.get(address, 0) == count for address, count in recorded.items()) if worst else 0
    return CountCheck(len(recorded), equal, tuple(sorted(above, key=lambda excess: excess.address)), consistent and not above)


def _executions(cfg: WarpCfg) -> dict[int, Terms]:
    """Return the executions of each instruction as terms over the variables of the system: every execution of a block leaves it."""
    leaving: dict[int, list[int]] = {}
    for index, edge in enumerate(cfg.edges):
        leaving.setdefault(edge.src, []).append(1 + index)
    terms: dict[int, list[tuple[int, int]]] = {}
    for node, block in enumerate(cfg.nodes):
        for instruction in block.code:
            terms.setdefault(instruction.address, []).extend((index, 1) for index in leaving.get(node, ()))
    return {address: combine(each) for address, each in terms.items()}


def _feasible(model: Model) -> bool:
    return highs.run(model, integer=False).status is not Status.INFEASIBLE


def _most(model: Model) -> int | None:
    """Return the optimum of the relaxation, None if the solver does not prove it."""
    answer = highs.run(model, integer=False)
    if answer.status is not Status.OPTIMAL:
        return None
    return round(sum(factor * answer.values[index] for index, factor in model.objective))
