"""The report of `analyze --launches`: a row per recorded launch, what the numbers rest on, the gaps."""

from collections import defaultdict
from collections.abc import Sequence

from sassan.app.estimate_fields import LaunchFields, TimedLaunch
from sassan.app.estimating import EstimateResult
from sassan.app.launches import LaunchResult
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
    timed = any(launch_result.us is not None for launch_result in launches)
    settings = [launch_result.result.settings for launch_result in launches if launch_result.result is not None]
    limited = any(each.gpu is not None or each.costs.quantity is Quantity.INSTRUCTIONS for each in settings)
    omitted = {*(() if any(estimates) else (_ESTIMATE,)), *((_GRID_HAS,) if limited else ())}
    table.show(table.of_fields(LaunchFields, list(map(TimedLaunch, launches, estimates)), without=omitted))
    total = sum(launch_result.launch.count for launch_result in launches)
    bounded = sum(launch_result.launch.count for launch_result in launches if launch_result.cycles is not None)
    out(f"\n{total} launches, {bounded} of them bounded")
    whole = sum(launch_result.launch.count * launch_result.cycles for launch_result in launches if launch_result.cycles is not None)
    us = sum(launch_result.launch.count * launch_result.us for launch_result in launches if launch_result.us is not None)
    time = f" ({microseconds(us)} us)" if timed else ""
    out(f"; one after the other at most {whole} cycles{time}\n" if total == bounded and launches else "\n")
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
