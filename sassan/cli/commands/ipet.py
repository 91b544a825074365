"""`sassan ipet`: the WCET, and the integer program behind it."""

from dataclasses import replace
from pathlib import Path

from sassan.app.analysis import flow_fact_template
from sassan.app.analysis_fields import AnalysisFields, IpetFields
from sassan.app.inputs import Inputs
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.app.views import PROGRAMS, integer_program
from sassan.cli.options.inputs import AllAssumptions, Csv, File, Json
from sassan.cli.options.request import AnalysisCommand, wcet_analysis
from sassan.cli.options.views import FactsTemplate, LinearProgram
from sassan.cli.output import csv as sheet
from sassan.cli.output import document
from sassan.cli.output.files import check, extension, outputs, save
from sassan.cli.output.finish import finish
from sassan.cli.output.terminal import out
from sassan.cli.reports import analysis as report
from sassan.errors import UsageError
from sassan.fields import field as fields


@wcet_analysis
def ipet(
    command: AnalysisCommand,
    file: File,
    *,
    output: LinearProgram = None,
    facts_template: FactsTemplate = False,
    assumptions: AllAssumptions = False,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Bound the WCET, and write its integer program.

    A loop needs a bound: the largest number of back edges that one thread takes per entry. Counters are inferred from the code; give what
    they depend on with --param, --block-dim and --grid. For the other loops, write the template, fill it in, and pass it with --bounds.

    \b
    Examples:
      sassan ipet kernels.sass --facts-template > facts.toml
      sassan ipet kernels.sass --bounds facts.toml
      sassan ipet kernels.sass --block-dim 256 --grid 120 --param 0x140=4096
      sassan ipet kernels.sass -f saxpy --loop-bound 10 -o saxpy.lp
      sassan ipet kernels.sass --loop-bound 10 -o '{name}.mps' --solve cbc
    """
    sheet.exclude(csv=csv, json=json)
    request, observer = replace(command.request, files=(file,)), command.observer
    settings = request.settings
    if facts_template and (json or csv or command.options.solver):
        raise UsageError("usage", "--facts-template prints a TOML file and solves nothing", hint="omit --json, --csv and --solve")
    kind = extension(output, ("toml",) if facts_template else PROGRAMS) if output is not None else ""
    inputs = request.inputs(observer)
    if facts_template:
        _template(inputs, settings, output)
        return
    check(output, inputs.names)
    results, inputs = request.results_of(inputs, observer, label="solving")
    paths = outputs(output, tuple(result.function.name for result in results)) if output is not None else ()
    unwritten = [
        result for path, result in zip(paths, results, strict=output is not None) if not _write(path, kind, result, quiet=observer.quiet)
    ]
    if json:
        document.show([fields.document(IpetFields, result) for result in results], inputs.refused)
    elif csv:
        sheet.of_fields(AnalysisFields, results)
    elif unwritten or output is None or not observer.quiet:
        report.show(results, every=assumptions)
    finish(inputs, results if request.patterns and settings.solve else unwritten)


def _template(inputs: Inputs, settings: Settings, output: str | None) -> None:
    """Print or write the flow-fact file of everything that was chosen: one file speaks of many functions."""
    text = flow_fact_template(tuple(selected.function for selected in inputs.selected), settings)
    if output is None:
        out(text)
    else:
        save(output, text.encode(), quiet=True)
    finish(inputs)


def _write(path: Path, kind: str, result: AnalysisResult, *, quiet: bool) -> bool:
    """Write the program of one function and say whether there was one: loops without a bound leave it unbounded."""
    text = integer_program(result, kind)
    if text is None:
        return False
    save(path, text.encode(), quiet=quiet)
    return True
