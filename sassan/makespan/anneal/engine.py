"""Engine `anneal`: independent annealing chains over warp pseudo-precedence strings (Berezovskyi et al. 2013, IV to VIII).

It finds lower bounds: every string gives a work-conserving schedule, which is validated before it is reported. Chains run in slices on an
injected executor; between slices the engine checks the clock and reports. Slices do not change a chain: the same seed gives the same
chain on any machine and with any slice length.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from platform import node

from sassan.errors import UsageError
from sassan.executor import Executor, Serial, Threads, available
from sassan.jit import clock
from sassan.makespan.anneal.plain import AcceptanceRule, AnnealingPlan, Chain, Move, advance, chain
from sassan.makespan.compiling import may_begin
from sassan.makespan.engine import Budget, EngineResult, Reporter
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import check
from sassan.makespan.start import NumberedProblem, Start, construct, instance

CHAINS = (*Start, *Start)
"""The eight chains of the case study: each start twice."""

PUBLISHED = AnnealingPlan(2_000_000, 0.3, (Move.SWAP,))
"""The settings of the paper."""

_MOST_CANDIDATES = 2_000_000
_LEAST_CANDIDATES = 1_000
_PLAIN_PLACEMENTS = 1_500_000
"""Placed instructions below which the plain chain ends within about a second: loading the compiler would take longer."""
_RATE = 80_000_000
"""Instructions of candidates per second and worker, placed or not: about the speed of the compiled chain on a busy machine."""
_PLAIN_RATE = 500_000
"""The same for plain chains, which share one core."""
_TIMED_RATE, _TIMED_SECONDS = 100_000, 2.0
"""The same with intervals or barriers, whose chains are all plain; and the seconds of such chains where there is no limit."""
_STEP = {True: 1_000_000, False: 10_000}
"""Instructions placed between two checks of the clock, compiled and plain: about 10 ms."""
_STEPS = 6
"""Steps of a chain in one slice."""


@dataclass(frozen=True, slots=True)
class Improvement:
    """A chain exceeded its longest schedule so far (a point of Figure 12); `seconds` count from the start of the engine."""

    chain: int
    start: Start
    iteration: int
    seconds: float
    makespan: int


@dataclass(frozen=True, slots=True)
class ChainSlice:
    """A piece of work for an executor: some further candidates of one chain.

    `deadline` and `began` (the start of the engine) are moments of `clock.shared()`, which all processes of one machine (`host`) share.
    On another machine a slice, which is short, ignores the deadline, and its improvements are dated `sent`, in seconds.
    """

    case: NumberedProblem
    plan: AnnealingPlan
    state: Chain
    compiled: bool
    deadline: float | None
    began: float
    host: str = ""
    sent: float = 0.0


@dataclass(frozen=True, slots=True)
class Sliced:
    """The result of a slice."""

    state: Chain
    improvements: tuple[Improvement, ...]


def default_plan(case: NumberedProblem, chains: int, seconds: float | None, workers: int, rate: int = _RATE) -> AnnealingPlan:
    """Return the plan of an instance: candidates grow with the square of the string, up to those of the paper.

    With `seconds`, as many candidates as the chains are expected to evaluate in that time.
    """
    count = min(_MOST_CANDIDATES, 12 * case.total**2)
    if seconds is not None and chains * count * case.total > _PLAIN_PLACEMENTS:
        count = min(count, int(seconds * workers * rate / (chains * max(case.total, 1))))
    count = max(_LEAST_CANDIDATES, count)
    return AnnealingPlan(count, 2.5, (Move.WARP, Move.INSERT, Move.SWAP), AcceptanceRule.LINEAR, 20)


def work(task: ChainSlice) -> Sliced:
    """Advance a chain by one slice, or up to the deadline."""
    run = _runner(compiled=task.compiled)
    state = task.state
    step = max(1, _STEP[task.compiled] // task.case.total)
    end = min(task.plan.iterations, state.iteration + _STEPS * step)
    improvements: list[Improvement] = []
    local = task.host in ("", node())
    while state.iteration < end and not (local and task.deadline is not None and clock.shared() >= task.deadline):
        best = state.best_makespan
        state = run(task.case, task.plan, state, min(step, end - state.iteration))
        if state.best_makespan > best:
            seconds = clock.shared() - task.began if local else task.sent
            improvements.append(Improvement(state.number, state.start, state.iteration, seconds, state.best_makespan))
    return Sliced(state, tuple(improvements))


def _runner(*, compiled: bool) -> Callable[[NumberedProblem, AnnealingPlan, Chain, int], Chain]:
    if not compiled:
        return advance
    from sassan.makespan.anneal.kernel import run  # noqa: PLC0415 - loads the compiler

    return run


def envelope(improvements: Iterable[Improvement]) -> Iterator[Improvement]:
    """Yield the improvements of the best of all chains (the envelope of Figure 12), in the order of time."""
    best = -1
    for improvement in sorted(improvements, key=lambda entry: (entry.seconds, entry.chain)):
        if improvement.makespan > best:
            best = improvement.makespan
            yield improvement


@dataclass(frozen=True, slots=True)
class Annealed:
    """A finished run: its result, each chain at its end, and every improvement of every chain in the order of time."""

    result: EngineResult
    chains: tuple[Chain, ...]
    improvements: tuple[Improvement, ...]


class Anneal:
    """The annealing engine."""

    def __init__(self, chains: Sequence[Start] = CHAINS, plan: AnnealingPlan | None = None, executor: Executor | None = None) -> None:
        """Configure a run.

        `chains` gives the start of each chain; `plan` defaults to `default_plan`, `executor` to threads (compiled chains release the
        interpreter's lock).
        """
        self._chains = tuple(chains)
        self._plan = plan
        self._executor = executor

    @property
    def name(self) -> str:
        """Return the name on the command line and in the output."""
        return "anneal"

    def run(self, problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
        """Return the longest schedule of the chains when their plan, the deadline or the caller ended them.

        Raises UsageError `too-large`.
        """
        return self.search(problem, budget, report).result

    def search(self, problem: Problem, budget: Budget, report: Reporter) -> Annealed:
        """Return the result of `run` with the chains and the log of their improvements.

        Raises UsageError `too-large`.
        """
        began = clock.now()
        case = instance(problem)
        seconds = None if budget.deadline is None else max(0.0, round(budget.deadline - began, 1))
        workers = self._executor.workers if self._executor else available()
        plan = self._plan or default_plan(case, len(self._chains), seconds, workers)
        compiled = case.timed is None and len(self._chains) * plan.iterations * case.total > _PLAIN_PLACEMENTS
        if compiled and not may_begin("anneal.kernel", budget.left):
            plan, compiled = self._plan or default_plan(case, len(self._chains), seconds, 1, _PLAIN_RATE), False
        if case.timed is not None:
            plan = self._plan or default_plan(case, len(self._chains), _TIMED_SECONDS if seconds is None else seconds, 1, _TIMED_RATE)
        executor = self._executor or (Threads() if compiled else Serial())
        _guard(case, budget, executor.workers)
        states = [chain(case, number, kind, budget.seed) for number, kind in enumerate(self._chains)]
        # Compiled here, where the clock is stopped; other processes load it from disk.
        _runner(compiled=compiled)(case, plan, states[0], 0)
        log = [Improvement(state.number, state.start, 0, clock.now() - began, state.makespan) for state in states]
        result = EngineResult(self.name)
        while True:
            best = max(states, key=lambda state: state.best_makespan)
            if result.lower is None or best.best_makespan > result.lower:
                result = _result(self.name, problem, case, best, began)
                report(result)
            open_states = [state for state in states if not _done(case, plan, state)]
            if not open_states or best.best_makespan == case.horizon or _late(budget.deadline) or budget.stop():
                return Annealed(replace(result, seconds=clock.now() - began), tuple(states), _in_time(log))
            sent, lag = clock.now() - began, clock.lag()
            end = None if budget.deadline is None else budget.deadline + lag
            pieces = [ChainSlice(case, plan, state, compiled, end, began + lag, node(), sent) for state in open_states]
            for done in executor.map(work, pieces):
                states[done.state.number] = done.state
                log.extend(done.improvements)


def _result(name: str, problem: Problem, case: NumberedProblem, best: Chain, began: float) -> EngineResult:
    schedule = construct(case, best.best)
    check(problem, schedule)
    return EngineResult(name, best.best_makespan, None, schedule, seconds=clock.now() - began)


def _in_time(log: Iterable[Improvement]) -> tuple[Improvement, ...]:
    return tuple(sorted(log, key=lambda improvement: (improvement.seconds, improvement.chain)))


def _done(case: NumberedProblem, plan: AnnealingPlan, state: Chain) -> bool:
    """Say whether a chain is at its end: its plan, or an instance with a single schedule."""
    return state.iteration >= plan.iterations or sum(1 for units in case.units if units) < 2  # noqa: PLR2004 - two warps can change places


def _late(deadline: float | None) -> bool:
    return deadline is not None and clock.now() >= deadline


_CHECKPOINT_BYTES = 20
"""Bytes of the checkpoints of a chain, per slot and unit."""


def _guard(case: NumberedProblem, budget: Budget, workers: int) -> None:
    """Refuse an instance whose concurrent chains exceed the memory limit."""
    size = workers * _CHECKPOINT_BYTES * 2 * case.horizon * (len(case.capacity) + 1)
    if size > budget.memory:
        raise UsageError(
            "too-large",
            f"annealing {case.total} instructions needs {size >> 20} MB, more than the limit of {budget.memory >> 20} MB",
            hint="use --engine beam or --engine bounds",
        )
