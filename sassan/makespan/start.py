"""Where a search over warp pseudo-precedence strings starts, and what such a string means (Berezovskyi et al. 2013, IV and VI).

A string names a warp per instruction. `construct` (Figure 4) reads it from left to right and puts the next instruction of each warp
into the earliest slot after the warp's previous one in which neither the unit nor the issue limit is used up.
docs/proofs/makespan-strings.md proves that every string gives a work-conserving
schedule, and that every work-conserving schedule has a string.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sassan.alphabet import Letter
from sassan.errors import UsageError
from sassan.makespan.bounds.parts import followed_parts
from sassan.makespan.bounds.waiting import waiting_slots
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule
from sassan.makespan.timed.construct import construct as timed

MOST_INSTRUCTIONS = 1_000_000
"""Limit on the instructions of all warps together: beyond it a single evaluation takes too long."""

MOST_WARPS = 32_767
"""Limit of a 16-bit counter of the compiled chain; a streaming multiprocessor holds 64 warps."""


class Start(StrEnum):
    """The templates of section VI, and a shuffled string."""

    ROUND_ROBIN = "round-robin"
    FIXED_PRIORITY = "fixed-priority"
    MOST_PENDING = "most-pending"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class NumberedProblem:
    """A problem in numbers: `units[w][i]` is the unit (an index into `capacity`) of instruction `i` of warp `w`.

    `capacity` and `issue` are whole numbers of at most the number of warps, without loss: no more warps can run at once.
    No schedule has more slots than `horizon`. `timed` is the problem where it has intervals, latencies or barriers, else None.
    """

    letters: tuple[Letter, ...]
    units: tuple[tuple[int, ...], ...]
    capacity: tuple[int, ...]
    issue: int
    horizon: int
    timed: Problem | None = None

    @property
    def total(self) -> int:
        """Return the instructions of all warps: the length of a pseudo-precedence string."""
        return sum(len(units) for units in self.units)

    @property
    def warps(self) -> int:
        """Return the number of warps."""
        return len(self.units)


def instance(problem: Problem) -> NumberedProblem:
    """Return the problem in numbers; a fractional capacity above 1 is rounded down, as the validator does.

    Raises UsageError `too-large` before anything is expanded.
    """
    total = sum(string.length for string in problem.strings)
    if total > MOST_INSTRUCTIONS or problem.warps > MOST_WARPS:
        raise UsageError(
            "too-large",
            f"{total} instructions of {problem.warps} warps exceed the limits of a search over precedence strings "
            f"({MOST_INSTRUCTIONS} instructions, {MOST_WARPS} warps)",
            hint="use --engine bounds, which expands no string",
        )
    letters = tuple(sorted({letter for string in dict.fromkeys(problem.strings) for letter, count in string.counts().items() if count}))
    expanded = {string: tuple(letters.index(letter) for letter in string.expand()) for string in dict.fromkeys(problem.strings)}
    return NumberedProblem(
        letters,
        tuple(expanded[string] for string in problem.strings),
        tuple(min(int(problem.capacity[letter]), problem.warps) for letter in letters),
        problem.warps if problem.issue is None else min(problem.issue, problem.warps),
        min(total, waiting_slots(problem)) if problem.one_slot else followed_parts(problem),
        None if problem.one_slot else problem,
    )


def construct(case: NumberedProblem, precedence: tuple[int, ...]) -> Schedule:
    """Return the schedule of a pseudo-precedence string (Figure 4); the compiled construction is tested against it."""
    if case.timed is not None:
        return timed(case.timed, precedence)
    rows: list[list[int]] = [[] for _ in case.units]
    ran: dict[tuple[int, int], int] = {}
    issued: dict[int, int] = {}
    for warp in precedence:
        row = rows[warp]
        unit = case.units[warp][len(row)]
        slot = row[-1] + 1 if row else 0
        while ran.get((unit, slot), 0) == case.capacity[unit] or issued.get(slot, 0) == case.issue:
            slot += 1
        ran[unit, slot] = ran.get((unit, slot), 0) + 1
        issued[slot] = issued.get(slot, 0) + 1
        row.append(slot)
    return Schedule(tuple(tuple(row) for row in rows))


def start(case: NumberedProblem, kind: Start) -> tuple[int, ...]:
    """Return the template of this kind; for RANDOM it is round-robin, which the caller shuffles."""
    match kind:
        case Start.ROUND_ROBIN | Start.RANDOM:
            return tuple(_round_robin(case))
        case Start.FIXED_PRIORITY:
            return tuple(warp for warp, units in enumerate(case.units) for _ in units)
        case Start.MOST_PENDING:
            return tuple(_most_pending(case))


def _round_robin(case: NumberedProblem) -> Iterator[int]:
    for index in range(max((len(units) for units in case.units), default=0)):
        yield from (warp for warp, units in enumerate(case.units) if index < len(units))


def _most_pending(case: NumberedProblem) -> Iterator[int]:
    """Yield the string of Figure 8: slot by slot, from the head of a list in which a warp that ran goes to the tail."""
    pending = [warp for warp, units in enumerate(case.units) if units]
    done = [0] * case.warps
    while pending:
        free = list(case.capacity)
        ran: list[int] = []
        for warp in pending:
            unit = case.units[warp][done[warp]]
            if free[unit] and len(ran) < case.issue:
                free[unit] -= 1
                ran.append(warp)
        for warp in ran:
            done[warp] += 1
            yield warp
        kept = [warp for warp in pending if warp not in ran]
        pending = kept + [warp for warp in ran if done[warp] < len(case.units[warp])]
