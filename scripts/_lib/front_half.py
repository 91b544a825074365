"""Processor time of each stage of an analysis, from the text of a listing to the WCET, and of `nvdisasm -bbcfg` on the same cubin."""

from __future__ import annotations

import gc
import inspect
import resource
import statistics
import subprocess
import time
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from sassan.frontend import load as load_source
from sassan.frontend import read
from sassan.ipet import flow_facts
from sassan.ipet.loop_bounds import infer, recheck
from sassan.ipet.wcet import Setup, problem, wcet
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.timing import UnitCostModel
from sassan.values import with_values
from sassan.warpcfg import explore
from sassan.warpcfg.externals import clobbering

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sassan.ir import Function

STAGES = ("read", "explore", "infer", "check", "wcet")
_LOOP_BOUND = 8
"""For loops without a bound of their own, so that every WCET is solved for."""
_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds of the stages of one file, and the size of what was read; `unbounded` counts loops without an inferred bound."""

    instructions: int = 0
    blocks: int = 0
    loops: int = 0
    unbounded: int = 0
    read: float = 0.0
    explore: float = 0.0
    infer: float = 0.0
    check: float = 0.0
    wcet: float = 0.0

    @property
    def graph(self) -> float:
        """The seconds from text to graph."""
        return self.read + self.explore

    @property
    def total(self) -> float:
        """The seconds of all stages."""
        return self.graph + self.infer + self.check + self.wcet

    def per_instruction(self, seconds: float) -> float:
        """Return a cost in microseconds per instruction."""
        return 1e6 * seconds / self.instructions


def seconds() -> float:
    """Return the processor seconds of this process and of its children that ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + usage.ru_utime + usage.ru_stime


def once(path: Path, launch: Callable[[Function], LaunchConfiguration], *, whole: bool) -> Cost:
    """Measure one cold run over one listing; `whole` goes on from the graph to the WCET."""
    gc.collect()
    begin = seconds()
    program = read(load_source(str(path)))
    cost = Cost(read=seconds() - begin)
    for function in program.functions:
        cost = _add(cost, _function(function, launch, whole=whole))
    return cost


def _function(function: Function, launch: Callable[[Function], LaunchConfiguration], *, whole: bool) -> Cost:
    times = [seconds()]
    facts = inspect.unwrap(tables.load)(function.arch).facts  # templates of its own: nothing is remembered of earlier runs
    cfg = explore(function, facts)
    times.append(seconds())
    cost = Cost(len(function.instructions), len(cfg.nodes), len(cfg.loops), explore=times[1] - times[0])
    if not whole:
        return cost
    inferred = infer(cfg, clobbering(facts, cfg.externals), launch(function))
    times.append(seconds())
    if not cfg.externals:
        recheck.check(cfg, facts, launch(function), inferred)
    times.append(seconds())
    wcet(problem(cfg, UnitCostModel(), flow_facts.bounds_of(cfg, None, _LOOP_BOUND, inferred), Setup()))
    times.append(seconds())
    _, infer_time, check_time, wcet_time = (late - early for early, late in pairwise(times))
    unbounded = sum(loop.bound is None for loop in inferred)
    return replace(cost, unbounded=unbounded, infer=infer_time, check=check_time, wcet=wcet_time)


def values_cost(path: Path, runs: int, launch: Callable[[Function], LaunchConfiguration]) -> tuple[int, float]:
    """Return the instructions of a listing, and the fewest processor seconds of the value analysis for a launch.

    The second exploration is included. Every run has templates of its own, which the first exploration has filled, as in an analysis.
    The fastest run counts: other guests of a machine may slow one down, and never make one faster.
    """
    functions = read(load_source(str(path))).functions
    times: list[float] = []
    for _ in range(runs):
        gc.collect()
        spent = 0.0
        for function in functions:
            facts = inspect.unwrap(tables.load)(function.arch).facts
            cfg = explore(function, facts)
            begin = seconds()
            with_values(cfg, facts, launch(function), partial(explore, function))
            spent += seconds() - begin
        times.append(spent)
    return sum(len(function.instructions) for function in functions), min(times)


def _add(left: Cost, right: Cost) -> Cost:
    return Cost(**{field.name: getattr(left, field.name) + getattr(right, field.name) for field in fields(Cost)})


def measure(path: Path, runs: int, launch: Callable[[Function], LaunchConfiguration] | None = None, *, whole: bool = False) -> Cost:
    """Return the medians of so many cold runs; without a launch, nothing of it is given."""
    costs = [once(path, launch or (lambda _: LaunchConfiguration()), whole=whole) for _ in range(runs)]
    return replace(costs[0], **{stage: statistics.median(getattr(cost, stage) for cost in costs) for stage in STAGES})


def run(command: Sequence[str]) -> bytes:
    """Return what a tool prints; its warnings are dropped."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_SECONDS).stdout  # noqa: S603 - a list, no shell


def beside(path: Path, launch: Callable[[Function], LaunchConfiguration], tool: str, cubin: Path, runs: int) -> tuple[Cost, float]:
    """Return the fastest of so many cold runs, and its seconds over those of the fastest `nvdisasm -bbcfg` on the same cubin.

    They take turns: a machine whose other guests slow it down by half for a minute does so to both, and never makes one faster.
    """
    costs: list[Cost] = []
    peers: list[float] = []
    for _ in range(runs):
        costs.append(once(path, launch, whole=True))
        peers.append(peer_seconds(tool, cubin, 1))
    best = min(costs, key=lambda cost: cost.total)
    return best, best.total / min(peers)


def peer_seconds(tool: str, cubin: Path, runs: int) -> float:
    """Return the median processor seconds of `nvdisasm -bbcfg` on one cubin."""
    times: list[float] = []
    for _ in range(runs):
        begin = seconds()
        run([tool, "-bbcfg", str(cubin)])
        times.append(seconds() - begin)
    return statistics.median(times)
