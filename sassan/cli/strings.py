"""`sassan strings`: L/C/S/D strings of blocks and of the worst path."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sassan.app import documents
from sassan.cli import document, options, settings
from sassan.cli.inputs import Result, analyses, finish, read
from sassan.cli.report import gaps
from sassan.cli.terminal import out, safe

if TYPE_CHECKING:
    from sassan.app.result import AnalysisResult


def strings(
    file: options.File,
    *,
    function: options.Functions = None,
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
    """Print the strings of blocks and of the worst path.

    L is a load or store, C a computation, S a special function, D double precision. Strings are run-length coded: L2C9(L1C4)^10.

    \b
    Examples:
      sassan strings kernels.sass
      sassan strings kernels.sass -f saxpy --loop-bound 10
      sassan strings kernels.sass --letters 2013 --json
    """
    from sassan.app.analysis import analyze

    chosen = settings.make(
        bounds=bounds,
        loop_bound=loop_bound,
        launch=settings.launch(block_dim, grid, param),
        letters=letters,
        order=order,
        call_depth=call_depth,
        ablate=ablate,
    )
    inputs = read([file], arch=sm, patterns=function, cached=not no_cache, facts=chosen.facts, launch=chosen.launch)
    results, inputs = analyses(inputs, lambda one: analyze(one, chosen), "analyzing", quiet=quiet)
    if json:
        document.show([_document(one) for one in results], inputs.refused)
    else:
        for result in results:
            _text(result.analysis)
        gaps(results)
    finish(inputs)


def _document(result: Result) -> Mapping[str, documents.Value]:
    one = result.analysis
    blocks: list[documents.Value] = [
        {"id": node.id, "start": documents.address(node.start), "end": documents.address(node.end), "string": documents.string(letters)}
        for node, letters in zip(one.cfg.nodes, one.strings, strict=True)
    ]
    return {
        **documents.head(result.file, one.cfg),
        "strings": {"worst_path": documents.string(one.worst_path), "blocks": blocks},
        "wcet": documents.wcet(one),
        "gaps": documents.gaps(one.gaps),
    }


def _text(analysis: "AnalysisResult") -> None:
    """Print strings whole: they are input for other commands."""
    out(f"{safe(analysis.function.name)} ({analysis.function.arch})\n")
    size = max((len(node.id) for node in analysis.cfg.nodes), default=0)
    for node, letters in zip(analysis.cfg.nodes, analysis.strings, strict=True):
        out(f"  {node.id.ljust(size)}  {letters or '?'}\n")
    out(f"  {'worst path'.ljust(size)}  {analysis.worst_path or 'not known'}\n\n")
