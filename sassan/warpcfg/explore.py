"""From a function to its warp-level CFG: a fixpoint over (call string, block), and a pass that checks it and reads off the graph."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sassan.analysis.fixpoint import FixpointProblem, Rank, solve, verify
from sassan.analysis.graph import nest, weak_order
from sassan.arch import described
from sassan.domains.warp import Warp
from sassan.ir import Function, Language
from sassan.isa.facts import Flow
from sassan.warpcfg.assumptions import POINTERS, SAVED, VALUE_ASSUMPTIONS, agreement, generation_assumptions
from sassan.warpcfg.blocks import BasicBlock, Blocks, FactsOf, cut, static_successors
from sassan.warpcfg.calls import CallSearch, find_call_targets
from sassan.warpcfg.externals import assumption, calls
from sassan.warpcfg.graph import ActivationPoint, CfgLoop, Context, Edge, EdgeKind, External, Node, ThreadEdge, WarpCfg
from sassan.warpcfg.options import Options
from sassan.warpcfg.prologues import with_known_prologues
from sassan.warpcfg.recursion import direct_calls, recursive_calls
from sassan.warpcfg.spins import spins
from sassan.warpcfg.steps import MEET, NOWHERE, RELEASED, RET, WARP, Key
from sassan.warpcfg.transfer import Calls, Transfer
from sassan.warpcfg.virtual_tokens import RECONVERGENCE, with_joins
from sassan.warpcfg.work import WorkCounter, too_large

if TYPE_CHECKING:
    from sassan.errors import Gap


def explore(function: Function, facts_of: FactsOf, options: Options | None = None) -> WarpCfg:
    """Return the warp-level CFG of a function; what could not be understood is in its `gaps`, located and named.

    Raises SelfCheckError when the fixpoint fails its own re-check.
    """
    if function.language is Language.SASS:
        graph = _explore(with_known_prologues(function, facts_of), facts_of, options or Options())
        return replace(
            graph, function=function, assumptions=(*described(function.arch).assumptions("code", "parameters"), *graph.assumptions)
        )
    graph = _explore(with_joins(function, facts_of), facts_of, options or Options())
    return replace(graph, function=function, assumptions=(RECONVERGENCE, *graph.assumptions))


def _explore(function: Function, facts_of: FactsOf, options: Options) -> WarpCfg:
    # PTX has tokens as Pascal has them, and which side of a branch the compiler will let fall through is not known.
    volta = function.language is Language.SASS and described(function.arch).convergence_barriers
    options = options.of_generation(volta=volta or function.language is Language.PTX)
    blocks = cut(function, facts_of)
    successors = static_successors(blocks)
    rank = _rank(blocks, weak_order(len(successors), successors, blocks.at[function.entry]))
    scope = CallSearch(function, blocks, successors, rank, options.call_depth)
    plan = _Plan(function, blocks, options, rank, *_calls(scope, volta=volta))
    graph = _Exploration(replace(plan, options=replace(options, ablate=frozenset()))).graph()
    returns = {block.end.address for block in blocks.blocks if block.last is not None and block.last.tag == RET}
    # Only what was called returns: without its caller, this is a device function in a section of its own.
    called = any(gap.code == "unmatched-token" and gap.address in returns for gap in graph.gaps)
    return _Exploration(replace(plan, called=called)).graph() if called or options.ablate else graph


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is explored, and how; `rank` orders the nodes, `assumed` is what the calls assume.

    `called` says that the function is entered by a call from nowhere.
    """

    function: Function
    blocks: Blocks
    options: Options
    rank: Rank[Key]
    calls: Calls
    assumed: tuple[str, ...]
    called: bool = False


def _rank(blocks: Blocks, order: tuple[int, ...]) -> Rank[Key]:
    """Order nodes by the weak topological order of the blocks, those of a callee right after the block that calls it."""
    place = {index: position for position, index in enumerate(order)}
    sites = {block.end.address: place[block.index] for block in blocks.blocks}
    return lambda key: (*[sites[site] for site in key[0]], place[key[1]]) if key[0] else (place[key[1]],)


def _calls(scope: CallSearch, *, volta: bool) -> tuple[Calls, tuple[str, ...]]:
    """Return where the calls of a function lead, and what that assumes."""
    function, blocks = scope.function, scope.blocks
    if volta:
        targets = find_call_targets(scope)
        return Calls(targets, frozenset(), None), (*((POINTERS,) if targets.through_pointer else ()), *((SAVED,) if targets.spared else ()))
    through = direct_calls(blocks, function.callees or ())
    recursive = recursive_calls(blocks, scope.successors, blocks.at[function.entry], through)
    pointers = any(block.last is not None and block.last.flow is Flow.INDIRECT_CALL and not block.end.targets for block in blocks.blocks)
    return Calls(None, recursive, function.callees), (POINTERS,) if pointers and function.callees else ()


_Traversal = tuple[int, int | None, EdgeKind, int | None, int | None]
"""An edge of the graph with the numbers of its points: source, target, kind, pushed, popped."""


@dataclass(slots=True)
class _Readout:
    """What the last pass reads off: nodes in their final order, and everything that speaks of them by index."""

    index: dict[Key, int]
    edges: set[_Traversal]
    threads: set[tuple[int, int]]
    split: set[int]
    targets: dict[int, set[int]]


class _Exploration:
    def __init__(self, plan: _Plan) -> None:
        self._plan, self._function, self._blocks = plan, plan.function, plan.blocks
        self._gaps: set[Gap] = set(self._blocks.gaps)
        if plan.calls.targets is not None:
            self._gaps |= plan.calls.targets.gaps
        self._transfer = Transfer(self._blocks, plan.calls, plan.options, self._gaps.add)
        self._states: dict[Key, Warp] = {}
        self._starts: dict[Key, Warp] = {}
        self._entry: Key = ((), self._blocks.at[self._function.entry])
        self._work = WorkCounter(len(self._blocks.blocks))

    def graph(self) -> WarpCfg:
        """Return the graph of the fixpoint."""
        self._solve(self._entry, self._called() if self._plan.called else self._start())
        # Behind a gap the code is entered in states that are unknown: what it lacks there adds no gap of its own.
        self._transfer.trusts_tokens |= bool(self._gaps)
        while self._gaps and not self._work.spent() and (root := self._next_root()) is not None:
            self._solve(((), root), self._called())
        return self._read_off()

    def _start(self) -> Warp:
        return self._transfer.start(self._blocks.blocks[self._entry[1]])

    def _called(self) -> Warp:
        """Return the state of a function whose caller is not known: its return ends what is analyzed."""
        back = self._transfer.points.name((), NOWHERE, RET)
        return self._transfer.domain.push(self._start(), back)

    def _next_root(self) -> int | None:
        """Return the first block that nothing reaches: behind a gap, a function that only an unknown call can enter."""
        seen = {index for _, index in self._states}
        return next((block.index for block in self._blocks.blocks if block.index not in seen), None)

    def _solve(self, start: Key, warp: Warp) -> None:
        self._starts[start] = warp
        solution = solve(self._problem(self._successors, {start: warp}), self._states)
        self._states = solution.states
        if not solution.complete:
            points = max(len(state.points) for state in self._states.values())
            self._gaps.add(too_large(self._function.entry, self._states, points))

    def _problem(
        self, transfer: Callable[[Key, Warp], Iterable[tuple[Key, Warp]]], start: Mapping[Key, Warp]
    ) -> FixpointProblem[Key, Warp]:
        return FixpointProblem(self._transfer.domain, transfer, start, self._plan.rank, self._work.spent)

    def _successors(self, key: Key, warp: Warp) -> list[tuple[Key, Warp]]:
        self._work.spend(len(warp.agreed), len(key[0]))
        return [(step.to, step.warp) for step in self._transfer(key, warp) if step.to is not None]

    def _read_off(self) -> WarpCfg:
        keys = sorted(self._states, key=lambda key: (key[0], self._blocks.blocks[key[1]].start))
        readout = _Readout({key: index for index, key in enumerate(keys)}, set(), set(), set(), {})
        self._states = {key: self._states[key] for key in keys}
        verified = self._problem(lambda key, warp: self._visit(key, warp, readout), self._starts)
        if self._work.spent():
            for key, warp in self._states.items():
                deque(verified.transfer(key, warp), maxlen=0)
        else:
            verify(verified, self._states, name=lambda key: f"block 0x{self._blocks.blocks[key[1]].start:04x}")
        nodes = tuple(self._node(key, readout) for key in keys)
        threads = tuple(ThreadEdge(src, dst) for src, dst in sorted(readout.threads))
        points = tuple(self._points(self._states[key].points) for key in keys)
        waiting = tuple(self._points(self._states[key].waiting) for key in keys)
        entry = readout.index[self._entry]
        edges = self._edges(readout.edges)
        return WarpCfg(
            function=self._function,
            nodes=nodes,
            edges=edges,
            entry=entry,
            thread_edges=threads,
            loops=_loops(nodes, threads, entry, edges, waiting),
            token_targets=tuple((address, tuple(sorted(readout.targets[address]))) for address in sorted(readout.targets)),
            gaps=tuple(sorted(self._gaps)),
            assumptions=self._assumptions(),
            externals=self._externals(),
            stack_points=points,
            waiting_points=waiting,
            spins=tuple(sorted(spins(self._blocks))),
        )

    def _visit(self, key: Key, warp: Warp, readout: _Readout) -> Iterator[tuple[Key, Warp]]:
        """Apply the transfer to a final state and note what it does: the edges of the graph are those that the verification sees."""
        index, block = readout.index[key], self._blocks.blocks[key[1]]
        before = self._transfer.before_last(key[0], block, warp)
        for step in self._transfer.control(key, block, before, warp.active):
            if step.kind is EdgeKind.DIVERGE:
                readout.split.add(index)
            if step.to is None or step.to in readout.index:
                to = None if step.to is None else readout.index[step.to]
                readout.edges.add((index, to, step.kind, step.pushed, step.popped))
                if to is not None and step.popped is None:
                    readout.threads.add((index, to))
            if step.to is not None:
                yield step.to, step.warp
        if block.last is not None:
            self._visit_control(key[0], block, before, index, readout)

    def _visit_control(self, context: Context, block: BasicBlock, warp: Warp, index: int, readout: _Readout) -> None:
        """Note whether the control instruction may split the warp, and where the threads that leave to a token resume."""
        if self._transfer.may_split(block, warp):
            readout.split.add(index)
        for point in self._transfer.token_targets(context, block, warp):
            to = (point.context, self._blocks.at.get(point.address, NOWHERE))
            if to in readout.index:
                readout.threads.add((index, readout.index[to]))
            if point.tag != RET:
                readout.targets.setdefault(block.end.address, set()).add(point.address)

    def _edges(self, traversals: set[_Traversal]) -> tuple[Edge, ...]:
        points: dict[int | None, ActivationPoint | None] = {None: None, **dict(enumerate(self._transfer.points.known, 1))}
        spelled = {number: repr(point) for number, point in points.items()}
        ordered = sorted(
            (src, -1 if dst is None else dst, kind, spelled[popped], spelled[pushed], pushed, popped)
            for src, dst, kind, pushed, popped in traversals
        )
        return tuple(
            Edge(src, None if dst < 0 else dst, kind, points[pushed], points[popped]) for src, dst, kind, _, _, pushed, popped in ordered
        )

    def _node(self, key: Key, readout: _Readout) -> Node:
        context, index = key
        block = self._blocks.blocks[index]
        pushes = [ActivationPoint(context, push.address, push.tag) for push in block.pushes]
        if block.last is not None and block.end.following in self._blocks.at:
            if block.last.flow in {Flow.CALL, Flow.INDIRECT_CALL} and block.last.tag:
                pushes.append(ActivationPoint(context, block.end.following, block.last.tag))
            elif block.last.flow is Flow.WARP_BARRIER:
                pushes.append(ActivationPoint(context, block.end.following, MEET))
        return Node(context, block.instructions, self._states[key].active, readout.index[key] in readout.split, tuple(pushes))

    def _points(self, numbers: Iterable[int]) -> tuple[ActivationPoint, ...]:
        points = [self._transfer.points[number] for number in numbers]
        # Threads that a barrier of the warp let go wait where its other threads do.
        points = sorted({point._replace(tag=MEET) if point.tag == RELEASED else point for point in points})
        return tuple(point for point in points if point.tag != WARP)

    def _assumptions(self) -> tuple[str, ...]:
        called = ("the function is entered by a call: the bound ends where it returns",) if self._plan.called else ()
        options = self._plan.options
        assumed = generation_assumptions(self._blocks, options, volta=self._plan.calls.targets is not None)
        ablated = tuple(f"ablated for an experiment: {name}" for name in sorted(options.ablate))
        aligned = tuple(agreement(*pair) for pair in sorted(self._transfer.program.agreed.items()))
        return (*assumed, *aligned, *called, *self._plan.assumed, *assumption(self._externals()), *VALUE_ASSUMPTIONS, *ablated)

    def _externals(self) -> tuple[External, ...]:
        reached = (self._blocks.blocks[index] for _, index in self._states)
        ends = [(block.end, block.last) for block in reached if block.last is not None]
        addresses = {instruction.address for instruction, _ in ends}
        targets = self._plan.calls.targets
        pointed = [external for external in targets.externals if external.address in addresses] if targets is not None else []
        return tuple(sorted({*calls(ends), *pointed}))


def _loops(
    nodes: tuple[Node, ...],
    threads: tuple[ThreadEdge, ...],
    entry: int,
    edges: tuple[Edge, ...],
    waiting: tuple[tuple[ActivationPoint, ...], ...],
) -> tuple[CfgLoop, ...]:
    successors: list[list[int]] = [[] for _ in nodes]
    for step in threads:
        successors[step.src].append(step.dst)
    pushers: dict[ActivationPoint, set[int]] = {}
    for index, node in enumerate(nodes):
        for point in node.pushes:
            pushers.setdefault(point, set()).add(index)
    for edge in edges:
        if edge.pushed is not None:
            pushers.setdefault(edge.pushed, set()).add(edge.src)
    at: dict[tuple[Context, int], int] = {(node.context, node.start): index for index, node in enumerate(nodes)}
    out: list[CfgLoop] = []
    for component in nest(len(nodes), successors, entry):
        members = set(component.nodes)
        inside = any(
            at.get((point.context, point.address)) in members and pushers.get(point, set()) & members for point in waiting[component.head]
        )
        out.append(CfgLoop(component.head, component.nodes, component.back, component.parent, single_witness=not inside))
    return tuple(out)
