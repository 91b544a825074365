"""`sassan cfg`: draw the graph, or print it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from sassan.app.documents import HeadFields
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.app.views import DRAWINGS, DrawingContent, draw, edges_at, result_graph
from sassan.cli.options.inputs import Csv, File, Json
from sassan.cli.options.request import AnalysisCommand, graph_analysis
from sassan.cli.options.views import Compare, Drawing, Focus, LevelChoice, LevelOption, Listing
from sassan.cli.output import csv as sheet
from sassan.cli.output import document, table
from sassan.cli.output.files import check, extension, outputs, save
from sassan.cli.output.finish import finish
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import label, out, safe
from sassan.cli.reports import compare as compared
from sassan.cli.reports.analysis import title
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import UsageError
from sassan.fields import field as fields
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import STRING, address, array, merged
from sassan.render.graph.cfg_json import GraphDocument, GraphFields, GraphNode, NodeFields


@graph_analysis
def cfg(
    command: AnalysisCommand,
    file: File,
    *,
    output: Drawing = None,
    compare: Compare = None,
    level: LevelOption = LevelChoice.WARP,
    listing: Listing = False,
    focus: Focus = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Draw the graph of a warp, or print it.

    Loop bounds are optional; with them the worst path is drawn bold, and blocks are the darker the more they cost on it.

    \b
    Examples:
      sassan cfg kernels.sass -f saxpy -o saxpy.svg
      sassan cfg kernels.sass --loop-bound 10 -o '{name}.svg'
      sassan cfg kernels.sass --loop-bound 10 -f fir --focus loop -o fir.svg
      sassan cfg kernels.sass --level thread --json
      sassan cfg kernel.ptx --compare kernel.sass
    """
    sheet.exclude(csv=csv, json=json)
    request, quiet = replace(command.request, files=(file,)), command.observer.quiet
    if compare is not None:
        if csv:
            raise UsageError("usage", "--csv has the blocks of graphs, and --compare prints none", hint="pass --json with --compare")
        if output is not None:
            hint = "omit -o, or draw each file by itself"
            raise UsageError("nothing-to-draw", "--compare prints a table and draws nothing", hint=hint)
        left = replace(request, settings=Settings()).inputs(command.observer)
        right = left if compare == file else replace(request, files=(compare,), settings=Settings()).inputs(command.observer)
        compared.run(left, right, request.settings, json=json, quiet=quiet)
        finish(left)
        finish(right)
        return
    if focus is not None and output is None:
        raise UsageError("nothing-to-draw", "--focus says what is drawn, and nothing is", hint="pass -o X.svg, too")
    kind = extension(output, DRAWINGS) if output is not None else ""
    inputs = request.inputs(command.observer)
    check(output, inputs.names)
    results, inputs = request.results_of(inputs, command.observer)
    paths = outputs(output, tuple(result.function.name for result in results)) if output is not None else ()
    for path, result in zip(paths, results, strict=output is not None):
        drawing = draw(result, kind, DrawingContent(level.value, listing, focus or "", label(result.function.name)))
        save(path, drawing.data, quiet=quiet, remark="".join(f" ({safe(text)})" for text in drawing.notes))
    if json:
        document.show(
            [fields.document(CfgFields, ResultGraph(result, result_graph(result, level.value))) for result in results], inputs.refused
        )
    elif csv:
        sheet.of_parts(HeadFields, FollowedBlockFields, ((result, _followed(result, level)) for result in results))
    elif output is None:
        for result in results:
            _blocks(result, level)
        list_gaps([(result.function.name, result.cfg.gaps) for result in results])
    finish(inputs)


class ResultGraph(NamedTuple):
    """A function, and its graph at a level."""

    result: AnalysisResult
    graph: GraphDocument


class FollowedBlock(NamedTuple):
    """A block of a graph, and the blocks that its edges lead to."""

    node: GraphNode
    targets: list[str]


_of, _of_node = Declare[ResultGraph](), Declare[FollowedBlock]()


class CfgFields(Record[ResultGraph]):
    """What `sassan cfg` says of one function."""

    _head = _of(merged(HeadFields), "the function", lambda each: each.result)
    _graph = _of(merged(GraphFields), "its graph", lambda each: each.graph)


class FollowedBlockFields(Record[FollowedBlock]):
    """A block, and those that follow it."""

    _node = _of_node(merged(NodeFields), "the block", lambda each: each.node)
    _next = _of_node(array(STRING), "blocks that its edges lead to, or `exit`", lambda each: each.targets, key=None, csv="next")


def _followed(result: AnalysisResult, level: LevelChoice) -> Iterator[FollowedBlock]:
    """Yield each block with the blocks that its edges lead to."""
    graph = result_graph(result, level.value)
    after: dict[str, list[str]] = {}
    for edge in graph.edges:
        target = edge.target
        after.setdefault(graph.cfg.nodes[edge.arc.src].id, []).append(target.id if target is not None else edge.arc.kind.value)
    for node in graph.nodes:
        yield FollowedBlock(node, after.get(node.block.id, []))


def _blocks(result: AnalysisResult, level: LevelChoice) -> None:

    after: dict[int, list[str]] = {}
    for arc in edges_at(result.cfg, level.value):
        target = "end" if arc.dst is None else result.cfg.nodes[arc.dst].id
        after.setdefault(arc.src, []).append(arc.kind.value if arc.dst is None else f"{arc.kind.value} {target}")
    columns = (Column("block"), Column("to"), Column("instr", number=True), Column("string", widest=24), Column("next"))
    rows = tuple(
        (node.id, address(node.end), str(len(node.code)), str(letters or "?"), ", ".join(after.get(at, [])))
        for at, (node, letters) in enumerate(zip(result.cfg.nodes, result.strings, strict=True))
    )
    out(f"{title(result.function, result.settings.launch, f', {level.value} level')}\n")
    table.show(Table(columns, rows))
    out("\n")
