"""States of a makespan problem: how many warps are where, and the possible states one slot later.

Warps that run the same string are interchangeable, so a state counts them. Each string is cut into segments of equal letters. A state
says of each segment how many warps are inside it and how many instructions they have left in it together.

* With segments of one letter (`cut="letters"`) that is the state of the processor itself.
* With longer segments (`cut="runs"`) it is less: which warp holds how much of the work of a segment is forgotten. `successors` allows
  every distribution that the sums allow. Proof that the longest path only grows: map a state of the processor to its sums. A slot that is
  legal there serves k_g <= m_g warps of each segment g, with the same totals per unit and in all (they depend on the counts m_g
  alone), and x_g <= k_g of them leave the segment. The m_g - x_g warps that stay have between 1 and `length` instructions left each, so
  the sums after the slot satisfy the two inequalities that `successors` asks for, and the arriving warps bring `length` each. Hence each
  schedule is a path of the same length over the sums, and the longest path over the sums is an upper bound of the makespan.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

from sassan.alphabet import UNITS
from sassan.errors import UsageError
from sassan.jit import clock
from sassan.makespan.engine import Budget
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule

State = tuple[tuple[int, int], ...]
"""Per segment of the layout, the warps inside and the instructions they have left in it; what is done is not listed."""

Cut = Literal["letters", "runs"]

_LONGEST = 1_000_000
"""Instructions of all different strings that are expanded."""
PLAIN = 3000
"""States of single letters up to which plain Python answers sooner than the compiler loads."""


@dataclass(frozen=True, slots=True)
class Segment:
    """`length` instructions of unit number `unit`, and `behind` more of any unit before the warp is done."""

    unit: int
    length: int
    behind: int

    @property
    def last(self) -> bool:
        """Say whether a warp that leaves this segment is done."""
        return self.behind == 0


@dataclass(frozen=True, slots=True)
class Team:
    """The warps, by their index in the problem, that run the string of these segments."""

    warps: tuple[int, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class ProblemLayout:
    """A problem with its strings grouped and cut; `issue` never exceeds what all units take together."""

    teams: tuple[Team, ...]
    capacity: tuple[int, ...]
    issue: int

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Return the segments of all teams in a row, each team's in the order of its string."""
        return tuple(segment for team in self.teams for segment in team.segments)

    @property
    def warps(self) -> int:
        """Return the number of warps."""
        return sum(len(team.warps) for team in self.teams)

    @property
    def work(self) -> int:
        """Return the number of instructions of all warps."""
        return sum(len(team.warps) * segment.length for team in self.teams for segment in team.segments)


def layout(problem: Problem, cut: Cut) -> ProblemLayout:
    """Return the layout of a problem.

    Raises UsageError `fractional-capacity` where a unit takes, for example, 3/2 instructions per slot: states count whole slots;
    `too-large` where the strings are too long to be expanded.
    """
    length = sum(string.length for string in problem.shares)
    if length > _LONGEST:
        hint = "use --engine bounds, which expands no string"
        raise UsageError("too-large", f"a search over states takes strings of {_LONGEST} instructions, not of {length}", hint=hint)
    letters = [letter for letter in UNITS if letter in problem.capacity]
    capacity = tuple(int(problem.capacity[letter]) for letter in letters)
    for letter in letters:
        if problem.capacity[letter].denominator != 1:
            raise UsageError(
                "fractional-capacity",
                f"the capacity of {letter}, {problem.capacity[letter]} instructions per slot, is not a whole number",
                hint="round it down, or use --engine bounds, which takes fractions",
            )
    number = {letter: index for index, letter in enumerate(letters)}
    teams = [
        Team(
            tuple(warp for warp, string in enumerate(problem.strings) if string == team_string),
            _segments([number[letter] for letter in team_string.expand()], cut),
        )
        for team_string in dict.fromkeys(problem.strings)
    ]
    all_units = sum(capacity)
    return ProblemLayout(tuple(teams), capacity, all_units if problem.issue is None else min(problem.issue, all_units))


def _segments(units: Sequence[int], cut: Cut) -> tuple[Segment, ...]:
    runs: list[list[int]] = []
    for unit in units:
        if runs and cut == "runs" and runs[-1][0] == unit:
            runs[-1][1] += 1
        else:
            runs.append([unit, 1])
    behind = itertools.accumulate((length for _, length in runs), lambda left, length: left - length, initial=len(units))
    return tuple(Segment(unit, length, left) for (unit, length), left in zip(runs, itertools.islice(behind, 1, None), strict=True))


def team_sizes(problem: Problem) -> list[tuple[int, int]]:
    """Return (warps, letters) of each different string, without expanding it."""
    return [(warps, string.length) for string, warps in problem.shares.items()]


def over(budget: Budget) -> bool:
    """Say whether an engine should end."""
    return budget.stop() or (budget.deadline is not None and clock.now() >= budget.deadline)


def count_letter_states(lengths: Sequence[tuple[int, int]]) -> int:
    """Return how many states teams of (warps, letters) have when every letter is a segment: the product of C(W + I, I)."""
    product = 1
    for warps, letters in lengths:
        product *= comb(warps + letters, min(warps, letters))
    return product


def count_states(cut: ProblemLayout) -> int:
    """Return how many states the layout has, those that no schedule reaches included."""
    product = 1
    for team in cut.teams:
        warps = len(team.warps)
        counts = [1] * (warps + 1)
        for segment in team.segments:
            sizes = [(segment.length - 1) * inside + 1 for inside in range(warps + 1)]
            counts = [sum(counts[total - inside] * sizes[inside] for inside in range(total + 1)) for total in range(warps + 1)]
        product *= counts[warps]
    return product


def start(cut: ProblemLayout) -> State:
    """Return the state in which every warp stands before its first instruction."""
    return tuple(
        (len(team.warps), len(team.warps) * segment.length) if index == 0 else (0, 0)
        for team in cut.teams
        for index, segment in enumerate(team.segments)
    )


def work_left(cut: ProblemLayout, state: State) -> int:
    """Return how many instructions have not run: it falls with every slot."""
    return sum(work + warps * segment.behind for segment, (warps, work) in zip(cut.segments, state, strict=True))


def successors(cut: ProblemLayout, state: State) -> Iterator[State]:
    """Yield every state that can follow one slot later, some more than once; none if all warps are done."""
    segments = cut.segments
    ready = [0] * len(cut.capacity)
    for segment, (warps, _) in zip(segments, state, strict=True):
        ready[segment.unit] += warps
    limit = [min(count, most) for count, most in zip(ready, cut.capacity, strict=True)]
    total = min(cut.issue, sum(limit))
    if total:
        for moves in _moves(segments, state, limit, total):
            yield _moved(segments, state, moves)


def _moves(segments: Sequence[Segment], state: State, limit: list[int], total: int, at: int = 0) -> Iterator[list[tuple[int, int]]]:
    """Yield, per segment from `at` on, how many warps run and how many of these leave it; all run `total` in sum."""
    if at == len(segments):
        if total == 0:
            yield []
        return
    unit, length = segments[at].unit, segments[at].length
    warps, work = state[at]
    for runs in range(min(warps, limit[unit], total) + 1):
        leaving = [x for x in range(runs + 1) if warps - x <= work - runs <= (warps - x) * length]
        if leaving:
            limit[unit] -= runs
            for rest in _moves(segments, state, limit, total - runs, at + 1):
                for x in leaving:
                    yield [(runs, x), *rest]
            limit[unit] += runs


def _moved(segments: Sequence[Segment], state: State, moves: Sequence[tuple[int, int]]) -> State:
    after: list[tuple[int, int]] = []
    arriving = 0
    for segment, (warps, work), (runs, leaving) in zip(segments, state, moves, strict=True):
        after.append((warps - leaving + arriving, work - runs + arriving * segment.length))
        arriving = 0 if segment.last else leaving
    return tuple(after)


def schedule_of(problem: Problem, cut: ProblemLayout, path: Sequence[State]) -> Schedule:
    """Return the schedule along this path of states of single letters, from the start to the end; warps move in order of arrival."""
    slots: list[list[int]] = [[] for _ in range(problem.warps)]
    base = 0
    for team in cut.teams:
        places = [list[int]() for _ in range(len(team.segments) + 1)]
        places[0] = list(team.warps)
        for slot, (before, after) in enumerate(itertools.pairwise(path)):
            passed = 0
            leaving: list[int] = []
            for place in range(len(team.segments)):
                passed += before[base + place][0] - after[base + place][0]
                leaving.append(passed)
            for place in reversed(range(len(team.segments))):
                for warp in places[place][: leaving[place]]:
                    slots[warp].append(slot)
                places[place + 1] += places[place][: leaving[place]]
                del places[place][: leaving[place]]
        base += len(team.segments)
    return Schedule(tuple(map(tuple, slots)))
