"""Where one thread goes: the thread-level graph with the condition on each of its steps."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sassan.analysis.graph import weak_order
from sassan.domains.bits import bits
from sassan.ipet.loop_bounds.execute import truth_of
from sassan.ipet.loop_bounds.operands import CONDITIONS, number
from sassan.ipet.loop_bounds.values import YES, Maybe, State, Truth, conjunction
from sassan.ir import Register
from sassan.isa.computations import ZERO
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg.graph import WarpCfg

_LEAVING = frozenset({Flow.BRANCH, Flow.POP, Flow.EXIT, Flow.CALL, Flow.RETURN, Flow.INDIRECT_BRANCH, Flow.INDIRECT_CALL, Flow.TRAP})
_NEAREST = 3
"""So many conditions before a loop, on each way to it, are followed: those that say what it begins with."""
_UNANIMOUS = frozenset({"DIV", "CONV"})


@dataclass(frozen=True, slots=True)
class Flows:
    """The graph of a function for one thread: `order` is a weak topological order, `facts` are those of each instruction by address."""

    cfg: WarpCfg
    facts: Mapping[int, Facts]
    successors: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    def condition(self, src: int, dst: int, state: State) -> tuple[Truth, bool] | None:
        """Return (condition, truth under which a thread takes this step), None where it may always."""
        node = self.cfg.nodes[src]
        end = node.instructions[-1]
        facts = self.facts[end.address]
        if facts.flow not in _LEAVING or not (facts.condition or facts.guard or end.guard):
            return None
        target = self.cfg.nodes[dst]
        falls = target.context == node.context and target.start == end.following
        if falls and (facts.target == end.following or end.following in dict(self.cfg.token_targets).get(end.address, ())):
            return None
        return self._taken(src, state), not falls

    def _taken(self, src: int, state: State) -> Truth:
        end = self.cfg.nodes[src].instructions[-1]
        facts = self.facts[end.address]
        truth = truth_of(state, end.guard)
        if end.condition:
            truth = conjunction(truth, _flag(state, end.condition))
        if not _UNANIMOUS.isdisjoint(end.opcode.split(".")):
            truth = conjunction(truth, Truth(Maybe()))
        for one in end.operands:
            if isinstance(one, Register) and one.file in CONDITIONS:
                truth = conjunction(truth, _operand(state, one) if facts.flow is Flow.BRANCH else Truth(Maybe()))
        return truth


def _flag(state: State, condition: str) -> Truth:
    """Return a test of the condition code. Of an integer result, NEU says that it is not zero, EQ that it is."""
    zero = state.registers.get(ZERO)
    match condition.rpartition(".")[2]:
        case "EQ" if isinstance(zero, Truth):
            return zero
        case "NEU" if isinstance(zero, Truth):
            return zero.negate()
        case _:
            return Truth(Maybe())


def _operand(state: State, one: Register) -> Truth:
    name = number(one)
    held = YES if name is None else state.registers.get(name)
    truth = held if isinstance(held, Truth) else Truth(Maybe())
    return truth.negate() if one.negated else truth


def flows_of(cfg: WarpCfg, facts: Mapping[int, Facts]) -> Flows:
    """Return the thread-level graph of a function, in the order in which its loops were found."""
    after: list[set[int]] = [set() for _ in cfg.nodes]
    before: list[set[int]] = [set() for _ in cfg.nodes]
    for edge in cfg.thread_edges:
        after[edge.src].add(edge.dst)
        before[edge.dst].add(edge.src)
    successors = tuple(tuple(sorted(one)) for one in after)
    predecessors = tuple(tuple(sorted(one)) for one in before)
    return Flows(cfg, facts, successors, predecessors, weak_order(len(cfg.nodes), successors, cfg.entry))


def wanted(flows: Flows) -> tuple[dict[int, int], dict[int, int]]:
    """Return the registers that can decide how long a loop turns, behind each instruction by address, and before each node.

    Those are the conditions that leave a loop, and whatever they are made of, followed backwards over the steps of a thread.
    """
    return _backwards(flows, flows.order, range(len(flows.cfg.nodes)), _exits(flows))


@dataclass(frozen=True, slots=True)
class Slice:
    """The registers of a loop on which some of its exits depend: `behind` each instruction by address, and `before` each node."""

    behind: Mapping[int, int]
    before: Mapping[int, int]


def slices(flows: Flows, nodes: Sequence[int]) -> list[Slice]:
    """Return for each register that decides an exit of a loop (its nodes in the order of the walk) what it depends on inside the loop."""
    inside = frozenset(nodes)
    exits = [(node, register) for node in nodes if _leaves(flows, node, inside) for register in bits(_decides(flows, node))]
    return [Slice(*_backwards(flows, nodes, nodes, {node: 1 << register})) for node, register in exits]


def union(parts: Sequence[Slice]) -> Slice:
    """Return what any of some exits of one loop depends on."""
    first, *others = parts
    behind, before = dict(first.behind), dict(first.before)
    for other in others:
        for address, registers in other.behind.items():
            behind[address] |= registers
        for node, registers in other.before.items():
            before[node] |= registers
    return Slice(behind, before)


def _backwards(flows: Flows, order: Sequence[int], nodes: Iterable[int], ends: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the registers that matter behind each instruction and before each node, where `ends` matter at the ends of nodes."""
    before: dict[int, int] = dict.fromkeys(nodes, 0)
    behind: dict[int, int] = {one.address: 0 for node in before for one in flows.cfg.nodes[node].instructions}
    pending = deque(reversed(order))
    waiting = set(pending)
    while pending:
        node = pending.popleft()
        waiting.discard(node)
        live = ends.get(node, 0)
        for after in flows.successors[node]:
            live |= before.get(after, 0)
        if not live:
            continue
        for one in reversed(flows.cfg.nodes[node].instructions):
            behind[one.address] |= live
            live = _before(flows.facts[one.address], live, sure=one.guard is None)
        if live & ~before[node]:
            before[node] |= live
            again = [src for src in flows.predecessors[node] if src in before and src not in waiting]
            pending += again
            waiting.update(again)
    return behind, before


def _exits(flows: Flows) -> dict[int, int]:
    """Return the conditions of the nodes where a thread may leave a loop, and of those that decide whether it is entered."""
    out: dict[int, int] = {}
    for loop in flows.cfg.loops:
        inside = frozenset(loop.nodes)
        for node in loop.nodes:
            if _leaves(flows, node, inside):
                out[node] = _decides(flows, node)
        side_nodes = {src for node in loop.nodes for src in flows.predecessors[node] if src not in inside}
        out |= _guards(flows, side_nodes, inside)
    return out


def _leaves(flows: Flows, node: int, inside: frozenset[int]) -> bool:
    return flows.facts[flows.cfg.nodes[node].end].flow is Flow.EXIT or not inside.issuperset(flows.successors[node])


def _decides(flows: Flows, node: int) -> int:
    facts = flows.facts[flows.cfg.nodes[node].end]
    return facts.condition | facts.guard


def _guards(flows: Flows, side_nodes: set[int], inside: frozenset[int]) -> dict[int, int]:
    """Return the conditions of the nearest nodes before a loop that have one, and of the nearest before those."""
    out: dict[int, int] = {}
    reached = set(side_nodes)
    pending = [(node, _NEAREST) for node in sorted(side_nodes)]
    while pending:
        node, left = pending.pop()
        if _decides(flows, node) and (len(flows.successors[node]) > 1 or flows.facts[flows.cfg.nodes[node].end].flow is Flow.EXIT):
            out[node] = _decides(flows, node)
            left -= 1
        fresh = [src for src in flows.predecessors[node] if left and src not in reached and src not in inside]
        reached.update(fresh)
        pending += [(src, left) for src in fresh]
    return out


def _before(facts: Facts, live: int, *, sure: bool) -> int:
    """Return the registers that matter before an instruction, from those that matter behind it."""
    if not facts.writes & live:
        return live
    kept = live & ~facts.writes if sure else live
    return kept | facts.reads | facts.guard
