"""What is said of a task: its response time, that of each launch, and the figures that move it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from sassan.app.estimate_fields import LaunchFields, TimedLaunch
from sassan.app.task.response import OtherTask, TaskResponse, TaskStep
from sassan.app.task.sensitivity import TaskTerm
from sassan.assumptions import AssumptionStatus
from sassan.fields.field import NONE, Declare, Record
from sassan.fields.kinds import COUNT, FIGURE, FLAG, MICROSECONDS, SHARE, SIGNED, STRING, array, choice, merged, microseconds, nullable, one
from sassan.fields.shared import GAPS, AssumedFields


class TaskRow(NamedTuple):
    """A step of a task, with its latest end."""

    task: TaskResponse
    step: TaskStep
    end: Fraction | None

    @property
    def share(self) -> float | None:
        """The part of the bound of the task that it takes, None without one."""
        whole = self.task.bound
        return None if not whole or self.step.bound is None else float(self.step.bound / whole)

    @property
    def slack(self) -> float | None:
        """The microseconds from its latest end to the deadline, None without one of both."""
        due = self.task.definition.deadline
        return None if due is None or self.end is None else float(due - self.end)


@dataclass(frozen=True, slots=True)
class AssessedTask:
    """A response time, with the figures that move it."""

    task: TaskResponse
    terms: Sequence[TaskTerm] = ()


_of_row, _of_term, _of_task = Declare[TaskRow](), Declare[TaskTerm](), Declare[AssessedTask]()
_of_bound, _of_estimate, _of_other = Declare[TaskResponse](), Declare[TaskResponse](), Declare[OtherTask]()


def rows(task: TaskResponse) -> list[TaskRow]:
    """Return the steps of a task, each with its latest end."""
    return [TaskRow(task, step, end) for step, end in zip(task.steps, task.ends(), strict=True)]


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{value:.1%}"


def signed(us: float | None) -> str:
    """Return how a slack is shown: rounded down, so that it is never said to be more than it is."""
    return NONE if us is None else "-" + microseconds(-us) if us < 0 else f"{int(us * 100) / 100:.2f}"


class ChargeFields(Record[TaskRow]):
    """What a launch, or several equal ones, take of the response time of a task."""

    bound_us = _of_row(
        MICROSECONDS,
        "bound of all of them, with what is charged beside them",
        lambda each: _float(each.step.bound),
        unit="us",
        csv="response_us",
        head="bound us",
    )
    share = _of_row(
        FIGURE,
        "part of the bound of the task",
        lambda each: each.share,
        csv="share",
        head="share",
        shown=lambda each: _percent(each.share),
    )
    estimate_us = _of_row(
        MICROSECONDS, "expected time of all of them", lambda each: each.step.estimate, unit="us", csv="expected_us", head="expected us"
    )
    copies_us = _of_row(
        MICROSECONDS,
        "copies before each of them",
        lambda each: _float(each.step.copies),
        unit="us",
        csv="copies_us",
        head="copies us",
    )
    dirty_us = _of_row(
        MICROSECONDS,
        "what earlier work leaves in L2 to be written back, before the first of them",
        lambda each: _float(each.step.dirty[0]),
        unit="us",
        csv="dirty_us",
        head="dirty us",
    )
    between_us = _of_row(
        MICROSECONDS, "from the end of what is ahead of each to its start", lambda each: _float(each.step.between), unit="us"
    )
    end_us = _of_row(
        MICROSECONDS, "latest end of the last of them, from the start of the task", lambda each: _float(each.end), unit="us", csv="end_us"
    )
    slack_us = _of_row(
        SIGNED,
        "from that end to the deadline",
        lambda each: each.slack,
        unit="us",
        csv="slack_us",
        head="slack us",
        shown=lambda each: signed(each.slack),
    )


class TaskLaunchFields(Record[TaskRow]):
    """A recorded launch of a task."""

    _launch = _of_row(
        merged(LaunchFields), "the launch, its bound and its estimate", lambda each: TimedLaunch(each.step.launch, each.step.expected)
    )
    response = _of_row(one(ChargeFields), "what it takes of the response time", lambda each: each, flat=True)


class SensitivityFields(Record[TaskTerm]):
    """A figure that the bound of a task rests on."""

    figure = _of_term(STRING, "the figure", head="10 % worse")
    status = _of_term(choice(*AssumptionStatus), "what backs it", head="status", shown=lambda each: each.status.value)
    value = _of_term(STRING, "its value, with its unit", head="from")
    moves_us = _of_term(
        SIGNED,
        "growth of the bound where it is 10 % worse, null where there is no bound then",
        lambda each: _float(each.moves),
        unit="us",
        head="bound moves us",
        shown=lambda each: NONE if each.moves is None else f"{float(each.moves):+.2f}",
    )


class TaskBoundFields(Record[TaskResponse]):
    """The bound of the response time of a task."""

    us = _of_bound(
        MICROSECONDS, "from the start of the first launch or copy to the end of the last", lambda each: _float(each.bound), unit="us"
    )
    _assumed = _of_bound(merged(AssumedFields), "what the bound rests on", lambda each: each.assumptions)


class TaskEstimateFields(Record[TaskResponse]):
    """The expected response time of a task."""

    us = _of_estimate(MICROSECONDS, "of all launches and copies, one after the other", lambda each: each.estimate, unit="us")


class OtherTaskFields(Record[OtherTask]):
    """A task that shares the GPU."""

    name = _of_other(STRING, "of the task in the project file", lambda each: each.definition.name, head="beside it")
    period_us = _of_other(
        MICROSECONDS, "from one start to the next", lambda each: _float(each.definition.period), unit="us", head="period us"
    )
    runs = _of_other(COUNT, "how many runs of it may be going on while the task runs", head="runs")
    bound_us = _of_other(
        MICROSECONDS, "what all of these add to the response time", lambda each: _float(each.bound), unit="us", head="bound us"
    )
    response_us = _of_other(
        MICROSECONDS, "bound of its own response time", lambda each: _float(each.response), unit="us", head="its own response us"
    )


class TaskFields(Record[AssessedTask]):
    """What `sassan task` says of a task."""

    name = _of_task(STRING, "of the task in the project file, empty without one", lambda each: each.task.definition.name)
    gpu = _of_task(STRING, "the product", lambda each: each.task.gpu.name)
    mode = _of_task(
        choice("isolated", "interfered"),
        "isolated: launches run one after the other, and nothing else is on the GPU; interfered: they may overlap, with each other (on "
        "several streams) and with other tasks",
        lambda each: "interfered" if each.task.interfered else "isolated",
    )
    dram_share = _of_task(SHARE, "what others leave of the bandwidth of DRAM", lambda each: float(each.task.gpu.dram_share))
    bound = _of_task(
        nullable(one(TaskBoundFields)),
        "the bound of the response time, null where there is none",
        lambda each: each.task if each.task.bound is not None else None,
    )
    estimate = _of_task(
        nullable(one(TaskEstimateFields)),
        "the expected response time, null where there is none",
        lambda each: each.task if each.task.estimate is not None else None,
    )
    deadline_us = _of_task(
        MICROSECONDS, "the deadline, null where none is given", lambda each: _float(each.task.definition.deadline), unit="us"
    )
    slack_us = _of_task(
        SIGNED, "from the bound to the deadline, negative where it may be missed", lambda each: _float(each.task.slack), unit="us"
    )
    period_us = _of_task(
        MICROSECONDS, "from one start to the next, null where none is given", lambda each: _float(each.task.definition.period), unit="us"
    )
    utilisation = _of_task(FIGURE, "the bound over the period, null without one", lambda each: _float(each.task.utilisation))
    missed = _of_task(FLAG, "whether the deadline, or the end of the period, may be missed", lambda each: each.task.missed)
    launches = _of_task(array(one(TaskLaunchFields)), "the launches, in order", lambda each: rows(each.task))
    others = _of_task(array(one(OtherTaskFields)), "the tasks that share the GPU", lambda each: each.task.others)
    terms = _of_task(
        array(one(SensitivityFields)), "figures that the bound rests on, those that move it most first", lambda each: each.terms
    )
    gaps = _of_task(GAPS, "everything that forbids a bound", lambda each: each.task.every_gap)
