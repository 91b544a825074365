"""What the warps on an SM take together, added to the result of a function."""

from dataclasses import replace
from math import prod

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
    """Add what the warps on an SM take together, as requested by the settings.

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
        return replace(result, makespan=_unbounded(Residents(settings.warps), (Gap(function.entry, error.code, error.message),)))
    known = residency(function, threads, resources, sm) if threads is not None and resources is not None else None
    return replace(result, residency=known, makespan=_contention(result, known, sm) if settings.contention else None)


def _contention(result: AnalysisResult, known: Residency | None, sm: Multiprocessor) -> SmMakespan | None:
    """The bounds of the warps that share an SM, and of the grid; None where it is unknown how many warps that are."""
    settings, gpu = result.settings, result.settings.gpu
    timed = gpu is not None and result.quantity is Quantity.CYCLES
    # What L2 keeps belongs to all that runs: none of it is taken for granted where others do.
    seen = gpu if gpu is None or settings.beside is None else replace(gpu, l2_size=None)
    memory = memory_of(seen) if seen is not None and timed else None
    occupancy = known.occupancy if known is not None else None
    cluster = settings.launch.cluster_of(result.function)
    blocks = prod(cluster) if cluster is not None else 0
    wanted = residents(
        settings.warps, settings.launch, settings.resources, occupancy, sm, memory=memory, cluster=blocks, beside=settings.beside
    )
    foreign = tuple(_contention_gap(result, address) for address, cost in result.bounds.external if cost is not None)
    if foreign:
        return _unbounded(wanted or Residents(0), foreign)
    if wanted is None:
        return None
    letters = tuple((string or KernelString()).counts() for string in result.strings)
    kernel = KernelProblem(result.problem, letters, block_barriers(result.cfg, result.isa.facts))
    return makespan(
        kernel,
        result.wcet,
        wanted,
        sm,
        partition=settings.partition,
        waiting=_waiting(result, wanted.warps, sm, kernel.barriers),
        clock=f"times in us: all SMs of {gpu.name} run at {gpu.boost_clock} MHz" if gpu is not None and timed else "",
    )


def _unbounded(warps: Residents, gaps: tuple[Gap, ...]) -> SmMakespan:
    return SmMakespan(warps, Bound(None, gaps=gaps))


def _contention_gap(result: AnalysisResult, address: int) -> Gap:
    name = next(external.name for external in result.cfg.externals if external.address == address)
    return Gap(address, "external-contention", f"what a call of {name} takes from other warps is unknown: only one warp alone is bounded")


def _waiting(result: AnalysisResult, warps: int, sm: Multiprocessor, barriers: BlockBarriers) -> int | None:
    """The bound of the worst path by the slots in which its last warp waits, None where its letters do not say so.

    Equal warps wait no longer for each other at barriers that open in one order (docs/proofs/makespan-strings.md).
    """
    if result.worst_path is None or result.quantity is not Quantity.INSTRUCTIONS or (barriers and not barriers.in_order):
        return None
    processor = Processor({letter: sm.capacity(letter) for letter in sm.letters}, {}, sm.issue)
    return waiting_slots(makespan_problem((result.worst_path,) * warps, processor))


def at_cluster_barriers(result: AnalysisResult, warps: int | None) -> AnalysisResult:
    """The result with a gap at each barrier of a cluster, where other SMs keep the warps waiting; the same where there is none."""
    gaps = block_barriers(result.cfg, result.isa.facts).gaps
    return replace(result, makespan=_unbounded(Residents(warps or 0), gaps)) if gaps else result
