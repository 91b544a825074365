"""The graph and the code of one function as plain data for a page; where everything goes is found out apart (layout.py)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from sassan.errors import Gap
from sassan.render.decorations import Decorations
from sassan.render.dot import bare_text, compact
from sassan.render.html.labels import Label, cost_text, label, size
from sassan.render.html.layout import Line, Placed
from sassan.render.html.rows import RowRecord, row
from sassan.render.listing import agreements, listing
from sassan.warpcfg.blocks import FactsOf
from sassan.warpcfg.graph import Kind, Node, WarpCfg

_ENTRY, _EXIT = "entry", "exit"


class BlockRecord(TypedDict):
    """One block; `rows` indexes the rows of the function, `share` is its part of the WCET; None where something is not known.

    `agreement` are the registers on which the active threads agree at its start, None where gaps leave that open.
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
    """The box of a loop, by its index, or of a call."""

    box: list[float]
    loop: int | None
    context: list[str]


class GraphRecord(TypedDict):
    """Everything that is drawn, in points, y downwards; `ends` are the entry and the exits; `note` says what is not as usual.

    `many` says of each loop whether every thread may repeat it by itself.
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
    many: list[bool]
    rows: list[RowRecord]


@dataclass(frozen=True, slots=True)
class Sketch:
    """A function before its graph is laid out; `text` is what Graphviz gets."""

    text: str
    cfg: WarpCfg
    decorations: Decorations
    blocks: tuple[BlockRecord, ...]
    rows: tuple[RowRecord, ...]

    def record(self, placed: Placed) -> GraphRecord:
        """Return the graph with its places."""
        boxes = dict(placed.nodes)
        blocks: list[BlockRecord] = [{**one, "box": _numbers(boxes.get(one["id"]))} for one in self.blocks]
        return {
            "width": placed.width,
            "height": placed.height,
            "compact": compact(self.cfg),
            "note": placed.note,
            "entry": self.cfg.nodes[self.cfg.entry].id,
            "ends": [{"name": name, "box": list(box)} for name, box in placed.nodes if name.partition("_")[0] in {_ENTRY, _EXIT}],
            "blocks": blocks,
            "edges": _edges(self.cfg, self.decorations, placed.lines),
            "boxes": [{"box": list(one.box), "loop": one.loop, "context": [_hex(at) for at in one.context]} for one in placed.clusters],
            "many": [not loop.single_witness for loop in self.cfg.loops],
            "rows": list(self.rows),
        }


def sketch(cfg: WarpCfg, decorations: Decorations, facts_of: FactsOf, gaps: tuple[Gap, ...], wcet: int | None) -> Sketch:
    """Return what a page shows of a function; `gaps` are all that forbid a bound, `wcet` is the whole of which blocks have shares."""
    small = compact(cfg)
    shares = _shares(cfg, decorations, wcet)
    labels = _labels(cfg, decorations, gaps, shares, small=small)
    agreed = agreements(cfg, facts_of)
    places = {one.address: at for at, one in enumerate(cfg.function.instructions)}
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
            "rows": [places[one.address] for one in node.code],
            "agreement": None if cfg.gaps else list(agreed[at]),
            "gaps": [f"{gap.code} at {_hex(gap.address)}: {gap.message}" for gap in _inside(node, gaps)],
            "box": None,
        }
        for at, node in enumerate(cfg.nodes)
    ]
    text = bare_text(cfg, decorations, tuple(size(one) for one in labels))
    return Sketch(text, cfg, decorations, tuple(blocks), tuple(row(one) for one in listing(cfg, facts_of).rows))


def _shares(cfg: WarpCfg, decorations: Decorations, wcet: int | None) -> tuple[float | None, ...]:
    counts = decorations.node_counts(cfg)
    if not wcet or not counts or not decorations.costs:
        return (None,) * len(cfg.nodes)
    return tuple(round(cost * count / wcet, 6) for cost, count in zip(decorations.costs, counts, strict=True))


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


def _edges(cfg: WarpCfg, decorations: Decorations, lines: Sequence[Line]) -> list[EdgeRecord]:
    drawn = {(line.src, _EXIT if line.kind == Kind.EXIT else line.dst, line.kind): line for line in lines}
    found: dict[tuple[str, str, str], EdgeRecord] = {}
    counts = decorations.counts
    _add(found, drawn, (_ENTRY, cfg.nodes[cfg.entry].id, ""), 1 if counts else None, [])
    for at, edge in enumerate(cfg.edges):
        key = (cfg.nodes[edge.src].id, _EXIT if edge.dst is None else cfg.nodes[edge.dst].id, edge.kind.value)
        pushed = [f"suspends {edge.pushed}"] if edge.pushed is not None else []
        popped = [f"resumes {edge.popped}"] if edge.popped is not None else []
        _add(found, drawn, key, counts[at] if counts else None, [*pushed, *popped])
    return list(found.values())


def _add(
    found: dict[tuple[str, str, str], EdgeRecord],
    drawn: dict[tuple[str, str, str], Line],
    key: tuple[str, str, str],
    count: int | None,
    says: list[str],
) -> None:
    if key in found:
        old = found[key]
        old["says"] += says
        old["count"] = None if count is None or old["count"] is None else old["count"] + count
        return
    line = drawn.get(key)
    found[key] = {
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
