"""The report of `analyze --launches`: a row per recorded launch, what the numbers rest on, the gaps."""

from collections import defaultdict
from collections.abc import Sequence

from sassan.app.estimate_fields import LaunchFields, TimedLaunch
from sassan.app.estimating import EstimateResult
from sassan.app.launches import LaunchResult
from sassan.app.program_times import program_bound
from sassan.cli.output import table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import Gap
from sassan.fields.kinds import microseconds
from sassan.timing import Quantity

_GRID_HAS = "the grid has"
_ESTIMATE = "estimate us"


def show(launches: Sequence[LaunchResult], estimates: Sequence[EstimateResult | None], *, cut: str, every: bool = False) -> None:
    """Print every launch with its estimate, where there is one; `cut` says why the recording ends early; `every`: all assumptions."""
    settings = [launch_result.result.settings for launch_result in launches if launch_result.result is not None]
    limited = any(each.gpu is not None or each.costs.quantity is Quantity.INSTRUCTIONS for each in settings)
    omitted = {*(() if any(estimates) else (_ESTIMATE,)), *((_GRID_HAS,) if limited else ())}
    table.show(table.of_fields(LaunchFields, list(map(TimedLaunch, launches, estimates)), without=omitted))
    whole = program_bound(launches)
    time = f" ({microseconds(whole.us)} us)" if whole.us is not None else ""
    in_turn = f"; one after the other at most {whole.cycles} cycles{time}" if whole.cycles is not None else ""
    out(f"\n{whole.launches} launches, {whole.bounded} of them bounded{in_turn}\n")
    if cut:
        out(f"the recording was cut off {safe(cut)}: later launches are missing\n")
    results = tuple(
        {id(launch_result.result): launch_result.result for launch_result in launches if launch_result.result is not None}.values()
    )
    further = [text for launch_result in launches if launch_result.wcet is not None for text in launch_result.assumptions]
    assumptions.of_results(results, further, every=every)
    gaps = defaultdict[str, dict[Gap, None]](dict)
    for launch_result in launches:
        gaps[launch_result.launch.kernel].update(dict.fromkeys(launch_result.gaps))
    list_gaps([(kernel, tuple(several)) for kernel, several in gaps.items()])
