"""Solve a model in process, and check the answer again without the solver.

An answer without a proof of optimality is not an upper bound (an incumbent lies below the maximum): every status but `optimal` carries no
value. Two checks follow, both in exact arithmetic: the rounded values satisfy every row, and, where the dual multipliers of the linear
relaxation can be made exact, they prove the optimum by weak duality (`proof` is then `dual`, else `solver`).

Traps met: PuLP's status is `Optimal` after a time limit (its `sol_status` is not); HiGHS stops by default within 0.01 % of the optimum,
which would be below it; HiGHS may call an unbounded model infeasible.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import floor
from pathlib import Path
from typing import Any

from sassan.errors import MissingToolError, SelfCheckError, UsageError
from sassan.ilp import basis, highs
from sassan.ilp.answer import SolverAnswer, Status
from sassan.ilp.model import Model, Rational, covered, dual_bound, evaluate, violated
from sassan.scratch import scratch
from sassan.system.processes import ToolLimits, ToolProblem, run
from sassan.system.programs import folders, programs

__all__ = ["SOLVERS", "Solution", "Status", "solve", "upper_bound"]

_LARGEST = 1 << 52
"""Beyond this a double does not hold every integer, and a solver's answer means nothing."""
_LARGEST_FACTOR = 10**12
"""Beyond this HiGHS refuses a coefficient."""
_SHORTEST, _LONGEST = 0.05, 86_400.0
"""Seconds that a search gets at least, where the relaxation took all, and that a program of another maker gets at most."""
_PATIENCE = 60.0
"""Seconds that such a program gets beyond twice its limit, which it heeds now and then only, before it is killed."""
_PRINTED = 1 << 26
"""Bytes that it may print."""
_DENOMINATORS = (64, 1, 4096, 1_000_000)
"""Of multipliers: those of flow problems are small, and the first that do end the search."""
_WHOLE = 1e-6
"""How near to whole numbers multipliers are that mean these."""
_LOST = 2.0**32
"""Multipliers beyond which a solver's doubles say nothing of fractions any more."""
_NEAR = 1e-6
"""A proved bound this near to the relaxed optimum is not worth another try with finer multipliers."""


@dataclass(frozen=True, slots=True)
class Solution:
    """`values` follows `Model.variables`; `proof` is `dual` (checked exactly here) or `solver` (taken on the solver's word).

    `multipliers` are those of the rows that a `dual` proof rests on. `incumbent` may come with UNPROVEN: values that satisfy every row,
    whose objective is below the optimum or at it.
    """

    status: Status
    value: int | None = None
    values: tuple[int, ...] = ()
    proof: str = ""
    incumbent: tuple[int, ...] = ()
    multipliers: tuple[Rational, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class _Backend:
    """One solver behind PuLP: its class, how to switch its optimality gaps off, how to install it, whether it solves relaxations.

    `program`: its name, where it is one. `bundled`: the wheel of PuLP carries it.
    """

    pulp_name: str
    exact: tuple[tuple[str, object], ...]
    install: str
    relaxes: bool = True
    program: str = ""
    bundled: bool = False


_BACKENDS = {
    "cbc": _Backend("COIN_CMD", (("gapRel", 0.0), ("gapAbs", 0.0)), "apt-get install coinor-cbc", program="cbc", bundled=True),
    "glpk": _Backend("GLPK_CMD", (), "apt-get install glpk-utils", program="glpsol"),
    "scip": _Backend("SCIP_PY", (("gapRel", 0.0), ("gapAbs", 0.0)), "pip install pyscipopt", relaxes=False),
}
SOLVERS = ("highs", *_BACKENDS)


def solve(model: Model, solver: str = "highs", time_limit: float | None = None, stop: Callable[[], bool] | None = None) -> Solution:
    """Return the proven optimum of `model`, or a status without a value.

    Units: `time_limit` in seconds, for the relaxation and the search together. HiGHS asks `stop` now and then, and ends as at the limit;
    the others ask before they begin. Raises UsageError for an unknown solver, MissingToolError for one that is not installed,
    SelfCheckError when an answer violates the model.
    """
    if solver not in SOLVERS:
        raise UsageError("unknown-solver", f"no solver is called {solver!r}", hint=f"one of {', '.join(SOLVERS)}")
    relaxes = solver not in _BACKENDS or _BACKENDS[solver].relaxes
    if any(abs(factor) > _LARGEST_FACTOR for terms in (model.objective, *(row.terms for row in model.rows)) for _, factor in terms):
        return Solution(Status.UNPROVEN)
    begin = time.monotonic()
    relaxed = _run(model, solver, time_limit, integer=not relaxes, stop=stop)
    if relaxed.status is Status.OPTIMAL and relaxes:
        certified = _certified(model, relaxed)
        if certified is not None:
            return certified
        if _rounded(relaxed.values) is None:
            return Solution(Status.UNPROVEN)
        left = None if time_limit is None else max(time_limit - (time.monotonic() - begin), _SHORTEST)
        answer = _run(model, solver, left, integer=True, stop=stop)
    else:
        answer = relaxed
    if answer.status is Status.UNPROVEN:
        return Solution(Status.UNPROVEN, incumbent=_incumbent(model, answer))
    if answer.status is Status.OPTIMAL:
        return _accepted(model, answer)
    return Solution(_told_apart(model, answer.status, solver, time_limit, integer=not relaxes))


def upper_bound(model: Model, cover: int, time_limit: float | None = None, stop: Callable[[], bool] | None = None) -> Fraction | None:
    """Return an upper bound of the optimum: that of the linear relaxation, or a little more; None if HiGHS finds no multipliers in time.

    It holds whatever the solver said: exact arithmetic proves it from the rounded multipliers, and row `cover` (see `covered`) makes good
    what rounding spoils. Units: `time_limit` in seconds. `stop` is asked now and then.
    """
    relaxed = highs.run(model, time_limit, integer=False, stop=stop)
    if relaxed.status is not Status.OPTIMAL:
        return None
    near = sum(factor * relaxed.values[index] for index, factor in model.objective) + _NEAR
    best: Fraction | None = None
    for limit in _DENOMINATORS:
        if best is not None and (best <= near or (stop is not None and stop())):
            break
        multipliers = tuple(Fraction(multiplier).limit_denominator(limit) for multiplier in relaxed.multipliers)
        bound = dual_bound(model, covered(model, multipliers, cover))
        if bound is not None and (best is None or bound < best):
            best = bound
    return best


def _certified(model: Model, relaxed: SolverAnswer) -> Solution | None:
    """Return the relaxed optimum where it is integral and its multipliers prove it: then no search is needed."""
    values = _rounded(relaxed.values)
    if values is None or violated(model, values) is not None:
        return None
    value = evaluate(model.objective, values)
    for multipliers in _exact(model, relaxed):
        bound = dual_bound(model, multipliers)
        if bound is not None and floor(bound) == value:
            return Solution(Status.OPTIMAL, value, values, "dual", multipliers=tuple(multipliers))
    return None


def _accepted(model: Model, answer: SolverAnswer) -> Solution:
    """Return the solver's integer answer, or say so where it is beyond what doubles can carry; an answer against the model is a defect."""
    values = _rounded(answer.values)
    if values is None:
        return Solution(Status.UNPROVEN)
    wrong = violated(model, values)
    if wrong is not None:
        raise SelfCheckError("ilp-answer", f"the solver's answer violates {wrong} of the model {model.name}")
    return Solution(Status.OPTIMAL, evaluate(model.objective, values), values, "solver")


def _incumbent(model: Model, answer: SolverAnswer) -> tuple[int, ...]:
    """Return the values of a search that ended early where they satisfy every row in exact arithmetic, else none."""
    values = _rounded(answer.values) if answer.values else None
    return values if values is not None and violated(model, values) is None else ()


def _rounded(values: tuple[float, ...]) -> tuple[int, ...] | None:
    if any(abs(value) >= _LARGEST for value in values):
        return None
    return tuple(round(value) for value in values)


def _exact(model: Model, relaxed: SolverAnswer) -> Iterator[Sequence[Rational]]:
    """Yield rational multipliers near those of the answer, the likely ones first."""
    different = set(relaxed.multipliers)  # most rows of a flow problem share a few
    if relaxed.basis is None:
        for limit in _DENOMINATORS:
            near = _near(relaxed.multipliers, different, limit)
            yield near
            # Solvers differ in the sign that they give the multipliers of a maximum.
            yield [-multiplier for multiplier in near]
        return
    if all(abs(multiplier - round(multiplier)) < _WHOLE for multiplier in different):
        yield [round(multiplier) for multiplier in relaxed.multipliers]
    first, *others = _DENOMINATORS
    if max(map(abs, different), default=0.0) < _LOST:
        yield _near(relaxed.multipliers, different, first)
    if (ended := relaxed.basis()) is not None and (exact := basis.multipliers(model, ended)) is not None:
        yield exact
    for limit in others:
        yield _near(relaxed.multipliers, different, limit)


def _near(multipliers: Sequence[float], different: Iterable[float], limit: int) -> list[Rational]:
    rational = {multiplier: Fraction(multiplier).limit_denominator(limit) for multiplier in different}
    return [rational[multiplier] for multiplier in multipliers]


def _told_apart(model: Model, status: Status, solver: str, time_limit: float | None, *, integer: bool) -> Status:
    """Return UNBOUNDED for a model that a solver calls infeasible although it has solutions: it is solved with nothing to maximise."""
    if status is not Status.INFEASIBLE:
        return status
    idle = Model(model.name, model.variables, (), model.rows)
    return Status.UNBOUNDED if _run(idle, solver, time_limit, integer=integer).status is Status.OPTIMAL else Status.INFEASIBLE


def _run(model: Model, solver: str, time_limit: float | None, *, integer: bool, stop: Callable[[], bool] | None = None) -> SolverAnswer:
    if solver not in _BACKENDS:
        return highs.run(model, time_limit, integer=integer, stop=stop)
    import pulp  # noqa: PLC0415  # a quarter of a second that `sassan --help` need not pay

    backend = _BACKENDS[solver]
    begin = time.monotonic()
    built = _pulp_model(pulp, model, stop, integer=integer)
    if built is None:
        return SolverAnswer(Status.UNPROVEN)
    problem, variables, rows = built
    left = _LONGEST if time_limit is None else max(time_limit - (time.monotonic() - begin), _SHORTEST)
    engine = _engine(pulp, backend, left, integer=integer)
    try:
        with scratch() as folder:
            if backend.program:
                # PuLP would start it, with no limit and files that an interrupt leaves behind.
                engine.actualSolve = partial(_PROGRAMS[backend.program], engine=engine, folder=folder)
            problem.solve(engine)
    except (pulp.PulpSolverError, ToolProblem, FileNotFoundError) as error:
        raise SelfCheckError("solver-failed", f"the solver {backend.pulp_name} failed: {error}") from error
    statuses = {
        pulp.LpSolutionOptimal: Status.OPTIMAL,
        pulp.LpSolutionInfeasible: Status.INFEASIBLE,
        pulp.LpSolutionUnbounded: Status.UNBOUNDED,
    }
    status = statuses.get(problem.sol_status, Status.UNPROVEN)
    if status is Status.UNPROVEN and integer and all(variable.varValue is not None for variable in variables):
        return SolverAnswer(status, tuple(variable.varValue for variable in variables))
    if status is not Status.OPTIMAL:
        return SolverAnswer(status)
    return SolverAnswer(status, tuple(each.varValue or 0.0 for each in variables), tuple(-(each.pi or 0.0) for each in rows))


def _engine(pulp: Any, backend: _Backend, time_limit: float, *, integer: bool) -> Any:  # noqa: ANN401  # PuLP has no types
    options = dict(backend.exact) if integer else {}
    options["timeLimit"] = math.ceil(time_limit)  # glpsol takes whole seconds only
    if backend.program:
        bundled = pulp.apis.PULP_CBC_CMD.pulp_cbc_path if backend.bundled else None
        # The program on PATH is the user's choice; the wheel of PuLP brings one for the usual systems.
        options["path"] = next(programs(backend.program, folders()), bundled)
        if options["path"] is None:
            raise _missing(backend)
    make: Callable[..., Any] = pulp.getSolver
    engine = make(backend.pulp_name, msg=False, mip=integer, **options)
    if engine.available():
        return engine
    raise _missing(backend)


def _missing(backend: _Backend) -> MissingToolError:
    return MissingToolError("solver-missing", f"the solver {backend.pulp_name} is not installed", hint=backend.install)


def _glpsol(problem: Any, *, engine: Any, folder: Path) -> None:  # noqa: ANN401  # PuLP has no types
    """Solve a problem of PuLP with GLPK, as PuLP would."""
    problem.writeLP(str(folder / "model.lp"), writeSOS=0)
    _start(
        engine,
        ["--cpxlp", "model.lp", "-o", "out", "-w", "solution", "--tmlim", engine.timeLimit, *(() if engine.mip else ["--nomip"])],
        folder,
    )
    status, values = engine.readsol(str(folder / "out"), str(folder / "solution"))
    problem.assignVarsVals({name: float(value) for name, value in values.items()})
    problem.assignStatus(status)


def _cbc(problem: Any, *, engine: Any, folder: Path) -> None:  # noqa: ANN401  # PuLP has no types
    """Solve a problem of PuLP with CBC, as PuLP would."""
    variables, columns, rows, _ = problem.writeMPS(str(folder / "model.mps"), rename=1)
    options = [word for option in engine.getOptions() for word in f"-{option}".split()]
    steps = ["-solve" if engine.mip else "-initialSolve", "-printingOptions", "all", "-solution", "solution"]
    _start(engine, ["model.mps", "-max", "-sec", engine.timeLimit, *options, *steps], folder)
    status, values, _, multipliers, _, sol_status = engine.readsol_MPS(str(folder / "solution"), problem, variables, columns, rows)
    problem.assignVarsVals(values)
    problem.assignConsPi(multipliers)
    problem.assignStatus(status, sol_status)


_PROGRAMS: dict[str, Callable[..., None]] = {"cbc": _cbc, "glpsol": _glpsol}


def _start(engine: Any, words: Sequence[object], folder: Path) -> None:  # noqa: ANN401  # PuLP has no types
    run([engine.path, *map(str, words)], folder, ToolLimits(seconds=2 * engine.timeLimit + _PATIENCE, size=_PRINTED))


def _pulp_model(
    pulp: Any,  # noqa: ANN401  # PuLP has no types
    model: Model,
    stop: Callable[[], bool] | None,
    *,
    integer: bool,
) -> tuple[Any, list[Any], list[Any]] | None:
    """Return the model in terms of PuLP, its variables and its rows; None if `stop` said so."""
    problem = pulp.LpProblem("ipet", pulp.LpMaximize)
    category = pulp.LpInteger if integer else pulp.LpContinuous
    # PuLP keeps variables in the order of their first use and some of its solvers sort by name: our own list keeps the indices.
    variables = [problem.add_variable(variable.name, lowBound=variable.lower, cat=category) for variable in model.variables]
    problem.setObjective(pulp.LpAffineExpression([(variables[index], factor) for index, factor in model.objective]))
    senses = {"<=": pulp.LpConstraintLE, "=": pulp.LpConstraintEQ, ">=": pulp.LpConstraintGE}
    rows: list[Any] = []
    for row in model.rows:
        if stop is not None and stop():
            return None
        form = pulp.LpAffineExpression([(variables[index], factor) for index, factor in row.terms])
        constraint = pulp.LpConstraint(form, senses[row.sense], row.name, row.rhs)
        problem.addConstraint(constraint)
        rows.append(constraint)
    return problem, variables, rows
