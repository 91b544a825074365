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
    """Blocks and the edges between them, decorated with strings, costs and the worst path where they are known."""

    analysis: AnalysisResult = field(repr=False)

    def __len__(self) -> int:
        """Return the number of blocks, call contexts distinguished."""
        return len(self.analysis.cfg.nodes)

    def to_dict(self, level: Level = "warp") -> Mapping[str, Any]:
        """Return what `sassan cfg --json` says: nodes, edges and loops as plain data."""
        return graph_document(self.analysis, level)

    def to_networkx(self, level: Level = "warp") -> "nx.MultiDiGraph[str]":
        """Return the graph with the attributes of `to_dict`; the end of the warp is the node `exit`."""
        import networkx as nx  # noqa: PLC0415 - whoever draws or prints needs none of it

        document = self.to_dict(level)
        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(name=document["name"], entry=document["entry"])
        for node in document["nodes"]:
            graph.add_node(node["id"], **node)
        for edge in document["edges"]:
            graph.add_edge(edge["src"], edge["dst"] or "exit", **edge)
        return graph

    def svg(self, *, level: Level = "warp", listing: bool = False) -> str:
        """Return a drawing; `listing` writes the instructions into the blocks.

        Raises UsageError `layout-timeout`.
        """
        return draw(self.analysis, "svg", DrawingContent(level, listing)).data.decode()

    def save(self, path: str | PathLike[str], *, level: Level = "warp", listing: bool = False) -> None:
        """Write a drawing to a file that ends in .dot, .svg, .png or .pdf: whole, or not at all.

        Raises UsageError for another ending, or where the file cannot be written.
        """
        place = Path(fspath(path))
        form = place.suffix.lower().removeprefix(".")
        write_atomically(place, draw(self.analysis, form, DrawingContent(level, listing)).data)

    def _repr_svg_(self) -> str:
        return self.svg()
