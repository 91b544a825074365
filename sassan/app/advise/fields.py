"""What is said of advice: each remedy with its gain, and what binds."""

from collections.abc import Sequence
from typing import NamedTuple

from sassan.app.advise.remedy import Advice, AdviceCode
from sassan.app.advise.trying import AdvisedLaunch, binding
from sassan.app.documents import HeadFields
from sassan.app.estimating import expected_time
from sassan.app.memory import line_of
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import ADDRESS, FIGURE, LINE, MICROSECONDS, NAME, SHARE, STRING, TEXT, address, array, choice, merged, one
from sassan.fields.shared import GAPS
from sassan.ir import SourceLine


class AdvisedPlace(NamedTuple):
    """An instruction that a remedy changes, and the line that it was compiled from."""

    address: int
    source: SourceLine | None


class LaunchAdvice(NamedTuple):
    """A remedy of a launch."""

    launch: AdvisedLaunch
    advice: Advice

    @property
    def gain_us(self) -> float:
        """What it gains, in microseconds of the program."""
        return self.advice.gain * self.launch.times

    @property
    def gain_of_total(self) -> float:
        """The part of the time of the program that it gains."""
        total = self.launch.total or expected_time(self.launch.estimate).us
        return self.gain_us / total if total else 0.0

    @property
    def places(self) -> tuple[AdvisedPlace, ...]:
        """The instructions that change."""
        function = self.launch.analysis.function
        return tuple(AdvisedPlace(place, line_of(function, place)) for place in self.advice.remedy.places)


_of_place, _of, _of_launch = Declare[AdvisedPlace](), Declare[LaunchAdvice](), Declare[AdvisedLaunch]()
_SHOWN = 3
"""Places that a table names."""


def every(launches: Sequence[AdvisedLaunch]) -> tuple[LaunchAdvice, ...]:
    """Return the advice of several launches, best first."""
    several = [LaunchAdvice(launch, advice) for launch in launches for advice in launch.advice]
    return tuple(sorted(several, key=lambda each: -each.gain_us))


def _where(each: LaunchAdvice) -> str:
    """Return where a remedy changes the code: lines where they are known, else addresses."""
    several = dict.fromkeys(
        f"{place.source.file.rpartition('/')[2]}:{place.source.line}" if place.source is not None else address(place.address)
        for place in each.places
    )
    return " ".join([*list(several)[:_SHOWN], *(["..."] if len(several) > _SHOWN else [])]) or "the launch"


class AdvicePlaceFields(Record[AdvisedPlace]):
    """An instruction that a remedy changes."""

    address = _of_place(ADDRESS, "of the instruction")
    source = _of_place(LINE, "the line that it was compiled from, null where that is not known")


class AdviceFields(Record[LaunchAdvice]):
    """A remedy that was tried."""

    code = _of(choice(*AdviceCode), "which remedy", lambda each: each.advice.remedy.code.value, csv="code", head="advice")
    function = _of(
        NAME, "the kernel, as the input has it", lambda each: each.launch.analysis.function.name, csv="function", head="function", widest=24
    )
    gain_us = _of(MICROSECONDS, "what it gains: of a program, in all launches of the kernel", unit="us", csv="gain_us", head="gain us")
    gain_of_total = _of(
        SHARE,
        "the part of the time of the launch, or of the program, that it gains",
        csv="gain_of_total",
        head="of total",
        shown=lambda each: f"{each.gain_of_total:.0%}",
    )
    us = _of(FIGURE, "expected time of the launch with it", lambda each: each.advice.us, unit="us", csv="us")
    places = _of(
        array(one(AdvicePlaceFields)),
        "instructions that change, none where only the launch does",
        csv="places",
        cell=_where,
        head="where",
        shown=_where,
        widest=40,
    )
    why = _of(STRING, "what is wrong", lambda each: each.advice.remedy.why, csv="why")
    example = _of(STRING, "the change as CUDA C++", lambda each: each.advice.remedy.example)
    sure = _of(
        STRING,
        "on what the gain rests: `certain`, `likely` or `upper limit`, and why",
        lambda each: each.advice.remedy.sure,
        csv="sure",
    )


class AdvisedFields(Record[AdvisedLaunch]):
    """A kernel that advice was sought for."""

    _head = _of_launch(merged(HeadFields), "the function", lambda each: each.analysis)
    us = _of_launch(
        FIGURE, "expected time of the launch, null where there is none", lambda each: expected_time(each.estimate).us, unit="us"
    )
    bound_by = _of_launch(TEXT, "what explains most of the time", lambda each: expected_time(each.estimate).bound_by)
    binds = _of_launch(TEXT, "the same as a sentence, with its share of the time", binding)
    gaps = _of_launch(GAPS, "why there is no estimate")
