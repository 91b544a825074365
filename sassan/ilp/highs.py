"""HiGHS, called directly: the model goes over as arrays, in milliseconds where a modelling layer takes seconds.

So a time limit covers all of the work, and a caller can end it. One thread: HiGHS would keep the others for the next call, and they could
outlive the interpreter.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from sassan.errors import MissingToolError
from sassan.ilp.answer import SolverAnswer, Status
from sassan.ilp.basis import Basis
from sassan.ilp.model import Model


def run(model: Model, time_limit: float | None = None, *, integer: bool, stop: Callable[[], bool] | None = None) -> SolverAnswer:
    """Return what HiGHS says of the model, or of its relaxation; UNPROVEN with the best values so far where it ended early.

    Units: `time_limit` in seconds. `stop` is asked now and then. Raises MissingToolError.
    """
    begin = time.monotonic()
    highspy = _load()
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    if integer:
        # The default gap is 0.01 %: an answer within it lies below the optimum.
        solver.setOptionValue("mip_rel_gap", 0.0)
        solver.setOptionValue("mip_abs_gap", 0.0)
    else:
        # Devex pricing: a step costs less than with steepest edge, and a flow problem does not need more steps.
        solver.setOptionValue("simplex_dual_edge_weight_strategy", 1)
    if stop is not None and stop():
        return SolverAnswer(Status.UNPROVEN)
    solver.passModel(_arrays(highspy, model, integer=integer))
    if stop is not None:
        if stop():
            return SolverAnswer(Status.UNPROVEN)
        _watch(highspy, solver, stop)
    if time_limit is not None:
        solver.setOptionValue("time_limit", max(0.0, time_limit - (time.monotonic() - begin)))
    solver.run()
    return _answer(highspy, solver, integer=integer)


def _load() -> Any:  # noqa: ANN401  # highspy has no types
    try:
        import highspy  # noqa: PLC0415  # a tenth of a second that `sassan --help` need not pay
    except ImportError as error:
        raise MissingToolError("solver-missing", "the solver HiGHS is not installed", hint="pip install highspy") from error
    return highspy


def _arrays(highspy: Any, model: Model, *, integer: bool) -> Any:  # noqa: ANN401
    import numpy as np  # noqa: PLC0415  # highspy has loaded it

    infinity = highspy.kHighsInf
    columns, rows = len(model.variables), len(model.rows)
    cost = np.zeros(columns)
    for index, factor in model.objective:
        cost[index] = factor
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, rows
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = cost
    lp.col_lower_ = np.array([variable.lower for variable in model.variables], np.double)
    lp.col_upper_ = np.full(columns, infinity)
    lp.row_lower_ = np.array([-infinity if row.sense == "<=" else row.rhs for row in model.rows], np.double)
    lp.row_upper_ = np.array([infinity if row.sense == ">=" else row.rhs for row in model.rows], np.double)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = columns, rows
    lp.a_matrix_.start_ = np.cumsum([0, *(len(row.terms) for row in model.rows)]).astype(np.int32)
    lp.a_matrix_.index_ = np.array([index for row in model.rows for index, _ in row.terms], np.int32)
    lp.a_matrix_.value_ = np.array([factor for row in model.rows for _, factor in row.terms], np.double)
    if integer:
        lp.integrality_ = [highspy.HighsVarType.kInteger] * columns
    return lp


def _watch(highspy: Any, solver: Any, stop: Callable[[], bool]) -> None:  # noqa: ANN401
    """Make HiGHS ask whether to go on."""

    def on_query(kind: object, message: object, out: object, into: Any, user: object) -> None:  # noqa: ANN401
        del kind, message, out, user
        try:
            into.user_interrupt = stop()
        except KeyboardInterrupt:
            # An exception would have to pass through the solver's own frames: this ends the solver, too.
            into.user_interrupt = True

    kinds = highspy.cb.HighsCallbackType
    solver.setCallback(on_query, None)
    for kind in (kinds.kCallbackSimplexInterrupt, kinds.kCallbackIpmInterrupt, kinds.kCallbackMipInterrupt):
        solver.startCallback(kind)


def _answer(highspy: Any, solver: Any, *, integer: bool) -> SolverAnswer:  # noqa: ANN401
    said = highspy.HighsModelStatus
    statuses = {
        said.kOptimal: Status.OPTIMAL,
        said.kModelEmpty: Status.OPTIMAL,
        said.kInfeasible: Status.INFEASIBLE,
        said.kUnboundedOrInfeasible: Status.INFEASIBLE,
        said.kUnbounded: Status.UNBOUNDED,
    }
    status = statuses.get(solver.getModelStatus(), Status.UNPROVEN)
    feasible = solver.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if status is Status.UNPROVEN and not (integer and feasible):
        return SolverAnswer(status)
    if status in {Status.INFEASIBLE, Status.UNBOUNDED}:
        return SolverAnswer(status)
    solution = solver.getSolution()
    if integer:
        return SolverAnswer(status, tuple(solution.col_value))
    return SolverAnswer(status, tuple(solution.col_value), tuple(solution.row_dual), partial(_basis, highspy, solver))


def _basis(highspy: Any, solver: Any) -> Basis | None:  # noqa: ANN401
    basis, inside = solver.getBasis(), highspy.HighsBasisStatus.kBasic
    if not basis.valid:
        return None
    return Basis(
        tuple(index for index, status in enumerate(basis.col_status) if status == inside),
        tuple(index for index, status in enumerate(basis.row_status) if status != inside),
    )
