"""What the warps on an SM take together, added to the result of a function."""

from dataclasses import replace

from sassan.app.result import AnalysisResult
from sassan.errors import Gap, InputError
from sassan.ipet.sm.barriers import BlockBarriers, block_barriers
from sassan.ipet.sm.gpu import memory_of
from sassan.ipet.sm.makespan import KernelProblem, SmMakespan, makespan
from sassan.ipet.sm.optima import Bound
from sassan.ipet.sm.residency import Residency, Residents, residency, residents
from sassan.machine import Multiprocessor, machine_of
from sassan.makespan.bounds.waiting import waiting_slots
from sassan.makespan.problem import Processor
from sassan.makespan.problem import problem as makespan_problem
from sassan.strings.kernel_string import KernelString
from sassan.timing import Quantity


def with_sm_level(result: AnalysisResult) -> AnalysisResult:
    """Add what the warps on an SM take together, as far as the settings want it.

    Raises UsageError for an impossible launch, or more warps than an SM holds.
    """
    settings, function = result.settings, result.function
    threads, resources = settings.launch.threads if function.kernel else None, settings.resources
    if settings.warps is None and (threads is None or resources is None):
        return result
    try:
        sm = machine_of(function.arch, settings.machine)
    except InputError as error:
        # Without a table of its SM, a function keeps its WCET and lists what is missing.
        if settings.warps is None:
            return replace(result, residency=Residency(None, error.message))
        return _unbounded(result, Residents(settings.warps), (Gap(function.entry, error.code, error.message),))
    known = residency(function, threads, resources, sm) if threads is not None and resources is not None else None
    result = replace(result, residency=known)
    return _contended(result, known, sm) if settings.contention else result


def _contended(result: AnalysisResult, known: Residency | None, sm: Multiprocessor) -> AnalysisResult:
    """Add the bounds of the warps that share an SM, and of the grid."""
    settings = result.settings
    wanted = residents(settings.warps, settings.launch, settings.resources, known.occupancy if known is not None else None, sm)
    foreign = tuple(_contention_gap(result, address) for address, cost in result.bounds.external if cost is not None)
    if foreign:
        return _unbounded(result, wanted or Residents(0), foreign)
    if wanted is None:
        return result
    if wanted.grid is not None:
        memory = memory_of(settings.gpu) if settings.gpu is not None and settings.costs.quantity is Quantity.CYCLES else None
        wanted = replace(wanted, grid=replace(wanted.grid, memory=memory, buffers=settings.launch.buffers, host=settings.launch.host))
    letters = tuple((string or KernelString()).counts() for string in result.strings)
    kernel = KernelProblem(result.problem, letters, block_barriers(result.cfg, result.isa.facts))
    bounds = makespan(kernel, result.wcet, wanted, sm, partition=settings.partition)
    return _timed(replace(result, makespan=_by_waiting(result, bounds, sm, kernel.barriers)))


def _timed(result: AnalysisResult) -> AnalysisResult:
    """The result with what its microseconds rest on, where it has any."""
    gpu, bounds = result.settings.gpu, result.makespan
    if result.grid_us is None or gpu is None or bounds is None or bounds.grid is None:
        return result
    clock = f"times in us: all SMs of {gpu.name} run at {gpu.boost_clock} MHz"
    return replace(result, makespan=replace(bounds, grid=replace(bounds.grid, assumptions=(*bounds.grid.assumptions, clock))))


def _unbounded(result: AnalysisResult, warps: Residents, gaps: tuple[Gap, ...]) -> AnalysisResult:
    return replace(result, makespan=SmMakespan(warps, Bound(None, gaps=gaps)))


def _contention_gap(result: AnalysisResult, address: int) -> Gap:
    name = next(external.name for external in result.cfg.externals if external.address == address)
    return Gap(address, "external-contention", f"what a call of {name} takes from other warps is unknown: only one warp alone is bounded")


def _by_waiting(result: AnalysisResult, bounds: SmMakespan, sm: Multiprocessor, barriers: BlockBarriers) -> SmMakespan:
    """The bounds with that of the worst path by the slots in which its last warp waits, if that is less: its letters say so.

    Equal warps wait no longer for each other at barriers that open in one order (docs/proofs/makespan-strings.md).
    """
    if (
        bounds.worst_path is None
        or result.worst_path is None
        or result.quantity is not Quantity.INSTRUCTIONS
        or (barriers and not barriers.in_order)
    ):
        return bounds
    processor = Processor({letter: sm.capacity(letter) for letter in sm.letters}, {}, sm.issue)
    waiting = waiting_slots(makespan_problem((result.worst_path,) * bounds.residents.warps, processor))
    return replace(bounds, worst_path=min(bounds.worst_path, waiting))


def at_cluster_barriers(result: AnalysisResult, warps: int | None) -> AnalysisResult:
    """The result with a gap at each barrier of a cluster, where other SMs keep the warps waiting; the same where there is none."""
    gaps = block_barriers(result.cfg, result.isa.facts).gaps
    return _unbounded(result, Residents(warps or 0), gaps) if gaps else result
