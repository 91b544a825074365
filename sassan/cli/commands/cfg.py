"""`sassan cfg`: draw the graph, or print it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sassan.app import documents
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.app.views import DRAWINGS, DrawingContent, draw, edges_at, graph_document
from sassan.cli.options.inputs import Csv, File, Json
from sassan.cli.options.request import AnalysisCommand, graph_analysis
from sassan.cli.options.views import Compare, Drawing, Focus, Level, LevelOption, Listing
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


@graph_analysis
def cfg(
    asked: AnalysisCommand,
    file: File,
    *,
    output: Drawing = None,
    compare: Compare = None,
    level: LevelOption = Level.WARP,
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
    request, quiet = replace(asked.request, files=(file,)), asked.observer.quiet
    if compare is not None:
        if csv:
            raise UsageError("usage", "--csv has the blocks of graphs, and --compare prints none", hint="pass --json with --compare")
        if output is not None:
            hint = "omit -o, or draw each file by itself"
            raise UsageError("nothing-to-draw", "--compare prints a table and draws nothing", hint=hint)
        left = replace(request, settings=Settings()).inputs(asked.observer)
        right = left if compare == file else replace(request, files=(compare,), settings=Settings()).inputs(asked.observer)
        compared.run(left, right, request.settings, json=json, quiet=quiet)
        finish(left)
        finish(right)
        return
    if focus is not None and output is None:
        raise UsageError("nothing-to-draw", "--focus says what is drawn, and nothing is", hint="pass -o X.svg, too")
    kind = extension(output, DRAWINGS) if output is not None else ""
    inputs = request.inputs(asked.observer)
    check(output, inputs.names)
    results, inputs = request.results_of(inputs, asked.observer)
    paths = outputs(output, tuple(result.function.name for result in results)) if output is not None else ()
    for path, result in zip(paths, results, strict=output is not None):
        drawing = draw(result, kind, DrawingContent(level.value, listing, focus or "", label(result.function.name)))
        save(path, drawing.data, quiet=quiet, remark="".join(f" ({safe(text)})" for text in drawing.notes))
    if json:
        document.show([_document(result, level) for result in results], inputs.refused)
    elif csv:
        sheet.show(_HEADS, (row for result in results for row in _flat(result, level)))
    elif output is None:
        for result in results:
            _blocks(result, level)
        list_gaps([(result.function.name, result.cfg.gaps) for result in results])
    finish(inputs)


def _document(result: AnalysisResult, level: Level) -> Mapping[str, object]:

    return {**documents.head(result), **graph_document(result, level.value)}


_HEADS = ("name", "arch", "file", "id", "start", "end", "instructions", "context", "divergent", "string", "cost", "count", "next")
"""The columns of CSV."""


def _flat(result: AnalysisResult, level: Level) -> Iterator[Mapping[str, object]]:
    """Yield a row of CSV for each block; `next` has the blocks that its edges lead to."""
    known = graph_document(result, level.value)
    after: dict[str, list[str]] = {}
    for edge in known["edges"]:
        after.setdefault(edge["src"], []).append(edge["dst"] or edge["kind"])
    for node in known["nodes"]:
        yield {**documents.head(result), **node, "next": after.get(node["id"], [])}


def _blocks(result: AnalysisResult, level: Level) -> None:

    after: dict[int, list[str]] = {}
    for arc in edges_at(result.cfg, level.value):
        target = "end" if arc.dst is None else result.cfg.nodes[arc.dst].id
        after.setdefault(arc.src, []).append(arc.kind.value if arc.dst is None else f"{arc.kind.value} {target}")
    columns = (Column("block"), Column("to"), Column("instr", number=True), Column("string", widest=24), Column("next"))
    rows = tuple(
        (node.id, documents.address(node.end), str(len(node.code)), str(letters or "?"), ", ".join(after.get(at, [])))
        for at, (node, letters) in enumerate(zip(result.cfg.nodes, result.strings, strict=True))
    )
    out(f"{title(result.function, result.settings.launch, f', {level.value} level')}\n")
    table.show(Table(columns, rows))
    out("\n")
