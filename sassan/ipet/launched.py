"""What is asked of a launch, and what the warps of a kernel take together: occupancy, the warps of an SM, the whole grid."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sassan.alphabet import Letter
from sassan.errors import Gap
from sassan.ipet.residents import Grid, Group, group
from sassan.ipet.shares import Share, of_code, of_letters
from sassan.ipet.sm_bound import Contention, GridBound, SmBound, Waits, check_warps, contention, path_bound
from sassan.ipet.wcet import Problem, Wcet
from sassan.ir import Function
from sassan.machine import Multiprocessor
from sassan.machine.launch import Launch
from sassan.machine.occupancy import Occupancy, Resources, demand_of, occupancy
from sassan.timing import Unit

_CLUSTERS = "blocks may be launched in clusters, whose blocks wait for places to start together: no bound of a grid knows how long"


@dataclass(frozen=True, slots=True)
class Residency:
    """How many blocks of the launch are resident on an SM; where that is not known, `why` says what is missing."""

    occupancy: Occupancy | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Makespan:
    """What W warps on one SM take: `bound` over all paths; `worst_path`, in cycles, if every warp takes that one, None where unknown.

    `partition` is the bound in the partition model, `grid` that of the whole grid; None where they were not asked for.
    """

    bound: SmBound
    worst_path: int | None
    partition: SmBound | None = None
    grid: GridBound | None = None

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return why there is no bound of the warps or of the grid."""
        return (*self.bound.gaps, *(self.grid.gaps if self.grid is not None else ()))


@dataclass(frozen=True, slots=True)
class Asked:
    """A launch, and what to bound of it: `warps` on one SM (None: as many as are resident), in the partition model, too, or not.

    Without `resources` nobody asks how many warps are resident.
    """

    launch: Launch = field(default_factory=Launch)
    resources: Resources | None = None
    warps: int | None = None
    partition: bool = False

    def threads(self, function: Function) -> int | None:
        """Return the threads of a block whose occupancy is asked for, None where it is not, or where a device function is no kernel."""
        return self.launch.threads if self.resources is not None and function.kernel else None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel whose system stands: `letters` count those of each node of its graph, `waits` are its block barriers, None: it has none."""

    problem: Problem
    letters: tuple[Mapping[Letter, int], ...]
    waits: Waits | None


def residency(function: Function, asked: Asked, sm: Multiprocessor) -> Residency | None:
    """Return how many blocks are resident, None where nobody asks.

    Raises UsageError `launch` for a block that fits no SM.
    """
    threads = asked.threads(function)
    if threads is None or asked.resources is None:
        return None
    demand = demand_of(function, threads, asked.resources, sm)
    return Residency(None, _untold(function, asked.resources)) if demand is None else Residency(occupancy(sm, demand))


def _untold(function: Function, told: Resources) -> str:
    """Return what is missing, and how to give it."""
    missing = {
        "registers": ("--registers N", told.registers is None and function.registers is None),
        "shared memory": ("--shared BYTES", told.shared is None and function.compiler is None and function.declared.shared is None),
    }
    names = [name for name, (_, lacks) in missing.items() if lacks]
    options = [option for option, lacks in missing.values() if lacks]
    return f"the input does not tell {' and '.join(names)}: give a cubin, or {' and '.join(options)}"


def makespan(kernel: Kernel, worst: Wcet, asked: Asked, sm: Multiprocessor, known: Occupancy | None) -> Makespan | None:
    """Return the bounds of as many warps as are asked for, or as are resident; None where neither is told.

    Raises UsageError `bad-warps` for more warps than can be resident.
    """
    warps = asked.warps if asked.warps is not None else known.warps if known is not None else None
    if warps is None:
        return None
    check_warps(warps, sm, known)
    block = known.block_warps if known is not None else None
    taken = _shares(kernel, sm)
    whole = contention(kernel.problem, taken, sm, kernel.waits)
    found = Makespan(whole.resident(group(warps, block)), None, grid=_grid(whole, known, asked, kernel.problem.cfg.function))
    if asked.partition:
        parts = contention(kernel.problem, _shares(kernel, sm, partition=True), sm, kernel.waits, partition=True)
        found = replace(found, partition=parts.resident(group(warps, block, sm.schedulers)))
    return replace(found, worst_path=_path(kernel, worst, taken, group(warps, block), found.bound.value))


def _shares(kernel: Kernel, sm: Multiprocessor, *, partition: bool = False) -> tuple[Share, ...]:
    """Return what each block takes of the SM: by letters where each instruction counts as one slot, else by the units of its opcodes."""
    if kernel.problem.cost_name == Unit().name:
        return tuple(of_letters(sm, one, partition=partition) for one in kernel.letters)
    return tuple(of_code(sm, node.code, partition=partition) for node in kernel.problem.cfg.nodes)


def _grid(whole: Contention, known: Occupancy | None, asked: Asked, function: Function) -> GridBound | None:
    blocks = asked.launch.blocks
    if known is None or blocks is None or asked.resources is None:
        return None
    bound = whole.grid(Grid(blocks, known.block_warps, asked.resources.sms, known.blocks))
    if known.demand.clustered:
        bound = replace(bound, value=None, gaps=(*bound.gaps, Gap(function.entry, "cluster-launch", _CLUSTERS)))
    return replace(bound, assumptions=(*bound.assumptions, *known.assumptions))


def _path(kernel: Kernel, worst: Wcet, taken: tuple[Share, ...], of: Group, bound: int | None) -> int | None:
    """Return the bound if every warp takes the worst path, which is one of all; None where no path is known."""
    if worst.value is None or worst.path is None or bound is None:
        return None
    counts = zip(kernel.problem.cfg.edges, worst.counts, strict=True)
    share = sum((taken[edge.src] * count for edge, count in counts if count), Share())
    return min(bound, path_bound(worst.value, share, of, barriers=kernel.waits is not None))
