"""A warp-level or thread-level graph as DOT text; the same input gives the same bytes."""

from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from sassan.analysis.graph import weak_order
from sassan.render import palette
from sassan.render.graph.blocks import BlockFacts, Detail, attributes, facts
from sassan.render.graph.clusters import Cluster, forest
from sassan.render.graph.decorations import Decorations
from sassan.render.graph.focus import focused
from sassan.render.graph.legend import header
from sassan.render.graph.levels import DrawnEdge, Level, arcs
from sassan.render.graph.outline import BlockGroup, Outline, outline, part
from sassan.render.text import in_html, in_tooltip
from sassan.warpcfg.graph import EdgeKind, WarpCfg

if TYPE_CHECKING:
    from graphviz import Digraph

_COMPACT_FROM = 60
_Attributes = dict[str, str]
Size = tuple[float, float]
"""Width and height of a block in points."""
_POINTS = 72
REVERSED = "turned"
"""The second class of an edge that is written from head to tail."""
_SPINE_WEIGHT = "30"
_ENTRY = "entry"
_EXIT = "exit"
_SHARED_EXITS = 6


@dataclass(frozen=True, slots=True)
class _Picture:
    """The data of a picture; `blocks` is in the order of the nodes."""

    cfg: WarpCfg
    decorations: Decorations
    arcs: tuple[DrawnEdge, ...]
    blocks: tuple[BlockFacts, ...]
    root: Cluster
    detail: Detail
    places: tuple[int, ...]
    """The position of each node in the weak topological order: an edge to an earlier position closes a cycle."""
    sizes: tuple[Size, ...] = ()
    """The size of each node, if its content is drawn elsewhere."""
    outline: Outline = field(default_factory=Outline)

    def name(self, at: int) -> str | None:
        """Return the name of what stands for a block, None where nothing does."""
        group = self.outline.of.get(at)
        if group is not None:
            return group.name
        return None if at in self.outline.omitted else self.cfg.nodes[at].id

    def place(self, at: int) -> int:
        """Return the position of what stands for a block."""
        group = self.outline.of.get(at)
        return self.places[at] if group is None else min(self.places[member] for member in group.members)


def dot_text(
    cfg: WarpCfg, decorations: Decorations | None = None, *, level: Level = Level.WARP, listing: bool = False, focus: str = ""
) -> str:
    """Return the DOT text of a graph. With `listing`, blocks show their instructions; else large graphs get small blocks.

    A `focus` (focus.py) draws a part; without one, loops, calls and equal cases of very large graphs are one block each. Counts of the
    worst path belong to the warp: at the level of a thread, no path and no counts are drawn. Raises UsageError `focus`.
    """
    shown = decorations or Decorations()
    if level is Level.THREAD:
        shown = Decorations(shown.letters, shown.costs, (), shown.bounds)
    lines = arcs(cfg, level)
    blocks, root = facts(cfg, shown), forest(cfg)
    drawn = part(cfg, focused(cfg, blocks, lines, focus)) if focus else outline(cfg, root, blocks, lines)
    count = len(cfg.nodes) - len(drawn.omitted) - len(drawn.of) + len(drawn.groups)
    picture = _Picture(cfg, shown, lines, blocks, root, _detail(count, listing), _places(cfg, lines), outline=drawn)
    omitted = f"{count} blocks are drawn: {_why(drawn)}" if drawn.partial else ""
    return _text(picture, {"label": header(cfg, lines, shown, level, omitted)})


def _why(drawn: Outline) -> str:
    if drawn.omitted:
        return "the rest is out of focus"
    return "loops, calls and equal cases stand for their blocks; --focus draws all, or a part, of them"


def bare_text(cfg: WarpCfg, decorations: Decorations, sizes: tuple[Size, ...]) -> str:
    """Return the warp-level graph as DOT text for a layout only.

    The blocks are empty boxes of the given sizes, there is no title, and the kind of an edge is its `class`.
    """
    lines = arcs(cfg, Level.WARP)
    detail = _detail(len(cfg.nodes), listing=False)
    picture = _Picture(cfg, decorations, lines, facts(cfg, decorations), forest(cfg), detail, _places(cfg, lines), sizes)
    return _text(picture, {})


def compact(cfg: WarpCfg) -> bool:
    """Say whether a graph is so large that its blocks are drawn in the smallest size."""
    return _detail(len(cfg.nodes), listing=False) is Detail.COMPACT


def _text(picture: _Picture, attributes: _Attributes) -> str:
    graph = _frame(picture, attributes)
    _draw_box(graph, picture, picture.root, depth=0)
    _draw_arcs(graph, picture)
    return str(graph.source)


def _places(cfg: WarpCfg, lines: tuple[DrawnEdge, ...]) -> tuple[int, ...]:
    # Ordered by the thread's steps, whose loops are the boxes drawn: a loop stays together, with its head on top.
    successors: list[list[int]] = [[] for _ in cfg.nodes]
    for step in cfg.thread_edges or lines:
        if step.dst is not None:
            successors[step.src].append(step.dst)
    places = [0] * len(cfg.nodes)
    for place, node in enumerate(weak_order(len(cfg.nodes), successors, cfg.entry)):
        places[node] = place
    return tuple(places)


def _detail(blocks: int, listing: bool) -> Detail:
    if listing:
        return Detail.LISTING
    return Detail.COMPACT if blocks > _COMPACT_FROM else Detail.BLOCK


def _frame(picture: _Picture, attributes: _Attributes) -> "Digraph":
    compact = picture.detail is Detail.COMPACT
    name = picture.decorations.name or picture.cfg.function.name
    graph_attr = attributes | {
        "labelloc": "t",
        "labeljust": "l",
        "tooltip": in_tooltip((name,)),
        "bgcolor": palette.PAPER,
        "fontname": palette.FONT,
        "fontcolor": palette.TEXT,
        "fontsize": "11",
        "rankdir": "TB",
        "newrank": "true",
        "nodesep": "0.2" if compact else "0.3",
        "ranksep": "0.3" if compact else "0.5",
        "pad": "0.2",
    }
    node_attr = {
        "shape": "box",
        "style": "filled",
        "fontname": palette.FONT,
        "fontsize": "9" if compact else "11",
        "fontcolor": palette.TEXT,
        "color": palette.TEXT,
        "margin": "0.03,0.02" if compact else "0.08,0.05",
        "height": "0.2",
        "width": "0.3",
    }
    edge_attr = {"fontname": palette.FONT, "fontsize": "10", "arrowsize": "0.5" if compact else "0.8"}
    return _digraph("cfg", graph_attr, node_attr, edge_attr)


def _digraph(name: str, graph_attr: _Attributes, node_attr: _Attributes | None = None, edge_attr: _Attributes | None = None) -> "Digraph":
    from graphviz import Digraph  # noqa: PLC0415 - not needed before something is drawn

    return Digraph(name, graph_attr=graph_attr, node_attr=node_attr, edge_attr=edge_attr)


def _draw_box(graph: "Digraph", picture: _Picture, box: Cluster, depth: int) -> None:
    closed = {id(group.cluster): group for group in picture.outline.groups}
    for at in box.nodes:
        block, group = picture.blocks[at], picture.outline.of.get(at)
        if group is not None and group.members[0] == at:
            graph.node(group.name, **_group_attributes(picture, group))
        if group is None and at not in picture.outline.omitted:
            graph.node(block.node.id, **(_empty(picture.sizes[at]) if picture.sizes else attributes(block, picture.detail)))
    for inner in box.inner:
        if id(inner) in closed:
            graph.node(closed[id(inner)].name, **_group_attributes(picture, closed[id(inner)]))
            continue
        if inner.members <= picture.outline.omitted:
            continue
        sub = _digraph(f"cluster_{_box_name(picture.cfg, inner)}", _box_attributes(picture, inner, depth))
        _draw_box(sub, picture, inner, depth + 1)
        graph.subgraph(sub)


def _group_attributes(picture: _Picture, group: BlockGroup) -> _Attributes:
    """Return the look of a group: that of its most expensive block, with what it stands for."""
    blocks = [picture.blocks[at] for at in group.members]
    hottest = max(blocks, key=lambda block: block.heat)
    box, count = group.cluster, len(group.members)
    if box is None:
        heading = f"{count} equal blocks from 0x{blocks[0].node.start:04x}"
    elif box.loop is not None:
        bound, _ = _bound(picture, box.loop)
        heading = f"{bound} at 0x{_head(picture.cfg, box.loop):04x}"
    else:
        heading = f"called from 0x{(box.context or (0,))[-1]:04x}"
    spent = sum((block.cost or 0) * (block.count or 0) for block in blocks)
    lines = [f"<B>{heading}</B>", *([f"{count} blocks"] if box is not None else []), *([f"cost {spent}"] if spent else [])]
    gaps = sorted({gap.code for block in blocks for gap in block.gaps})
    return {
        "label": f"<{'<BR/>'.join([*lines, *(in_html(f'gap: {code}') for code in gaps)])}>",
        "id": group.name,
        "style": "filled,rounded",
        "fillcolor": palette.heat(hottest.heat) if any(block.worst for block in blocks) else palette.PAPER,
        "color": palette.GAP if gaps else palette.TEXT,
        "penwidth": "2.2" if spent or gaps else "1",
        "tooltip": in_tooltip((f"{count} blocks from 0x{blocks[0].node.start:04x}",)),
    }


def _empty(size: Size) -> _Attributes:
    width, height = size
    return {"label": "", "fixedsize": "true", "width": f"{width / _POINTS:.3f}", "height": f"{height / _POINTS:.3f}"}


def _box_name(cfg: WarpCfg, box: Cluster) -> str:
    if box.loop is None:
        return "call" + "".join(f"_c{site:04x}" for site in box.context or ())
    return f"loop_{box.loop:04d}_{cfg.nodes[cfg.loops[box.loop].head].id}"


def _box_attributes(picture: _Picture, box: Cluster, depth: int) -> dict[str, str]:
    common = {"labeljust": "l", "style": "filled,rounded", "fontsize": "10", "penwidth": "1.2", "margin": "8"}
    if box.loop is None:
        site = (box.context or (0,))[-1]
        return common | {
            "label": f'<<FONT COLOR="{palette.CONTEXT_LINE}">called from 0x{site:04x}</FONT>>',
            "tooltip": in_tooltip((f"called from {', '.join(f'0x{call_site:04x}' for call_site in box.context or ())}",)),
            "color": palette.CONTEXT_LINE,
            "fillcolor": palette.CONTEXT_FILL,
        }
    text, bounded = _bound(picture, box.loop)
    look = {"label": f"<{text}>", "tooltip": f"loop 0x{_head(picture.cfg, box.loop):04x}", "fillcolor": palette.LOOP_FILLS[depth % 2]}
    if bounded:
        return common | look | {"color": palette.LOOP_LINE}
    return common | look | {"color": palette.GAP, "style": "filled,rounded,dashed", "penwidth": "1.8"}


def _head(cfg: WarpCfg, loop: int) -> int:
    return cfg.nodes[cfg.loops[loop].head].start


def _bound(picture: _Picture, at: int) -> tuple[str, bool]:
    head = _head(picture.cfg, at)
    bound = picture.decorations.bounds.get(head)
    if bound is None:
        return f'<FONT COLOR="{palette.GAP}"><B>loop: no bound</B></FONT>', False
    # Without a single witness, the back edges of a warp are those of up to 32 threads.
    many = "" if picture.cfg.loops[at].single_witness else " \u00d7 32"
    return in_html(f"loop ≤ {bound}{many}"), True


def _draw_arcs(graph: "Digraph", picture: _Picture) -> None:
    _draw_entry(graph, picture)
    shown = [arc for arc in picture.arcs if picture.name(arc.src) is not None and (arc.dst is None or picture.name(arc.dst) is not None)]
    exits = sorted({picture.place(arc.src): picture.name(arc.src) for arc in shown if arc.dst is None}.items())
    shared = len(exits) <= _SHARED_EXITS
    for name in [_EXIT] if exits and shared else [f"{_EXIT}_{source}" for _, source in exits]:
        graph.node(
            name,
            label=_EXIT,
            id=name,
            shape="oval",
            fillcolor=palette.PAPER,
            color=palette.MUTED,
            peripheries="2",
            tooltip="end of the warp",
        )
    first = {group.name: group.members[0] for group in picture.outline.groups}
    key = {kind: at for at, kind in enumerate(EdgeKind)}

    def ends(arc: DrawnEdge) -> tuple[int, int, int]:
        tail, head = (None if at is None else first.get(picture.name(at) or "", at) for at in (arc.src, arc.dst))
        return tail or 0, -1 if head is None else head, key[arc.kind]

    for (src, dst, _), group in groupby(sorted(shown, key=ends), key=ends):
        same = tuple(group)
        kind, tail = same[0].kind, picture.name(src) or ""
        if src == dst and src in picture.outline.of:
            continue
        head = (_EXIT if shared else f"{_EXIT}_{tail}") if dst < 0 else picture.name(dst) or ""
        look = _arc_attributes(picture, kind, same)
        if dst >= 0 and picture.place(dst) <= picture.place(src):
            # Written from head to tail and drawn backwards: Graphviz would break a cycle at an arbitrary edge.
            graph.edge(head, tail, **_reversed(look))
        else:
            graph.edge(tail, head, **look)
    if picture.detail is Detail.COMPACT and not picture.outline.omitted:
        _draw_spine(graph, picture)


def _draw_spine(graph: "Digraph", picture: _Picture) -> None:
    """Add invisible edges that align the blocks on every path vertically: otherwise a long graph drifts to one side."""
    names = {picture.place(at): picture.name(at) or "" for at in range(len(picture.places))}
    reach = dict.fromkeys(sorted(names), 0)
    for arc in picture.arcs:
        if arc.dst is not None:
            place = picture.place(arc.src)
            reach[place] = max(reach[place], picture.place(arc.dst))
    spine: list[str] = []
    farthest = 0
    for place, end in reach.items():
        if farthest <= place:
            spine.append(names[place])
        farthest = max(farthest, end)
    for above, below in pairwise(spine):
        graph.edge(above, below, style="invis", weight=_SPINE_WEIGHT)


def _draw_entry(graph: "Digraph", picture: _Picture) -> None:
    entry = picture.name(picture.cfg.entry)
    if entry is None:
        return
    graph.node(_ENTRY, label=_ENTRY, id=_ENTRY, shape="oval", fillcolor=palette.PAPER, color=palette.MUTED, tooltip="start of the warp")
    width = "2.6" if picture.decorations.counts else "1"
    graph.edge(_ENTRY, entry, color=palette.TEXT, penwidth=width, weight="8", tooltip="entry")


def _arc_attributes(picture: _Picture, kind: EdgeKind, same: tuple[DrawnEdge, ...]) -> dict[str, str]:
    look = palette.EDGE_STYLES[kind]
    count = sum(picture.decorations.counts[arc.index] for arc in same if arc.index is not None) if picture.decorations.counts else 0
    bold = "2" if picture.detail is Detail.COMPACT else "2.6"
    out = {
        "color": look.color,
        "fontcolor": look.color,
        "style": look.style,
        "arrowhead": look.head,
        "penwidth": bold if count else "1.1",
        "weight": str(look.weight),
        "tooltip": in_tooltip(_arc_tooltip(picture, kind, same, count)),
    }
    if look.tail != "none":
        out |= {"dir": "both", "arrowtail": look.tail}
    if picture.sizes:
        out["class"] = kind.value
    if count > 1 and picture.detail is not Detail.COMPACT:
        out["label"] = f" \u00d7{count} "
    return out


def _reversed(look: dict[str, str]) -> dict[str, str]:
    arrows = {"arrowtail": look["arrowhead"], "arrowhead": look.get("arrowtail", "none"), "dir": "both" if "arrowtail" in look else "back"}
    named = {"class": f"{look['class']} {REVERSED}"} if "class" in look else {}
    return look | arrows | named | {"weight": "1"}


def _arc_tooltip(picture: _Picture, kind: EdgeKind, same: tuple[DrawnEdge, ...], count: int) -> tuple[str, ...]:
    first = same[0]
    target = "the end" if first.dst is None else f"0x{picture.cfg.nodes[first.dst].start:04x}"
    line = f"{kind.value} 0x{picture.cfg.nodes[first.src].end:04x} to {target}"
    pushed = [f"suspends {arc.pushed}" for arc in same if arc.pushed is not None]
    popped = [f"resumes {arc.popped}" for arc in same if arc.popped is not None]
    times = [f"{count} times on the worst path"] if count else []
    return (line, *pushed, *popped, *times)
