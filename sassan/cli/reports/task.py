"""The report of `task`: the response time and the deadline, a row per launch, the figures that move the bound, assumptions, gaps."""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from sassan.app.task.fields import AssessedTask, OtherTaskFields, SensitivityFields, TaskLaunchFields, rows, signed
from sassan.app.task.response import TaskResponse
from sassan.cli.output import table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.cli.reports.gaps import list_gaps
from sassan.errors import Gap
from sassan.fields.field import NONE
from sassan.fields.kinds import microseconds, plain
from sassan.ipet.sm.hardware import sharing
from sassan.names import brief
from sassan.plurals import count_of
from sassan.render import sequence
from sassan.render.tornado import Bar, svg

_SHOWN = 8
"""Figures that the table shows: those that move the bound most; --json has all."""
_OMITTED = ("the grid has", "gaps", "WCET", "grid bound", "us", "estimate us", "known bytes", "shared")
_NOTHING = Fraction(1, 200)


def show(assessed: AssessedTask, *, every: bool = False) -> None:
    """Print a task; `every`: all assumptions."""
    task = assessed.task
    out(f"{_first(task)}\n{_verdict(task)}\n\n")
    table.show(table.of_fields(TaskLaunchFields, rows(task), without=_OMITTED))
    if task.others:
        out("\n")
        table.show(table.of_fields(OtherTaskFields, task.others))
    shown = [term for term in assessed.terms if term.moves is None or abs(term.moves) >= _NOTHING][:_SHOWN]
    if shown:
        out("\n")
        table.show(table.of_fields(SensitivityFields, shown))
        if len(shown) < len(assessed.terms):
            out(f"{count_of(len(assessed.terms) - len(shown), 'figure')} that move it less; --json lists all\n")
    assumptions.show(task.assumptions, every=every)
    gaps = defaultdict[str, dict[Gap, None]](dict)
    for gap in task.gaps:
        gaps["task"][gap] = None
    for step in task.steps:
        gaps[step.launch.launch.kernel].update(dict.fromkeys(step.every_gap))
    list_gaps([(kernel, tuple(several)) for kernel, several in gaps.items()])


def _first(task: TaskResponse) -> str:
    """Return the first line: on what the task runs, and what else does."""
    who = sharing(task.gpu)
    name = f"{safe(task.definition.name)} on " if task.definition.name else ""
    mode = "isolated: nothing else is on the GPU"
    if task.interfered:
        beside = " and ".join(("the task", *(safe(other.definition.name) for other in task.others)))
        mode = f"interfered: launches of {beside if task.others else 'several streams'} overlap in any order"
    return "; ".join((f"{name}{safe(task.gpu.name)}", mode, *who))


def _verdict(task: TaskResponse) -> str:
    """Return the second line: the response time, and what is left of the deadline."""
    bound, definition = task.bound, task.definition
    estimate = f", expected {microseconds(task.estimate)} us" if task.estimate is not None else ""
    if bound is None:
        return f"response time: no bound{estimate}"
    text = f"response time: at most {microseconds(float(bound))} us{estimate}"
    if definition.deadline is not None and task.slack is not None:
        verdict = "may be missed" if task.slack < 0 else "is met"
        text += f"; deadline {plain(float(definition.deadline))} us {verdict}, slack {signed(float(task.slack))} us"
    if task.utilisation is not None and definition.period is not None:
        text += f"; {float(task.utilisation):.1%} of a period of {plain(float(definition.period))} us"
    return text


def gantt(task: TaskResponse) -> str:
    """Return the Gantt chart of a task as SVG: each launch at its latest, one after the other, and the deadline."""
    name = task.definition.name or "response time"
    title = f"{name}: bound {microseconds(float(task.bound)) if task.bound is not None else NONE} us on {task.gpu.name}"
    if task.interfered:
        note = "launches overlap in any order: each row is what launches add at most to the time in which all end"
    else:
        note = "each launch in its place at the latest; below it, where it is expected"
    due = task.definition.deadline
    return sequence.svg(title, list(_spans(task)), float(due) if due is not None else None, note=note)


def _spans(task: TaskResponse) -> Iterator[sequence.SequenceRow]:
    for step in task.steps:
        times = f" x {step.count}" if step.count > 1 else ""
        parts = (
            ("copies", step.count * (step.copies or 0)),
            ("time between launches", step.count * step.between),
            ("dirty sectors of earlier work", step.dirty[0] + (step.count - 1) * step.dirty[1]),
            ("kernel", step.count * (step.kernel or 0)),
        )
        expected = None if task.interfered else step.estimate
        yield sequence.SequenceRow(brief(step.launch.launch.kernel) + times, [(kind, float(part)) for kind, part in parts], expected)
    for other in task.others:
        times = f" x {other.runs}" if other.runs > 1 else ""
        yield sequence.SequenceRow(other.definition.name + times, [("another task", float(other.bound or 0))])


def picture(assessed: AssessedTask) -> str:
    """Return the tornado chart of a task as SVG."""
    task = assessed.task
    bound = float(task.bound) if task.bound is not None else 0.0
    title = (
        f"{task.definition.name or 'response time'}: bound {microseconds(bound) if task.bound is not None else NONE} us on {task.gpu.name}"
    )
    bars = [Bar(term.figure, term.value, term.status.value, None if term.moves is None else float(term.moves)) for term in assessed.terms]
    due = task.definition.deadline
    return svg(title, bound, bars, float(due) if due is not None else None)
