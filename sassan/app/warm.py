"""Compile the searches ahead of their first use: what an installation does once, so that no answer waits for the compiler."""

from collections.abc import Iterator
from fractions import Fraction

from sassan.alphabet import Letter
from sassan.makespan.compiling import loaded
from sassan.makespan.engine import Budget, EngineResult
from sassan.makespan.engines import load
from sassan.makespan.problem import Problem, Processor, problem
from sassan.strings.kernel_string import parse


def _case(string: str, warps: int) -> Problem:
    capacity = {Letter.LOAD: Fraction(1), Letter.COMPUTE: Fraction(4)}
    return problem((parse(string),) * warps, Processor(capacity, {}, issue=4))


def _ignore(result: EngineResult) -> None:
    del result


def _beam() -> None:
    load("beam").run(_case("L5C9L2C9", 8), Budget(), _ignore)


def _anneal() -> None:
    load("anneal").run(_case("L5C9L2C9", 16), Budget(stop=lambda: True), _ignore)


def _bounds() -> None:
    done = ("bounds.pool_kernel", "bounds.search_kernel")
    load("bounds").run(_case("L5C9L2C9", 16), Budget(stop=lambda: all(map(loaded, done))), _ignore)


def _exact() -> None:
    """Compile the tables of states and of sums for schedules of up to 254 and of up to 65,534 slots, and the search for a goal."""
    from sassan.makespan.exact.tasks import Dive, letters_path, relaxed  # noqa: PLC0415 - the compiler is slow to load
    from sassan.makespan.states import count_states, layout  # noqa: PLC0415

    budget = Budget()
    for case in (_case("L5C9L2C9", 3), _case("L200C60", 2)):
        runs, letters = layout(case, "runs"), layout(case, "letters")
        letters_path(letters, budget)
        bound = relaxed(runs, count_states(runs), budget)
        assert bound is not None
        Dive(letters, bound, budget.memory).reach(bound.upper, budget)


def _estimate() -> None:
    """Simulate one warp of one instruction."""
    import numpy as np  # noqa: PLC0415 - start-up

    from sassan.estimate.program import RowField, Sm, WarpProgram  # noqa: PLC0415
    from sassan.estimate.simulate import simulate  # noqa: PLC0415

    rows = np.zeros((1, len(RowField)), np.int64)
    zero, paths, events = np.zeros(1, np.int64), np.array([[0, 1, 0, 0]]), np.zeros((0, 5), np.int64)
    program = WarpProgram(rows, np.array([0, 1]), np.array([0]), np.ones(1), zero, zero, zero, paths, events)
    simulate(program, Sm(schedulers=1, places=1, block_warps=1, blocks=1, dispatch=0, release=0, backlog=0))


def _cycles() -> None:
    """Make schedules of one warp of one instruction."""
    from sassan.makespan.cycles.code import Core, ResidentCode, TimedStep  # noqa: PLC0415
    from sassan.makespan.cycles.schedules import longest  # noqa: PLC0415 - the compiler is slow to load

    step = TimedStep(1, 0, (), drains=False, ends=1, unit=0, interval=1, own=1)
    longest(ResidentCode((step,), (0,), Core((1,), 1), 1, 1))


def _runs() -> None:
    """Execute no operation in no warp."""
    from sassan.simt.compiled import make  # noqa: PLC0415 - start-up

    make()


SEARCHES = {
    "beam": _beam,
    "anneal": _anneal,
    "bounds": _bounds,
    "exact": _exact,
    "estimate": _estimate,
    "cycles": _cycles,
    "runs": _runs,
}
"""What is compiled, each by a run on a small instance."""


def warm() -> Iterator[str]:
    """Compile one search after the other, and yield its name; what is on disk already is only loaded."""
    for name, search in SEARCHES.items():
        search()
        yield name
