"""Tasks whose launches may overlap, on several streams or of several tasks: what each launch adds to a response time, in microseconds.

docs/proofs/overlapping-launches.md proves what stands here. Exact: microseconds are fractions.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from sassan.access.transactions import LINE
from sassan.app.analysis import recosted
from sassan.app.launches import LaunchResult
from sassan.app.result import AnalysisResult
from sassan.errors import Gap
from sassan.ipet.sm.bounds import Terms, block_lifetime
from sassan.ipet.sm.code import lines_of
from sassan.ipet.sm.gpu import cold_start
from sassan.ipet.sm.overlap import OverlappingGrid, largest, overlap_terms, weight
from sassan.ipet.sm.tensor_memory import takes_columns
from sassan.machine import machine_of
from sassan.machine.occupancy import parts_of_an_sm
from sassan.timing.rates import code_of


@dataclass(frozen=True, slots=True)
class OverlappingLaunches:
    """The `count` equal launches of one entry of a recording, for a task whose launches may overlap with others.

    `in_turn` are the launches of the same run of the task that are on the same stream, itself among them: those do not overlap with it.
    `beside_us`: what is charged beside each of them (copies, time between launches, what it leaves in L2).
    """

    grid: OverlappingGrid
    count: int
    in_turn: int
    beside_us: Fraction


@dataclass(frozen=True, slots=True)
class TaskDemand:
    """What one run of a task asks of a GPU; `period` in microseconds, None for a task that is alone."""

    launches: tuple[OverlappingLaunches, ...]
    period: Fraction | None

    @property
    def number(self) -> int:
        """How many launches a run has."""
        return sum(each.count for each in self.launches)


@dataclass(frozen=True, slots=True)
class ResponseWindow:
    """The time in which a run of a task ends, in microseconds, with how many `runs` of each task of the set that takes (of itself one)."""

    us: Fraction
    runs: tuple[int, ...]

    def launches(self, demands: Sequence[TaskDemand]) -> int:
        """Return how many launches there are in it."""
        return sum(runs * demand.number for runs, demand in zip(self.runs, demands, strict=True))


class TaskSet:
    """Tasks that share a GPU of `sms` SMs at `clock` MHz; `once`: microseconds that are charged once to a window."""

    def __init__(self, demands: Sequence[TaskDemand], sms: int, clock: int, once: Fraction = Fraction(0)) -> None:
        """Take tasks, each with a period where there are several."""
        self.demands, self._sms, self._clock, self._once = tuple(demands), sms, clock, once
        self._most = largest(each.grid for demand in demands for each in demand.launches)

    def added(self, launches: OverlappingLaunches, among: int) -> Terms:
        """Return what one launch adds in a window with so many launches, in cycles."""
        return overlap_terms(launches.grid, weight(launches.grid.takes, self._most), self._sms, max(0, among - launches.in_turn))

    def added_us(self, launches: OverlappingLaunches, among: int) -> Fraction:
        """Return what one launch adds in a window with so many launches."""
        terms = self.added(launches, among)
        return (terms.chain + terms.sm + terms.drain + terms.memory + terms.launch) / self._clock

    def run_us(self, demand: TaskDemand, among: int) -> Fraction:
        """Return what one run of a task adds in a window with so many launches."""
        return sum((each.count * (self.added_us(each, among) + each.beside_us) for each in demand.launches), Fraction(0))

    def windows(self) -> tuple[ResponseWindow, ...] | None:
        """Return the window of each task: the least in which a run surely ends; None where one may not end within its period."""
        size = len(self.demands)
        known = [ResponseWindow(Fraction(0), ()) for _ in self.demands]
        while True:
            after = [self._window(at, known) for at in range(size)]
            if any(
                demand.period is not None and size > 1 and each.us > demand.period for demand, each in zip(self.demands, after, strict=True)
            ):
                return None
            if after == known:
                return tuple(known)
            known = after

    def _window(self, at: int, known: Sequence[ResponseWindow]) -> ResponseWindow:
        runs = tuple(1 if other == at else self._runs(at, other, known) for other in range(len(known)))
        among = ResponseWindow(Fraction(0), runs).launches(self.demands)
        every = zip(runs, self.demands, strict=True)
        return ResponseWindow(sum((times * self.run_us(demand, among) for times, demand in every), self._once), runs)

    def _runs(self, at: int, other: int, known: Sequence[ResponseWindow]) -> int:
        """Return how many runs of another task may be going on in the window of a task: they begin in it, or before it and still run."""
        period = self.demands[other].period
        return 0 if period is None else max(1, ceil((known[at].us + known[other].us) / period))


def among_others(tasks: Sequence[Sequence[LaunchResult]]) -> list[list[AnalysisResult | None]]:
    """Return the result of each launch of each task where the kernels of all others may run as it does."""
    results = {id(each.result): each.result for launches in tasks for each in launches if each.result is not None}
    code = {_name(each): LINE * lines_of(each.cfg) for each in results.values()}
    whole = sum(code.values())
    changed = {
        key: recosted(each, replace(each.settings, beside=whole - code[_name(each)], partition=False)) for key, each in results.items()
    }
    return [[changed.get(id(each.result)) for each in launches] for launches in tasks]


def _name(result: AnalysisResult) -> tuple[str, str, str]:
    return result.file, result.function.name, result.function.text_hash


def overlapping_grid(result: AnalysisResult) -> OverlappingGrid | None:
    """Return the grid of a launch among others, None where it has no bound."""
    makespan, shape, gpu = result.makespan, result.shape, result.settings.gpu
    optima, terms = (makespan.optima, makespan.terms) if makespan is not None else (None, None)
    if optima is None or terms is None or shape is None or shape.occupancy is None or gpu is None:
        return None
    lifetime, stall = block_lifetime(optima, shape.block_warps) * gpu.slowdown, optima.stall(shape.block_warps) * gpu.slowdown
    takes = parts_of_an_sm(machine_of(result.function.arch, result.settings.machine), shape.occupancy.demand)
    if shape.memory is None:
        return None
    # Each SM has its own cold start: those that are full while blocks wait, and that of the tail.
    cold = cold_start(code_of(result.cfg), result.problem.traffic, shape.memory, shape.paged) * gpu.slowdown
    return OverlappingGrid(shape.blocks, shape.occupancy.blocks, lifetime, stall, terms.memory, terms.launch + cold, takes)


def not_among_others(launch: LaunchResult, result: AnalysisResult) -> Iterator[Gap]:
    """Yield why a launch has no bound where others run as it does."""
    optima = result.makespan.optima if result.makespan is not None else None
    why = (
        ("its clusters start together", optima is not None and optima.cluster > 1),
        ("its blocks wait for each other (cooperative launch)", launch.launch.cooperative),
        ("engines of an SM serve it", optima is not None and optima.engines > 0),
        ("its blocks wait for tensor memory", takes_columns(result.cfg)),
        ("its blocks wait for words that others write", optima is not None and optima.line > 0),
    )
    for text, holds in why:
        if holds:
            yield Gap(result.function.entry, "needs-the-gpu", f"{launch.launch.kernel} may overlap with other kernels, and {text}")


def in_turn(launches: Sequence[LaunchResult]) -> list[int]:
    """Return of each launch how many of its run are on its stream."""
    number = Counter[int]()
    for each in launches:
        number[each.launch.stream] += each.launch.count
    return [number[each.launch.stream] for each in launches]
