"""The kernels of a program by the time of their launches."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sassan.app.estimating import EstimateResult, expected_time
from sassan.app.launches import LaunchResult
from sassan.fields import field as fields
from sassan.fields.field import Declare, Record, Value
from sassan.fields.kinds import COUNT, FIGURE, STRING, TEXT, nullable


@dataclass(frozen=True, slots=True)
class KernelTime:
    """All launches of one kernel: how many, how many with an estimate, and the microseconds of these; `longest` is one of them."""

    name: str
    launches: int
    estimated: int
    us: float
    longest: EstimateResult | None


_of = Declare[KernelTime]()


class KernelTimeFields(Record[KernelTime]):
    """A kernel of a program."""

    name = _of(STRING, "the kernel", key="kernel")
    launches = _of(COUNT, "how many there are of it")
    estimated = _of(COUNT, "how many of them have an estimate")
    us = _of(FIGURE, "of all of these", lambda each: each.us if each.longest is not None else None, unit="us")
    longest = _of(FIGURE, "of the longest of them", lambda each: expected_time(each.longest).us, unit="us", key="longest_us")
    bound_by = _of(TEXT, "what explains most of the time of that one", lambda each: expected_time(each.longest).bound_by)


def kernels(launches: Sequence[LaunchResult], estimates: Sequence[EstimateResult | None]) -> tuple[KernelTime, ...]:
    """Return the kernels of a program, those that take most time first."""
    by_name: dict[str, list[tuple[int, EstimateResult | None]]] = defaultdict(list)
    for launch, result in zip(launches, estimates, strict=True):
        by_name[launch.launch.kernel].append((launch.launch.count, result))
    return tuple(sorted((_kernel(name, several) for name, several in by_name.items()), key=lambda each: (-each.us, each.name)))


def _kernel(name: str, several: Sequence[tuple[int, EstimateResult | None]]) -> KernelTime:
    known = [(count, result, result.estimate.us) for count, result in several if result is not None and result.estimate is not None]
    longest = max(known, key=lambda each: each[2], default=None)
    return KernelTime(
        name,
        sum(count for count, _ in several),
        sum(count for count, _, _ in known),
        sum(count * us for count, _, us in known),
        longest[1] if longest is not None else None,
    )


@dataclass(frozen=True, slots=True)
class ProgramBound:
    """All launches of a program: how many, how many of them are bounded, and the sum of all bounds, None where one is missing.

    Units: cycles of the cost model; `us` in microseconds, None without a GPU, too.
    """

    launches: int
    bounded: int
    cycles: int | None
    us: float | None


_of_bound = Declare[ProgramBound]()


class ProgramBoundFields(Record[ProgramBound]):
    """The bound of all launches of a program, one after the other, without what is between them (`sassan task` has that)."""

    launches = _of_bound(COUNT, "how many there are")
    bounded = _of_bound(COUNT, "how many of them have a bound")
    cycles = _of_bound(nullable(COUNT), "sum of all bounds, null where one is missing")
    us = _of_bound(FIGURE, "of that sum, null where one is missing, or no GPU is given", unit="us")


def program_bound(launches: Sequence[LaunchResult]) -> ProgramBound:
    """Return the bound of all launches of a program, one after the other."""
    cycles = [each.launch.count * each.cycles for each in launches if each.cycles is not None]
    us = [each.launch.count * each.us for each in launches if each.us is not None]
    return ProgramBound(
        sum(each.launch.count for each in launches),
        sum(each.launch.count for each in launches if each.cycles is not None),
        sum(cycles) if launches and len(cycles) == len(launches) else None,
        sum(us) if launches and len(us) == len(launches) else None,
    )


def document(launches: Sequence[LaunchResult], estimates: Sequence[EstimateResult | None]) -> Mapping[str, Value]:
    """Return the kernels of a program, their sum, and the bound of all launches."""
    several = kernels(launches, estimates)
    total = fields.document(ProgramBoundFields, program_bound(launches))
    return {
        "kernels": [fields.document(KernelTimeFields, each) for each in several],
        "us": sum(each.us for each in several),
        "total": total,
    }
