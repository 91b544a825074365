"""Does a bound hold when sides take turns in any order? Runs without a stack, held to the graph's threads and to the optimum.

Which edges the warp takes depends on the turns, so edges are not compared; blocks are counted, and every thread's own steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sassan.ipet.flow_facts import LoopBounds
from sassan.ipet.wcet import problem, wcet
from sassan.simt.code import ExecutableFunction
from sassan.simt.machine import Limits
from sassan.simt.state import RunStatus
from sassan.timing import CostModel
from sassan.warpcfg.graph import WarpCfg
from simt.free import FreeMachine, FreeOutcome
from simt.uninterpreted import Uninterpreted, draw
from soundness.watch import Watch


@dataclass(frozen=True, slots=True)
class Turns:
    """How to look: `runs` runs, cut after `steps` blocks, `solve` of them compared with the optimum for the loop bounds that they met."""

    runs: int
    seed: int
    steps: int
    solve: int
    called: bool
    depth: int | None
    costs: CostModel
    short: int = 0


@dataclass(frozen=True, slots=True)
class Interleaved:
    """What was seen; `problems` are (kind, run, detail)."""

    watch: Watch
    outcome: FreeOutcome
    problems: tuple[tuple[str, int, str], ...]


def interleave(code: ExecutableFunction, cfg: WarpCfg, turns: Turns) -> Interleaved:
    """Return what runs did whose groups take turns."""
    runs = draw(turns.seed, turns.runs)
    watch = Watch(cfg, code, turns.runs, turns.depth)
    outcome = FreeMachine(code, Uninterpreted(runs), Limits(steps=turns.steps)).run(runs.active, watch, called=turns.called)
    problems = [("fault", -1, f"{address:04x}: {what}, in {count} runs, taking turns") for address, count, what in outcome.faults]
    return Interleaved(watch, outcome, (*problems, *_costs(code, cfg, turns, watch, outcome)))


def _costs(code: ExecutableFunction, cfg: WarpCfg, turns: Turns, watch: Watch, outcome: FreeOutcome) -> Iterator[tuple[str, int, str]]:
    sizes = np.array([block.size for block in code.blocks], dtype=np.int64)
    costs = outcome.visits.astype(np.int64) @ sizes
    whole = (outcome.status == RunStatus.ENDED) | (outcome.status == RunStatus.TRAPPED)
    for run in [int(run) for run in np.argsort(-costs, kind="stable") if whole[run]][: turns.solve]:
        bounds = LoopBounds(tuple(max(int(one) - turns.short, 0) for one in watch.turns[:, run]))
        best = wcet(problem(cfg, turns.costs, bounds))
        if best.gaps:
            return  # refused: call strings too short to tell calls apart
        if best.value is None or best.value < costs[run]:
            yield "wcet", run, f"costs {costs[run]} taking turns, WCET {best.value} with bounds {bounds.of_loop}"
