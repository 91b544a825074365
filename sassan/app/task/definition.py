"""What a task is beside its launches: deadline, period, and how copies are charged."""

from dataclasses import dataclass
from fractions import Fraction

from sassan.app import quantities
from sassan.app.options import Spelling, command_line
from sassan.errors import UsageError

OUTSIDE = "outside"
"""The choice that copies of the host are no part of a task."""


@dataclass(frozen=True, slots=True)
class TaskDefinition:
    """A task. Units: `deadline` and `period` in microseconds, `copy_rate` in GB/s; None where they are not given.

    `copy_rate` is what copies between host and GPU surely reach; `copies_outside`: they are no part of the task.
    """

    name: str = ""
    deadline: Fraction | None = None
    period: Fraction | None = None
    copy_rate: Fraction | None = None
    copies_outside: bool = False


def definition(name: str, deadline: str | None, period: str | None, copies: str | None, spelled: Spelling = command_line) -> TaskDefinition:
    """Return the task of texts such as `5ms` and `12 GB/s`; `copies` may be `outside`.

    Raises UsageError for a text that is none, and for a deadline behind the next period.
    """
    due = quantities.duration(deadline, spelled("deadline")) if deadline is not None else None
    again = quantities.duration(period, spelled("period")) if period is not None else None
    if due is not None and again is not None and due > again:
        message = f"{spelled('deadline')} {deadline} is later than {spelled('period')} {period}"
        raise UsageError("usage", message, hint="a run of the task has to end before the next one starts")
    outside = copies == OUTSIDE
    rate = quantities.bandwidth(copies, spelled("copies")) if copies is not None and not outside else None
    return TaskDefinition(name, due, again, rate, outside)
