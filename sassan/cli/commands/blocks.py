"""`sassan blocks`: what each block costs, how often it runs, and its share of the WCET."""

from sassan.app.block_table import BlockFields, BlocksFields, rows
from sassan.app.documents import HeadFields
from sassan.cli.options.inputs import Csv, Json
from sassan.cli.options.request import AnalysisCommand, wcet_analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import document
from sassan.cli.output.finish import finish
from sassan.cli.reports import blocks as report
from sassan.fields import field as fields


@wcet_analysis
def blocks(command: AnalysisCommand, *, csv: Csv = False, json: Json = False) -> None:
    """Print each block with its cost and share of the WCET.

    The cost is that of one execution by one warp, executions are those on its worst path. Without a bound of every loop there is no worst
    path, and costs alone are printed. The same block under two calls is two rows; in --csv and --json 'context' tells them apart.

    \b
    Examples:
      sassan blocks kernels.sass --loop-bound 10
      sassan blocks k.cubin --model control --bounds facts.toml --csv > blocks.csv
    """
    sheet.exclude(csv=csv, json=json)
    results, inputs = command.request.results(command.observer)
    if json:
        document.show([fields.document(BlocksFields, result) for result in results], inputs.refused)
    elif csv:
        sheet.of_parts(HeadFields, BlockFields, ((result, rows(result)) for result in results))
    else:
        report.show(results)
    finish(inputs, results if command.request.patterns else [])
