"""An answer in words, and its schedule as a chart."""

from sassan.app.makespan.search import INTERRUPT, InstanceResult
from sassan.errors import UsageError
from sassan.plurals import count_of
from sassan.render import gantt
from sassan.render.gantt import Chart
from sassan.render.text import shorten

_TITLE = 60
"""Characters of a title."""


def strings_of(answer: InstanceResult) -> str:
    """The strings of an instance, in a line."""
    return " ".join(str(string) for string in answer.instance.strings)


def units(answer: InstanceResult) -> str:
    """Return the instance in a line: warps, capacities, issue limit, and how letters were multiplied."""
    processor = answer.instance.processor
    capacity = " ".join(f"{letter}={value}" for letter, value in processor.capacity.items())
    issue = "no issue limit" if processor.issue is None else f"issue {processor.issue}"
    changed = [
        (str(old), str(new)) for old, new in zip(answer.instance.strings, answer.instance.problem.strings, strict=False) if old != new
    ]
    letters = f", run as {shorten(changed[0][1], _TITLE)}" if changed else ""
    sizes = answer.instance.problem.blocks
    blocks = "" if len(sizes) < 2 else f" in {len(sizes)} blocks"  # noqa: PLR2004 - one block is all warps
    times = " ".join(f"{letter}:{processor.interval[letter]}/{slots}" for letter, slots in answer.instance.problem.latency.items())
    held = f", slots on the unit/until the next {times}" if times else ""
    return f"{count_of(answer.instance.warps, 'warp')}{blocks}, per slot {capacity}, {issue}{held}{letters}"


def verdict(answer: InstanceResult) -> str:
    """Return the result in a line."""
    known = answer.known
    why = {"": "", INTERRUPT: ", interrupted"}.get(answer.stopped, ", time limit reached")
    if known.exact is not None:
        return f"longest makespan: {known.exact} slots, exact"
    if known.lower is None and known.upper is None:
        return f"longest makespan: not known{why}"
    if known.lower is None:
        return f"longest makespan: at most {known.upper} slots{why}"
    if known.upper is None:
        return f"longest makespan: at least {known.lower} slots{why}"
    return f"longest makespan: in [{known.lower}, {known.upper}] slots, gap {100 * (known.gap or 0):.1f} %{why}"


def chart(answer: InstanceResult) -> Chart:
    """Return the picture of the best schedule found.

    Raises UsageError `no-schedule` where there is none.
    """
    schedule = answer.known.schedule
    if schedule is None:
        message = f"{answer.instance.name}: there is no schedule to draw"
        raise UsageError("no-schedule", message, hint="--engine beam finds one at once; --time-limit gives more time")
    title = f"{shorten(answer.instance.name, _TITLE)}: {answer.known.lower} slots"
    strings = "" if answer.instance.name == strings_of(answer) else shorten(strings_of(answer), 2 * _TITLE)
    facts = tuple(text for text in (strings, units(answer), verdict(answer)) if text)
    return gantt.chart(answer.instance.problem, schedule, title, facts)
