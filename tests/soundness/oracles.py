"""The oracles of docs/developer/oracles.md: what concrete runs did, against what the warp-level CFG and the IPET system say of them.

`inspect` runs the machine on one function and returns every finding:

    edge           a transition of the warp that is no edge of the graph (kinds, pushed and popped points included)
    thread-step    a step of one thread that is no thread edge
    agreement      active threads that differ on a register on which a node says they agree
    token          a token instruction whose threads resume where `token_targets` does not say
    fault          what the semantics do not allow: a token instruction without its token, a barrier register that the stack contradicts
    few            an execution of a node moves more threads over a step than ever come to either end of it
    lone           a node parts to which one thread comes
    row:FAMILY     counts of an executed path that break a row of the IPET system, with the loop bounds that its threads met
    wcet           an executed path that costs more than the optimum
"""

import re
from dataclasses import dataclass, replace

import numpy as np

from sassan.errors import SelfCheckError
from sassan.ilp.model import Row
from sassan.ipet.flow_facts import LoopBounds
from sassan.ipet.steps import EdgeIndex, steps_of
from sassan.ipet.system import build
from sassan.ipet.wcet import problem, wcet
from sassan.ir import Function
from sassan.simt.code import Decoder, ExecutableFunction, TransitionKind, lower
from sassan.simt.machine import Limits, Machine
from sassan.simt.slicing import control_slice
from sassan.simt.state import RunStatus, SideOrder, lanes
from sassan.simt.trace import RunOutcome, StackEntry, Transition
from sassan.timing import CostModel, UnitCostModel
from sassan.warpcfg.graph import ActivationPoint, Edge, EdgeKind, WarpCfg
from simt.plain import PlainRun
from simt.uninterpreted import Runs, Uninterpreted, draw
from soundness.interleaved import Turns, interleave
from soundness.maxwell import Maxwell
from soundness.volta import Volta
from soundness.watch import Watch, name, shorten


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not happen, and the run that shows it: `python scripts/soundness --seed` draws the same one again."""

    kind: str
    function: str
    seed: int
    run: int
    detail: str

    def __str__(self) -> str:
        """Return one line that names the program and the run."""
        return f"{self.kind}: {self.function}, seed {self.seed}, run {self.run}: {self.detail}"


_UNIT = UnitCostModel()
FIRST_VOLTA = 70


@dataclass(frozen=True, slots=True)
class Plan:
    """How to look: N runs drawn from `seed`, cut after `steps` blocks; `full` keeps every data instruction, else only the control slice."""

    runs: int
    seed: int
    steps: int = 3000
    full: bool = True
    solve: int = 0
    """So many runs are compared with the optimum of their own IPET system."""
    order: SideOrder = SideOrder.TAKEN_FIRST
    call_depth: int | None = None
    called: bool = False
    """Set by `inspect`: the function is entered by a call from nowhere."""
    free: int = 0
    """So many further runs let the sides take turns in any order (since Volta)."""
    short: int = 0
    """For mutations: take so much off every loop bound that the threads met."""
    costs: CostModel = _UNIT
    """For mutations: what the system believes a block costs. An executed path costs its number of instructions."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found and how much was looked at."""

    findings: tuple[Finding, ...]
    runs: int
    transitions: int
    ended: int
    edges_seen: int
    edges: int
    claims_checked: int
    interleaved: int = 0
    """Runs whose sides took turns."""


_WHOLE_PATH = frozenset({"flow", "start", "stop"})
"""Families of rows that hold of paths that end, not of prefixes."""
_NOBODY_WAITS = frozenset({"move"})
"""Families of rows that count what a push will move: they need a path at whose end nobody waits (no trap)."""
_LOOPS = re.compile(r"(?:loop|turns)_(\d+)")


def inspect(function: Function, cfg: WarpCfg, plan: Plan, decoder: Decoder | None = None) -> Report:
    """Return what `plan.runs` runs of the function say about its graph."""
    code = lower(function, decoder or decoder_of(function), {node.start for node in cfg.nodes})
    code = code if plan.full else control_slice(code)
    runs = draw(plan.seed, plan.runs)
    watch, outcome = _run(code, cfg, plan, runs, called=False)
    returns = {one.address for one in function.instructions if one.opcode.split(".")[0] == "RET"}
    called = any(address in returns for address, _, _ in outcome.faults)
    if called:
        # Only what was called returns: a device function in a section of its own.
        watch, outcome = _run(code, cfg, plan, runs, called=True)
    return _Inspection(function, cfg, replace(plan, called=called), outcome, watch).report(code)


def decoder_of(function: Function) -> Decoder:
    """Return what the oracle knows of the instructions of a function's architecture."""
    return Volta(function) if since_volta(function.arch) else Maxwell(function)


def since_volta(arch: str) -> bool:
    """Say whether an architecture has convergence barriers."""
    return int(arch.removeprefix("sm_").rstrip("af")) >= FIRST_VOLTA


def _run(code: ExecutableFunction, cfg: WarpCfg, plan: Plan, runs: Runs, *, called: bool) -> tuple[Watch, RunOutcome]:
    watch = Watch(cfg, code, plan.runs, plan.call_depth)
    machine = Machine(code, Uninterpreted(runs), plan.order, Limits(steps=plan.steps))
    return watch, machine.run(runs.active, watch, called=called)


class _Inspection:
    def __init__(self, function: Function, cfg: WarpCfg, plan: Plan, outcome: RunOutcome, watch: Watch) -> None:
        self._function, self._cfg, self._plan, self._outcome, self._watch = function, cfg, plan, outcome, watch
        self._findings: list[Finding] = []
        self._edge_counts = np.zeros((plan.runs, len(cfg.edges)), dtype=np.int64)

    def report(self, code: ExecutableFunction) -> Report:
        self._edges()
        self._tokens()
        self._watched(self._watch)
        if not self._findings and not self._cfg.gaps:
            self._system()
        if not self._cfg.gaps and self._plan.free:
            self._interleaved(code)
        seen = int((self._edge_counts.sum(axis=0) > 0).sum())
        status = self._outcome.status
        return Report(
            findings=tuple(self._findings),
            runs=self._plan.runs,
            transitions=int(self._outcome.counts.sum()),
            ended=int((status == RunStatus.ENDED).sum()),
            edges_seen=seen,
            edges=len(self._cfg.edges),
            claims_checked=self._watch.checked,
            interleaved=self._plan.free,
        )

    def _find(self, kind: str, run: int, detail: str) -> None:
        self._findings.append(Finding(kind, self._function.name, self._plan.seed, run, detail))

    def _edges(self) -> None:
        graph = GraphEdges(self._cfg, self._plan.call_depth)
        for index, step in enumerate(self._outcome.transitions):
            counts = self._outcome.counts[:, index]
            edge = graph.edge_of(step)
            if edge is None:
                run = int(np.argmax(counts > 0))
                self._find("edge", run, f"step {self._when(step, run)}: {step} is no edge (pushed {step.pushed}, popped {step.popped})")
            elif edge >= 0:
                self._edge_counts[:, edge] += counts

    def _when(self, step: Transition, run: int) -> int | str:
        """Return at which of its steps the run takes the transition: the plain machine runs it again."""
        again = PlainRun(self._watch.code, draw(self._plan.seed, self._plan.runs), run, self._plan.called, self._plan.order)
        again.execute(self._plan.steps)
        return again.path.index(step) if step in again.path else "?"

    def _tokens(self) -> None:
        targets = dict(self._cfg.token_targets)
        tags = {one.address: one.opcode for one in self._function.instructions}
        for address, target in sorted(self._outcome.leaves):
            if target not in targets.get(address, ()) and not tags[address].startswith("RET"):
                self._find("token", -1, f"threads of {tags[address]} at {address:04x} resume at {target:04x}")
        for address, runs, what in self._outcome.faults:
            first = int(np.argmax(self._outcome.status == RunStatus.FAULT))
            self._find("fault", first, f"{tags[address]} at {address:04x}: {what}, in {runs} runs")

    def _interleaved(self, code: ExecutableFunction) -> None:
        plan = self._plan
        turns = Turns(plan.free, plan.seed, plan.steps, plan.solve, plan.called, plan.call_depth, plan.costs)
        found = interleave(code, self._cfg, turns)
        self._watched(found.watch)
        for kind, run, detail in found.problems:
            self._find(kind, run, detail)

    def _watched(self, watch: Watch) -> None:
        nodes = self._cfg.nodes
        for bad in watch.disagreements.values():
            self._find("agreement", bad.run, f"step {bad.time}: threads differ on {name(bad.register)} at {nodes[bad.node].id}")
        for stray in watch.strays.values():
            source = "the start" if stray.src < 0 else nodes[stray.src].id
            self._find("thread-step", stray.run, f"step {stray.time}: a thread goes from {source} to {nodes[stray.dst].id}")

    def _system(self) -> None:
        try:
            steps = steps_of(self._cfg)
        except SelfCheckError as error:
            self._find("self-check", -1, error.message)
            return
        count = len(self._outcome.status)
        ended = self._outcome.status == RunStatus.ENDED
        whole = ended | (self._outcome.status == RunStatus.TRAPPED)
        columns = np.concatenate([np.ones((count, 1), dtype=np.int64), self._edge_counts, self._watch.threads], axis=1)
        for low, high in zip(self._rows(steps, 0), self._rows(steps, 1), strict=True):
            family = low.name.split("_")[0]
            where = ended if family in _NOBODY_WAITS else whole if family in _WHOLE_PATH else np.ones(count, dtype=np.bool_)
            broken = where & ~self._holds(low, high, columns)
            if broken.any():
                self._find(f"row:{family}", int(np.argmax(broken)), f"{low.name}: {high.math}")
        self._few_threads()
        self._optimum(columns, whole)

    def _few_threads(self) -> None:
        """Hold what few threads do: an execution moves no more on than ever come to either end of the step, and one alone does not part."""
        cfg, visitors = self._cfg, self._watch.visitors
        threads = lanes(visitors.ravel()).sum(axis=1).reshape(visitors.shape)
        executed = np.zeros_like(threads)
        for edge, counts in zip(cfg.edges, self._edge_counts.T, strict=True):
            executed[edge.src] += counts
        for index, step in enumerate(cfg.thread_edges):
            broken = self._watch.threads[:, index] > np.minimum(threads[step.src], threads[step.dst]) * executed[step.src]
            if broken.any():
                self._find("few", int(np.argmax(broken)), f"{cfg.nodes[step.src].id} to {cfg.nodes[step.dst].id}")
        for index, edge in enumerate(cfg.edges):
            broken = (threads[edge.src] <= 1) & (self._edge_counts[:, index] > 0)
            if edge.kind is EdgeKind.DIVERGE and broken.any():
                self._find("lone", int(np.argmax(broken)), f"one thread parts at {cfg.nodes[edge.src].id}")

    def _rows(self, steps: EdgeIndex, bound: int) -> tuple[Row, ...]:
        return build(steps, [1] * len(self._cfg.nodes), [bound] * len(self._cfg.loops)).rows

    def _holds(self, low: Row, high: Row, columns: np.ndarray) -> np.ndarray:
        """Say for which runs the row holds; a row is linear in its loop's bound, so its form for bounds 0 and 1 gives every other."""
        left = _evaluate(low, columns)
        match = _LOOPS.match(low.name)
        if match is not None:
            turns = np.maximum(self._watch.turns[int(match[1])] - self._plan.short, 0)
            left = left + turns * (_evaluate(high, columns) - left)
        return left <= low.rhs if low.sense == "<=" else left == low.rhs

    def _optimum(self, columns: np.ndarray, ended: np.ndarray) -> None:
        sizes = np.array([len(self._cfg.nodes[edge.src].instructions) for edge in self._cfg.edges], dtype=np.int64)
        costs = columns[:, 1 : 1 + len(sizes)] @ sizes
        order = [int(run) for run in np.argsort(-costs, kind="stable") if ended[run]][: self._plan.solve]
        for run in order:
            bounds = LoopBounds(tuple(int(one) for one in self._watch.turns[:, run]))
            threads = tuple(int(each).bit_count() for each in self._watch.visitors[:, run])
            best = wcet(problem(self._cfg, self._plan.costs, bounds, threads=threads))
            if best.gaps:
                return  # refused: call strings too short to tell calls apart
            if best.value is None or best.value < costs[run]:
                self._find("wcet", run, f"costs {costs[run]}, WCET {best.value} with bounds {bounds.of_loop}")


def _evaluate(row: Row, columns: np.ndarray) -> np.ndarray:
    index = [one for one, _ in row.terms]
    return columns[:, index] @ np.array([factor for _, factor in row.terms], dtype=np.int64)


class GraphEdges:
    """Looks up the edge that a transition is."""

    def __init__(self, cfg: WarpCfg, depth: int | None) -> None:
        self._cfg, self._depth = cfg, depth
        self._containing = {(node.context, one.address): index for index, node in enumerate(cfg.nodes) for one in node.instructions}
        self._numbers = {_key(edge): index for index, edge in enumerate(cfg.edges)}

    def edge_of(self, step: Transition) -> int | None:
        """Return the number of the edge, -1 for a step inside a node, None where there is none."""
        into = shorten(step.into, self._depth)
        src = self._containing.get((shorten(step.context, self._depth), step.source))
        if src is None:
            return None
        if step.last != self._cfg.nodes[src].end:
            inside = step.move is TransitionKind.FALLTHROUGH and self._containing.get((into, step.target or 0)) == src
            return -1 if inside and step.target != self._cfg.nodes[src].start else None
        dst = None
        if step.target is not None:
            dst = self._containing.get((into, step.target))
            if dst is None or self._cfg.nodes[dst].start != step.target:
                return None
        return self._numbers.get((src, dst, step.move.value, self._entry(step.pushed), self._entry(step.popped)))

    def _entry(self, entry: StackEntry | None) -> tuple[object, ...] | None:
        return None if entry is None else (shorten(entry.context, self._depth), entry.address, entry.tag, entry.origin)


_EdgeKey = tuple[int, int | None, str, tuple[object, ...] | None, tuple[object, ...] | None]


def _key(edge: Edge) -> _EdgeKey:
    return (edge.src, edge.dst, edge.kind.value, _point(edge.pushed), _point(edge.popped))


def _point(point: ActivationPoint | None) -> tuple[object, ...] | None:
    return None if point is None else (point.context, point.address, point.tag, point.origin)
