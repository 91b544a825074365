"""Where one thread goes: the thread-level graph with the condition on each of its steps."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import or_

from sassan.analysis.demand import Use, demand
from sassan.analysis.graph import weak_order
from sassan.domains.bits import bits
from sassan.ipet.loop_bounds.execute import Writer, truth_of, writers
from sassan.ipet.loop_bounds.step import CONDITIONS
from sassan.ipet.loop_bounds.values import ANY, YES, SymbolicState, Truth, conjunction
from sassan.ir import Instruction, Register
from sassan.isa.computations import ZERO
from sassan.isa.facts import Facts, Flow
from sassan.values.patterns import number_of
from sassan.warpcfg.graph import Node, WarpCfg

_LEAVING = frozenset({Flow.BRANCH, Flow.POP, Flow.EXIT, Flow.CALL, Flow.RETURN, Flow.INDIRECT_BRANCH, Flow.INDIRECT_CALL, Flow.TRAP})
_NEAREST = 3
"""So many conditions before a loop, on each way to it, are followed: those that say what it begins with."""
_UNANIMOUS = frozenset({"DIV", "CONV"})


@dataclass(frozen=True, slots=True)
class Flows:
    """The graph of a function for one thread: `order` is a weak topological order, `facts` are those of each instruction by address.

    `steps` are, per node, its successors with the truth of the condition at its end for a thread that goes there; None: there is none.
    """

    cfg: WarpCfg
    facts: Mapping[int, Facts]
    successors: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    steps: tuple[tuple[tuple[int, bool | None], ...], ...]
    writers: tuple[tuple[Writer, ...], ...]
    """The instructions of each node that write registers."""
    uses: tuple[tuple[Use, ...], ...]
    """The same, for the demand of registers."""
    tests: tuple[tuple[Callable[[SymbolicState], Truth], ...], ...]
    """Per node, what must all be true so that a thread takes the instruction at its end, beside the guard."""

    def condition(self, node: int, state: SymbolicState) -> Truth:
        """Return the condition under which a thread takes the instruction at the end of a node."""
        truth = truth_of(state, self.cfg.nodes[node].instructions[-1].guard)
        for test in self.tests[node]:
            truth = conjunction(truth, test(state))
        return truth


def _tests(end: Instruction, facts: Facts) -> tuple[Callable[[SymbolicState], Truth], ...]:
    conditions = [operand for operand in end.operands if isinstance(operand, Register) and operand.file in CONDITIONS]
    flags = (partial(_flag, end.condition),) if end.condition else ()
    unanimous = (_any,) if not _UNANIMOUS.isdisjoint(end.opcode.split(".")) else ()
    return (*flags, *unanimous, *(partial(_operand, condition) if facts.flow is Flow.BRANCH else _any for condition in conditions))


def _any(_: SymbolicState) -> Truth:
    return ANY


def _flag(condition: str, state: SymbolicState) -> Truth:
    """Return a test of the condition code. Of an integer result, NEU says that it is not zero, EQ that it is."""
    zero = state.registers.get(ZERO)
    match condition.rpartition(".")[2]:
        case "EQ" if isinstance(zero, Truth):
            return zero
        case "NEU" if isinstance(zero, Truth):
            return zero.negate()
        case _:
            return ANY


def _operand(condition: Register, state: SymbolicState) -> Truth:
    held = YES if condition.index is None else state.registers.get(number_of(condition.file, condition.index))
    truth = held if isinstance(held, Truth) else ANY
    return truth.negate() if condition.negated else truth


def flows_of(cfg: WarpCfg, facts: Mapping[int, Facts]) -> Flows:
    """Return the thread-level graph of a function, in the order in which its loops were found."""
    after: list[set[int]] = [set() for _ in cfg.nodes]
    before: list[set[int]] = [set() for _ in cfg.nodes]
    for edge in cfg.thread_edges:
        after[edge.src].add(edge.dst)
        before[edge.dst].add(edge.src)
    successors = tuple(tuple(sorted(nodes)) for nodes in after)
    predecessors = tuple(tuple(sorted(nodes)) for nodes in before)
    ends = [node.instructions[-1] for node in cfg.nodes]
    tokens = {address: frozenset(targets) for address, targets in cfg.token_targets}
    steps = tuple(
        tuple((dst, _truth(cfg.nodes[src], cfg.nodes[dst], facts[end.address], tokens.get(end.address, ()))) for dst in successors[src])
        for src, end in enumerate(ends)
    )
    order = weak_order(len(cfg.nodes), successors, cfg.entry)
    lines = tuple(writers(node.instructions, facts) for node in cfg.nodes)
    tests = tuple(_tests(end, facts[end.address]) for end in ends)
    uses = tuple(tuple(Use(writer.written, writer.kept, writer.read) for writer in line) for line in lines)
    return Flows(cfg, facts, successors, predecessors, order, steps, lines, uses, tests)


def _truth(node: Node, target: Node, facts: Facts, tokens: Collection[int]) -> bool | None:
    """Return the truth of the condition at the end of a node for a thread that goes on to another one, None where it may always."""
    end = node.instructions[-1]
    if facts.flow not in _LEAVING or not (facts.condition or facts.guard or end.guard):
        return None
    falls = target.context == node.context and target.start == end.following
    return None if falls and (facts.target == end.following or end.following in tokens) else not falls


def wanted(flows: Flows, ends: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the registers that can decide how often a loop iterates, behind each instruction by address, and before each node.

    Those are the conditions of the nodes that decide whether a loop is entered or left (`ends`), and whatever they are made of, followed
    backwards over the steps of a thread.
    """
    return _backwards(flows, flows.order, ends)


def own_slice(flows: Flows, nodes: Sequence[int], entered: Mapping[int, int], kept: int) -> "LoopSlice":
    """Return what matters to a loop (its nodes in the order of the walk) but not only to whether a loop inside ends.

    Those are its exits, the conditions on which loops inside are `entered`, and `kept` registers at its head.
    """
    inside = frozenset(nodes)
    ends = {node: entered[node] for node in nodes if node in entered}
    ends |= {node: _decides(flows, node) for node in nodes if _leaves(flows, node, inside)}
    for node in flows.predecessors[nodes[0]]:
        if node in inside:
            ends[node] = ends.get(node, 0) | kept
    return LoopSlice(*_backwards(flows, nodes, ends))


@dataclass(frozen=True, slots=True)
class LoopSlice:
    """The registers of a loop on which some of its exits depend: `behind` each instruction by address, and `before` each node."""

    behind: Mapping[int, int]
    before: Mapping[int, int]


def at(uses: Sequence[Sequence[Use]], node: int, place: int, registers: int) -> list[Sequence[Use]]:
    """Return uses with one more, of some registers, at a place in the line of a node: what they hold there is demanded."""
    line = uses[node]
    return [*uses[:node], [*line[:place], Use(0, 0, 0, registers), *line[place:]], *uses[node + 1 :]]


def slice_at(flows: Flows, nodes: Sequence[int], node: int, place: int, registers: int) -> "LoopSlice":
    """Return what some registers at a place in the line of a node depend on, inside a loop, by its nodes in the order of the walk."""
    demanded = demand(at(flows.uses, node, place, registers), flows.predecessors, nodes, {})
    behind: defaultdict[int, int] = defaultdict(int)
    for index, each in demanded.behind.items():
        known = [*each[:place], *each[place + 1 :]] if index == node else each
        for writer, live in zip(flows.writers[index], known, strict=True):
            behind[writer.instruction.address] |= live
    if place:
        # What is demanded at the place is so behind the instruction before it.
        behind[flows.writers[node][place - 1].instruction.address] |= registers
    return LoopSlice(behind, dict.fromkeys(nodes, 0) | dict(demanded.before))


def slices(flows: Flows, nodes: Sequence[int]) -> list[LoopSlice]:
    """Return for each register that decides an exit of a loop (its nodes in the order of the walk) what it depends on inside the loop."""
    inside = frozenset(nodes)
    exits = [(node, register) for node in nodes if _leaves(flows, node, inside) for register in bits(_decides(flows, node))]
    return [LoopSlice(*_backwards(flows, nodes, {node: 1 << register})) for node, register in exits]


def leaving(flows: Flows, nodes: Collection[int]) -> int:
    """Return the registers that decide the exits of a loop, by its nodes."""
    inside = frozenset(nodes)
    return reduce(or_, [_decides(flows, node) for node in nodes if _leaves(flows, node, inside)], 0)


def union(parts: Sequence[LoopSlice]) -> LoopSlice:
    """Return what any of some exits of one loop depends on."""
    first, *others = parts
    behind, before = defaultdict(int, first.behind), dict(first.before)
    for other in others:
        for address, registers in other.behind.items():
            behind[address] |= registers
        for node, registers in other.before.items():
            before[node] |= registers
    return LoopSlice(behind, before)


def _backwards(flows: Flows, order: Sequence[int], ends: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the registers that matter behind each instruction that writes any and before each node, if `ends` matter behind nodes."""
    demanded = demand(flows.uses, flows.predecessors, order, ends)
    behind: defaultdict[int, int] = defaultdict(int)
    for node, each in demanded.behind.items():
        for writer, live in zip(flows.writers[node], each, strict=True):
            behind[writer.instruction.address] |= live  # the nodes of several calls share an instruction
    return behind, dict.fromkeys(order, 0) | dict(demanded.before)


def exits(flows: Flows) -> dict[int, int]:
    """Return the conditions of the nodes where a thread may leave a loop."""
    insides = [frozenset(loop.nodes) for loop in flows.cfg.loops]
    return {node: _decides(flows, node) for inside in insides for node in sorted(inside) if _leaves(flows, node, inside)}


def decisions(flows: Flows) -> dict[int, int]:
    """Return the conditions of all nodes behind which a thread may go more than one way."""
    deciding = ((node, _decides(flows, node)) for node in range(len(flows.cfg.nodes)))
    return {node: conditions for node, conditions in deciding if conditions}


def entries(flows: Flows) -> dict[int, int]:
    """Return the conditions of the nodes that decide whether a loop is entered."""
    out: dict[int, int] = {}
    for loop in flows.cfg.loops:
        inside = frozenset(loop.nodes)
        out |= _guards(flows, {src for node in loop.nodes for src in flows.predecessors[node] if src not in inside}, inside)
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
