"""What a result, or a function, looks like: drawings, listings, integer programs, comparisons, records for a page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sassan.access import Access
from sassan.app.accesses import launch_accesses
from sassan.app.analysis import explored, launched, same_name, warp_graph
from sassan.app.registers import registers_of
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.errors import UsageError
from sassan.fields.field import document
from sassan.ilp import write
from sassan.ipet.facts import ffx
from sassan.ir import Function
from sassan.isa import tables
from sassan.isa.languages import isa_of
from sassan.render.graph.cfg_json import GraphDocument, GraphFields
from sassan.render.graph.decorations import Decorations
from sassan.render.graph.dot import dot_text
from sassan.render.graph.draw import FORMATS, Drawing
from sassan.render.graph.draw import draw as render
from sassan.render.graph.graphml import graphml
from sassan.render.graph.levels import DrawnEdge, Level, arcs
from sassan.render.html.sketch import Sketch
from sassan.render.html.sketch import sketch as render_sketch
from sassan.render.listing import Listing
from sassan.render.listing import listing as render_listing
from sassan.timing import hazards
from sassan.timing.findings import Report
from sassan.timing.scoreboards import check
from sassan.warpcfg.compare import Comparison
from sassan.warpcfg.compare import compare as compare_graphs
from sassan.warpcfg.graph import WarpCfg

PROGRAMS = ("lp", "mps")
"""File formats of an integer program."""
DRAWINGS = FORMATS
"""File formats of a drawing."""
EXCHANGED = ("ffx", "dot", "graphml")
"""File formats for other tools: flow facts of many functions, the graph of one."""


def integer_program(result: AnalysisResult, form: str) -> str | None:
    """The integer program of a function as LP or MPS text, None where gaps forbid it."""
    model = result.problem.model
    if model is None:
        return None
    return write.lp(model) if form == "lp" else write.mps(model)


def flow_facts_xml(results: Iterable[AnalysisResult]) -> str:
    """The loop bounds of functions as FFX, the flow facts of OTAWA, which go by the names of functions.

    Raises UsageError `same-name` for two functions of one name, `several-launches` for two launches of one function, whose bounds may
    differ, InputError `unwritable-name` for a name that XML cannot hold.
    """
    named: dict[str, AnalysisResult] = {}
    for result in results:
        other = named.setdefault(result.function.name, result)
        if other is not result and result.settings.launch.recorded:
            message = f"flow facts go by name, and '{result.function.name}' has several launches, whose bounds may differ"
            raise UsageError("several-launches", message, hint="give one launch: --block-dim, --grid, --param")
        if other is not result:
            raise same_name(result.function.name)
    return ffx.write((result.cfg, result.bounds) for result in named.values())


def exchanged(result: AnalysisResult, form: str, level: str = "warp") -> bytes:
    """The graph of a function in one of EXCHANGED but the flow facts.

    Raises UsageError, MissingToolError as `draw`.
    """
    if form == "graphml":
        return graphml(graph_document(result, level)).encode()
    return draw(result, form, DrawingContent(level)).data


@dataclass(frozen=True, slots=True)
class DrawingContent:
    """What a drawing shows of a graph.

    `listing` writes the instructions into the blocks. `focus`: all, loop, worst or an address; with '' large graphs are drawn with loops
    and calls as one block each. `name` stands in the title, '' for that of the input.
    """

    level: str = "warp"
    listing: bool = False
    focus: str = ""
    name: str = ""


_PLAIN = DrawingContent()


def draw(result: AnalysisResult, form: str, content: DrawingContent = _PLAIN) -> Drawing:
    """The graph of a function as a drawing in one of DRAWINGS; the worst path is drawn where it is known.

    Raises UsageError when no layout ends in time, or there is nothing in focus, MissingToolError.
    """
    decorations = replace(_decorations(result), name=content.name)
    return render(dot_text(result.cfg, decorations, level=Level(content.level), listing=content.listing, focus=content.focus), form)


def graph_document(result: AnalysisResult, level: str = "warp") -> Mapping[str, Any]:
    """The graph of a result as plain data, with what a drawing shows."""
    return document(GraphFields, result_graph(result, level))


def result_graph(result: AnalysisResult, level: str = "warp") -> GraphDocument:
    """The graph of a result, with what a drawing shows."""
    return GraphDocument(result.cfg, _decorations(result), Level(level))


def _decorations(result: AnalysisResult) -> Decorations:
    heads = [result.cfg.nodes[loop.head].start for loop in result.cfg.loops]
    return Decorations(
        letters=tuple(str(string or "") for string in result.strings),
        costs=result.problem.known_costs,
        counts=result.wcet.counts,
        bounds={head: bound for head, bound in zip(heads, result.bounds.of_loop, strict=True) if bound is not None},
        wcet=_title(result),
    )


def _title(result: AnalysisResult) -> str:
    bound = result.wcet
    if bound.value is None:
        return ""
    if not bound.bound:
        return f"{bound.value} (experiment, no bound)"
    return f"{bound.value} {result.quantity} ({bound.model} model)"


def compare_functions(left: Function, right: Function, settings: Settings) -> Comparison:
    """The branches of two forms of one kernel side by side: where threads diverge, and where they reconverge.

    Raises InputError for an architecture without a table, SelfCheckError.
    """
    return compare_graphs(warp_graph(left, settings), warp_graph(right, settings))


def listing_of(function: Function, settings: Settings) -> Listing:
    """One row per instruction: its control code, whether it may split the warp, and for a launch its transactions of memory.

    Raises InputError for an architecture without a table, SelfCheckError.
    """
    plain, isa = explored(function, isa_of(function, settings.letters), settings)
    values = launched(plain, isa, settings)
    known = registers_of(function, isa.facts)
    in_use = known.in_use if known is not None else ()
    if values is None:
        return render_listing(plain, isa.facts, in_use=in_use)
    return render_listing(values.cfg, isa.facts, launch_accesses(values, settings), in_use)


def check_control(function: Function) -> Report:
    """Every consumer of a function that does not wait for its producer, by its control codes.

    Raises InputError for an architecture without a table.
    """
    return check(function, tables.load(function.arch).facts, hazards.load(function.arch))


def edges_at(cfg: WarpCfg, level: str) -> tuple[DrawnEdge, ...]:
    """The edges of the warp, or those of a single thread."""
    return arcs(cfg, Level(level))


def page_sketch(result: AnalysisResult, followed: Iterable[Access] | None = None) -> Sketch:
    """The graph and the listing of a result as plain data for a page, without positions; `followed` are accesses that are known already."""
    total = result.wcet.value if result.wcet.bound else None
    if followed is None:
        followed = () if result.values is None else launch_accesses(result.values, result.settings)
    known, facts_of = registers_of(result.function, result.isa.facts), result.isa.facts
    shown = render_listing(result.cfg, facts_of, followed, known.in_use if known is not None else ())
    return render_sketch(result.cfg, _decorations(result), facts_of, result.gaps, total, shown)
