"""The edges of a graph at one level: those of the warp, or those of a single thread."""

from dataclasses import dataclass
from enum import StrEnum

from sassan.warpcfg.graph import ActivationPoint, EdgeKind, WarpCfg


class Level(StrEnum):
    """The level of a graph: the steps of the warp, or of one thread."""

    WARP = "warp"
    THREAD = "thread"


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An edge with its kind; `index` is its place in `WarpCfg.edges`, None for an edge of a thread. `dst` None is the end."""

    src: int
    dst: int | None
    kind: EdgeKind
    index: int | None = None
    pushed: ActivationPoint | None = None
    popped: ActivationPoint | None = None


_ENDS = frozenset({"EXIT", "KIL"})
_PREFERENCE = (EdgeKind.TAKEN, EdgeKind.DIVERGE, EdgeKind.CALL, EdgeKind.RETURN, EdgeKind.FALLTHROUGH, EdgeKind.RECONVERGE)


def arcs(cfg: WarpCfg, level: Level) -> tuple[DrawnEdge, ...]:
    """Return the edges at `level`, sorted by (src, dst, kind); those of a thread have no DIVERGE and no REACTIVATE."""
    if level is Level.WARP:
        return tuple(DrawnEdge(edge.src, edge.dst, edge.kind, at, edge.pushed, edge.popped) for at, edge in enumerate(cfg.edges))
    return (*_thread_arcs(cfg), *_thread_exits(cfg))


def _thread_arcs(cfg: WarpCfg) -> tuple[DrawnEdge, ...]:
    kinds: dict[tuple[int, int], set[EdgeKind]] = {}
    for edge in cfg.edges:
        if edge.dst is not None:
            kinds.setdefault((edge.src, edge.dst), set()).add(edge.kind)
    tokens = dict(cfg.token_targets)
    out: list[DrawnEdge] = []
    for step in cfg.thread_edges:
        edge_kinds = kinds.get((step.src, step.dst), set())
        kind = next((candidate for candidate in _PREFERENCE if candidate in edge_kinds), None) or _step_kind(
            cfg, step.src, step.dst, tokens
        )
        out.append(DrawnEdge(step.src, step.dst, EdgeKind.TAKEN if kind is EdgeKind.DIVERGE else kind))
    return tuple(out)


def _step_kind(cfg: WarpCfg, src: int, dst: int, tokens: dict[int, tuple[int, ...]]) -> EdgeKind:
    """Return the kind of a thread's step without a warp edge: the suspended side of a divergence, or a jump to a token's target."""
    last = cfg.nodes[src].instructions[-1]
    target = cfg.nodes[dst].start
    if target == last.following:
        return EdgeKind.FALLTHROUGH
    return EdgeKind.RECONVERGE if target in tokens.get(last.address, ()) else EdgeKind.TAKEN


def _thread_exits(cfg: WarpCfg) -> tuple[DrawnEdge, ...]:
    # A thread ends at every EXIT, also where the warp continues with a suspended side and has no exit edge.
    ending = {edge.src for edge in cfg.edges if edge.kind is EdgeKind.EXIT}
    ending |= {at for at, node in enumerate(cfg.nodes) if node.instructions[-1].opcode.partition(".")[0] in _ENDS}
    return tuple(DrawnEdge(src, None, EdgeKind.EXIT) for src in sorted(ending))
