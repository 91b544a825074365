"""`sassan cfg`: draw the graph, or print it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sassan.app import documents
from sassan.cli import compare as compared
from sassan.cli import document, options, settings
from sassan.cli.files import check, extension, outputs
from sassan.cli.inputs import Result, analyses, finish, read
from sassan.cli.report import list_gaps
from sassan.cli.table import Column, Table, show
from sassan.cli.terminal import note, out, safe
from sassan.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from sassan.app.result import AnalysisResult


def cfg(
    file: options.File,
    *,
    function: options.Functions = None,
    output: options.Drawing = None,
    compare: options.Compare = None,
    level: options.LevelOption = options.Level.WARP,
    listing: options.Listing = False,
    bounds: options.Bounds = None,
    loop_bound: options.LoopBound = None,
    block_dim: options.BlockDim = None,
    grid: options.Grid = None,
    param: options.Parameters = None,
    letters: options.LettersOption = options.Letters.TIMING,
    order: options.OrderOption = options.Order.ARCH,
    call_depth: options.CallDepth = None,
    ablate: options.Ablate = None,
    sm: options.Sm = None,
    no_cache: options.NoCache = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
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
    from sassan.app.analysis import analyze
    from sassan.app.views import DRAWINGS

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


def _draw(path: "Path", kind: str, analysis: "AnalysisResult", level: options.Level, *, listing: bool, quiet: bool) -> None:
    from sassan.app.views import draw
    from sassan.render.files import write_atomically

    drawing = draw(analysis, kind, level=level.value, listing=listing)
    write_atomically(path, drawing.data)
    if not quiet:
        notes = "".join(f" ({safe(one)})" for one in drawing.notes)
        note(f"wrote {safe(str(path))}{notes}\n")


def _document(result: Result, level: options.Level) -> Mapping[str, object]:
    from sassan.app.views import graph_document

    return {**documents.head(result.file, result.analysis.cfg), **graph_document(result.analysis, level.value)}


def _blocks(analysis: "AnalysisResult", level: options.Level) -> None:
    from sassan.app.views import edges_at

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
