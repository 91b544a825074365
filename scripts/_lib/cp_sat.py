"""A natural model of the longest makespan for CP-SAT, as somebody would write it who knows the solver and not the literature.

A Boolean per warp, instruction and slot says that the instruction begins before the slot; it never falls back. Who is ready and does not
begin needs a unit that is full, or an issue limit that is reached. A barrier opens when all warps of its block have ended their part.
Warps of one string, and of one block where there are any, are ordered by when they finish.
"""

from __future__ import annotations

import importlib.util
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from sassan.alphabet import Letter
from sassan.errors import MissingToolError, UsageError
from sassan.executor import available
from sassan.makespan.bounds.engine import candidates
from sassan.makespan.bounds.waiting import waiting_slots
from sassan.makespan.engine import Budget, EngineResult, Reporter
from sassan.makespan.schedule import Schedule, check

if TYPE_CHECKING:
    from sassan.makespan.problem import Problem

MOST_BOOLEANS = 150_000
"""Beyond this the model alone takes many seconds to build."""


class CpSat:
    """An engine for the benchmark; it uses every processor.

    It runs in a process of its own: ortools and highspy each carry a HiGHS, and do not load beside each other.
    """

    name = "cp-sat"

    def __init__(self) -> None:
        """Start the process.

        Raises MissingToolError.
        """
        if importlib.util.find_spec("ortools") is None:
            raise MissingToolError("no-ortools", "ortools is not installed", hint="pip install ortools")
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))

    def run(self, problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
        """Return the interval and the schedule of the solver when the deadline comes.

        Raises UsageError `too-large`.
        """
        del report
        size = _horizon(problem) * sum(string.length for string in problem.strings)
        if size > MOST_BOOLEANS:
            raise UsageError("too-large", f"{size} Booleans, more than {MOST_BOOLEANS}")
        seconds = None if budget.deadline is None else budget.deadline - time.monotonic()
        return self._pool.submit(solve, problem, seconds).result()

    def close(self) -> None:
        """End the process."""
        self._pool.shutdown()


def solve(problem: Problem, seconds: float | None) -> EngineResult:
    """Build the model and solve it, both within the time given."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 - an optional extra, and only in this process

    begin = time.monotonic()
    model = cp_model.CpModel()
    horizon = _horizon(problem)
    written = _Model(model, problem, horizon, [list(string.expand()) for string in problem.strings])
    begun, ended = written.orders()
    written.units(begun)
    for warp in range(1, problem.warps):
        if problem.strings[warp] == problem.strings[warp - 1] and warp not in written.first_of_block:
            for slot in range(horizon + 1):
                model.AddImplication(ended[warp][slot], ended[warp - 1][slot])
    active = [model.NewBoolVar("") for _ in range(horizon)]
    for slot in range(horizon):
        model.AddBoolOr([active[slot].Not(), *(row[slot].Not() for row in ended)])
    model.Maximize(sum(active))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = available()
    if seconds is not None:
        solver.parameters.max_time_in_seconds = max(seconds - (time.monotonic() - begin), 0.01)
    status = solver.Solve(model)
    upper = min(horizon, int(solver.BestObjectiveBound() + 1e-6)) if status != cp_model.UNKNOWN else horizon
    if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
        return EngineResult(CpSat.name, None, upper, None, "cp-sat", time.monotonic() - begin)
    rows = tuple(tuple(sum(not solver.Value(place) for place in places) - 1 for places in row) for row in begun)
    end = None if problem.one_slot else sum(solver.Value(variable) for variable in active)
    schedule = Schedule(rows, end)
    check(problem, schedule)
    return EngineResult(CpSat.name, schedule.makespan, upper, schedule, "cp-sat", time.monotonic() - begin)


def _horizon(problem: Problem) -> int:
    """Return a number of slots that no schedule exceeds."""
    return waiting_slots(problem) if problem.one_slot else min(bound for _, bound in candidates(problem, lambda: False))


class _Model:
    """The variables and constraints; ortools has no types."""

    def __init__(self, model: Any, problem: Problem, horizon: int, strings: list[list[Letter]]) -> None:  # noqa: ANN401
        self.model, self.problem, self.horizon, self.strings = model, problem, horizon, strings
        sizes = problem.blocks or (1,) * problem.warps
        ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
        self.blocks = [range(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        self.first_of_block = {block[0] for block in self.blocks} if problem.blocks else set()
        self.before: dict[tuple[int, int], list[Any]] = {}

    def orders(self) -> tuple[list[list[list[Any]]], list[list[Any]]]:
        """Return begun[warp][instruction][slot], whether it begins before the slot, and ended[warp][slot] of whole warps."""
        begun = [[self._monotone() for _ in string] for string in self.strings]
        ended: list[list[Any]] = [[] for _ in self.strings]
        for block in self.blocks:
            parts = [_parts(self.problem, warp) for warp in block]
            opened = [self.model.NewConstant(1)] * (self.horizon + 1)
            for number in range(max(map(len, parts))):
                over: list[list[Any]] = []
                for warp, of_warp in zip(block, parts, strict=True):
                    last = opened
                    for index in of_warp[number] if number < len(of_warp) else ():
                        self._follows(begun[warp][index], last)
                        self.before[warp, index] = last
                        last = self._later(begun[warp][index], self.problem.latency.get(self.strings[warp][index], 1))
                    over.append(last)
                opened = self._all(over) if len(over) > 1 or number + 1 < max(map(len, parts)) else over[0]
                for warp, last in zip(block, over, strict=True):
                    ended[warp] = last
        for row in ended:
            self.model.Add(row[self.horizon] == 1)
        return begun, ended

    def units(self, begun: list[list[list[Any]]]) -> None:
        """Let no unit hold, and no slot begin, more than it takes; who is ready and does not begin finds one of them full."""
        problem, letters = self.problem, sorted(self.problem.capacity)
        for slot in range(self.horizon):
            held: dict[Letter, list[Any]] = {letter: [] for letter in letters}
            begins: list[Any] = []
            ready: list[tuple[Letter, list[Any]]] = []
            for warp, string in enumerate(self.strings):
                for index, letter in enumerate(string):
                    places = begun[warp][index]
                    since = slot + 1 - problem.interval.get(letter, 1)
                    held[letter].append(places[slot + 1] - (places[since] if since > 0 else 0))
                    begins.append(places[slot + 1] - places[slot])
                    ready.append((letter, [self.before[warp, index][slot].Not(), places[slot + 1]]))
            full = {letter: self.model.NewBoolVar("") for letter in letters}
            spent = self.model.NewBoolVar("")
            for letter in letters:
                self.model.Add(sum(held[letter]) <= int(problem.capacity[letter]))
                self.model.Add(sum(held[letter]) == int(problem.capacity[letter])).OnlyEnforceIf(full[letter])
            if problem.issue is None:
                self.model.Add(spent == 0)
            else:
                self.model.Add(sum(begins) <= problem.issue)
                self.model.Add(sum(begins) == problem.issue).OnlyEnforceIf(spent)
            for letter, excuses in ready:
                self.model.AddBoolOr([*excuses, full[letter], spent])

    def _monotone(self) -> list[Any]:
        places = [self.model.NewBoolVar("") for _ in range(self.horizon + 1)]
        self.model.Add(places[0] == 0)
        for slot in range(self.horizon):
            self.model.AddImplication(places[slot], places[slot + 1])
        return places

    def _follows(self, places: list[Any], ready: list[Any]) -> None:
        for slot in range(self.horizon):
            self.model.AddImplication(places[slot + 1], ready[slot])

    def _later(self, places: list[Any], slots: int) -> list[Any]:
        """Return, per slot, whether what begins has ended so many slots after its begin."""
        never = self.model.NewConstant(0)
        return [places[slot - slots + 1] if slot >= slots else never for slot in range(self.horizon + 1)]

    def _all(self, rows: list[list[Any]]) -> list[Any]:
        """Return, per slot, whether all of these hold."""
        every = [self.model.NewBoolVar("") for _ in range(self.horizon + 1)]
        for slot, variable in enumerate(every):
            for row in rows:
                self.model.AddImplication(variable, row[slot])
            self.model.AddBoolOr([variable, *(row[slot].Not() for row in rows)])
        return every


def _parts(problem: Problem, warp: int) -> list[list[int]]:
    """Return the instructions of a warp, by number, before, between and behind its barriers."""
    parts: list[list[int]] = [[]]
    number = 0
    for letter in problem.strings[warp].steps():
        if letter is Letter.BARRIER:
            parts.append([])
        else:
            parts[-1].append(number)
            number += 1
    return parts
