"""`sassan cfg`: draw the graph, or print it."""

from collections.abc import Mapping
from pathlib import Path

from sassan.app import documents
from sassan.app.analysis import analyze
from sassan.app.result import AnalysisResult
from sassan.app.views import DRAWINGS, draw, edges_at, graph_document
from sassan.cli.inputs import Result, analyses, finish, read
from sassan.cli.options import settings
from sassan.cli.options.inputs import File, Functions, Json, NoCache, Quiet, Sm
from sassan.cli.options.launch import BlockDim, Bounds, Grid, LoopBound, Parameters
from sassan.cli.options.models import Ablate, CallDepth, Letters, LettersOption, Order, OrderOption
from sassan.cli.options.views import Compare, Drawing, Level, LevelOption, Listing
from sassan.cli.output import compare_report as compared
from sassan.cli.output import document
from sassan.cli.output.analysis_report import list_gaps
from sassan.cli.output.files import check, extension, outputs
from sassan.cli.output.table import Column, Table, show
from sassan.cli.output.terminal import note, out, safe
from sassan.errors import UsageError
from sassan.render.files import write_atomically


def cfg(
    file: File,
    *,
    function: Functions = None,
    output: Drawing = None,
    compare: Compare = None,
    level: LevelOption = Level.WARP,
    listing: Listing = False,
    bounds: Bounds = None,
    loop_bound: LoopBound = None,
    block_dim: BlockDim = None,
    grid: Grid = None,
    param: Parameters = None,
    letters: LettersOption = Letters.TIMING,
    order: OrderOption = Order.ARCH,
    call_depth: CallDepth = None,
    ablate: Ablate = None,
    sm: Sm = None,
    no_cache: NoCache = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw the graph of a warp, or print it.

    Loop bounds are optional; with them the worst path is drawn bold.

    \b
    Examples:
      sassan cfg kernels.sass -f saxpy -o saxpy.svg
      sassan cfg kernels.sass --loop-bound 10 -o '{name}.svg'
      sassan cfg kernels.sass --level thread --json
      sassan cfg kernel.ptx --compare kernel.sass
    """
    chosen = settings.make(
        bounds=bounds,
        loop_bound=loop_bound,
        launch=settings.launch(block_dim, grid, param),
        letters=letters,
        order=order,
        call_depth=call_depth,
        ablate=ablate,
    )
    if compare is not None:
        if output is not None:
            hint = "leave out -o, or draw each file by itself"
            raise UsageError("nothing-to-draw", "--compare prints a table and draws nothing", hint=hint)
        left, right = (read([one], arch=sm, patterns=function, cached=not no_cache) for one in (file, compare))
        compared.run(left, right, chosen, json=json, quiet=quiet)
        finish(left)
        finish(right)
        return
    kind = extension(output, DRAWINGS) if output is not None else ""
    inputs = read([file], arch=sm, patterns=function, cached=not no_cache, facts=chosen.facts, launch=chosen.launch)
    check(output, inputs.names)
    results, inputs = analyses(inputs, lambda one: analyze(one, chosen), "analyzing", quiet=quiet)
    paths = outputs(output, _names(results)) if output is not None else ()
    for path, result in zip(paths, results, strict=output is not None):
        _draw(path, kind, result.analysis, level, listing=listing, quiet=quiet)
    if json:
        document.show([_document(one, level) for one in results], inputs.refused)
    elif output is None:
        for result in results:
            _blocks(result.analysis, level)
        list_gaps([(one.analysis.function.name, one.analysis.cfg.gaps) for one in results])
    finish(inputs)


def _names(results: tuple[Result, ...]) -> tuple[str, ...]:
    return tuple(one.analysis.function.name for one in results)


def _draw(path: Path, kind: str, analysis: AnalysisResult, level: Level, *, listing: bool, quiet: bool) -> None:

    drawing = draw(analysis, kind, level=level.value, listing=listing)
    write_atomically(path, drawing.data)
    if not quiet:
        notes = "".join(f" ({safe(one)})" for one in drawing.notes)
        note(f"wrote {safe(str(path))}{notes}\n")


def _document(result: Result, level: Level) -> Mapping[str, object]:

    return {**documents.head(result.file, result.analysis.cfg), **graph_document(result.analysis, level.value)}


def _blocks(analysis: AnalysisResult, level: Level) -> None:

    after: dict[int, list[str]] = {}
    for arc in edges_at(analysis.cfg, level.value):
        target = "end" if arc.dst is None else analysis.cfg.nodes[arc.dst].id
        after.setdefault(arc.src, []).append(arc.kind.value if arc.dst is None else f"{arc.kind.value} {target}")
    columns = (Column("block"), Column("to"), Column("instr", number=True), Column("string", widest=24), Column("next"))
    rows = tuple(
        (node.id, documents.address(node.end), str(len(node.code)), str(letters or "?"), ", ".join(after.get(at, [])))
        for at, (node, letters) in enumerate(zip(analysis.cfg.nodes, analysis.strings, strict=True))
    )
    function = analysis.function
    out(f"{safe(function.name)} ({function.arch}, {level.value} level)\n")
    show(Table(columns, rows))
    out("\n")
