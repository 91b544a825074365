"""The longest makespan of warps that run kernel strings on one SM."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from sassan import machine
from sassan.api import checking
from sassan.app import documents
from sassan.app.documents import Value
from sassan.errors import UsageError
from sassan.makespan import clock
from sassan.makespan.configuration import Configuration
from sassan.makespan.configuration import capacities as parse_capacities
from sassan.makespan.configuration import latencies as parse_latencies
from sassan.makespan.engine import Budget
from sassan.makespan.engines import load
from sassan.makespan.merge import Merged
from sassan.makespan.problem import Problem, Processor, problem
from sassan.makespan.processors import MODEL
from sassan.makespan.processors import processor as processor_of
from sassan.makespan.schedule import Schedule
from sassan.render import gantt, gantt_svg
from sassan.strings.kernel_string import instructions


@dataclass(frozen=True, slots=True)
class Makespan:
    """The longest makespan lies in [`lower`, `upper`], in slots; `schedule` shows `lower`, None where none was found.

    A schedule holds, for each warp, the slot (from 0) of each letter of its string in `problem`, where fractions and latencies are removed.
    """

    strings: tuple[str, ...]
    upper: int | None
    schedule: Schedule | None = field(repr=False)
    problem: Problem = field(repr=False)
    processor: Processor = field(repr=False)
    assumptions: tuple[str, ...] = field(repr=False)

    @property
    def lower(self) -> int | None:
        """Return the length of the longest schedule found."""
        return self.schedule.makespan if self.schedule is not None else None

    @property
    def exact(self) -> int | None:
        """Return the longest makespan where it is proved."""
        return self.lower if self.lower == self.upper else None

    @property
    def warps(self) -> int:
        """Return the number of warps."""
        return self.problem.warps

    def svg(self) -> str:
        """Return the schedule as a Gantt chart.

        Raises UsageError `no-schedule`, `too-large`.
        """
        if self.schedule is None:
            raise UsageError("no-schedule", "there is no schedule to draw", hint="give the search more time, or engine='beam'")
        proved = "proved the longest" if self.exact is not None else f"at most {self.upper}"
        facts = (" ".join(self.strings), f"{self.warps} warps, {self.schedule.makespan} slots: {proved}")
        return gantt_svg.draw(gantt.chart(self.problem, self.schedule, "schedule", facts), "svg")

    def to_dict(self) -> Mapping[str, Value]:
        """Return the stable keys of `sassan makespan --json`."""
        capacity = {letter.value: _plain(value) for letter, value in self.processor.capacity.items()}
        return {
            **documents.tool(),
            "string": self.strings[0] if len(self.strings) == 1 else None,
            "strings": self.strings,
            "warps": self.warps,
            "capacities": capacity,
            "issue": self.processor.issue,
            "exact": self.exact,
            "lower": self.lower,
            "upper": self.upper,
            "assumptions": self.assumptions,
            "schedule": self._rows(),
        }

    def _rows(self) -> Sequence[Value] | None:
        """Return cycle (from 1), warp (from 0) and unit of every instruction, by cycle and warp."""
        if self.schedule is None:
            return None
        rows = zip(self.problem.strings, self.schedule.slots, strict=True)
        cells = [
            (slot + 1, warp, letter.value)
            for warp, (string, slots) in enumerate(rows)
            for letter, slot in zip(string.expand(), slots, strict=True)
        ]
        return [list(cell) for cell in sorted(cells)]

    def _repr_svg_(self) -> str | None:
        return self.svg() if self.schedule is not None else None


def makespan_of(  # noqa: PLR0913 - every choice of a user is a parameter
    strings: str | Sequence[str],
    warps: int | None = None,
    *,
    arch: str | None = None,
    capacity: Mapping[str, float | str | Fraction] | None = None,
    latency: Mapping[str, int] | None = None,
    issue: int | None = None,
    engine: str = "all",
    time_limit: float = 10.0,
    seed: int = 0,
) -> Makespan:
    """Return the longest makespan of `warps` warps on one SM that run kernel strings (`L5C9(L2C9)^10`), several in turn, as an interval.

    The SM is that of `arch` (`sm_61`) with `capacity` (warp instructions per slot, by letter) over it; without both each unit runs one per
    slot. `latency` is in slots by letter, `issue` bounds the instructions of one slot, `time_limit` is in seconds.
    Raises InputError for a string, UsageError for numbers that mean nothing.
    """
    parsed = tuple(instructions(checking.text("a kernel string", one)) for one in _several(strings))
    count = checking.whole("warps", warps) if warps is not None else len(parsed)
    if not parsed or count < 1:
        raise UsageError("no-warps", "there is no warp to run", hint="warps=16")
    told = Configuration(
        capacity=parse_capacities(_pairs("capacity", capacity)) if capacity else {},
        latency=parse_latencies(_pairs("latency", latency)) if latency else {},
        issue=None if issue is None else checking.whole("issue", issue),
    )
    sm = machine.machine_of(checking.text("arch", arch), None) if arch is not None else None
    processor, assumptions = processor_of(parsed, told, sm)
    instance = problem(tuple(parsed[warp % len(parsed)] for warp in range(count)), processor)
    known = Merged(instance)
    budget = Budget(clock.now() + checking.seconds("time_limit", time_limit), seed=checking.whole("seed", seed))
    last = load(engine).run(instance, budget, known)
    if engine != "all":
        known(last)
    return Makespan(tuple(map(str, parsed)), known.upper, known.schedule, instance, processor, (MODEL, *assumptions))


def _several(strings: object) -> Sequence[object]:
    if isinstance(strings, Sequence):
        return (strings,) if isinstance(strings, str) else cast("Sequence[object]", strings)
    raise checking.wrong("strings", strings, "a kernel string, or several")


def _pairs(name: str, numbers: object) -> str:
    return ",".join(f"{letter}={value}" for letter, value in checking.mapping(name, numbers).items())


def _plain(value: Fraction) -> Value:
    return value.numerator if value.denominator == 1 else str(value)
