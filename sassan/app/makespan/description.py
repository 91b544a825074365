"""An answer in words, and its schedule as a chart."""

from sassan.app.makespan.search import INTERRUPT, Answer
from sassan.errors import UsageError
from sassan.render import gantt
from sassan.render.gantt import Chart
from sassan.render.text import shorten

_TITLE = 60
"""Characters of a title."""


def strings_of(one: Answer) -> str:
    """The strings of an instance, in a line."""
    return " ".join(str(string) for string in one.instance.strings)


def units(one: Answer) -> str:
    """Return the instance in a line: warps, capacities, issue limit, and how letters were multiplied."""
    processor = one.instance.processor
    capacity = " ".join(f"{letter}={value}" for letter, value in processor.capacity.items())
    issue = "no issue limit" if processor.issue is None else f"issue {processor.issue}"
    changed = [(str(old), str(new)) for old, new in zip(one.instance.strings, one.instance.problem.strings, strict=False) if old != new]
    letters = f", run as {shorten(changed[0][1], _TITLE)}" if changed else ""
    return f"{one.instance.warps} warps, per slot {capacity}, {issue}{letters}"


def verdict(one: Answer) -> str:
    """Return the result in a line."""
    known = one.known
    why = {"": "", INTERRUPT: ", interrupted"}.get(one.stopped, ", time limit reached")
    if known.exact is not None:
        return f"longest makespan: {known.exact} slots, exact"
    if known.lower is None and known.upper is None:
        return f"longest makespan: not known{why}"
    if known.lower is None:
        return f"longest makespan: at most {known.upper} slots{why}"
    if known.upper is None:
        return f"longest makespan: at least {known.lower} slots{why}"
    return f"longest makespan: in [{known.lower}, {known.upper}] slots, gap {100 * (known.gap or 0):.1f} %{why}"


def chart(one: Answer) -> Chart:
    """Return the picture of the best schedule found.

    Raises UsageError `no-schedule` where there is none.
    """
    schedule = one.known.schedule
    if schedule is None:
        message = f"{one.instance.name}: there is no schedule to draw"
        raise UsageError("no-schedule", message, hint="--engine beam finds one at once; --time-limit gives more time")
    title = f"{shorten(one.instance.name, _TITLE)}: {one.known.lower} slots"
    strings = "" if one.instance.name == strings_of(one) else shorten(strings_of(one), 2 * _TITLE)
    facts = tuple(text for text in (strings, units(one), verdict(one)) if text)
    return gantt.chart(one.instance.problem, schedule, title, facts)
