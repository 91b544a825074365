"""Engine `anneal`: independent annealing chains over warp pseudo-precedence strings (makespan-annealing-2013, IV to VIII).

It finds lower bounds: every string gives a work-conserving schedule, and the judge sees it before it is reported. Chains run in slices,
on an injected executor; between slices the engine looks at the clock and reports. Slices do not change what a chain does: the same seed
gives the same chain, wherever and in whatever portions it runs.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from platform import node

from sassan.errors import UsageError
from sassan.executor import Executor, Serial, Threads, available
from sassan.makespan import clock
from sassan.makespan.anneal.plain import Chain, Move, Plan, Rule, advance, chain
from sassan.makespan.compiling import may_begin
from sassan.makespan.engine import Budget, Found, Report
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import check
from sassan.makespan.start import Instance, Start, construct, instance

CHAINS = (*Start, *Start)
"""The eight chains of the case study: each start twice."""

PUBLISHED = Plan(2_000_000, 0.3, (Move.SWAP,))
"""What the paper ran."""

_MOST_CANDIDATES = 2_000_000
_LEAST_CANDIDATES = 1_000
_PLAIN_PLACEMENTS = 1_500_000
"""Work below this takes the plain chain about a second: loading the compiler would take longer."""
_RATE = 80_000_000
"""Instructions of candidates per second and worker, placed or not: about what the compiled chain does on a busy machine."""
_PLAIN_RATE = 500_000
"""The same of plain chains, which share one core."""
_STEP = {True: 1_000_000, False: 10_000}
"""Instructions placed between two looks at the clock, compiled and plain: about 10 ms."""
_STEPS = 6
"""Steps of a chain in one slice."""


@dataclass(frozen=True, slots=True)
class Improvement:
    """A chain found a schedule longer than its own before (a point of Figure 12); `seconds` count from the start of the engine."""

    chain: int
    start: Start
    iteration: int
    seconds: float
    makespan: int


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of work for an executor: some further candidates of one chain.

    `deadline` and `began` (when the engine did) are moments of `clock.shared()`, which means the same on one machine (`host`). On
    another machine a slice, which is short, ends by itself, and its improvements count as found when it was `sent`, in seconds.
    """

    case: Instance
    plan: Plan
    state: Chain
    compiled: bool
    deadline: float | None
    began: float
    host: str = ""
    sent: float = 0.0


@dataclass(frozen=True, slots=True)
class Sliced:
    """What became of a slice."""

    state: Chain
    improvements: tuple[Improvement, ...]


def default_plan(case: Instance, chains: int, seconds: float | None, workers: int, rate: int = _RATE) -> Plan:
    """Return the plan of an instance: candidates grow with the square of the string, up to those of the paper.

    Where `seconds` are given there are only so many candidates that the chains are about cold when these are over.
    """
    count = min(_MOST_CANDIDATES, 12 * case.total**2)
    if seconds is not None and chains * count * case.total > _PLAIN_PLACEMENTS:
        count = min(count, int(seconds * workers * rate / (chains * max(case.total, 1))))
    count = max(_LEAST_CANDIDATES, count)
    return Plan(count, 2.5, (Move.WARP, Move.INSERT, Move.SWAP), Rule.LINEAR, 20)


def work(piece: Slice) -> Sliced:
    """Advance a chain by one slice, or up to the deadline."""
    run = _runner(compiled=piece.compiled)
    state = piece.state
    step = max(1, _STEP[piece.compiled] // piece.case.total)
    end = min(piece.plan.iterations, state.iteration + _STEPS * step)
    improvements: list[Improvement] = []
    here = piece.host in ("", node())
    while state.iteration < end and not (here and piece.deadline is not None and clock.shared() >= piece.deadline):
        best = state.best_makespan
        state = run(piece.case, piece.plan, state, min(step, end - state.iteration))
        if state.best_makespan > best:
            seconds = clock.shared() - piece.began if here else piece.sent
            improvements.append(Improvement(state.number, state.start, state.iteration, seconds, state.best_makespan))
    return Sliced(state, tuple(improvements))


def _runner(*, compiled: bool) -> Callable[[Instance, Plan, Chain, int], Chain]:
    if not compiled:
        return advance
    from sassan.makespan.anneal.kernel import run  # noqa: PLC0415 - loads the compiler

    return run


def envelope(improvements: Iterable[Improvement]) -> Iterator[Improvement]:
    """Yield the improvements of the best of all chains (the envelope of Figure 12), in the order of time."""
    best = -1
    for one in sorted(improvements, key=lambda each: (each.seconds, each.chain)):
        if one.makespan > best:
            best = one.makespan
            yield one


@dataclass(frozen=True, slots=True)
class Annealed:
    """A finished run: what was found, each chain at its end, and every improvement of every chain in the order of time."""

    found: Found
    chains: tuple[Chain, ...]
    improvements: tuple[Improvement, ...]


class Anneal:
    """The engine: `chains` names the start of each chain, `plan` is `default_plan` unless given."""

    def __init__(self, chains: Sequence[Start] = CHAINS, plan: Plan | None = None, executor: Executor | None = None) -> None:
        """Take the chains, and an executor to run them on: threads, unless told otherwise, since compiled chains release the lock."""
        self._chains = tuple(chains)
        self._plan = plan
        self._executor = executor

    @property
    def name(self) -> str:
        """Return the name on the command line and in the output."""
        return "anneal"

    def run(self, problem: Problem, budget: Budget, report: Report) -> Found:
        """Return the longest schedule that the chains found when their plan, the deadline or the caller ended them.

        Raises UsageError `too-large`.
        """
        return self.search(problem, budget, report).found

    def search(self, problem: Problem, budget: Budget, report: Report) -> Annealed:
        """Do as `run` does, and return the chains and the log of their improvements too.

        Raises UsageError `too-large`.
        """
        began = clock.now()
        case = instance(problem)
        seconds = None if budget.deadline is None else max(0.0, round(budget.deadline - began, 1))
        workers = self._executor.workers if self._executor else available()
        plan = self._plan or default_plan(case, len(self._chains), seconds, workers)
        compiled = len(self._chains) * plan.iterations * case.total > _PLAIN_PLACEMENTS
        if compiled and not may_begin("anneal.kernel", budget.left):
            plan, compiled = self._plan or default_plan(case, len(self._chains), seconds, 1, _PLAIN_RATE), False
        executor = self._executor or (Threads() if compiled else Serial())
        _guard(case, budget, executor.workers)
        states = [chain(case, number, kind, budget.seed) for number, kind in enumerate(self._chains)]
        # Compiled here, where the clock stands still; other processes find it on disk.
        _runner(compiled=compiled)(case, plan, states[0], 0)
        log = [Improvement(one.number, one.start, 0, clock.now() - began, one.makespan) for one in states]
        found = Found(self.name)
        while True:
            best = max(states, key=lambda one: one.best_makespan)
            if found.lower is None or best.best_makespan > found.lower:
                found = _found(self.name, problem, case, best, began)
                report(found)
            open_states = [one for one in states if not _done(case, plan, one)]
            if not open_states or best.best_makespan == case.horizon or _late(budget.deadline) or budget.stop():
                return Annealed(replace(found, seconds=clock.now() - began), tuple(states), _in_time(log))
            sent, lag = clock.now() - began, clock.lag()
            end = None if budget.deadline is None else budget.deadline + lag
            pieces = [Slice(case, plan, one, compiled, end, began + lag, node(), sent) for one in open_states]
            for done in executor.map(work, pieces):
                states[done.state.number] = done.state
                log.extend(done.improvements)


def _found(name: str, problem: Problem, case: Instance, best: Chain, began: float) -> Found:
    schedule = construct(case, best.best)
    check(problem, schedule)
    return Found(name, best.best_makespan, None, schedule, seconds=clock.now() - began)


def _in_time(log: Iterable[Improvement]) -> tuple[Improvement, ...]:
    return tuple(sorted(log, key=lambda one: (one.seconds, one.chain)))


def _done(case: Instance, plan: Plan, state: Chain) -> bool:
    """Say whether a chain is at its end: its plan, or an instance with a single schedule."""
    return state.iteration >= plan.iterations or sum(1 for one in case.units if one) < 2  # noqa: PLR2004 - two warps can change places


def _late(deadline: float | None) -> bool:
    return deadline is not None and clock.now() >= deadline


_CHECKPOINT_BYTES = 20
"""Per slot and row of room: the checkpoints of a chain (kernel.size)."""


def _guard(case: Instance, budget: Budget, workers: int) -> None:
    """Refuse what the chains that run at one time cannot hold."""
    size = workers * _CHECKPOINT_BYTES * 2 * case.horizon * (len(case.capacity) + 1)
    if size > budget.memory:
        raise UsageError(
            "too-large",
            f"{case.total} instructions in all need {size >> 20} MB for annealing, more than the {budget.memory >> 20} MB allowed",
            hint="--engine beam, or --engine bounds",
        )
