"""The document of `sassan cfg --json`: nodes and edges as plain data, with stable keys."""

from typing import TypedDict

from sassan.assumptions import kinds
from sassan.render.graph.decorations import Decorations
from sassan.render.graph.levels import Arc, Level, arcs
from sassan.warpcfg.graph import Node, WarpCfg


class NodeRecord(TypedDict):
    """One block; `string`, `cost` (in the unit of the cost model) and `count` (executions on a worst path) are None if unknown."""

    id: str
    start: str
    end: str
    instructions: int
    context: list[str]
    divergent: bool
    string: str | None
    cost: int | None
    count: int | None


EdgeRecord = TypedDict(
    "EdgeRecord",
    {
        "src": str,
        "dst": str | None,
        "from": str,
        "to": str | None,
        "kind": str,
        "pushed": str | None,
        "popped": str | None,
    },
)
"""One edge; `dst` and `to` are None at an exit, `pushed` and `popped` name the point that it suspends or resumes."""


class LoopRecord(TypedDict):
    """One loop; `bound` is None without a flow fact; `per_thread`: each thread may iterate separately."""

    head: str
    nodes: list[str]
    bound: int | None
    per_thread: bool


class GapRecord(TypedDict):
    """One gap."""

    code: str
    address: str
    message: str


class CfgDocument(TypedDict):
    """The graph of one function."""

    name: str
    arch: str
    level: str
    entry: str
    nodes: list[NodeRecord]
    edges: list[EdgeRecord]
    loops: list[LoopRecord]
    token_targets: dict[str, list[str]]
    gaps: list[GapRecord]
    assumptions: list[str]
    assumption_kinds: list[str]


def cfg_document(cfg: WarpCfg, decorations: Decorations | None = None, *, level: Level = Level.WARP) -> CfgDocument:
    """Return the graph at `level` as plain data, in the order of `cfg`; addresses are text: `0x0068`."""
    shown = decorations or Decorations()
    return {
        "name": cfg.function.name,
        "arch": cfg.function.arch,
        "level": level.value,
        "entry": cfg.nodes[cfg.entry].id,
        "nodes": _nodes(cfg, shown, level),
        "edges": [_edge(cfg, arc) for arc in arcs(cfg, level)],
        "loops": [
            {
                "head": cfg.nodes[loop.head].id,
                "nodes": [cfg.nodes[at].id for at in loop.nodes],
                "bound": shown.bounds.get(cfg.nodes[loop.head].start),
                "per_thread": not loop.single_witness,
            }
            for loop in cfg.loops
        ],
        "token_targets": {_hex(at): [_hex(target) for target in targets] for at, targets in cfg.token_targets},
        "gaps": [{"code": gap.code, "address": _hex(gap.address), "message": gap.message} for gap in cfg.gaps],
        "assumptions": list(cfg.assumptions),
        "assumption_kinds": kinds(cfg.assumptions),
    }


def _nodes(cfg: WarpCfg, shown: Decorations, level: Level) -> list[NodeRecord]:
    counts = shown.node_counts(cfg) if level is Level.WARP else ()
    return [_node(node, at, shown, counts) for at, node in enumerate(cfg.nodes)]


def _node(node: Node, at: int, shown: Decorations, counts: tuple[int, ...]) -> NodeRecord:
    return {
        "id": node.id,
        "start": _hex(node.start),
        "end": _hex(node.end),
        "instructions": len(node.code),
        "context": [_hex(site) for site in node.context],
        "divergent": node.divergent,
        "string": shown.letters[at] or None if shown.letters else None,
        "cost": shown.costs[at] if shown.costs else None,
        "count": counts[at] if counts else None,
    }


def _edge(cfg: WarpCfg, arc: Arc) -> EdgeRecord:
    target = None if arc.dst is None else cfg.nodes[arc.dst]
    return {
        "src": cfg.nodes[arc.src].id,
        "dst": None if target is None else target.id,
        "from": _hex(cfg.nodes[arc.src].end),
        "to": None if target is None else _hex(target.start),
        "kind": arc.kind.value,
        "pushed": None if arc.pushed is None else str(arc.pushed),
        "popped": None if arc.popped is None else str(arc.popped),
    }


def _hex(address: int) -> str:
    return f"0x{address:04x}"
