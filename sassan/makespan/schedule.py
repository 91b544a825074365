"""Schedules, and the one judge of them: `check` knows the model and no engine."""

from collections import Counter
from dataclasses import dataclass

from sassan.alphabet import Letter
from sassan.errors import SelfCheckError
from sassan.makespan.problem import Problem


@dataclass(frozen=True, slots=True)
class Schedule:
    """`slots[w][i]` is the slot, from 0, in which warp `w` runs its instruction `i`."""

    slots: tuple[tuple[int, ...], ...]

    @property
    def makespan(self) -> int:
        """Return the number of slots until the last instruction has run."""
        return max((row[-1] + 1 for row in self.slots if row), default=0)


def check(problem: Problem, schedule: Schedule) -> None:
    """Accept a schedule only if order, capacities and work conservation hold in every slot.

    Raises SelfCheckError `bad-schedule` that names the slot and the rule.
    """
    strings = [list(one.expand()) for one in problem.strings]
    if [len(one) for one in strings] != [len(row) for row in schedule.slots]:
        raise SelfCheckError("bad-schedule", "the schedule does not hold each instruction of each warp once")
    done = [0] * problem.warps
    for slot in range(schedule.makespan):
        ready = Counter(one[at] for one, at in zip(strings, done, strict=True) if at < len(one))
        ran: Counter[Letter] = Counter()
        for warp, row in enumerate(schedule.slots):
            if done[warp] < len(row) and row[done[warp]] <= slot:
                if row[done[warp]] < slot:
                    raise SelfCheckError("bad-schedule", f"warp {warp} runs two instructions in slot {slot} or goes back in time")
                ran[strings[warp][done[warp]]] += 1
                done[warp] += 1
        if any(count > int(problem.capacity[letter]) for letter, count in ran.items()):
            raise SelfCheckError("bad-schedule", f"slot {slot} runs more of a unit than its capacity")
        most = sum(min(count, int(problem.capacity[letter])) for letter, count in ready.items())
        if ran.total() != (most if problem.issue is None else min(problem.issue, most)):
            raise SelfCheckError(
                "bad-schedule", f"slot {slot} runs {ran.total()} instructions where work conservation demands another number"
            )
    if done != [len(one) for one in strings]:
        raise SelfCheckError("bad-schedule", "the schedule leaves instructions out")
