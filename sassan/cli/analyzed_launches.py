"""What `sassan analyze` prints of every recorded launch."""

from dataclasses import dataclass, replace

from sassan.app.estimate_fields import ExplainedLaunchFields, LaunchFields, TimedLaunch
from sassan.app.estimating import estimated_launches
from sassan.app.inputs import RequestObserver
from sassan.app.makespan.cycles import with_schedule
from sassan.app.program_times import ProgramBoundFields, program_bound
from sassan.app.request import AnalysisRequest
from sassan.cli.output import csv as sheet
from sassan.cli.output import document
from sassan.cli.output.finish import finish
from sassan.cli.reports import analysis as report
from sassan.cli.reports import explain as explain_report
from sassan.cli.reports import launches as launches_report
from sassan.fields import field as fields


@dataclass(frozen=True, slots=True)
class LaunchViews:
    """What is shown beside the numbers of every launch."""

    assumptions: bool
    explain: bool
    schedule: bool


def show(request: AnalysisRequest, observer: RequestObserver, views: LaunchViews, *, csv: bool, json: bool) -> None:
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
        document.show([], inputs.refused, launches=rows, total=fields.document(ProgramBoundFields, program_bound(launches)))
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
