"""What the warps on an SM take together, added to the result of a function."""

from dataclasses import replace

from sassan.alphabet import Letter
from sassan.app.result import AnalysisResult
from sassan.errors import Gap, InputError
from sassan.ipet.block_barriers import block_barriers
from sassan.ipet.launched import Asked, Kernel, Makespan, Residency, makespan, residency
from sassan.ipet.sm_bound import SmBound, Waits
from sassan.machine import Multiprocessor, machine_of
from sassan.makespan.bounds.waiting import waiting_slots
from sassan.makespan.problem import Processor
from sassan.makespan.problem import problem as makespan_problem
from sassan.strings.kernel_string import KernelString
from sassan.timing import Unit


def with_sm_level(result: AnalysisResult) -> AnalysisResult:
    """Add what the warps on an SM take together, as far as the settings want it.

    Raises UsageError for an impossible launch, or more warps than an SM holds.
    """
    settings, function = result.settings, result.function
    asked = Asked(settings.launch, settings.resources, settings.warps, settings.partition)
    if settings.warps is None and asked.threads(function) is None:
        return result
    try:
        sm = machine_of(function.arch, settings.machine)
    except InputError as error:
        # Without a table of its SM, a function keeps its WCET and lists what is missing.
        if settings.warps is None:
            return replace(result, residency=Residency(None, error.message))
        gap = Gap(function.entry, error.code, error.message)
        return replace(result, makespan=Makespan(SmBound(settings.warps, None, gaps=(gap,)), None))
    resident = residency(function, asked, sm)
    foreign = tuple(_contention_gap(result, address) for address, cost in result.bounds.external if cost is not None)
    if foreign:
        bound = SmBound(_warps(settings.warps, resident), None, gaps=foreign)
        return replace(result, residency=resident, makespan=Makespan(bound, None))
    barriers = block_barriers(result.cfg, result.isa.facts)
    waits = Waits(barriers, tuple(bound or 0 for bound in result.bounds.of_loop)) if barriers else None
    kernel = Kernel(result.problem, tuple((string or KernelString()).counts() for string in result.strings), waits)
    bounds = makespan(kernel, result.wcet, asked, sm, resident.occupancy if resident is not None else None)
    return replace(result, residency=resident, makespan=bounds and _by_waiting(result, bounds, sm, barriers=bool(barriers)))


def _warps(wanted: int | None, resident: Residency | None) -> int:
    occupancy = resident.occupancy if resident is not None else None
    return wanted if wanted is not None else occupancy.warps if occupancy is not None else 0


def _contention_gap(result: AnalysisResult, address: int) -> Gap:
    name = next(external.name for external in result.cfg.externals if external.address == address)
    return Gap(address, "external-contention", f"what a call of {name} takes from other warps is unknown: only one warp alone is bounded")


def _by_waiting(result: AnalysisResult, bounds: Makespan, sm: Multiprocessor, *, barriers: bool) -> Makespan:
    """The bounds with that of the worst path by the slots in which its last warp waits, if that is less: its letters say so."""
    if bounds.worst_path is None or result.worst_path is None or barriers or result.wcet.model != Unit().name:
        return bounds
    processor = Processor({letter: sm.capacity(letter) for letter in Letter}, {}, sm.issue)
    waiting = waiting_slots(makespan_problem((result.worst_path,) * bounds.bound.warps, processor))
    return replace(bounds, worst_path=min(bounds.worst_path, waiting))


def has_block_barrier(result: AnalysisResult) -> bool:
    """Whether a warp may wait for others at a block barrier."""
    return bool(block_barriers(result.cfg, result.isa.facts))


def at_cluster_barriers(result: AnalysisResult, warps: int | None) -> AnalysisResult:
    """The result with a gap at each barrier of a cluster, where other SMs keep the warps waiting; the same where there is none."""
    gaps = block_barriers(result.cfg, result.isa.facts).gaps
    return replace(result, makespan=Makespan(SmBound(warps or 0, None, gaps=gaps), None)) if gaps else result
