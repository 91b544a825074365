"""The layout process: DOT on standard input, the drawing on standard output.

Graphviz runs in a separate process, so that it can be interrupted and stopped after a time limit, and so that its warnings can be
read. This file imports nothing of sassan: it is run by its path.
"""

import sys
from collections import defaultdict
from contextlib import suppress
from typing import Any

import pygraphviz

_CELL = 210.0
_ROW = 60.0
_BETWEEN = 24.0
_POINTS = 72.0
_SECONDS = 2
"""Of a full layout: hundreds of blocks take a tenth of a second, what takes longer grows with the square of the graph, or faster."""


def main() -> None:
    """Write the drawing in the format and with the layout (`dot` or `rows`) of the arguments; with `many`, one for each frame.

    A frame is a length in decimal digits, a line end, and as many bytes.
    """
    form, layout, *many = sys.argv[1:]
    if not many:
        if layout == "dot":
            _limit()
        sys.stdout.buffer.write(_drawing(sys.stdin.buffer.read(), form, layout))
        return
    while head := sys.stdin.buffer.readline():
        drawing = _drawing(sys.stdin.buffer.read(int(head)), form, layout)
        sys.stdout.buffer.write(b"%d\n%b" % (len(drawing), drawing))
        sys.stdout.buffer.flush()


def _limit() -> None:
    """Have the system end this process when it has computed for so long: of processor time, so that a busy machine draws the same."""
    with suppress(ImportError):
        import resource  # noqa: PLC0415 - there is none on Windows

        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS + 1))


def _drawing(text: bytes, form: str, layout: str) -> bytes:
    graph = pygraphviz.AGraph(string=text.decode("utf-8"))
    if layout == "rows":
        place_in_rows(graph)
    drawing = graph.draw(format=form, prog="nop" if layout == "rows" else layout)
    if not isinstance(drawing, bytes):
        sys.exit(f"Graphviz drew no {form}")
    return drawing


def place_in_rows(graph: pygraphviz.AGraph) -> None:
    """Place every node: its row is the longest path from a root, its column follows its predecessors.

    Takes linear time, except for sorting the rows.
    """
    before: dict[str, list[str]] = defaultdict(list)
    after: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges():
        src, dst = str(edge[0]), str(edge[1])
        if src != dst:
            before[dst].append(src)
            after[src].append(dst)
    columns: dict[str, float] = {}
    cell = max(_CELL, _most(graph, "width") + _BETWEEN)
    pitch = max(_ROW, _most(graph, "height") + _BETWEEN)
    for row, names in enumerate(_rows(list(graph.nodes()), before, after)):
        wanted = {name: _mean([columns[other] for other in before[name] if other in columns]) for name in names}
        middle = _mean(list(wanted.values()))
        for at, name in enumerate(sorted(names, key=lambda other: (wanted[other], other))):
            columns[name] = middle + (at - (len(names) - 1) / 2) * cell
            graph.add_node(name, pos=f"{columns[name]:.1f},{-row * pitch:.1f}")
    graph.graph_attr["splines"] = "line"


def _most(graph: pygraphviz.AGraph, side: str) -> float:
    """Return the largest width or height of a node, in points."""
    nodes: list[Any] = list(graph.nodes())
    return max((float(node.attr[side] or 0) * _POINTS for node in nodes), default=0.0)


def _rows(names: list[str], before: dict[str, list[str]], after: dict[str, list[str]]) -> list[list[str]]:
    waiting = {name: len(before[name]) for name in names}
    rows: list[list[str]] = []
    row = [name for name in names if waiting[name] == 0]
    while row:
        rows.append(row)
        for done in row:
            for name in after[done]:
                waiting[name] -= 1
        # A node is placed in the row after the last of its predecessors.
        row = sorted({name for done in row for name in after[done] if waiting[name] == 0})
    # Nodes on cycles, which texts made by sassan do not have.
    left = [name for name in names if waiting[name] > 0]
    return [*rows, left] if left else rows


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


if __name__ == "__main__":
    main()
