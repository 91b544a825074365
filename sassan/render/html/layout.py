"""The layout of many graphs by Graphviz: a few processes lay out one graph after the other.

Like the drawings of `cfg` (draw.py), every graph has a time limit, after which its blocks are placed in rows, with a note.
"""

import importlib.util
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from sassan.errors import MissingToolError
from sassan.executor import Executor, Processes, Serial
from sassan.render.graph.dot import REVERSED
from sassan.system.processes import OWN, finish, module_command

_WORKER = Path(__file__).parent.parent / "graph" / "worker.py"
_TOGETHER = 8
"""Graphs per process: its start takes as long as several of them."""
_ROWS = "the full layout did not finish within the time limit: drawn in rows, with straight edges and without boxes for loops"
_NONE = "the layout failed or did not finish within the time limit: the blocks are listed below"
_LARGEST = 1 << 30
"""Bytes of all layouts of a process."""
_POINTS = 72.0
_CALL = re.compile(r"_c([0-9a-f]+)")

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, width and height in points."""


@dataclass(frozen=True, slots=True)
class PlacedEdge:
    """An edge: `points` are those of a Bézier curve from `src` to `dst`, which ends in straight pieces below the arrow heads."""

    src: str
    dst: str
    kind: str
    points: tuple[Point, ...]
    label: Point | None


@dataclass(frozen=True, slots=True)
class PlacedCluster:
    """The box of a loop (`loop` indexes `WarpCfg.loops`), or of a call (`context` is the call string)."""

    box: Box
    loop: int | None
    context: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlacedGraph:
    """A graph with coordinates, y downwards from the upper edge; without nodes if the layout failed. `note` reports a fallback."""

    width: float = 0.0
    height: float = 0.0
    nodes: tuple[tuple[str, Box], ...] = ()
    lines: tuple[PlacedEdge, ...] = ()
    clusters: tuple[PlacedCluster, ...] = ()
    note: str = ""


def place(texts: Sequence[str], executor: Executor | None = None, *, seconds: float = 20.0) -> Iterator[PlacedGraph]:
    """Yield the layout of each graph (`dot.bare_text`), in order; none takes much longer than twice `seconds`.

    Raises MissingToolError when pygraphviz is not installed.
    """
    if importlib.util.find_spec("pygraphviz") is None:
        raise MissingToolError("missing-extra", "the graphs of a report need pygraphviz", hint="pip install pygraphviz")
    batches = [tuple(texts[at : at + _TOGETHER]) for at in range(0, len(texts), _TOGETHER)]
    runner = executor or (Processes() if len(batches) > 1 else Serial())
    return chain.from_iterable(runner.map(partial(_place, seconds=seconds), batches))


def _place(texts: tuple[str, ...], *, seconds: float) -> list[PlacedGraph]:
    placed: list[PlacedGraph] = []
    while len(placed) < len(texts):
        left = texts[len(placed) :]
        layouts = _layouts(left, "dot", seconds)
        # The first graph had all of the time; the rest is started again.
        placed += [_parsed(layout, "") for layout in layouts] or [_in_rows(left[0], seconds)]
    return placed


def _in_rows(text: str, seconds: float) -> PlacedGraph:
    layouts = _layouts((text,), "rows", seconds)
    return _parsed(layouts[0], _ROWS) if layouts else PlacedGraph(note=_NONE)


def _layouts(texts: tuple[str, ...], layout: str, seconds: float) -> list[bytes]:
    """Return the layouts of the first graphs, up to the time limit or a failure of the process."""
    frames = b"".join(b"%d\n%b" % (len(text), text) for text in (text.encode() for text in texts))
    return _frames(
        finish(module_command(_WORKER, "json0", layout, "many"), program=OWN, given=frames, seconds=seconds, size=_LARGEST).output
    )


def _frames(data: bytes) -> list[bytes]:
    """Return the complete frames in the output of a worker."""
    frames: list[bytes] = []
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        size = int(data[at:end])
        at = end + 1 + size
        if at > len(data):
            break
        frames.append(data[end + 1 : at])
    return frames


def _parsed(data: bytes, note: str) -> PlacedGraph:
    document: dict[str, Any] = json.loads(data)
    objects = {item["_gvid"]: item for item in document.get("objects", ())}
    names = {number: str(item["name"]) for number, item in objects.items()}
    nodes = [(names[number], _node(item)) for number, item in objects.items() if "pos" in item]
    lines = [_line(item, names) for item in document.get("edges", ()) if item.get("style") != "invis"]
    clusters = [_cluster(item) for item in objects.values() if "bb" in item and names[item["_gvid"]].startswith("cluster_")]
    return _upright(PlacedGraph(0.0, 0.0, tuple(nodes), tuple(lines), tuple(clusters), note))


def _node(item: dict[str, Any]) -> Box:
    x, y = _point(item["pos"])
    width, height = float(item["width"]) * _POINTS, float(item["height"]) * _POINTS
    return x - width / 2, y + height / 2, width, height


def _line(item: dict[str, Any], names: dict[int, str]) -> PlacedEdge:
    tail, head = names[item["tail"]], names[item["head"]]
    points = _curve(item["pos"])
    label = _point(item["lp"]) if "lp" in item else None
    kind, _, direction = str(item.get("class", "")).partition(" ")
    return PlacedEdge(head, tail, kind, points[::-1], label) if direction == REVERSED else PlacedEdge(tail, head, kind, points, label)


def _curve(text: str) -> tuple[Point, ...]:
    first: list[Point] = []
    last: list[Point] = []
    middle: list[Point] = []
    for word in text.split():
        match word[0]:
            case "s":
                first = [_point(word[2:])]
            case "e":
                last = [_point(word[2:])]
            case _:
                middle.append(_point(word))
    return (*(first or middle[:1]), *middle, *(last or middle[-1:]))


def _cluster(item: dict[str, Any]) -> PlacedCluster:
    left, bottom, right, top = map(float, item["bb"].split(","))
    kind, _, rest = str(item["name"]).removeprefix("cluster_").partition("_")
    box = (left, top, right - left, top - bottom)
    if kind == "loop":
        return PlacedCluster(box, int(rest.partition("_")[0]), ())
    return PlacedCluster(box, None, tuple(int(site, 16) for site in _CALL.findall(f"_{rest}")))


def _point(text: str) -> Point:
    x, y = text.split(",")[:2]
    return float(x), float(y)


def _upright(graph: PlacedGraph) -> PlacedGraph:
    """Return the graph with y downwards and the origin in its upper left corner."""
    boxes = [*(box for _, box in graph.nodes), *(cluster.box for cluster in graph.clusters)]
    points = [point for line in graph.lines for point in line.points]
    left = min([box[0] for box in boxes] + [x for x, _ in points])
    top = max([box[1] for box in boxes] + [y for _, y in points])
    right = max([box[0] + box[2] for box in boxes] + [x for x, _ in points])
    bottom = min([box[1] - box[3] for box in boxes] + [y for _, y in points])

    def point(at: Point) -> Point:
        return round(at[0] - left, 1), round(top - at[1], 1)

    def box(at: Box) -> Box:
        return (*point((at[0], at[1])), round(at[2], 1), round(at[3], 1))

    return PlacedGraph(
        round(right - left, 1),
        round(top - bottom, 1),
        tuple((name, box(at)) for name, at in graph.nodes),
        tuple(
            PlacedEdge(line.src, line.dst, line.kind, tuple(map(point, line.points)), line.label and point(line.label))
            for line in graph.lines
        ),
        tuple(PlacedCluster(box(cluster.box), cluster.loop, cluster.context) for cluster in graph.clusters),
        graph.note,
    )
