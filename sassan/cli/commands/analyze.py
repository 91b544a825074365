"""`sassan analyze`: the main job."""

from sassan.app.analysis_fields import AnalysisFields
from sassan.cli.options.inputs import AllAssumptions, Csv, Explain, Json
from sassan.cli.options.launch import ScheduleOption
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import document
from sassan.cli.output.finish import finish
from sassan.cli.reports import analysis as report
from sassan.errors import UsageError
from sassan.fields import field as fields


@analysis
def analyze(
    command: AnalysisCommand,
    *,
    explain: Explain = False,
    schedule: ScheduleOption = False,
    assumptions: AllAssumptions = False,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Bound every function: graph, string, WCET, makespan.

    A function that cannot be bounded lists its gaps: what is missing, and at which address. A bound holds under the assumptions that are
    printed with it. With --block-dim, as many warps as are resident on an SM are bounded together; with --grid, the whole grid.
    Columns: instr, instructions; div, divergent branches; reconv., edges on which a suspended side of a divergence resumes.

    \b
    Examples:
      sassan analyze kernels.sass
      sassan analyze kernels.sass -f '*saxpy*' --loop-bound 10 -W 16
      sassan analyze k.cubin --block-dim 256 --param n=4096 --machine sm_61
      sassan analyze k.cubin --block-dim 256 --grid 9 --gpu T4 --model control
      sassan analyze k.cubin --block-dim 256 --grid 120 --sms 20 --model table
      sassan analyze a.sass b.sass --bounds facts.toml --json
      cuobjdump -sass a.out | sassan analyze -
      sassan analyze k.cubin --block-dim 16,16 --model control --schedule
      sassan analyze ./a.out --launches launches.toml --model control
    """
    request, observer = command.request, command.observer
    sheet.exclude(csv=csv, json=json)
    if csv and explain:
        raise UsageError("usage", "--csv has the table of functions alone", hint="pass --json with --explain")
    if schedule and request.settings.costs.tables is None:
        message = f"--schedule counts cycles, and the model is {request.settings.costs.name}"
        raise UsageError("usage", message, hint="--model control, or table")
    if request.recording is not None:
        from sassan.cli.analyzed_launches import LaunchViews, show  # noqa: PLC0415 - start-up: estimates of launches

        show(request, observer, LaunchViews(assumptions, explain, schedule), csv=csv, json=json)
        return
    results, inputs = request.results(observer)
    if schedule:
        from sassan.app.makespan.cycles import with_schedule  # noqa: PLC0415 - start-up

        results = tuple(with_schedule(result) for result in observer.steps(results, "scheduling"))
    if json:
        from sassan.app.document_fields import ExplainedFields  # noqa: PLC0415 - start-up

        rows = [fields.document(ExplainedFields, result, *(["explain"] if explain else [])) for result in results]
        document.show(rows, inputs.refused)
    elif csv:
        sheet.of_fields(AnalysisFields, results)
    else:
        report.show(results, every=assumptions)
        if explain:
            from sassan.cli.reports import explain as explain_report  # noqa: PLC0415 - start-up

            explain_report.show(results)
    finish(inputs, results if request.patterns else [])
