"""The report of `advise`: a table of remedies by gain, each explained, what binds, gaps."""

from collections.abc import Sequence

from sassan.app.advise.fields import AdviceFields, LaunchAdvice, every
from sassan.app.advise.trying import AdvisedLaunch, binding
from sassan.app.estimating import expected_time
from sassan.cli.output import table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports.analysis import title
from sassan.cli.reports.gaps import list_gaps
from sassan.fields.kinds import microseconds


def show(launches: Sequence[AdvisedLaunch]) -> None:
    """Print what is advised for each launch."""
    for launch in launches:
        out(f"{title(launch.analysis.function, launch.analysis.settings.launch)}\n{_first(launch)}\n")
    several = every(launches)
    if several:
        out("\n")
        table.show(table.of_fields(AdviceFields, several, without=() if len(launches) > 1 else ("function",)))
    for number, each in enumerate(several, 1):
        _explain(number, each)
    list_gaps([(launch.analysis.function.name, launch.gaps) for launch in launches])


def _first(launch: AdvisedLaunch) -> str:
    known = expected_time(launch.estimate)
    if known.us is None:
        return "  no estimate, so no advice: see the gaps"
    helps = "" if launch.advice else "nothing helps: "
    return f"  {microseconds(known.us)} us; {helps}{binding(launch)}"


def _explain(number: int, each: LaunchAdvice) -> None:
    remedy = each.advice.remedy
    out(f"\n{number}. {remedy.code.value}: {safe(remedy.why)}\n")
    out(f"   {microseconds(each.advice.us)} us with it; {safe(remedy.sure)}\n")
    for line in remedy.example.splitlines():
        out(f"     {safe(line)}\n")
