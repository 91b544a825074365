"""The longest makespan of warps that run kernel strings on one SM."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from sassan.api import checking
from sassan.app import documents
from sassan.app.makespan.document import InstanceFields
from sassan.app.makespan.instances import instance
from sassan.app.makespan.search import InstanceResult, search
from sassan.errors import UsageError
from sassan.fields.field import Value, document
from sassan.makespan.configuration import MakespanConfiguration, capacities, intervals, latencies
from sassan.makespan.engines import load
from sassan.makespan.problem import Problem, Processor
from sassan.makespan.schedule import Schedule
from sassan.render import gantt, gantt_svg
from sassan.strings.kernel_string import instructions


@dataclass(frozen=True, slots=True, repr=False)
class Makespan:
    """The longest makespan lies in [`lower`, `upper`], in slots; `schedule` shows `lower`, None where none was found.

    A schedule holds, for each warp, the slot (from 0) of each letter of its string in `problem`, where fractions and latencies are removed.
    The model is that of Berezovskyi et al. 2011: in every slot a maximal set of ready instructions runs. `answer` is what the engines
    found, whose shape may change between versions.
    """

    answer: InstanceResult

    def __repr__(self) -> str:
        """Return strings, warps and the interval in a line."""
        known = f"{self.exact} slots" if self.exact is not None else f"{self.lower} to {self.upper} slots"
        return f"<Makespan of {self.warps} warps {' '.join(map(repr, self.strings))}: {known}>"

    @property
    def strings(self) -> tuple[str, ...]:
        """The kernel strings as given, run-length coded; warp i of them takes string i modulo their number."""
        return tuple(map(str, self.answer.instance.strings))

    @property
    def upper(self) -> int | None:
        """The least bound that an engine has proved, in slots: no schedule is longer; None where no engine gave one in time."""
        return self.answer.known.upper

    @property
    def schedule(self) -> Schedule | None:
        """The longest schedule found, None where no engine looked for one; the validator has accepted it."""
        return self.answer.known.schedule

    @property
    def problem(self) -> Problem:
        """The instance as the engines take it, with fractions of units and latencies removed.

        Letters are repeated for them where they can be.
        """
        return self.answer.instance.problem

    @property
    def processor(self) -> Processor:
        """What one SM executes per slot: instructions of each letter, and in all (`issue`), as given or by the architecture."""
        return self.answer.instance.processor

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the bounds rest on, a sentence each, such as how fractions of units were turned into letters."""
        return self.answer.instance.assumptions

    @property
    def lower(self) -> int | None:
        """The length of the longest schedule found, in slots: the longest makespan is at least that; None where there is no schedule."""
        return self.schedule.makespan if self.schedule is not None else None

    @property
    def exact(self) -> int | None:
        """The longest makespan in slots where it is proved, so that `lower` and `upper` are equal; None where they are not."""
        return self.lower if self.lower == self.upper else None

    @property
    def warps(self) -> int:
        """How many warps run, those of all strings together; all of them start in slot 0."""
        return self.problem.warps

    def svg(self) -> str:
        """Return the schedule as a Gantt chart, the text of an SVG: a row for each warp, a column for each slot.

        Raises UsageError `no-schedule` where none was found, `too-large` for one that no picture shows.
        """
        if self.schedule is None:
            raise UsageError("no-schedule", "there is no schedule to draw", hint="pass a longer time_limit, or engine='beam'")
        proved = "proved the longest" if self.exact is not None else f"at most {self.upper}"
        facts = (" ".join(self.strings), f"{self.warps} warps, {self.schedule.makespan} slots: {proved}")
        return gantt_svg.draw(gantt.chart(self.problem, self.schedule, "schedule", facts), "svg")

    def to_dict(self) -> Mapping[str, Value]:
        """Return what `sassan makespan --json` says, ready for `json.dumps`: the interval, the schedule, and what each engine found."""
        return {**documents.tool(), **document(InstanceFields, self.answer)}

    def _repr_svg_(self) -> str | None:
        return self.svg() if self.schedule is not None else None


def makespan_of(  # noqa: PLR0913 - every choice of a user is a parameter
    strings: str | Sequence[str],
    warps: int | None = None,
    *,
    arch: str | None = None,
    capacity: Mapping[str, float | str | Fraction] | None = None,
    latency: Mapping[str, int] | None = None,
    interval: Mapping[str, int] | None = None,
    block_warps: int | None = None,
    issue: int | None = None,
    engine: str = "all",
    time_limit: float = 10.0,
    seed: int = 0,
) -> Makespan:
    """Return the longest makespan of `warps` warps on one SM that run `strings` (`L5C9(L2C9)^10`), several in turn, as an interval.

    The SM is that of `arch` (`sm_61`) with `capacity` (warp instructions per slot, by letter) over it; without both each unit runs one per
    slot. `latency` is in slots by letter, and so is `interval`, how long an instruction holds its unit; without one it is as many letters
    as its latency has slots. `block_warps` warps in a row wait for each other at a letter B, all if it is None. `issue` bounds the
    instructions of one slot in all, None: no limit. `engine` is `exact`, `beam`, `anneal`, `ilp`, `bounds`, or `all`, which takes what is
    worth its time; `time_limit` in seconds ends each, `seed` draws its random numbers. The interval is in slots; its upper end is proved
    (docs/proofs/makespan-strings.md), its lower end a schedule that the validator has accepted. The model is that of Berezovskyi et al.
    2011, whose Equations 5 and 40 are not bounds and are not used (docs/papers.md).
    Raises InputError for a text that is not a kernel string or has a letter without a unit, UsageError for numbers that mean nothing and an
    unknown engine.
    """
    parsed = tuple(instructions(checking.text("a kernel string", string)) for string in _several(strings))
    count = checking.whole("warps", warps) if warps is not None else len(parsed)
    if not parsed or count < 1:
        raise UsageError("no-warps", "there is no warp to run", hint="pass warps=16")
    configuration = MakespanConfiguration(
        warps=count,
        capacity=capacities(_pairs("capacity", capacity)) if capacity else {},
        latency=latencies(_pairs("latency", latency)) if latency else {},
        interval=intervals(_pairs("interval", interval)) if interval else {},
        block_warps=None if block_warps is None else checking.whole("block_warps", block_warps),
        issue=None if issue is None else checking.whole("issue", issue),
    )
    case = instance(" ".join(map(str, parsed)), parsed, configuration, None if arch is None else checking.text("arch", arch), options=False)
    limit, start = checking.seconds("time_limit", time_limit), checking.whole("seed", seed)
    return Makespan(search(case, load(engine), seconds=limit, seed=start))


def _several(strings: object) -> Sequence[object]:
    if isinstance(strings, Sequence):
        return (strings,) if isinstance(strings, str) else cast("Sequence[object]", strings)
    raise checking.wrong("strings", strings, "a kernel string, or several")


def _pairs(name: str, numbers: object) -> str:
    return ",".join(f"{letter}={value}" for letter, value in checking.mapping(name, numbers).items())
