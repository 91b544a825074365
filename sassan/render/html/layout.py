"""Where Graphviz puts the blocks, edges and boxes of many graphs: a few processes lay out one graph after the other.

Like the drawings of `cfg` (draw.py), every graph has its time; where that is over, its blocks are placed in rows, and a note says so.
"""

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from sassan.errors import MissingToolError
from sassan.executor import Executor, Processes, Serial
from sassan.render.dot import TURNED

_WORKER = Path(__file__).parent.parent / "worker.py"
_TOGETHER = 8
"""Graphs that one process lays out: its start costs as much as some of them."""
_ROWS = "no full layout of this graph was found in the time given: drawn in rows, with straight edges and no boxes of loops"
_NONE = "no layout of this graph was found in the time given: its blocks are listed below"
_POINTS = 72.0
_CALL = re.compile(r"_c([0-9a-f]+)")

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, width and height in points."""


@dataclass(frozen=True, slots=True)
class Line:
    """An edge: `points` are those of a Bézier curve from `src` to `dst`, which ends in straight pieces below the arrow heads."""

    src: str
    dst: str
    kind: str
    points: tuple[Point, ...]
    label: Point | None


@dataclass(frozen=True, slots=True)
class Cluster:
    """The box of a loop (`loop` indexes `WarpCfg.loops`), or of a call (`context` is the call string)."""

    box: Box
    loop: int | None
    context: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """A graph with places, y downwards from the upper edge; without nodes where no layout was found. `note` says what is not as usual."""

    width: float = 0.0
    height: float = 0.0
    nodes: tuple[tuple[str, Box], ...] = ()
    lines: tuple[Line, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    note: str = ""


def place(texts: Sequence[str], executor: Executor | None = None, *, seconds: float = 20.0) -> Iterator[Placed]:
    """Yield the places of each graph (`dot.bare_text`), in order; none takes much longer than twice `seconds`.

    Raises MissingToolError when pygraphviz is not installed.
    """
    if importlib.util.find_spec("pygraphviz") is None:
        raise MissingToolError("missing-extra", "the graphs of a report need pygraphviz", hint="pip install pygraphviz")
    some = [tuple(texts[at : at + _TOGETHER]) for at in range(0, len(texts), _TOGETHER)]
    chosen = executor or (Processes() if len(some) > 1 else Serial())
    return chain.from_iterable(chosen.map(partial(_place, seconds=seconds), some))


def _place(texts: tuple[str, ...], *, seconds: float) -> list[Placed]:
    placed: list[Placed] = []
    while len(placed) < len(texts):
        left = texts[len(placed) :]
        done = _layouts(left, "dot", seconds)
        # The first graph had all of the time for itself; a later one begins anew.
        placed += [_parsed(one, "") for one in done] or [_in_rows(left[0], seconds)]
    return placed


def _in_rows(text: str, seconds: float) -> Placed:
    done = _layouts((text,), "rows", seconds)
    return _parsed(done[0], _ROWS) if done else Placed(note=_NONE)


def _layouts(texts: tuple[str, ...], layout: str, seconds: float) -> list[bytes]:
    """Return the layouts of the first graphs, as many as are done in time and before the process fails on one."""
    frames = b"".join(b"%d\n%b" % (len(text), text) for text in (one.encode() for one in texts))
    command = [sys.executable, "-P", str(_WORKER), "json0", layout, "many"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - ours
        try:
            return _frames(process.communicate(frames, timeout=seconds)[0])
        except subprocess.TimeoutExpired:
            process.kill()
            return _frames(process.communicate()[0])
        except BaseException:
            process.kill()
            raise


def _frames(data: bytes) -> list[bytes]:
    """Return the whole frames of what a worker wrote."""
    frames: list[bytes] = []
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        size = int(data[at:end])
        at = end + 1 + size
        if at > len(data):
            break
        frames.append(data[end + 1 : at])
    return frames


def _parsed(data: bytes, note: str) -> Placed:
    found: dict[str, Any] = json.loads(data)
    objects = {one["_gvid"]: one for one in found.get("objects", ())}
    names = {number: str(one["name"]) for number, one in objects.items()}
    nodes = [(names[number], _node(one)) for number, one in objects.items() if "pos" in one]
    lines = [_line(one, names) for one in found.get("edges", ()) if one.get("style") != "invis"]
    clusters = [_cluster(one) for one in objects.values() if "bb" in one and names[one["_gvid"]].startswith("cluster_")]
    return _upright(Placed(0.0, 0.0, tuple(nodes), tuple(lines), tuple(clusters), note))


def _node(one: dict[str, Any]) -> Box:
    x, y = _point(one["pos"])
    width, height = float(one["width"]) * _POINTS, float(one["height"]) * _POINTS
    return x - width / 2, y + height / 2, width, height


def _line(one: dict[str, Any], names: dict[int, str]) -> Line:
    tail, head = names[one["tail"]], names[one["head"]]
    points = _curve(one["pos"])
    label = _point(one["lp"]) if "lp" in one else None
    kind, _, turned = str(one.get("class", "")).partition(" ")
    return Line(head, tail, kind, points[::-1], label) if turned == TURNED else Line(tail, head, kind, points, label)


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


def _cluster(one: dict[str, Any]) -> Cluster:
    left, bottom, right, top = map(float, one["bb"].split(","))
    kind, _, rest = str(one["name"]).removeprefix("cluster_").partition("_")
    box = (left, top, right - left, top - bottom)
    if kind == "loop":
        return Cluster(box, int(rest.partition("_")[0]), ())
    return Cluster(box, None, tuple(int(site, 16) for site in _CALL.findall(f"_{rest}")))


def _point(text: str) -> Point:
    x, y = text.split(",")[:2]
    return float(x), float(y)


def _upright(one: Placed) -> Placed:
    """Return the same with y downwards, the origin in the upper left corner of what is drawn."""
    boxes = [*(box for _, box in one.nodes), *(cluster.box for cluster in one.clusters)]
    points = [point for line in one.lines for point in line.points]
    left = min([box[0] for box in boxes] + [x for x, _ in points])
    top = max([box[1] for box in boxes] + [y for _, y in points])
    right = max([box[0] + box[2] for box in boxes] + [x for x, _ in points])
    bottom = min([box[1] - box[3] for box in boxes] + [y for _, y in points])

    def point(at: Point) -> Point:
        return round(at[0] - left, 1), round(top - at[1], 1)

    def box(at: Box) -> Box:
        return (*point((at[0], at[1])), round(at[2], 1), round(at[3], 1))

    return Placed(
        round(right - left, 1),
        round(top - bottom, 1),
        tuple((name, box(at)) for name, at in one.nodes),
        tuple(Line(line.src, line.dst, line.kind, tuple(map(point, line.points)), line.label and point(line.label)) for line in one.lines),
        tuple(Cluster(box(cluster.box), cluster.loop, cluster.context) for cluster in one.clusters),
        one.note,
    )
