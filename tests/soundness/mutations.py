"""What could be wrong with an analysis, one kind at a time: the oracles must notice each kind somewhere.

A mutant is a graph that claims to be of a program and is not: explored from a mutated program, with mutated facts, or mutated
afterwards. The machine executes the true program. A mutant may be equivalent (a dropped edge that no run takes), so a kind counts as
noticed when one of its mutants is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sassan.errors import SassanError
from sassan.ir import Function, Guard, Instruction, Target
from sassan.isa.facts import Effect, Facts, Flow
from sassan.isa.registers import bit
from sassan.simt.state import Order
from sassan.timing import Unit
from sassan.warpcfg import explore
from sassan.warpcfg.graph import Edge, Kind, Loop, Node, WarpCfg
from soundness.oracles import Plan, Report, inspect

FactsOf = Callable[[Instruction], Facts | None]


@dataclass(frozen=True, slots=True)
class Case:
    """A program, what is known of its instructions, and its true graph."""

    function: Function
    facts_of: FactsOf
    cfg: WarpCfg


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong graph, and how the plan of the inspection is changed; `what` says in words what was done."""

    cfg: WarpCfg
    what: str
    change: Callable[[Plan], Plan] = lambda plan: plan


Maker = Callable[[Case], Iterator[Mutant]]


def case_of(function: Function, facts_of: FactsOf) -> Case:
    return Case(function, facts_of, explore(function, facts_of))


def noticed(case: Case, mutant: Mutant, plan: Plan) -> str | None:
    """Return the kinds of findings of the mutant, None where it passes."""
    try:
        report: Report = inspect(case.function, mutant.cfg, mutant.change(plan))
    except SassanError as error:
        return error.code
    kinds = sorted({one.kind for one in report.findings})
    return ", ".join(kinds) or None


# Of the program --------------------------------------------------------------------------------------------------------------------------


def _rewritten(case: Case, address: int, new: Instruction, what: str) -> Iterator[Mutant]:
    instructions = tuple(new if one.address == address else one for one in case.function.instructions)
    try:
        cfg = explore(replace(case.function, instructions=instructions), case.facts_of)
    except SassanError:
        return
    yield Mutant(cfg, f"{what} at {address:04x}")


def _roots(case: Case, *roots: str, guarded: bool | None = None) -> Iterator[Instruction]:
    for one in case.function.instructions:
        if one.opcode.split(".")[0] in roots and (guarded is None or guarded == (one.guard is not None)):
            yield one


def _target(one: Instruction) -> int:
    return next(operand.address for operand in one.operands if isinstance(operand, Target))


def _retarget(*roots: str) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        starts = sorted({node.start for node in case.cfg.nodes})
        for one in _roots(case, *roots):
            old = _target(one)
            other = next((start for start in starts if start > old), starts[0])
            operands = tuple(Target(other) if isinstance(operand, Target) else operand for operand in one.operands)
            yield from _rewritten(case, one.address, replace(one, operands=operands), f"{one.opcode} goes to {other:04x}")

    return make


def _drop(*roots: str, guarded: bool | None = None) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for one in _roots(case, *roots, guarded=guarded):
            nop = replace(one, opcode="NOP", operands=(), guard=None, condition="", targets=())
            yield from _rewritten(case, one.address, nop, f"{one.opcode} dropped")

    return make


def _rename(root: str, other: str) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for one in _roots(case, root):
            yield from _rewritten(case, one.address, replace(one, opcode=other), f"{root} is {other}")

    return make


def _guard_change(change: Callable[[Guard], Guard | None], *roots: str) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for one in case.function.instructions:
            if one.guard is not None and (not roots or one.opcode.split(".")[0] in roots):
                yield from _rewritten(case, one.address, replace(one, guard=change(one.guard)), f"guard of {one.opcode}")

    return make


def _swap_predicate(guard: Guard) -> Guard:
    return replace(guard, index=((guard.index or 0) + 1) % 5)


def _no_test(case: Case) -> Iterator[Mutant]:
    for one in case.function.instructions:
        if one.condition:
            yield from _rewritten(case, one.address, replace(one, condition=""), "CC test dropped")


def _shorter_table(case: Case) -> Iterator[Mutant]:
    for one in _roots(case, "BRX"):
        if len(one.targets) > 1:
            yield from _rewritten(case, one.address, replace(one, targets=one.targets[1:]), "one target fewer")


# Of the facts ----------------------------------------------------------------------------------------------------------------------------


def _facts(change: Callable[[Instruction, Facts], Facts], part: Callable[[Instruction], object] = lambda one: one.opcode) -> Maker:
    """Mutate the facts of all instructions for which `part` says the same: of one opcode at a time, or of one instruction."""

    def make(case: Case) -> Iterator[Mutant]:
        for chosen in dict.fromkeys(part(one) for one in case.function.instructions):

            def facts_of(one: Instruction, chosen: object = chosen) -> Facts | None:
                facts = case.facts_of(one)
                return change(one, facts) if facts is not None and part(one) == chosen else facts

            if all(facts_of(one) == case.facts_of(one) for one in case.function.instructions):
                continue
            try:
                yield Mutant(explore(case.function, facts_of), f"facts of {chosen}")
            except SassanError:
                continue

    return make


def _lanewise(one: Instruction, facts: Facts) -> Facts:
    del one
    return replace(
        facts, effects=tuple(Effect(effect.writes, facts.reads if effect.needs is None else effect.needs) for effect in facts.effects)
    )


def _no_writes(one: Instruction, facts: Facts) -> Facts:
    del one
    return replace(facts, effects=())


def _no_reads(one: Instruction, facts: Facts) -> Facts:
    del one
    return replace(facts, effects=tuple(replace(effect, needs=None if effect.needs is None else 0) for effect in facts.effects))


def _no_carry(one: Instruction, facts: Facts) -> Facts:
    del one
    carry = bit("CC", 0)
    return replace(facts, effects=tuple(replace(effect, writes=effect.writes & ~carry) for effect in facts.effects))


def _no_condition(one: Instruction, facts: Facts) -> Facts:
    del one
    return facts if facts.flow is Flow.NONE else replace(facts, condition=0, guard=0)


def _guard_decides(one: Instruction, facts: Facts) -> Facts:
    """A CC-tested branch taken for one that the guard alone decides."""
    return replace(facts, guard_alone=True) if one.condition else facts


def _no_push(one: Instruction, facts: Facts) -> Facts:
    del one
    return replace(facts, flow=Flow.NONE) if facts.flow is Flow.PUSH else facts


def _exit_is_sync(one: Instruction, facts: Facts) -> Facts:
    del one
    return replace(facts, flow=Flow.POP, tag="SYNC") if facts.flow is Flow.EXIT else facts


def _sync_is_exit(one: Instruction, facts: Facts) -> Facts:
    del one
    return replace(facts, flow=Flow.EXIT, tag="") if facts.tag == "SYNC" and facts.flow is Flow.POP else facts


# Of the graph ----------------------------------------------------------------------------------------------------------------------------


def _drop_edges(kind: Kind) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for index, edge in enumerate(case.cfg.edges):
            if edge.kind is kind:
                rest = (*case.cfg.edges[:index], *case.cfg.edges[index + 1 :])
                yield Mutant(replace(case.cfg, edges=rest), f"{kind.value} edge of {case.cfg.nodes[edge.src].id} dropped")

    return make


def _edges(change: Callable[[Case, Edge], Edge | None]) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for index, edge in enumerate(case.cfg.edges):
            new = change(case, edge)
            if new is not None:
                edges = (*case.cfg.edges[:index], new, *case.cfg.edges[index + 1 :])
                yield Mutant(replace(case.cfg, edges=edges), f"edge of {case.cfg.nodes[edge.src].id} changed")

    return make


def _wrong_site(case: Case, edge: Edge) -> Edge | None:
    sites = sorted({one.dst for one in case.cfg.edges if one.kind is Kind.RETURN and one.dst is not None})
    if edge.kind is not Kind.RETURN or len(sites) < 2 or edge.dst is None:
        return None
    return replace(edge, dst=sites[(sites.index(edge.dst) + 1) % len(sites)])


def _side_is_token(case: Case, edge: Edge) -> Edge | None:
    del case
    return replace(edge, kind=Kind.RECONVERGE) if edge.kind is Kind.REACTIVATE else None


def _pushes_nothing(case: Case, edge: Edge) -> Edge | None:
    del case
    return replace(edge, kind=Kind.TAKEN, pushed=None) if edge.kind is Kind.DIVERGE else None


def _nodes(change: Callable[[Node], Node | None]) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for index, node in enumerate(case.cfg.nodes):
            new = change(node)
            if new is not None:
                yield Mutant(replace(case.cfg, nodes=(*case.cfg.nodes[:index], new, *case.cfg.nodes[index + 1 :])), f"node {node.id}")

    return make


def _agrees(register: int) -> Callable[[Node], Node | None]:
    return lambda node: None if node.agreement & register else replace(node, agreement=node.agreement | register)


def _forgets_push(node: Node) -> Node | None:
    return replace(node, pushes=()) if node.pushes else None


def _outer_context(node: Node) -> Node | None:
    return replace(node, context=node.context[1:]) if len(node.context) > 1 else None


def _no_targets(case: Case) -> Iterator[Mutant]:
    for index, (address, _) in enumerate(case.cfg.token_targets):
        rest = (*case.cfg.token_targets[:index], *case.cfg.token_targets[index + 1 :])
        yield Mutant(replace(case.cfg, token_targets=rest), f"targets of {address:04x} dropped")


def _no_context(case: Case) -> Iterator[Mutant]:
    for context in sorted({node.context for node in case.cfg.nodes} - {()}):
        nodes = tuple(replace(node, context=()) if node.context == context else node for node in case.cfg.nodes)
        yield Mutant(replace(case.cfg, nodes=nodes), f"context {context} dropped")


def _no_thread_edge(case: Case) -> Iterator[Mutant]:
    for index in range(len(case.cfg.thread_edges)):
        rest = (*case.cfg.thread_edges[:index], *case.cfg.thread_edges[index + 1 :])
        yield Mutant(replace(case.cfg, thread_edges=rest), f"thread edge {index} dropped")


def _loops(change: Callable[[Loop], Loop | None]) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for index, loop in enumerate(case.cfg.loops):
            new = change(loop)
            if new is not None:
                loops = (*case.cfg.loops[:index], new, *case.cfg.loops[index + 1 :])
                # Without the points on the stacks the system has only the word of the loop itself.
                yield Mutant(replace(case.cfg, loops=loops, stack_points=()), f"loop at node {loop.head}")

    return make


def _one_witness(loop: Loop) -> Loop | None:
    return None if loop.single_witness else replace(loop, single_witness=True)


def _no_back_edge(loop: Loop) -> Loop | None:
    return replace(loop, back=loop.back[1:])


def _forgotten_member(loop: Loop) -> Loop | None:
    rest = tuple(node for node in loop.nodes if node != loop.back[0][0])
    return replace(loop, nodes=rest) if loop.back[0][0] != loop.head else None


# Of what is asked ------------------------------------------------------------------------------------------------------------------------


def _short_bound(case: Case) -> Iterator[Mutant]:
    if case.cfg.loops:
        yield Mutant(case.cfg, "loop bounds too small by one", lambda plan: replace(plan, short=1))


@dataclass(frozen=True, slots=True)
class _Free(Unit):
    """Unit cost, but of one block."""

    node: str = ""

    def cost(self, node: Node) -> int:
        return 0 if node.id == self.node else len(node.instructions)


def _free_block(case: Case) -> Iterator[Mutant]:
    for node in case.cfg.nodes:
        free = _Free(node.id)
        yield Mutant(case.cfg, f"{node.id} costs nothing", lambda plan, free=free: replace(plan, costs=free, solve=8))


def _other_order(case: Case) -> Iterator[Mutant]:
    yield Mutant(case.cfg, "the not-taken side runs first", lambda plan: replace(plan, order=Order.FALLTHROUGH_FIRST))


MUTATIONS: dict[str, Maker] = {
    "SSY goes elsewhere": _retarget("SSY"),
    "PBK goes elsewhere": _retarget("PBK"),
    "PCNT goes elsewhere": _retarget("PCNT"),
    "BRA goes elsewhere": _retarget("BRA"),
    "CAL goes elsewhere": _retarget("CAL"),
    "SSY dropped": _drop("SSY"),
    "PBK dropped": _drop("PBK"),
    "PCNT dropped": _drop("PCNT"),
    "CAL dropped": _drop("CAL"),
    "guarded EXIT dropped": _drop("EXIT", guarded=True),
    "guarded BRK dropped": _drop("BRK", guarded=True),
    "SYNC treated as BRK": _rename("SYNC", "BRK"),
    "BRK treated as CONT": _rename("BRK", "CONT"),
    "RET treated as EXIT": _rename("RET", "EXIT"),
    "predicate of a branch swapped": _guard_change(_swap_predicate, "BRA"),
    "guard of a branch ignored": _guard_change(lambda _: None, "BRA"),
    "guard of a token or EXIT ignored": _guard_change(lambda _: None, "SYNC", "BRK", "CONT", "RET", "EXIT"),
    "guard of data ignored": _guard_change(lambda _: None, "MOV", "S2R", "ISETP", "IADD", "LDS", "MOV32I", "VOTE", "LDC", "SEL"),
    "CC test dropped": _no_test,
    "BRX table shorter": _shorter_table,
    "lanewise by mistake": _facts(_lanewise),
    "writes forgotten": _facts(_no_writes),
    "reads forgotten": _facts(_no_reads),
    "carry write forgotten": _facts(_no_carry, lambda one: one.address),
    "condition forgotten": _facts(_no_condition),
    "CC test overlooked when learning the guard": _facts(_guard_decides),
    "push forgotten": _facts(_no_push),
    "EXIT leaves to SYNC only": _facts(_exit_is_sync),
    "SYNC leaves everything": _facts(_sync_is_exit),
    **{f"{kind.value} edge dropped": _drop_edges(kind) for kind in Kind},
    "call returns to the wrong site": _edges(_wrong_site),
    "reactivation called reconvergence": _edges(_side_is_token),
    "divergence pushes nothing": _edges(_pushes_nothing),
    "agreement on a register added": _nodes(_agrees(bit("R", 0) | bit("R", 3) | bit("R", 5))),
    "agreement on a predicate added": _nodes(_agrees(bit("P", 0) | bit("P", 1))),
    "agreement on the carry added": _nodes(_agrees(bit("CC", 0))),
    "pushes of a node forgotten": _nodes(_forgets_push),
    "innermost context only": _nodes(_outer_context),
    "context dropped": _no_context,
    "token target dropped": _no_targets,
    "thread edge dropped": _no_thread_edge,
    "one witness assumed": _loops(_one_witness),
    "back edge of a loop forgotten": _loops(_no_back_edge),
    "member of a loop forgotten": _loops(_forgotten_member),
    "loop bound too small by one": _short_bound,
    "cost of a block forgotten": _free_block,
    "order of sides swapped": _other_order,
}
"""Every kind by its name."""
