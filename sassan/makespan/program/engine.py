"""Engine `ilp`: the longest makespan by an integer linear program (Berezovskyi et al. 2011), solved in process.

The horizon is a safe upper bound, not Equation 5 of the paper, which cuts the optimum off where a capacity exceeds 1. A value is exact
only where the solver proved it; the schedule read back from the unknowns is validated.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sassan.errors import SelfCheckError, UsageError
from sassan.ilp.model import Model
from sassan.ilp.solve import Solution, Status, solve
from sassan.jit import clock
from sassan.makespan.bounds.engine import Bounds
from sassan.makespan.engine import Budget, EngineResult, Reporter
from sassan.makespan.problem import Problem
from sassan.makespan.program import counted, paper
from sassan.makespan.program.build import Form, MakespanModel, ModelBuilder, OutOfTime, groups_of, guard
from sassan.makespan.schedule import Schedule, check
from sassan.makespan.start import NumberedProblem, Start, construct, instance, start
from sassan.makespan.states import over

PROOF = "optimal"
_BOUNDS = 0.3
"""Share of the time for the safe bound, which is the horizon of the program."""


def program(problem: Problem, horizon: int, form: Form = Form.SHORT, stop: Callable[[], bool] = lambda: False) -> MakespanModel:
    """Return the program whose optimum is the longest makespan of at most `horizon` slots.

    That is the longest makespan of all where `horizon` is a safe upper bound: a smaller one may cut the optimum off
    (docs/developer/design/makespan.md).
    Raises UsageError `too-large` with the number of unknowns, `timed-instance`, `fractional-capacity`; OutOfTime if `stop` ended it.
    """
    _guard_times(problem)
    case = instance(problem)
    fractions = [f"{letter.value}={value}" for letter, value in problem.capacity.items() if value.denominator > 1]
    if fractions:
        raise UsageError(
            "fractional-capacity", f"an exact engine needs whole capacities, not {', '.join(fractions)}", hint="round them down"
        )
    guard(case, form, horizon)
    build = ModelBuilder(case, groups_of(case, form), horizon, stop)
    objective = counted.fill(build) if form is Form.COUNTED else paper.fill(build, form)
    model = Model("makespan", tuple(build.variables), objective, tuple(build.rows), _title(problem, case, form, horizon))
    return MakespanModel(model, form, build.groups, build.runs)


def _guard_times(problem: Problem) -> None:
    if not problem.one_slot:
        message = "the integer programs treat neither intervals nor block barriers"
        raise UsageError("timed-instance", message, hint="use --engine exact, beam, anneal, bounds or all")


def _title(problem: Problem, case: NumberedProblem, form: Form, horizon: int) -> str:
    strings = " ".join(str(string) for string in dict.fromkeys(problem.strings))
    capacities = ", ".join(f"sigma_{letter.value} = {count}" for letter, count in zip(case.letters, case.capacity, strict=True))
    issue = "" if problem.issue is None else f", sigma = {problem.issue}"
    return (
        f"Longest makespan of {problem.warps} warps, strings {strings}; {capacities}{issue}; T = {horizon} slots.\n"
        f"Berezovskyi et al. 2011, Figure 3, form {form.value}; the optimum is the number of slots."
    )


def schedule_of(program: MakespanModel, case: NumberedProblem, values: tuple[int, ...]) -> Schedule:
    """Return the schedule of a solution; of counted warps, the first that are ready run first."""
    rows: list[list[int]] = [[] for _ in case.units]
    ran = sorted((slot, group, index, values[unknown]) for (group, index, slot), unknown in program.runs.items() if values[unknown] > 0)
    for slot, group, index, count in ran:
        ready = [warp for warp in program.groups[group] if len(rows[warp]) == index and (not rows[warp] or rows[warp][-1] < slot)]
        for warp in ready[:count]:
            rows[warp].append(slot)
    return Schedule(tuple(tuple(row) for row in rows))


@dataclass(frozen=True, slots=True)
class Ilp:
    """The engine: `form` of the rows, `solver` as `sassan.ilp.solve` names it (`highs` or `cbc` are installed with sassan)."""

    form: Form = Form.COUNTED
    solver: str = "highs"

    @property
    def name(self) -> str:
        """Return the name on the command line and in the output."""
        return "ilp"

    def run(self, problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
        """Return the proved longest makespan; at the deadline, the best known schedule and the safe bound.

        Raises UsageError `too-large` with the number of unknowns, `timed-instance`, `fractional-capacity`, MissingToolError for a missing
        solver.
        """
        began = clock.now()
        _guard_times(problem)
        case = instance(problem)
        guard(case, self.form, case.horizon)
        bound = Bounds().run(problem, replace(budget, deadline=_share(budget.deadline)), lambda _: None)
        assert bound.upper is not None
        first = max((construct(case, start(case, kind)) for kind in Start), key=lambda schedule: schedule.makespan)
        result = _validated(problem, EngineResult(self.name, first.makespan, bound.upper, first, bound.proof))
        report(replace(result, seconds=clock.now() - began))
        result = replace(self._solved(problem, case, result, budget), seconds=clock.now() - began)
        report(result)
        return result

    def _solved(self, problem: Problem, case: NumberedProblem, result: EngineResult, budget: Budget) -> EngineResult:
        """Build the program with the upper bound as horizon, and solve it."""
        assert result.upper is not None
        try:
            integer_program = program(problem, result.upper, self.form, lambda: over(budget))
        except OutOfTime:
            return replace(result, note="ended before the program was built")
        limit = None if budget.deadline is None else max(budget.deadline - clock.now(), 0.0)
        solution = solve(integer_program.model, self.solver, limit, lambda: over(budget))
        if solution.status is Status.UNPROVEN:
            return _incumbent(problem, case, integer_program, solution, result)
        if solution.status is not Status.OPTIMAL or solution.value is None:
            raise SelfCheckError(
                "ilp-answer", f"the program {integer_program.model.name} is {solution.status}, but round-robin is a solution"
            )
        schedule = schedule_of(integer_program, case, solution.values)
        return _validated(problem, EngineResult(self.name, solution.value, solution.value, schedule, PROOF))


def _share(deadline: float | None) -> float | None:
    """Return the deadline of the bounds; the rest of the time is the solver's."""
    return None if deadline is None else deadline - max(0.0, deadline - clock.now()) * (1 - _BOUNDS)


def _incumbent(problem: Problem, case: NumberedProblem, program: MakespanModel, solution: Solution, result: EngineResult) -> EngineResult:
    """Return the result without a proof: with the solver's best schedule so far, where it beats the first one."""
    note = "ended before the solver had a proof"
    if solution.incumbent:
        schedule = schedule_of(program, case, solution.incumbent)
        if result.lower is not None and schedule.makespan > result.lower:
            return _validated(problem, replace(result, lower=schedule.makespan, schedule=schedule, note=note))
    return replace(result, note=note)


def _validated(problem: Problem, result: EngineResult) -> EngineResult:
    """Return the result after validating its schedule.

    Raises SelfCheckError.
    """
    assert result.schedule is not None
    check(problem, result.schedule)
    if result.schedule.makespan != result.lower:
        raise SelfCheckError("ilp-answer", f"the program gives {result.lower} slots, but its schedule has {result.schedule.makespan}")
    return result
