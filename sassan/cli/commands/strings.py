"""`sassan strings`: L/C/S/D strings of blocks and of the worst path."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sassan.app import documents
from sassan.app.result import AnalysisResult
from sassan.cli.options.inputs import Csv, File, Json
from sassan.cli.options.request import AnalysisCommand, graph_analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import document
from sassan.cli.output.finish import finish
from sassan.cli.output.terminal import out
from sassan.cli.reports.analysis import gaps, title

_HEADS = ("name", "arch", "file", "id", "start", "end", "string")


@graph_analysis
def strings(asked: AnalysisCommand, file: File, *, csv: Csv = False, json: Json = False) -> None:
    """Print the strings of blocks and of the worst path.

    L is a load or store, C a computation, S a special function, D double precision. Strings are run-length coded: L2C9(L1C4)^10.

    \b
    Examples:
      sassan strings kernels.sass
      sassan strings kernels.sass -f saxpy --loop-bound 10
      sassan strings kernels.sass --letters 2013 --json
    """
    sheet.exclude(csv=csv, json=json)
    results, inputs = replace(asked.request, files=(file,)).results(asked.observer)
    if json:
        document.show([_document(result) for result in results], inputs.refused)
    elif csv:
        sheet.show(_HEADS, (row for result in results for row in _flat(result)))
    else:
        for result in results:
            _text(result)
        gaps(results)
    finish(inputs)


def _flat(result: AnalysisResult) -> Iterator[Mapping[str, documents.Value]]:
    """Yield the rows of CSV: blocks, then the worst path."""
    for row in (*_blocks(result), {"id": "worst_path", "string": documents.string(result.worst_path)}):
        yield {**documents.head(result), **row}


def _blocks(result: AnalysisResult) -> Iterator[Mapping[str, documents.Value]]:
    for node, letters in zip(result.cfg.nodes, result.strings, strict=True):
        start, end = documents.address(node.start), documents.address(node.end)
        yield {"id": node.id, "start": start, "end": end, "string": documents.string(letters)}


def _document(result: AnalysisResult) -> Mapping[str, documents.Value]:
    return {
        **documents.head(result),
        "strings": {"worst_path": documents.string(result.worst_path), "blocks": list(_blocks(result))},
        "wcet": documents.wcet(result),
        "gaps": documents.gaps(result.gaps),
    }


def _text(analysis: AnalysisResult) -> None:
    """Print strings whole: they are input for other commands."""
    out(f"{title(analysis.function, analysis.settings.launch)}\n")
    size = max((len(node.id) for node in analysis.cfg.nodes), default=0)
    for node, letters in zip(analysis.cfg.nodes, analysis.strings, strict=True):
        out(f"  {node.id.ljust(size)}  {letters or '?'}\n")
    out(f"  {'worst path'.ljust(size)}  {analysis.worst_path or 'not known'}\n\n")
