"""The warp-level control-flow graph of a kernel, to look at and to compute with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sassan.app.result import AnalysisResult
from sassan.app.views import DrawingContent, draw, graph_document
from sassan.render.files import write_atomically

if TYPE_CHECKING:
    import networkx as nx

Level = Literal["warp", "thread"]
"""Whose steps the edges are: those of the warp, or of a single thread of it."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Blocks and the edges between them, decorated with strings, costs and the worst path where they are known.

    `len` is the number of blocks, where a block of two call contexts counts twice. `level` is `warp`, whose edges also resume suspended
    threads (Jeanmougin et al. 2023), or `thread`, the graph of a single thread. `analysis` is the result behind it.
    """

    analysis: AnalysisResult = field(repr=False)

    def __len__(self) -> int:
        """Return the number of blocks, call contexts distinguished."""
        return len(self.analysis.cfg.nodes)

    def to_dict(self, level: Level = "warp") -> Mapping[str, Any]:
        """Return what `sassan cfg --json` says: nodes (`id`, `start`, `end`, `instructions`, ...), edges (`src`, `dst`, `kind`) and loops.

        `level` says whose edges, of the warp or of a thread. Addresses are texts (`0x0068`), costs numbers in the unit of the cost model.
        """
        return graph_document(self.analysis, level)

    def to_networkx(self, level: Level = "warp") -> "nx.MultiDiGraph[str]":
        """Return the graph of `level` as a networkx.MultiDiGraph, whose nodes and edges have the attributes of `to_dict`.

        Nodes are named by `id`; the end of the warp is the node `exit`.
        """
        import networkx as nx  # noqa: PLC0415 - whoever draws or prints needs none of it

        document = self.to_dict(level)
        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(name=document["name"], entry=document["entry"])
        for node in document["nodes"]:
            graph.add_node(node["id"], **node)
        for edge in document["edges"]:
            graph.add_edge(edge["src"], edge["dst"] or "exit", **edge)
        return graph

    def svg(self, *, level: Level = "warp", listing: bool = False) -> str:
        """Return a drawing of the graph of `level` as the text of an SVG; `listing` writes the instructions into the blocks.

        Raises UsageError `layout-timeout` for a graph that is not laid out in time; `save` to .dot needs no layout.
        """
        return draw(self.analysis, "svg", DrawingContent(level, listing)).data.decode()

    def save(self, path: str | PathLike[str], *, level: Level = "warp", listing: bool = False) -> None:
        """Write a drawing to the file `path`, which ends in .dot, .svg, .png or .pdf: whole, or not at all.

        `level` and `listing` are those of `svg`. Raises UsageError for another ending, where the file cannot be written, or where the
        layout takes too long, and MissingToolError where a form needs a program that is not installed.
        """
        place = Path(fspath(path))
        form = place.suffix.lower().removeprefix(".")
        write_atomically(place, draw(self.analysis, form, DrawingContent(level, listing)).data)

    def _repr_svg_(self) -> str:
        return self.svg()
