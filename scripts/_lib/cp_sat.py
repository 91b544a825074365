"""A natural model of the longest makespan for CP-SAT, as somebody would write it who knows the solver and not the literature.

A Boolean per warp, instruction and slot says that the instruction is done before the slot; it never falls back. Who is ready and does not
run needs a unit that is full, or an issue limit that is reached. Warps of one string are ordered by when they finish.
"""

from __future__ import annotations

import importlib.util
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from sassan.errors import MissingToolError, UsageError
from sassan.executor import available
from sassan.makespan.bounds.waiting import waiting_slots
from sassan.makespan.engine import Budget, EngineResult, Reporter
from sassan.makespan.schedule import Schedule, check

if TYPE_CHECKING:
    from sassan.alphabet import Letter
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
        size = waiting_slots(problem) * sum(string.length for string in problem.strings)
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
    horizon = waiting_slots(problem)
    strings = [list(string.expand()) for string in problem.strings]
    done = _orders(model, strings, horizon)
    _room(model, problem, strings, done, horizon)
    _symmetry(model, problem, strings, done, horizon)
    active = [model.NewBoolVar("") for _ in range(horizon)]
    for slot in range(horizon):
        model.AddBoolOr([active[slot].Not(), *(row[-1][slot].Not() for row in done)])
    model.Maximize(sum(active))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = available()
    if seconds is not None:
        solver.parameters.max_time_in_seconds = max(seconds - (time.monotonic() - begin), 0.01)
    status = solver.Solve(model)
    upper = min(horizon, int(solver.BestObjectiveBound() + 1e-6)) if status != cp_model.UNKNOWN else horizon
    if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
        return EngineResult(CpSat.name, None, upper, None, "cp-sat", time.monotonic() - begin)
    rows = [tuple(sum(not solver.Value(place) for place in places) - 1 for places in row) for row in done]
    schedule = Schedule(tuple(rows))
    check(problem, schedule)
    return EngineResult(CpSat.name, schedule.makespan, upper, schedule, "cp-sat", time.monotonic() - begin)


def _orders(model: Any, strings: list[list[Letter]], horizon: int) -> list[list[list[Any]]]:  # noqa: ANN401 - ortools has no types
    """Return done[warp][instruction][slot], with the order of the instructions and of time; everything is done at the end."""
    done = [[[model.NewBoolVar("") for _ in range(horizon + 1)] for _ in string] for string in strings]
    for row in done:
        for index, places in enumerate(row):
            model.Add(places[0] == 0)
            model.Add(places[horizon] == 1)
            for slot in range(horizon):
                model.AddImplication(places[slot], places[slot + 1])
                if index:
                    # An instruction is done one slot after its predecessor at the earliest.
                    model.AddImplication(places[slot + 1], row[index - 1][slot])
    return done


def _room(model: Any, problem: Problem, strings: list[list[Letter]], done: list[list[list[Any]]], horizon: int) -> None:  # noqa: ANN401
    letters = sorted(problem.capacity)
    for slot in range(horizon):
        runs = {letter: [] for letter in letters}
        ready: list[tuple[Letter, list[Any]]] = []
        for string, row in zip(strings, done, strict=True):
            for index, (letter, places) in enumerate(zip(string, row, strict=True)):
                runs[letter].append(places[slot + 1] - places[slot])
                before = [row[index - 1][slot]] if index else []
                ready.append((letter, [*(literal.Not() for literal in before), places[slot + 1]]))
        full = {letter: model.NewBoolVar("") for letter in letters}
        spent = model.NewBoolVar("")
        for letter in letters:
            model.Add(sum(runs[letter]) <= int(problem.capacity[letter]))
            model.Add(sum(runs[letter]) == int(problem.capacity[letter])).OnlyEnforceIf(full[letter])
        total = sum(variable for some in runs.values() for variable in some)
        if problem.issue is None:
            model.Add(spent == 0)
        else:
            model.Add(total <= problem.issue)
            model.Add(total == problem.issue).OnlyEnforceIf(spent)
        for letter, excuses in ready:
            model.AddBoolOr([*excuses, full[letter], spent])


def _symmetry(model: Any, problem: Problem, strings: list[list[Letter]], done: list[list[list[Any]]], horizon: int) -> None:  # noqa: ANN401
    for warp in range(1, len(strings)):
        if problem.strings[warp] == problem.strings[warp - 1]:
            for slot in range(horizon + 1):
                model.AddImplication(done[warp][-1][slot], done[warp - 1][-1][slot])
