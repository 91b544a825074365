"""The graph and the code of one function as plain data for a page; the layout is computed separately (layout.py)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from sassan.errors import Gap
from sassan.render.graph.blocks import facts
from sassan.render.graph.clusters import forest
from sassan.render.graph.decorations import Decorations
from sassan.render.graph.dot import bare_text, compact
from sassan.render.graph.levels import Level, arcs
from sassan.render.graph.outline import equal_cases
from sassan.render.html.labels import Label, cost_text, label, size
from sassan.render.html.layout import PlacedCluster, PlacedEdge, PlacedGraph
from sassan.render.html.rows import RowRecord, row
from sassan.render.listing import Listing, agreements, listing
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.graph import EdgeKind, Node, WarpCfg

_ENTRY, _EXIT = "entry", "exit"


class BlockRecord(TypedDict):
    """One block; `rows` indexes the rows of the function, `share` is its part of the WCET; None for unknown values.

    `agreement` are the registers that are warp-uniform at its start, None if the graph has gaps.
    """

    id: str
    start: str
    end: str
    context: list[str]
    instructions: int
    divergent: bool
    string: str | None
    cost: int | None
    count: int | None
    share: float | None
    lines: list[list[str]]
    rows: list[int]
    agreement: list[str] | None
    gaps: list[str]
    box: list[float] | None


class EdgeRecord(TypedDict):
    """All edges of one kind between two blocks; `src` is `entry` and `dst` `exit` outside; `count` is None without a worst path."""

    src: str
    dst: str
    kind: str
    count: int | None
    says: list[str]
    path: list[list[float]]
    label: list[float] | None


class BoxRecord(TypedDict):
    """The box of a loop, by its index, or of a call, with the blocks in it."""

    box: list[float]
    members: list[str]
    loop: int | None
    context: list[str]


class GraphRecord(TypedDict):
    """The drawing, in points, y downwards; `ends` are the entry and the exits; `note` reports a fallback of the layout.

    `many` says for each loop whether every thread may iterate separately; `cases` are blocks that are equal cases of a switch.
    """

    width: float
    height: float
    compact: bool
    note: str
    entry: str
    ends: list[dict[str, str | list[float]]]
    blocks: list[BlockRecord]
    edges: list[EdgeRecord]
    boxes: list[BoxRecord]
    cases: list[list[str]]
    many: list[bool]
    rows: list[RowRecord]


@dataclass(frozen=True, slots=True)
class Sketch:
    """A function before the layout of its graph; `text` is the input of Graphviz."""

    text: str
    cfg: WarpCfg
    decorations: Decorations
    blocks: tuple[BlockRecord, ...]
    rows: tuple[RowRecord, ...]

    def record(self, placed: PlacedGraph) -> GraphRecord:
        """Return the graph with its layout."""
        boxes = dict(placed.nodes)
        blocks: list[BlockRecord] = [{**block, "box": _numbers(boxes.get(block["id"]))} for block in self.blocks]
        return {
            "width": placed.width,
            "height": placed.height,
            "compact": compact(self.cfg),
            "note": placed.note,
            "entry": self.cfg.nodes[self.cfg.entry].id,
            "ends": [{"name": name, "box": list(box)} for name, box in placed.nodes if name.partition("_")[0] in {_ENTRY, _EXIT}],
            "blocks": blocks,
            "edges": _edges(self.cfg, self.decorations, placed.lines),
            "boxes": [_box(self.cfg, cluster) for cluster in placed.clusters],
            "cases": [[self.cfg.nodes[at].id for at in members] for members in self.cases()] if boxes else [],
            "many": [not loop.single_witness for loop in self.cfg.loops],
            "rows": list(self.rows),
        }

    def cases(self) -> list[tuple[int, ...]]:
        """Return the blocks that are equal cases of a switch, each group by the places of its blocks."""
        return sorted(equal_cases(self.cfg, forest(self.cfg), facts(self.cfg, self.decorations), arcs(self.cfg, Level.WARP)))


def _box(cfg: WarpCfg, cluster: PlacedCluster) -> BoxRecord:
    if cluster.loop is None:
        members = [node.id for node in cfg.nodes if node.context[: len(cluster.context)] == cluster.context]
    else:
        loop = cfg.loops[cluster.loop]
        members = [cfg.nodes[at].id for at in sorted({*loop.nodes, loop.head})]
    return {"box": list(cluster.box), "members": members, "loop": cluster.loop, "context": [_hex(at) for at in cluster.context]}


def sketch(  # noqa: PLR0913, PLR0917 - what a page shows of a function
    cfg: WarpCfg, decorations: Decorations, facts_of: FactsOf, gaps: tuple[Gap, ...], wcet: int | None, shown: Listing | None = None
) -> Sketch:
    """Return a function for a page; `gaps` are those that prevent a bound, the shares of blocks refer to `wcet`, `shown` is its listing."""
    small = compact(cfg)
    shares = _shares(cfg, decorations, wcet)
    labels = _labels(cfg, decorations, gaps, shares, small=small)
    agreed = agreements(cfg, facts_of)
    places = {instruction.address: at for at, instruction in enumerate(cfg.function.instructions)}
    counts = decorations.node_counts(cfg)
    blocks: list[BlockRecord] = [
        {
            "id": node.id,
            "start": _hex(node.start),
            "end": _hex(node.end),
            "context": [_hex(site) for site in node.context],
            "instructions": len(node.code),
            "divergent": node.divergent,
            "string": decorations.letters[at] or None if decorations.letters else None,
            "cost": decorations.costs[at] if decorations.costs else None,
            "count": counts[at] if counts else None,
            "share": shares[at],
            "lines": [list(line) for line in labels[at]],
            "rows": [places[instruction.address] for instruction in node.code],
            "agreement": None if cfg.gaps else list(agreed[at]),
            "gaps": [f"{gap.code} at {_hex(gap.address)}: {gap.message}" for gap in _inside(node, gaps)],
            "box": None,
        }
        for at, node in enumerate(cfg.nodes)
    ]
    text = bare_text(cfg, decorations, tuple(size(lines) for lines in labels))
    return Sketch(text, cfg, decorations, tuple(blocks), tuple(row(line) for line in (shown or listing(cfg, facts_of)).rows))


def _shares(cfg: WarpCfg, decorations: Decorations, wcet: int | None) -> tuple[float | None, ...]:
    counts = decorations.node_counts(cfg)
    if not wcet or not counts or not decorations.costs:
        return (None,) * len(cfg.nodes)
    return tuple(round((cost or 0) * count / wcet, 6) for cost, count in zip(decorations.costs, counts, strict=True))


def _labels(
    cfg: WarpCfg, decorations: Decorations, gaps: tuple[Gap, ...], shares: Sequence[float | None], *, small: bool
) -> tuple[Label, ...]:
    counts = decorations.node_counts(cfg)
    costs = decorations.costs
    return tuple(
        label(
            node,
            decorations.letters[at] if decorations.letters else "",
            cost_text(costs[at] if costs else None, counts[at] if counts else None, shares[at], compact=small),
            _inside(node, gaps),
            compact=small,
        )
        for at, node in enumerate(cfg.nodes)
    )


def _inside(node: Node, gaps: tuple[Gap, ...]) -> tuple[Gap, ...]:
    return tuple(gap for gap in gaps if node.start <= gap.address <= node.end)


def _edges(cfg: WarpCfg, decorations: Decorations, lines: Sequence[PlacedEdge]) -> list[EdgeRecord]:
    drawn = {(line.src, _EXIT if line.kind == EdgeKind.EXIT else line.dst, line.kind): line for line in lines}
    records: dict[tuple[str, str, str], EdgeRecord] = {}
    counts = decorations.counts
    _add(records, drawn, (_ENTRY, cfg.nodes[cfg.entry].id, ""), 1 if counts else None, [])
    for at, edge in enumerate(cfg.edges):
        key = (cfg.nodes[edge.src].id, _EXIT if edge.dst is None else cfg.nodes[edge.dst].id, edge.kind.value)
        pushed = [f"suspends {edge.pushed}"] if edge.pushed is not None else []
        popped = [f"resumes {edge.popped}"] if edge.popped is not None else []
        _add(records, drawn, key, counts[at] if counts else None, [*pushed, *popped])
    return list(records.values())


def _add(
    records: dict[tuple[str, str, str], EdgeRecord],
    drawn: dict[tuple[str, str, str], PlacedEdge],
    key: tuple[str, str, str],
    count: int | None,
    says: list[str],
) -> None:
    if key in records:
        old = records[key]
        old["says"] += says
        old["count"] = None if count is None or old["count"] is None else old["count"] + count
        return
    line = drawn.get(key)
    records[key] = {
        "src": key[0],
        "dst": key[1],
        "kind": key[2],
        "count": count,
        "says": says,
        "path": [list(point) for point in line.points] if line else [],
        "label": _numbers(line.label) if line else None,
    }


def _numbers(values: tuple[float, ...] | None) -> list[float] | None:
    return None if values is None else list(values)


def _hex(address: int) -> str:
    return f"0x{address:04x}"
