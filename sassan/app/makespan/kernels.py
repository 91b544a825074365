"""Instances of `sassan makespan` from a listing: which paths the warps of a function take."""

from dataclasses import dataclass, replace
from enum import StrEnum

from sassan.app.analysis import analyze
from sassan.app.inputs import Inputs, RequestObserver, SelectedFunction, each_function
from sassan.app.makespan.barriers import with_barriers
from sassan.app.makespan.instances import MakespanInstance, instance
from sassan.app.makespan.search import InstanceResult
from sassan.app.paths import ListedPath, listed_paths
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.app.sm_level import at_cluster_barriers
from sassan.errors import UsageError
from sassan.ipet.sm.barriers import block_barriers
from sassan.ipet.sm.optima import TOGETHER
from sassan.ir import Function
from sassan.machine.multiprocessor import WARP_SIZE
from sassan.makespan.bounds.waiting import waiting_slots
from sassan.makespan.configuration import MakespanConfiguration
from sassan.makespan.engine import EngineResult
from sassan.makespan.merge import Merged


class Paths(StrEnum):
    """Which paths of a function the warps take."""

    WORST = "worst"
    ALL = "all"
    EACH = "each"


LABELS = {
    Paths.WORST: "if every warp takes this path",
    Paths.ALL: "if every warp takes this path",
    Paths.EACH: "if the warps take these paths in turn",
}
_TOO_MANY = "bad-warps"
BARRIER = "block barriers that may open in different orders, and those of one partition, are not searched: an upper bound, and no schedule"


@dataclass(frozen=True, slots=True)
class KernelInstances:
    """One function, the questions asked of it, and under which condition their answers hold; no questions where gaps forbid a path.

    `bound` is the SM-level bound, whatever paths the warps take; where it is None, `why` says it. `in_order`: where there are barriers,
    all warps of a block pass the same openings. `barrier`: there are some that are not part of the searches.
    """

    result: AnalysisResult
    instances: tuple[MakespanInstance, ...]
    label: str
    barrier: bool
    bound: int | None = None
    why: str = ""
    in_order: bool = False


def ask(  # noqa: PLR0913, PLR0917 - what to read, which paths, on what, and who watches
    inputs: Inputs, settings: Settings, configuration: MakespanConfiguration, paths: Paths, limit: int, observer: RequestObserver
) -> tuple[tuple[KernelInstances, ...], Inputs]:
    """The instances of the functions that are meant, and the inputs with all that was refused.

    Raises UsageError and InputError for a processor that is unknown.
    """
    settings = replace(settings, machine=configuration.machine, warps=configuration.warps if _is_sm(configuration) else None)

    def run(selected: SelectedFunction) -> AnalysisResult:
        try:
            return analyze(selected.function, settings, selected.file)
        except UsageError as error:
            if error.code != _TOO_MANY:
                raise
        return analyze(selected.function, replace(settings, warps=None), selected.file)

    results, inputs = each_function(inputs, run, "analyzing", observer)
    return tuple(kernel_of(result, configuration, paths, limit) for result in results), inputs


def kernel_of(result: AnalysisResult, chosen: MakespanConfiguration, wanted: Paths, limit: int) -> KernelInstances:
    """Return the instances of one analyzed function.

    Raises UsageError and InputError for a processor that is not known.
    """
    fitted = at_cluster_barriers(result, chosen.warps)
    if fitted is not result:
        return KernelInstances(fitted, (), LABELS[wanted], barrier=True)
    barriers = block_barriers(fitted.cfg, fitted.isa.facts)
    # The warps of a block are in different partitions, and where barriers open in different orders the model of B does not hold.
    searched = barriers.in_order and not chosen.partition
    paths = listed_paths(with_barriers(fitted) if searched else fitted, 1 if wanted is Paths.WORST else limit)
    if wanted is Paths.WORST and fitted.worst_path is None:
        paths = ()  # the first path that comes is not the worst
    bound, why = _sm_level(fitted, chosen)
    taken = fitted.makespan.bound.assumptions if fitted.makespan is not None and bound is not None else ()
    said = tuple(dict.fromkeys((*fitted.wcet.assumptions, *taken, *((TOGETHER,) if searched else (BARRIER, TOGETHER) if barriers else ()))))
    threads = fitted.settings.launch.threads
    if searched and chosen.block_warps is None and threads is not None:
        chosen = replace(chosen, block_warps=-(-threads // WARP_SIZE))
    every = [paths] if wanted is Paths.EACH and paths else [(path,) for path in paths]
    return KernelInstances(
        result,
        tuple(_instance(fitted.function, some, chosen, said) for some in every),
        LABELS[wanted],
        bool(barriers) and not searched,
        bound,
        why,
        barriers.in_order,
    )


def _is_sm(chosen: MakespanConfiguration) -> bool:
    """Say whether the warps run on a whole SM as the tables or a machine file have it, for which the SM-level bound is."""
    return not (chosen.capacity or chosen.latency or chosen.interval or chosen.partition or chosen.issue is not None)


def _sm_level(result: AnalysisResult, chosen: MakespanConfiguration) -> tuple[int | None, str]:
    """Return the bound of the warps over all paths, and why there is none."""
    if not _is_sm(chosen):
        return None, "not with --cap, --issue, --latency, --interval or --partition"
    if chosen.warps is None:
        return None, "the number of warps is missing: pass -W"
    if result.makespan is None or result.makespan.residents.warps != chosen.warps:
        return None, f"no SM holds {chosen.warps} such warps at once" if result.wcet.value is not None else ""
    return result.makespan.bound.value, ""


def capped(answer: InstanceResult, bound: int | None) -> InstanceResult:
    """Return an answer that also knows the bound over all paths, if that is the least."""
    if bound is not None and (answer.known.upper is None or bound < answer.known.upper):
        answer.known(EngineResult("sm-level", upper=bound, proof="all-paths", note="the bound over all paths"))
    return answer


def _instance(function: Function, paths: tuple[ListedPath, ...], chosen: MakespanConfiguration, said: tuple[str, ...]) -> MakespanInstance:
    problem = instance(function.name, tuple(path.string for path in paths), chosen, function.arch)
    return replace(problem, costs=tuple(path.cost for path in paths), assumptions=(*said, *problem.assumptions))


def at_barriers(kernel: KernelInstances, instance: MakespanInstance) -> InstanceResult:
    """Return the bound of warps that wait for each other at block barriers.

    In each slot at least one of them runs; equal warps whose barriers open in one order wait no longer than without (Proof 5).
    """
    known, problem = Merged(instance.problem), instance.problem
    known(EngineResult("serial", upper=sum(string.length for string in problem.strings), proof="one-at-a-time", note=BARRIER))
    if kernel.in_order and problem.identical:
        known(EngineResult("bounds", upper=waiting_slots(problem), proof="waiting-slots", note=BARRIER))
    return InstanceResult(instance, known, 0.0)
