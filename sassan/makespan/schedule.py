"""Schedules and their validator: `check` depends on the model alone, not on any engine."""

from collections import Counter
from dataclasses import dataclass

from sassan.errors import SelfCheckError
from sassan.makespan.problem import Problem

MANY = 20_000
"""Instructions of all warps together above which validation with numpy, loading included, is faster."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """`slots[w][i]` is the slot, from 0, in which warp `w` runs, or begins, its instruction `i`.

    `end` is the number of slots until all instructions have ended; None where each takes one slot.
    """

    slots: tuple[tuple[int, ...], ...]
    end: int | None = None

    @property
    def makespan(self) -> int:
        """Return the number of slots until the last instruction has ended."""
        if self.end is not None:
            return self.end
        return max((row[-1] + 1 for row in self.slots if row), default=0)


def check(problem: Problem, schedule: Schedule) -> None:
    """Validate a schedule: order, barriers, capacities and work conservation in every slot.

    Raises SelfCheckError `bad-schedule`, which names the slot and the rule.
    """
    if not problem.one_slot or schedule.end is not None:
        from sassan.makespan.timed.validator import refusal as timed_refusal  # noqa: PLC0415 - start-up

        reason = timed_refusal(problem, schedule.slots, schedule.end)
        if reason:
            raise _refused(reason)
        return
    if sum(len(row) for row in schedule.slots) < MANY:
        check_plain(problem, schedule)
        return
    from sassan.makespan.schedule_arrays import refusal  # noqa: PLC0415 - start-up

    reason = refusal(problem, schedule.slots)
    if reason:
        raise _refused(reason)


def check_plain(problem: Problem, schedule: Schedule) -> None:
    """Validate slot by slot in plain Python; `schedule_arrays` is tested against it.

    Raises SelfCheckError `bad-schedule`.
    """
    strings = [tuple(string.expand()) for string in problem.strings]
    if [len(string) for string in strings] != [len(row) for row in schedule.slots]:
        raise _refused("it does not hold each instruction of each warp once")
    for warp, row in enumerate(schedule.slots):
        if any(late <= early for early, late in zip((-1, *row), row, strict=False)):
            raise _refused(f"warp {warp} does not run its instructions in order, one per slot")
    runs: list[list[tuple[int, int]]] = [[] for _ in range(schedule.makespan)]
    for warp, row in enumerate(schedule.slots):
        for index, slot in enumerate(row):
            runs[slot].append((warp, index))
    ready = Counter(string[0] for string in strings if string)
    for slot, run in enumerate(runs):
        ran = Counter(strings[warp][index] for warp, index in run)
        for letter, count in sorted(ran.items()):
            if count > int(problem.capacity[letter]):
                raise _refused(f"slot {slot + 1} runs {count} {letter}, more than the capacity of the unit")
        most = sum(min(count, int(problem.capacity[letter])) for letter, count in ready.items())
        due = most if problem.issue is None else min(problem.issue, most)
        if len(run) != due:
            raise _refused(f"slot {slot + 1} runs {len(run)} instructions where work conservation demands {due}")
        ready.subtract(ran)
        ready.update(strings[warp][index + 1] for warp, index in run if index + 1 < len(strings[warp]))


def _refused(reason: str) -> SelfCheckError:
    return SelfCheckError("bad-schedule", f"not a schedule of this problem: {reason}")
