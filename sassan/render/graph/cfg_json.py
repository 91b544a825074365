"""The document of `sassan cfg --json`: nodes and edges as plain data, with stable keys."""

from typing import Any, NamedTuple

from sassan.fields.field import Declare, Record, document
from sassan.fields.kinds import ADDRESS, BOUND, COUNT, FLAG, STRING, TEXT, address, array, choice, merged, nullable, one
from sassan.fields.shared import GAPS, TARGETS, AssumedFields
from sassan.render.graph.decorations import Decorations
from sassan.render.graph.levels import DrawnEdge, Level, arcs
from sassan.warpcfg.graph import CfgLoop, EdgeKind, Node, WarpCfg


class GraphNode(NamedTuple):
    """A block; `string`, `cost` (in the unit of the cost model) and `executions` (on a worst path) are None if unknown."""

    block: Node
    string: str | None
    cost: int | None
    executions: int | None


class GraphEdge(NamedTuple):
    """An edge of a graph."""

    cfg: WarpCfg
    arc: DrawnEdge

    @property
    def target(self) -> Node | None:
        """The block that it leads to, None at the end."""
        return None if self.arc.dst is None else self.cfg.nodes[self.arc.dst]


class GraphLoop(NamedTuple):
    """A loop of a graph with its bound."""

    cfg: WarpCfg
    loop: CfgLoop
    bound: int | None


class GraphDocument(NamedTuple):
    """The graph of one function at a level, with what a drawing of it shows."""

    cfg: WarpCfg
    shown: Decorations = Decorations()
    level: Level = Level.WARP

    @property
    def nodes(self) -> list[GraphNode]:
        """The blocks in the order of the graph."""
        counts = self.shown.node_counts(self.cfg) if self.level is Level.WARP else ()
        letters, costs = self.shown.letters, self.shown.costs
        return [
            GraphNode(block, letters[at] or None if letters else None, costs[at] if costs else None, counts[at] if counts else None)
            for at, block in enumerate(self.cfg.nodes)
        ]

    @property
    def edges(self) -> list[GraphEdge]:
        """The edges of the level."""
        return [GraphEdge(self.cfg, arc) for arc in arcs(self.cfg, self.level)]

    @property
    def loops(self) -> list[GraphLoop]:
        """The loops with their bounds."""
        return [GraphLoop(self.cfg, loop, self.shown.bounds.get(self.cfg.nodes[loop.head].start)) for loop in self.cfg.loops]


_of_node, _of_edge, _of_loop, _of = Declare[GraphNode](), Declare[GraphEdge](), Declare[GraphLoop](), Declare[GraphDocument]()


class NodeFields(Record[GraphNode]):
    """A block of the graph."""

    id = _of_node(STRING, "of the block", lambda node: node.block.id, csv=True)
    start = _of_node(ADDRESS, "its first instruction", lambda node: node.block.start, csv=True)
    end = _of_node(ADDRESS, "its last instruction", lambda node: node.block.end, csv=True)
    instructions = _of_node(COUNT, "how many it has", lambda node: len(node.block.code), csv=True)
    context = _of_node(array(ADDRESS), "call sites that lead to it", lambda node: node.block.context, csv=True)
    divergent = _of_node(FLAG, "whether its last instruction may split the warp", lambda node: node.block.divergent, csv=True)
    string = _of_node(TEXT, "its kernel string", csv=True)
    cost = _of_node(BOUND, "of one execution, in cycles of the cost model", csv=True)
    executions = _of_node(BOUND, "executions on the worst path", key="count", csv=True)


class EdgeFields(Record[GraphEdge]):
    """An edge of the graph; `dst` and `to` are null at the end."""

    src = _of_edge(STRING, "the block that it leaves", lambda edge: edge.cfg.nodes[edge.arc.src].id)
    dst = _of_edge(TEXT, "the block that it leads to", lambda edge: edge.target.id if edge.target is not None else None)
    last = _of_edge(ADDRESS, "last instruction of the source", lambda edge: edge.cfg.nodes[edge.arc.src].end, key="from")
    first = _of_edge(
        nullable(ADDRESS), "first instruction of the target", lambda edge: edge.target.start if edge.target is not None else None, key="to"
    )
    kind = _of_edge(choice(*EdgeKind), "what the warp does on it", lambda edge: edge.arc.kind.value)
    pushed = _of_edge(TEXT, "the point that it suspends", lambda edge: None if edge.arc.pushed is None else str(edge.arc.pushed))
    popped = _of_edge(TEXT, "the point that it resumes", lambda edge: None if edge.arc.popped is None else str(edge.arc.popped))


class CfgLoopFields(Record[GraphLoop]):
    """A loop of the graph."""

    head = _of_loop(STRING, "its header", lambda each: each.cfg.nodes[each.loop.head].id)
    nodes = _of_loop(array(STRING), "its blocks", lambda each: [each.cfg.nodes[at].id for at in each.loop.nodes])
    bound = _of_loop(BOUND, "back edges per entry, null without a flow fact")
    per_thread = _of_loop(FLAG, "whether each thread may iterate separately", lambda each: not each.loop.single_witness)


class GraphFields(Record[GraphDocument]):
    """The graph of one function."""

    name = _of(STRING, "name of the function, as the input has it", lambda graph: graph.cfg.function.name)
    arch = _of(STRING, "architecture: `sm_61`", lambda graph: graph.cfg.function.arch)
    level = _of(choice(*Level), "whose graph it is", lambda graph: graph.level.value)
    entry = _of(STRING, "its first block", lambda graph: graph.cfg.nodes[graph.cfg.entry].id)
    nodes = _of(array(one(NodeFields)), "its blocks")
    edges = _of(array(one(EdgeFields)), "its edges")
    loops = _of(array(one(CfgLoopFields)), "its loops")
    token_targets = _of(
        TARGETS,
        "for each SYNC, BRK or BSYNC the addresses where its threads resume",
        lambda graph: {address(at): targets for at, targets in graph.cfg.token_targets},
    )
    gaps = _of(GAPS, "what is not understood", lambda graph: graph.cfg.gaps)
    _assumed = _of(merged(AssumedFields), "what the graph rests on", lambda graph: graph.cfg.assumptions)


def cfg_document(cfg: WarpCfg, decorations: Decorations | None = None, *, level: Level = Level.WARP) -> dict[str, Any]:
    """Return the graph at `level` as plain data, in the order of `cfg`; addresses are text: `0x0068`."""
    return document(GraphFields, GraphDocument(cfg, decorations or Decorations(), level))
