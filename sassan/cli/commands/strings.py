"""`sassan strings`: L/C/S/D strings of blocks and of the worst path."""

from collections.abc import Mapping
from dataclasses import replace

from sassan.app import documents
from sassan.app.result import AnalysisResult
from sassan.cli.options.inputs import File, Json
from sassan.cli.options.request import AnalysisCommand, graph_analysis
from sassan.cli.output import document
from sassan.cli.output.finish import finish
from sassan.cli.output.terminal import label, out
from sassan.cli.reports.analysis import gaps


@graph_analysis
def strings(asked: AnalysisCommand, file: File, *, json: Json = False) -> None:
    """Print the strings of blocks and of the worst path.

    L is a load or store, C a computation, S a special function, D double precision. Strings are run-length coded: L2C9(L1C4)^10.

    \b
    Examples:
      sassan strings kernels.sass
      sassan strings kernels.sass -f saxpy --loop-bound 10
      sassan strings kernels.sass --letters 2013 --json
    """
    results, inputs = replace(asked.request, files=(file,)).results(asked.observer)
    if json:
        document.show([_document(result) for result in results], inputs.refused)
    else:
        for result in results:
            _text(result)
        gaps(results)
    finish(inputs)


def _document(result: AnalysisResult) -> Mapping[str, documents.Value]:
    blocks: list[documents.Value] = [
        {"id": node.id, "start": documents.address(node.start), "end": documents.address(node.end), "string": documents.string(letters)}
        for node, letters in zip(result.cfg.nodes, result.strings, strict=True)
    ]
    return {
        **documents.head(result),
        "strings": {"worst_path": documents.string(result.worst_path), "blocks": blocks},
        "wcet": documents.wcet(result),
        "gaps": documents.gaps(result.gaps),
    }


def _text(analysis: AnalysisResult) -> None:
    """Print strings whole: they are input for other commands."""
    out(f"{label(analysis.function.name)} ({analysis.function.arch})\n")
    size = max((len(node.id) for node in analysis.cfg.nodes), default=0)
    for node, letters in zip(analysis.cfg.nodes, analysis.strings, strict=True):
        out(f"  {node.id.ljust(size)}  {letters or '?'}\n")
    out(f"  {'worst path'.ljust(size)}  {analysis.worst_path or 'not known'}\n\n")
