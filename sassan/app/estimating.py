"""The estimate of a function for the launch of its result."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

import numpy as np

from sassan.access.access import Access, AccessPattern
from sassan.access.opcodes import MemorySpace, references
from sassan.access.transactions import SECTOR
from sassan.app.accesses import launch_accesses
from sassan.app.expectations import (
    ITERATIONS,
    endings_of,
    expected_calls,
    expected_iterations,
    expected_latencies,
    iterations_of,
    seen_iterations,
    with_expectations,
)
from sassan.app.launches import LaunchResult
from sassan.app.result import AnalysisResult
from sassan.errors import Gap
from sassan.estimate.answer import LaunchEstimate
from sassan.estimate.arguments import decided_by_missing, numbers_missing
from sassan.estimate.counted import Counted
from sassan.estimate.demand import ENGINES
from sassan.estimate.figures import Figures, Usual, usual
from sassan.estimate.launch import ALONE, LEADING, LONGEST, EstimatedKernel, LongerPath, estimate
from sassan.estimate.path import PathSource, Weighted, nested, recorded_path, worst_path
from sassan.estimate.policy import Policy
from sassan.estimate.roles.barrier_operations import waits_alone
from sassan.estimate.roles.boxes import boxes_of, shared_copies
from sassan.estimate.roles.phases import matched
from sassan.estimate.roles.simultaneous import among_blocks, simultaneous
from sassan.estimate.roles.traced_block import TracedBlock
from sassan.estimate.roles.traces import traced
from sassan.estimate.sampled_launch import SampledLaunch, sampled_launch
from sassan.ipet.flow_facts import Origin
from sassan.ipet.loop_bounds import Ending
from sassan.ipet.sm.barriers import block_barriers
from sassan.ipet.sm.residency import Grid
from sassan.isa.languages import variables
from sassan.machine.occupancy import Occupancy
from sassan.machine.parameters import ParameterLocation
from sassan.products import Product
from sassan.timing.rates import Tables, code_of, not_machine_code
from sassan.warpcfg.externals import clobbering
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.waits import elections

_KIB = 1024
_LONGER = 1.1
"""A block or warp that executes so many times the instructions of others takes longer."""
_SIDES = 4
"""Executions of a node per iteration around it that the sides of divergent branches explain."""
_SAMPLED = frozenset({PathSource.SAMPLED, PathSource.SAMPLED_DATA})
_SIMULATED = frozenset({Ending.PHASE, Ending.REGISTERS})
_UNDECIDED = frozenset(("unknown-argument", "uncounted"))
"""Gaps of loops whose iterations a bound does not say: an expectation stands for them."""
_REMEDY = ", and a bound is not a count: pass its iterations in a --bounds file"
_NOTHING: Mapping[int, int] = {}


@dataclass(frozen=True, slots=True)
class EstimateResult:
    """The estimate of a function, None where `gaps` say why there is none; `prepared` makes others of the same launch."""

    analysis: AnalysisResult
    estimate: LaunchEstimate | None
    gaps: tuple[Gap, ...] = ()
    prepared: "Prepared | None" = None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what the estimate rests on, nothing where there is none."""
        if self.estimate is None:
            return ()
        return tuple(dict.fromkeys((*self.estimate.assumptions, *self.analysis.bounds.assumptions)))


class ExpectedTime(NamedTuple):
    """The time of an estimate and what binds it, as rows of tables have them; None where there is no estimate."""

    cycles: float | None = None
    us: float | None = None
    bound_by: str | None = None


def expected_time(result: EstimateResult | None) -> ExpectedTime:
    """The time of an estimate, or of none."""
    known = result.estimate if result is not None else None
    return ExpectedTime(known.cycles, known.us, known.bound_by) if known is not None else ExpectedTime()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A launch on a GPU whose estimate needs nothing more than figures of the hardware; `tables` are those of the user."""

    kernel: EstimatedKernel
    grid: Grid
    gpu: Product
    tables: Tables

    def estimate(self, figures: Figures | None = None, *, policy: Policy = Policy.OLDEST) -> LaunchEstimate:
        """Return the estimate with other figures than those of the file."""
        return estimate(self.kernel, usual(self.kernel.cfg.function.arch, self.tables, figures), self.gpu, self.grid, policy=policy)


def prepared(
    result: AnalysisResult, recorded: Mapping[int, int] = _NOTHING, expected: Mapping[int, int] = _NOTHING
) -> Prepared | tuple[Gap, ...]:
    """Return what the estimate of a result needs, or why there is none; `recorded` as in `estimated`.

    `expected` are back edges per entry that are expected of loops, by the address of the head.
    """
    settings, cfg = result.settings, result.cfg
    gpu, blocks, known = settings.gpu, settings.launch.blocks, result.residency
    occupancy = known.occupancy if known is not None else None
    gaps = _gaps(result)
    if gaps or gpu is None or blocks is None or occupancy is None:
        return gaps
    tables = settings.costs.tables or Tables(settings.machine)
    figures = usual(cfg.function.arch, tables)
    if missing := (*_uncoded(result), *figures.rates.gaps(code_of(cfg))):
        return missing
    longest = _together(result, worst_path(cfg, result.wcet.counts, result.wcet.path))
    walked = recorded_path(cfg, recorded, blocks * occupancy.block_warps)
    if walked is None and (missing := _undecided(result)):
        return missing  # before warps are run
    kept = _kept(occupancy, figures, min(occupancy.blocks, ceil(blocks / gpu.sms)))
    loops = {loop: expected[head] for loop, each in enumerate(cfg.loops) if (head := cfg.nodes[each.head].start) in expected}
    seen = sampled_launch(cfg, result.isa.facts, settings.launch, result.wcet.counts, kept, loops)
    traced_block = _traced_block(result, seen, gpu.sms * occupancy.blocks) if walked is None else None
    if missing := _missing(result, seen, traced_block, is_recorded=walked is not None):
        return missing
    every = traced_block.every if traced_block is not None else None
    average = every / len(traced_block.traces) if traced_block is not None and every is not None else None
    counts = average.tolist() if average is not None else seen.counted.executions if seen is not None else None
    ran = nested(cfg, counts) if walked is None and counts is not None else None
    sampled = PathSource.SAMPLED if (settings.launch.initial or settings.launch.contents) is None else PathSource.SAMPLED_DATA
    source = PathSource.RECORDED if walked is not None else sampled if ran is not None else PathSource.WORST
    grid = Grid(blocks, occupancy.block_warps, gpu.sms, occupancy.blocks, buffers=settings.launch.buffers)
    longer = _longer(cfg, seen.counted, grid) if seen is not None and traced_block is None and source is sampled else ()
    assumed = frozenset[int]() if average is not None else _assumed(result, source, seen, expected)
    called = {address: cost for address, cost in result.bounds.external if cost}
    path = walked or ran or longest
    kernel = EstimatedKernel(cfg, _accesses(result, seen), path, source, longest, seen, assumed, longer, traced_block, called)
    return Prepared(kernel, grid, gpu, tables)


def estimated(result: AnalysisResult, recorded: Mapping[int, int] = _NOTHING, *, policy: Policy = Policy.OLDEST) -> EstimateResult:
    """Return how long a launch takes: that of the settings of a result, on their GPU.

    `recorded`: executions of each instruction by all warps, by address, where a profiler counted them. `policy`: which
    warp a scheduler takes.
    """
    iterations, latencies, calls = expected_iterations(result), expected_latencies(result), expected_calls(result)
    while True:
        expected = with_expectations(result, iterations, latencies, calls) if iterations or latencies or calls else result
        made = prepared(expected, recorded, iterations)
        if isinstance(made, Prepared):
            break
        undecided = {gap.address: iterations_of(result, gap.address) for gap in made if gap.code in _UNDECIDED}
        if len(undecided) < len(made) or undecided.keys() <= iterations.keys():
            return EstimateResult(result, None, made)
        iterations = {**undecided, **iterations}
    said = seen_iterations(result).keys() | {result.cfg.nodes[result.cfg.loops[loop].head].start for loop in elections(result.cfg)}
    iterations = {head: count for head, count in iterations.items() if head not in said}
    if made.kernel.traced is not None:
        # The simulation says how long these waits take.
        endings = endings_of(result)
        iterations = {head: count for head, count in iterations.items() if endings.get(head) not in _SIMULATED}
        latencies = {name: cycles for name, cycles in latencies.items() if name not in ENGINES}
    if (seen := made.kernel.sampled) is not None:
        counted = {result.cfg.nodes[result.cfg.loops[loop].head].start for loop in seen.counted.followed}
        iterations = {head: count for head, count in iterations.items() if head not in counted}
    known = made.estimate(policy=policy)
    texts = (
        tuple(
            f"nothing decides how often the loop at 0x{address:04x} iterates: {count} back edges per entry are expected where runs do not "
            "count them"
            for address, count in iterations.items()
        )
        + (_of_cut(result, made.kernel.sampled) if made.kernel.source in _SAMPLED else ())
        + _of_arguments(made.kernel.sampled)
        + tuple(
            f"no latency of {name} is known: {cycles} cycles are expected; set it with --latency {name}=N"
            for name, cycles in latencies.items()
        )
        + tuple(
            f"the input does not contain {name}: a call is expected to take {cycles} cycles; set it in a --bounds file"
            for name, cycles in calls.items()
        )
    )
    return EstimateResult(result, replace(known, assumptions=(*known.assumptions, *texts)), prepared=made)


def _of_arguments(seen: SampledLaunch | None) -> tuple[str, ...]:
    """Return what is taken for granted of arguments."""
    if seen is None or not seen.assumed:
        return ()
    names = ", ".join(f"{place.called}" for place in seen.assumed)
    return (f"arguments that are not given ({names}) are assumed to be the threads in a row of the grid: pass {_names(seen.assumed)}",)


def estimated_launches(launches: Sequence[LaunchResult], *, policy: Policy = Policy.OLDEST) -> tuple[EstimateResult | None, ...]:
    """Return the estimate of every recorded launch, equal ones once; None where there is no analysis of it, or no GPU."""
    known: dict[int, EstimateResult] = {}
    out: list[EstimateResult | None] = []
    for launch in launches:
        result = launch.result
        if result is None or result.settings.gpu is None:
            out.append(None)
            continue
        if id(result) not in known:
            known[id(result)] = estimated(result, policy=policy)
        out.append(known[id(result)])
    return tuple(out)


def _accesses(result: AnalysisResult, seen: SampledLaunch | None) -> tuple[Access, ...]:
    """Return the accesses; where they were not followed, and warps say of all of them what they access, without their transactions."""
    if result.accesses is not None:
        return result.accesses
    if seen is not None and (plain := _seen(result.cfg, seen)) is not None:
        return plain
    return launch_accesses(result.values, result.settings) if result.values is not None else ()


def _seen(cfg: WarpCfg, seen: SampledLaunch) -> tuple[Access, ...] | None:
    """Return the accesses of all nodes that were visited; None where something was not seen of one."""
    out: dict[tuple[int, int], Access] = {}
    for node in (node for node, count in zip(cfg.nodes, seen.counted.executions, strict=True) if count):
        for each in node.code:
            for reference in references(each):
                key = each.address, reference.place
                accessed = seen.accessed.get(key)
                if reference.space is MemorySpace.LOCAL or accessed is None or accessed.drawn:
                    return None
                out[key] = Access(*key[:1], each.opcode, reference.space, reference.bytes, AccessPattern.UNKNOWN)
    return tuple(out[key] for key in sorted(out))


def _kept(occupancy: Occupancy, figures: Usual, places: int) -> float:
    """Return how many sectors of each warp L1 keeps: it has what shared memory leaves, and all warps of its `places` blocks the same."""
    machine = figures.rates.machine
    left = max(0, _KIB * machine.shared[0] - places * occupancy.demand.shared) + _KIB * figures.figures.cache
    return left / SECTOR / (places * occupancy.block_warps)


def _gaps(result: AnalysisResult) -> tuple[Gap, ...]:
    """Return what forbids an estimate: no kernel, no path, no places on an SM, blocks on other SMs that are waited for."""
    function, entry = result.function, result.function.entry
    if not function.kernel:
        return (Gap(entry, "no-kernel", "only kernels are launched"),)
    if gaps := not_machine_code(function):
        return gaps
    if result.wcet.gaps:
        return result.wcet.gaps
    if not result.wcet.counts:
        return (Gap(entry, "no-path", f"no longest path is known ({result.wcet.status})"),)
    known = result.residency
    if known is None or known.occupancy is None:
        return (Gap(entry, "unknown-occupancy", known.why if known is not None else "no launch is given"),)
    return ()


def _traced_block(result: AnalysisResult, seen: SampledLaunch | None, at_once: int) -> TracedBlock | None:
    """Return the warps of a block, each with its path, where they wait for some others, or for engines; `at_once` blocks run at a time.

    None where they do not, and where the launch or the machine does not say their paths.
    """
    cfg = result.cfg
    meet = any(waits_alone(each) for node in cfg.nodes for each in node.code)
    if seen is None or not (meet or seen.counted.roles):
        return None
    known = result.settings.launch
    launch = replace(known, contents=known.initial or known.contents)
    traces = traced(cfg, result.isa.facts, launch)
    if traces is None:
        return None
    shared = shared_copies(cfg)
    several = matched(traces, boxes_of(cfg, launch, traces), shared)
    of_blocks = simultaneous(cfg, result.isa.facts, launch, traces, at_once)
    several = replace(several, copies=among_blocks(several.copies, of_blocks, shared))
    return TracedBlock.of(cfg, traces, several, _back_edges(result, seen), _executions(result))


def _back_edges(result: AnalysisResult, seen: SampledLaunch) -> Sequence[int | None]:
    """Return the back edges per entry that warps of a block are expected to take: as counted, else as the bound says.

    Of an outermost loop that only other warps enter than those that were run: as many as of the one that these enter, which goes through
    the same tiles. Of one around others in which warps were cut, as many as that, or no more than is expected of any loop, unless
    its bound is a count: bounds of tiles are far above.
    """
    counted, loops = seen.counted.iterations, result.cfg.loops
    outermost = [round(count) for loop, count in zip(loops, counted, strict=True) if count is not None and loop.parent is None]
    tiles, around, counting = max(outermost, default=0), {loop.parent for loop in loops}, _counting(result)

    def of_loop(number: int) -> int | None:
        count, bound = counted[number], result.bounds.of_loop[number]
        if count is not None:
            return round(count)
        if loops[number].parent is not None:
            return bound
        if tiles and not seen.counted.executions[loops[number].head]:
            return tiles
        if bound is None or number in counting or number not in around or number not in seen.counted.cut:
            return bound
        return min(bound, tiles or ITERATIONS)

    return [of_loop(number) for number in range(len(loops))]


def _missing(result: AnalysisResult, seen: SampledLaunch | None, traced_block: TracedBlock | None, *, is_recorded: bool) -> tuple[Gap, ...]:
    """Return why the warps of a block have no expected path: a wait has no end, or nothing says how often a loop iterates."""
    if traced_block is not None and traced_block.matched.gaps:
        return traced_block.matched.gaps
    if traced_block is None and (missing := block_barriers(result.cfg, result.isa.facts).gaps):
        return missing
    return () if is_recorded or (traced_block is not None and traced_block.every is not None) else _uncounted(result, seen, traced_block)


def _assumed(result: AnalysisResult, source: PathSource, seen: SampledLaunch | None, expected: Collection[int]) -> frozenset[int]:
    """Return the nodes whose executions nothing counts: of the longest path all, unless it is the only one."""
    if source is PathSource.RECORDED:
        return frozenset()
    if source is not PathSource.WORST and seen is not None and not seen.assumed:
        loops = (
            loop
            for index, loop in enumerate(result.cfg.loops)
            if result.cfg.nodes[loop.head].start in expected and index not in seen.counted.followed
        )
        return seen.counted.assumed.union(*(loop.nodes for loop in loops))
    after = Counter(edge.src for edge in result.cfg.edges)
    return frozenset(range(len(result.cfg.nodes))) if max(after.values(), default=0) > 1 else frozenset()


def _longer(cfg: WarpCfg, counted: Counted, grid: Grid) -> tuple[LongerPath, ...]:
    """Return the paths of blocks and warps that execute noticeably more than they do on average."""
    parts = (
        (counted.longest, replace(grid, blocks=min(grid.blocks, grid.sms), places=1), LONGEST),
        (counted.leading, replace(grid, block_warps=1), LEADING),
        (counted.alone, replace(grid, blocks=1, block_warps=1, places=1), ALONE),
    )
    sizes = np.array([len(node.code) for node in cfg.nodes], np.float64)
    mean = float(sizes @ counted.executions)
    return tuple(
        LongerPath(nested(cfg, executions), part, text) for executions, part, text in parts if float(sizes @ executions) > _LONGER * mean
    )


def _uncounted(result: AnalysisResult, seen: SampledLaunch | None, traced_block: TracedBlock | None) -> tuple[Gap, ...]:
    """Return why no path says what to expect: warps have roles, or only an inferred bound says how often a loop iterates."""
    cfg, bounds = result.cfg, result.bounds
    starts = [cfg.nodes[loop.head].start for loop in cfg.loops]
    if seen is not None and seen.counted.roles and traced_block is None:
        first, second = (", ".join(f"0x{starts[loop]:04x}" for loop in role) for role in seen.counted.roles)
        message = (
            f"warps of a block have roles: some run the loop at {first}, others that at {second}; an estimate gives all warps one path"
        )
        return (Gap(starts[seen.counted.roles[0][0]], "warp-roles", message),)
    bounded = {loop for loop, origin in enumerate(bounds.origins) if origin is Origin.INFERRED}
    if seen is not None:
        message = f"warps that were run did not reach the end of this loop{_REMEDY}"
        return tuple(Gap(starts[loop], "uncounted", message) for loop in sorted((seen.counted.cut & bounded) - _counting(result)))
    missing = numbers_missing(cfg.function, result.settings.launch)
    executions = _executions(result)
    loops = [loop for loop in sorted(bounded) if not missing and executions[cfg.loops[loop].head] and bounds.of_loop[loop]]
    if loops:
        message = f"the SIMT machine has no rule for this kernel, so how often this loop iterates was not counted{_REMEDY}"
        return tuple(Gap(starts[loop], "uncounted", message) for loop in loops)
    return ()


def _counting(result: AnalysisResult) -> frozenset[int]:
    """Return the loops of which a bound is a count: nothing but what it counts leaves them, and all of that is given."""
    cfg, bounds = result.cfg, result.bounds
    out: set[int] = set()
    for loop in bounds.given:
        inside = frozenset(cfg.loops[loop].nodes)
        if len({edge.src for edge in cfg.edges if edge.src in inside and edge.dst not in inside}) == 1:
            out.add(loop)
    return frozenset(out)


def _of_cut(result: AnalysisResult, seen: SampledLaunch | None) -> tuple[str, ...]:
    """Return which loops have as many iterations as their bounds say."""
    loops = sorted(seen.counted.cut & _counting(result)) if seen is not None else []
    heads = sorted({result.cfg.nodes[result.cfg.loops[loop].head].start for loop in loops})
    return tuple(
        f"runs did not reach the end of the loop at 0x{head:04x}: its bound is expected, since nothing else ends it" for head in heads
    )


def _executions(result: AnalysisResult) -> list[int]:
    """Return how often the longest path visits each node."""
    executions = [0] * len(result.cfg.nodes)
    for edge, count in zip(result.cfg.edges, result.wcet.counts, strict=True):
        executions[edge.src] += count
    return executions


def _together(result: AnalysisResult, longest: Weighted) -> Weighted:
    """Return the longest path without the executions of code by every lane alone: lanes are expected to come there together."""
    cfg = result.cfg
    executions = _executions(result)
    around = [_around(cfg, node, executions) for node in range(len(cfg.nodes))]
    if not any(count > _SIDES * most for count, most in zip(executions, around, strict=True)):
        return longest
    return nested(cfg, [min(count, most) for count, most in zip(executions, around, strict=True)])


def _around(cfg: WarpCfg, node: int, executions: Sequence[int]) -> int:
    """Return how often the head of the innermost loop around a node is executed."""
    loops = [loop for loop in cfg.loops if node in loop.nodes]
    return max(1, executions[min(loops, key=lambda loop: len(loop.nodes)).head]) if loops else 1


def _undecided(result: AnalysisResult) -> tuple[Gap, ...]:
    """Return the loops whose iterations arguments decide that are not given: the longest path has the most that any value allows."""
    cfg, launch, bounds = result.cfg, result.settings.launch, result.bounds
    known = [bound if origin is Origin.INFERRED else None for bound, origin in zip(bounds.of_loop, bounds.origins, strict=True)]
    loops = decided_by_missing(cfg, clobbering(variables(result.isa), cfg.externals), launch, known)
    message = f"how often this loop iterates depends on an argument that is not given: {_names(numbers_missing(cfg.function, launch))}"
    return tuple(Gap(cfg.nodes[cfg.loops[loop].head].start, "unknown-argument", message) for loop in loops)


def _names(missing: Sequence[ParameterLocation]) -> str:
    return ", ".join(f"--param {place.called}=N" for place in missing)


def _uncoded(result: AnalysisResult) -> tuple[Gap, ...]:
    first = next((instruction for instruction in code_of(result.cfg) if instruction.control is None), None)
    if first is None:
        return ()
    message = "the input has no encodings, so control codes are unknown: give a cubin, cuobjdump -sass or nvdisasm -hex"
    return (Gap(first.address, "no-control-codes", message),)
