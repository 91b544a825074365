"""Which warps share an SM: those that the user names, or as many as the launch makes resident; and the grid that they belong to."""

from dataclasses import dataclass

from sassan.errors import UsageError
from sassan.ipet.sm.gpu import GpuMemory
from sassan.ir import Function
from sassan.machine import Multiprocessor
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.occupancy import Occupancy, Resources, demand_of, occupancy, rules_of

_PAIR = 2


@dataclass(frozen=True, slots=True)
class Residency:
    """The occupancy of a launch; where it is unknown, `why` says what is missing."""

    occupancy: Occupancy | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """`blocks` blocks of `block_warps` warps on `sms` SMs with at most `places` at once on each; `occupancy` allows as many or more."""

    blocks: int
    block_warps: int
    sms: int
    places: int
    occupancy: Occupancy | None = None
    buffers: tuple[int, ...] | None = None
    """Bytes of each buffer of global memory that the grid may access, None where that is unknown."""
    host: bool = False
    """Whether some of it is memory of the host, or moves between host and GPU."""
    pinned: bool = False
    """Whether some of it stays in memory of the host."""
    memory: GpuMemory | None = None
    """Of the GPU; None: the bandwidth of its memory is unlimited."""
    cluster: int = 1
    """Blocks of a cluster; 0 where there are some, and it is not known how many have one."""
    groups: int = 0
    """Of SMs, each of which takes whole clusters, at most; 0 where that is not known."""
    beside: int | None = None
    """Bytes of code of other kernels that may run as it runs; None: nothing else is on the GPU."""

    @property
    def pairs(self) -> bool:
        """Whether all blocks have places, and clusters are of two at most: SMs come in pairs that share a group."""
        return 1 <= self.cluster <= _PAIR and self.blocks <= self.sms * self.places

    @property
    def clusters(self) -> int:
        """How many clusters the grid has; 0 where that is not known."""
        return -(-self.blocks // self.cluster) if self.cluster else 0

    @property
    def resident_clusters(self) -> int:
        """How many clusters are surely resident while another one waits: each group has fewer SMs with a place than it has blocks."""
        sms = self.sms - self.groups * (self.cluster - 1)
        return sms * self.places // self.cluster if self.groups and self.cluster and sms > 0 else 0

    @property
    def at_once(self) -> bool:
        """Whether all clusters surely start at once."""
        return self.pairs or 0 < self.clusters <= self.resident_clusters

    @property
    def spread(self) -> bool:
        """Whether `places` are fewer than the occupancy allows: so many blocks come to an SM that gets no more than any other."""
        return self.occupancy is not None and self.places < self.occupancy.blocks

    @property
    def resident(self) -> int:
        """The warps that are on the GPU at a time, at most."""
        return min(self.blocks, self.sms * self.places) * self.block_warps

    @property
    def paged(self) -> tuple[int, ...] | None:
        """The bytes of each buffer, all in large pages; None where that is not known: pages of the host may be small ones."""
        return None if self.host else self.buffers

    @property
    def allocated(self) -> int | None:
        """The bytes of global memory that the grid may access and L2 may keep, None where that is unknown, or L2 does not keep some."""
        return None if self.buffers is None or self.pinned else sum(self.buffers)

    @property
    def shares_host(self) -> bool:
        """Whether the memory of the host is that of the GPU."""
        return self.memory is not None and self.memory.integrated


@dataclass(frozen=True, slots=True)
class Residents:
    """`warps` warps that start together on one SM, in blocks of `block_warps`.

    Where the size of a block is unknown, all warps may be one block, which is the worst for barriers. `grid` is the grid of a launch whose
    shape is known, else None.
    """

    warps: int
    block_warps: int | None = None
    grid: Grid | None = None

    @property
    def block(self) -> int:
        """The warps of one block among these."""
        return min(self.warps, self.block_warps or self.warps)

    def per_scheduler(self, schedulers: int) -> int:
        """The largest number of these warps that share one of `schedulers` schedulers."""
        return -(-self.warps // schedulers)


def residency(function: Function, threads: int, resources: Resources, machine: Multiprocessor) -> Residency:
    """The occupancy of a kernel with blocks of `threads` threads.

    Raises UsageError `launch` for a block that does not fit an SM.
    """
    demand = demand_of(function, threads, resources, machine)
    return Residency(None, _missing_inputs(function, resources)) if demand is None else Residency(occupancy(machine, demand))


def _missing_inputs(function: Function, resources: Resources) -> str:
    """What is missing, and how to give it."""
    missing: dict[str, str] = {}
    if resources.registers is None and function.registers is None:
        missing["registers"] = "--registers N"
    if resources.shared is None and function.compiler is None and function.declared.shared is None:
        missing["shared memory"] = "--shared BYTES"
    return f"the input does not give {' and '.join(missing)}: pass a cubin, or {' and '.join(missing.values())}"


def residents(  # noqa: PLR0913 - what a launch and its GPU say
    warps: int | None,
    launch: LaunchConfiguration,
    resources: Resources | None,
    known: Occupancy | None,
    machine: Multiprocessor,
    *,
    memory: GpuMemory | None = None,
    cluster: int = 0,
    beside: int | None = None,
) -> Residents | None:
    """The warps whose time is wanted: `warps`, or all that are resident, of a small grid as many as it brings to an SM; None where unknown.

    `memory` is that of the GPU, `cluster` the blocks of a cluster where some are launched in clusters, 0 where that is not known; `beside`
    is that of `Grid`.
    Raises UsageError `bad-warps` for more warps than can be resident.
    """
    number = warps if warps is not None else known.warps if known is not None else None
    if number is None:
        return None
    check_warps(number, machine, known)
    if known is None:
        return Residents(number)
    blocks = launch.blocks
    if blocks is None or resources is None:
        return Residents(number, known.block_warps)
    # A block goes to an SM that holds the fewest (docs/proofs/grid-bound.md), where no other kernel has blocks there.
    even = min(known.blocks, -(-blocks // resources.sms)) if beside is None else known.blocks
    # Of clusters that is not known.
    cluster, places = (cluster, known.blocks) if known.demand.clustered else (1, even)
    groups = rules_of(machine).groups if cluster != 1 else 0
    if warps is None:
        number = places * known.block_warps
    buffers, pinned = launch.buffers, bool(launch.pinned)
    grid = Grid(blocks, known.block_warps, resources.sms, places, known, buffers, launch.host, pinned, memory, cluster, groups, beside)
    return Residents(number, known.block_warps, grid)


def check_warps(warps: int, machine: Multiprocessor, known: Occupancy | None = None) -> None:
    """Raise UsageError `bad-warps` for more warps than can be resident on the SM; `known` is the occupancy of a launch."""
    if not 1 <= warps <= machine.warps:
        message = f"{warps} warps cannot be resident on an SM of compute capability {machine.capability}"
        raise UsageError("bad-warps", message, hint=f"1 to {machine.warps}")
    if known is not None and warps > known.warps:
        message = f"{warps} warps cannot be resident: at most {known.blocks} blocks of {known.block_warps} warps are"
        raise UsageError("bad-warps", message, hint=f"1 to {known.warps}, or another --block-dim ({', '.join(known.limited_by)} limit it)")
