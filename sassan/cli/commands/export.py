"""`sassan export`: the graph and the loop bounds of a function, for other tools."""

from dataclasses import replace

from sassan.app.result import AnalysisResult
from sassan.app.views import EXCHANGED, exchanged, flow_facts_xml
from sassan.cli.options.inputs import File
from sassan.cli.options.request import AnalysisCommand, graph_analysis
from sassan.cli.options.views import Exchange, LevelChoice, LevelOption
from sassan.cli.output.files import check, extension, outputs, save
from sassan.cli.output.finish import finish
from sassan.cli.output.terminal import note, out
from sassan.ipet.flow_facts import UNBOUNDED
from sassan.plurals import count_of

_FACTS = "ffx"


@graph_analysis
def export(command: AnalysisCommand, file: File, *, output: Exchange = None, level: LevelOption = LevelChoice.WARP) -> None:
    """Write graphs and loop bounds for other tools.

    A name that ends in .ffx has the loop bounds of all functions as flow facts of OTAWA, in XML; without -o they are printed. In .dot and
    .graphml stands the graph of one function. --bounds takes an .ffx file, too: one of OTAWA, or one that was written here.

    \b
    Examples:
      sassan export kernels.sass --block-dim 256 --param n=4096
      sassan export kernels.sass -o facts.ffx
      sassan export kernels.sass -f saxpy -o saxpy.graphml
      sassan export kernels.sass --level thread -o '{name}.dot'
      sassan ipet kernels.sass --bounds facts.ffx
    """
    request, observer = replace(command.request, files=(file,)), command.observer
    kind = extension(output, EXCHANGED) if output is not None else _FACTS
    inputs = request.inputs(observer)
    if kind != _FACTS:
        check(output, inputs.names)
    results, inputs = request.results_of(inputs, observer)
    if kind == _FACTS:
        _facts(results, output, quiet=observer.quiet)
    else:
        paths = outputs(output or "", tuple(result.function.name for result in results))
        for path, result in zip(paths, results, strict=True):
            save(path, exchanged(result, kind, level.value), quiet=observer.quiet)
    finish(inputs)


def _facts(results: tuple[AnalysisResult, ...], output: str | None, *, quiet: bool) -> None:
    """Print or write the flow facts of all functions, and say how many loops have none."""
    text = flow_facts_xml(results)
    if output is None:
        out(text)
    else:
        save(output, text.encode(), quiet=quiet)
    missing = sum(gap.code == UNBOUNDED for result in results for gap in result.bounds.gaps)
    if missing and not quiet:
        note(f"note: {count_of(missing, 'loop')} without a bound: 'sassan ipet --facts-template' names them\n")
