"""Mutations of the answer: of the graph, of its loops, and of what is asked of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from sassan.simt.state import SideOrder
from sassan.timing import BlockCosts, UnitCostModel
from sassan.timing.model import NO_ACCESSES
from sassan.warpcfg.graph import CfgLoop, Edge, EdgeKind, Node, WarpCfg
from soundness.mutants import Case, Maker, Mutant


def drop_edges(kind: EdgeKind) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for index, edge in enumerate(case.cfg.edges):
            if edge.kind is kind:
                rest = (*case.cfg.edges[:index], *case.cfg.edges[index + 1 :])
                yield Mutant(replace(case.cfg, edges=rest), f"{kind.value} edge of {case.cfg.nodes[edge.src].id} dropped")

    return make


def edges(change: Callable[[Case, Edge], Edge | None]) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for index, edge in enumerate(case.cfg.edges):
            new = change(case, edge)
            if new is not None:
                edges = (*case.cfg.edges[:index], new, *case.cfg.edges[index + 1 :])
                yield Mutant(replace(case.cfg, edges=edges), f"edge of {case.cfg.nodes[edge.src].id} changed")

    return make


def wrong_site(case: Case, edge: Edge) -> Edge | None:
    sites = sorted({one.dst for one in case.cfg.edges if one.kind is EdgeKind.RETURN and one.dst is not None})
    if edge.kind is not EdgeKind.RETURN or len(sites) < 2 or edge.dst is None:
        return None
    return replace(edge, dst=sites[(sites.index(edge.dst) + 1) % len(sites)])


def side_is_token(case: Case, edge: Edge) -> Edge | None:
    del case
    return replace(edge, kind=EdgeKind.RECONVERGE) if edge.kind is EdgeKind.REACTIVATE else None


def pushes_nothing(case: Case, edge: Edge) -> Edge | None:
    del case
    return replace(edge, kind=EdgeKind.TAKEN, pushed=None) if edge.kind is EdgeKind.DIVERGE else None


def nodes(change: Callable[[Node], Node | None]) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for index, node in enumerate(case.cfg.nodes):
            new = change(node)
            if new is not None:
                yield Mutant(replace(case.cfg, nodes=(*case.cfg.nodes[:index], new, *case.cfg.nodes[index + 1 :])), f"node {node.id}")

    return make


def agrees(register: int) -> Callable[[Node], Node | None]:
    return lambda node: None if node.agreement & register else replace(node, agreement=node.agreement | register)


def forgets_push(node: Node) -> Node | None:
    return replace(node, pushes=()) if node.pushes else None


def outer_context(node: Node) -> Node | None:
    return replace(node, context=node.context[1:]) if len(node.context) > 1 else None


def no_targets(case: Case) -> Iterator[Mutant]:
    for index, (address, _) in enumerate(case.cfg.token_targets):
        rest = (*case.cfg.token_targets[:index], *case.cfg.token_targets[index + 1 :])
        yield Mutant(replace(case.cfg, token_targets=rest), f"targets of {address:04x} dropped")


def no_context(case: Case) -> Iterator[Mutant]:
    for context in sorted({node.context for node in case.cfg.nodes} - {()}):
        nodes = tuple(replace(node, context=()) if node.context == context else node for node in case.cfg.nodes)
        yield Mutant(replace(case.cfg, nodes=nodes), f"context {context} dropped")


def no_thread_edge(case: Case) -> Iterator[Mutant]:
    for index in range(len(case.cfg.thread_edges)):
        rest = (*case.cfg.thread_edges[:index], *case.cfg.thread_edges[index + 1 :])
        yield Mutant(replace(case.cfg, thread_edges=rest), f"thread edge {index} dropped")


def loops(change: Callable[[CfgLoop], CfgLoop | None]) -> Maker:
    def make(case: Case) -> Iterator[Mutant]:
        for index, loop in enumerate(case.cfg.loops):
            new = change(loop)
            if new is not None:
                loops = (*case.cfg.loops[:index], new, *case.cfg.loops[index + 1 :])
                # Without the points on the stacks the system has only the word of the loop itself.
                yield Mutant(replace(case.cfg, loops=loops, stack_points=(), waiting_points=()), f"loop at node {loop.head}")

    return make


def one_witness(loop: CfgLoop) -> CfgLoop | None:
    return None if loop.single_witness else replace(loop, single_witness=True)


def no_back_edge(loop: CfgLoop) -> CfgLoop | None:
    return replace(loop, back=loop.back[1:])


def forgotten_member(loop: CfgLoop) -> CfgLoop | None:
    rest = tuple(node for node in loop.nodes if node != loop.back[0][0])
    return replace(loop, nodes=rest) if loop.back[0][0] != loop.head else None


def short_bound(case: Case) -> Iterator[Mutant]:
    if case.cfg.loops:
        yield Mutant(case.cfg, "loop bounds too small by one", lambda plan: replace(plan, short=1))


@dataclass(frozen=True, slots=True)
class Free(UnitCostModel):
    """Unit cost, but of one block."""

    node: str = ""

    def block_costs(self, cfg: WarpCfg, _busy: Mapping[int, int] = NO_ACCESSES) -> BlockCosts:
        return BlockCosts(tuple(0 if node.id == self.node else len(node.instructions) for node in cfg.nodes))


def free_block(case: Case) -> Iterator[Mutant]:
    for node in case.cfg.nodes:
        free = Free(node.id)
        yield Mutant(case.cfg, f"{node.id} costs nothing", lambda plan, free=free: replace(plan, costs=free, solve=8))


def other_order(case: Case) -> Iterator[Mutant]:
    yield Mutant(case.cfg, "the not-taken side runs first", lambda plan: replace(plan, order=SideOrder.FALLTHROUGH_FIRST))
