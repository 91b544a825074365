"""`sassan strings`: L/C/S/D strings of blocks and of the worst path."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from sassan.app.analysis_fields import WcetFields, WorstPathFields
from sassan.app.documents import HeadFields
from sassan.app.result import AnalysisResult
from sassan.cli.options.inputs import Csv, File, Json
from sassan.cli.options.request import AnalysisCommand, graph_analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import document
from sassan.cli.output.finish import finish
from sassan.cli.output.terminal import out
from sassan.cli.reports.analysis import gaps, title
from sassan.fields import field as fields
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import ADDRESS, STRING, TEXT, array, merged, nullable, one
from sassan.fields.shared import GAPS


class BlockString(NamedTuple):
    """A block of the graph, or the worst path, which has no addresses."""

    id: str
    start: int | None
    end: int | None
    string: str | None


_of_block, _of = Declare[BlockString](), Declare[AnalysisResult]()


class BlockStringFields(Record[BlockString]):
    """The string of a block."""

    id = _of_block(STRING, "of the block in the graph", csv="id")
    start = _of_block(nullable(ADDRESS), "its first instruction", csv="start")
    end = _of_block(nullable(ADDRESS), "its last instruction", csv="end")
    string = _of_block(TEXT, "its kernel string, null where an instruction is unknown", csv="string")


def _blocks(result: AnalysisResult) -> Iterator[BlockString]:
    for node, letters in zip(result.cfg.nodes, result.strings, strict=True):
        yield BlockString(node.id, node.start, node.end, None if letters is None else str(letters))


class StringsFields(Record[AnalysisResult]):
    """What `sassan strings` says of one function."""

    _head = _of(merged(HeadFields), "the function", lambda result: result)
    worst_path = _of(TEXT, WorstPathFields.worst_path.text, WorstPathFields.worst_path.get, key="strings.worst_path")
    _blocks = _of(array(one(BlockStringFields)), "of every block", _blocks, key="strings.blocks")
    wcet = _of(one(WcetFields), "the bound of one warp", lambda result: result)
    gaps = _of(GAPS, "everything that forbids a bound, by address")


@graph_analysis
def strings(command: AnalysisCommand, file: File, *, csv: Csv = False, json: Json = False) -> None:
    """Print the strings of blocks and of the worst path.

    L is a load or store, C a computation, S a special function, D double precision. Strings are run-length coded: L2C9(L1C4)^10.

    \b
    Examples:
      sassan strings kernels.sass
      sassan strings kernels.sass -f saxpy --loop-bound 10
      sassan strings kernels.sass --letters 2013 --json
    """
    sheet.exclude(csv=csv, json=json)
    results, inputs = replace(command.request, files=(file,)).results(command.observer)
    if json:
        document.show([fields.document(StringsFields, result) for result in results], inputs.refused)
    elif csv:
        # Behind the blocks stands the worst path.
        sheet.of_parts(HeadFields, BlockStringFields, ((result, (*_blocks(result), _worst_path(result))) for result in results))
    else:
        for result in results:
            _text(result)
        gaps(results)
    finish(inputs)


def _worst_path(result: AnalysisResult) -> BlockString:
    return BlockString("worst_path", None, None, WorstPathFields.worst_path.get(result))


def _text(analysis: AnalysisResult) -> None:
    """Print strings whole: they are input for other commands."""
    out(f"{title(analysis.function, analysis.settings.launch)}\n")
    size = max((len(node.id) for node in analysis.cfg.nodes), default=0)
    for node, letters in zip(analysis.cfg.nodes, analysis.strings, strict=True):
        out(f"  {node.id.ljust(size)}  {letters or '?'}\n")
    out(f"  {'worst path'.ljust(size)}  {analysis.worst_path or 'not known'}\n\n")
