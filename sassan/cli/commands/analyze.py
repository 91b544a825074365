"""`sassan analyze`: the main job."""

from dataclasses import dataclass, replace

from sassan.app.analysis_fields import AnalysisFields, ExplainedFields
from sassan.app.estimate_fields import ExplainedLaunchFields, LaunchFields, TimedLaunch
from sassan.app.estimating import estimated_launches
from sassan.app.inputs import RequestObserver
from sassan.app.makespan.cycles import with_schedule
from sassan.app.request import AnalysisRequest
from sassan.cli.options.inputs import AllAssumptions, Csv, Explain, Json
from sassan.cli.options.launch import ScheduleOption
from sassan.cli.options.request import AnalysisCommand, analysis
from sassan.cli.output import csv as sheet
from sassan.cli.output import document
from sassan.cli.output.finish import finish
from sassan.cli.reports import analysis as report
from sassan.cli.reports import explain as explain_report
from sassan.cli.reports import launches as launches_report
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
        _launches(request, observer, _Views(assumptions, explain, schedule), csv=csv, json=json)
        return
    results, inputs = request.results(observer)
    if schedule:
        results = tuple(with_schedule(result) for result in observer.steps(results, "scheduling"))
    if json:
        rows = [fields.document(ExplainedFields, result, *(["explain"] if explain else [])) for result in results]
        document.show(rows, inputs.refused)
    elif csv:
        sheet.of_fields(AnalysisFields, results)
    else:
        report.show(results, every=assumptions)
        if explain:
            explain_report.show(results)
    finish(inputs, results if request.patterns else [])


@dataclass(frozen=True, slots=True)
class _Views:
    """What is shown beside the numbers of every launch."""

    assumptions: bool
    explain: bool
    schedule: bool


def _launches(request: AnalysisRequest, observer: RequestObserver, views: _Views, *, csv: bool, json: bool) -> None:
    """Print what is known of every recorded launch."""
    inputs = request.inputs(observer)
    launches = tuple(request.launch_results(inputs, observer))
    estimates = estimated_launches(launches)
    if views.schedule:
        made = {
            id(result): with_schedule(result) for launch in observer.steps(launches, "scheduling") if (result := launch.result) is not None
        }
        launches = tuple(replace(launch, result=made.get(id(launch.result))) for launch in launches)
    if json:
        wanted = [key for key, shown in (("makespan", views.schedule), ("explain", views.explain)) if shown]
        rows = [fields.document(ExplainedLaunchFields, each, *wanted) for each in map(TimedLaunch, launches, estimates)]
        document.show([], inputs.refused, launches=rows)
    elif csv:
        sheet.of_fields(LaunchFields, map(TimedLaunch, launches, estimates))
    else:
        launches_report.show(
            launches, estimates, cut=request.recording.cut if request.recording is not None else "", every=views.assumptions
        )
        results = tuple({id(launch.result): launch.result for launch in launches if launch.result is not None}.values())
        if views.schedule:
            report.of_launches(results)
        if views.explain:
            explain_report.show(results)
    finish(inputs, [launch.result for launch in launches if launch.result is not None] if request.patterns else [])
