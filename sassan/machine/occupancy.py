"""Occupancy: how many blocks of a kernel are resident on one SM.

The rules are those of NVIDIA's occupancy calculator (cuda_occupancy.h of CUDA 12.9), with as much shared memory as the SM can give
and without partitioned global caching; their numbers are in the architecture files, section `allocation`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from sassan.arch import described, names, rows
from sassan.errors import InputError, UsageError
from sassan.ir import Function
from sassan.machine.launch import BLOCK_THREADS
from sassan.machine.multiprocessor import WARP_SIZE, Multiprocessor

ALONE = "no other kernel is on the SM"
"""The assumption that all places of an SM are for blocks of one kernel."""
_KB = 1024
_NUMBERS = ("register_unit", "registers_per_thread", "registers_per_block", "checked_partitions", "shared_unit")
_OPTIONAL = ("shared_reserved", "barriers", "groups")
_FLAGS = ("reserved_in_cubin", "carveout", "clusters")


@dataclass(frozen=True, slots=True)
class BlockDemand:
    """What one block of a kernel needs: threads, registers per thread, bytes of shared memory (static and dynamic), block barriers.

    `clustered`: it may be launched in a cluster with others.
    """

    threads: int
    registers: int
    shared: int
    barriers: int = 1
    clustered: bool = False


@dataclass(frozen=True, slots=True)
class Resources:
    """What is given of a launch beside its shape: registers per thread, bytes of shared memory per block, and the SMs of the GPU.

    `shared` is dynamic where the input has the static part (a cubin, nvdisasm without -c), else all. None is what is not given; one SM is
    the worst.
    """

    registers: int | None = None
    shared: int | None = None
    sms: int = 1


@dataclass(frozen=True, slots=True)
class AllocationRules:
    """How an SM allocates; docs/reference/files.md says what each number means."""

    register_unit: int
    registers_per_thread: int
    registers_per_block: int
    checked_partitions: int
    shared_unit: int
    shared_reserved: int
    reserved_in_cubin: bool
    barriers: int
    carveout: bool
    clusters: bool
    groups: int
    """Of SMs that a GPU has at most, each of which takes whole clusters; 0 where that is not known."""
    source: str


@dataclass(frozen=True, slots=True)
class Occupancy:
    """`blocks` of `block_warps` warps each are resident on an SM at most.

    `limits` says how many each resource allows, None where the block uses none of it; `limited_by` names those that allow the fewest.
    """

    demand: BlockDemand
    blocks: int
    block_warps: int
    limits: Mapping[str, int | None]
    limited_by: tuple[str, ...]
    assumptions: tuple[str, ...]

    @property
    def warps(self) -> int:
        """Return how many warps are resident on an SM at most."""
        return self.blocks * self.block_warps


def demand_of(function: Function, threads: int, resources: Resources, machine: Multiprocessor) -> BlockDemand | None:
    """Return what a block of a kernel needs, None where neither the input nor the user gives registers and shared memory.

    Raises InputError `no-occupancy` for an SM whose rules are not known.
    """
    facts = function.compiler
    registers = resources.registers if resources.registers is not None else function.registers
    static = function.declared.shared if facts is None else facts.shared
    if registers is None or (static is None and resources.shared is None):
        return None
    rules, static = rules_of(machine), static or 0
    twice = rules.shared_reserved if rules.reserved_in_cubin and static >= rules.shared_reserved else 0
    barriers = facts.barriers if facts is not None and facts.barriers is not None else 1
    return BlockDemand(threads, registers, static - twice + (resources.shared or 0), barriers, function.clustered)


def occupancy(machine: Multiprocessor, demand: BlockDemand) -> Occupancy:
    """Return how many blocks are resident at once.

    Raises UsageError `launch` where not even one is, with what is too large; InputError `no-occupancy` for an SM whose rules are not known.
    """
    rules = rules_of(machine)
    if not 1 <= demand.threads <= BLOCK_THREADS:
        raise _refused(f"a block of {demand.threads} threads cannot be launched", f"1 to {BLOCK_THREADS} threads")
    if demand.registers < 0 or demand.shared < 0 or demand.barriers < 0:
        raise _refused("resources of a block cannot be negative", "registers, shared memory and barriers are 0 or more")
    block_warps = -(-demand.threads // WARP_SIZE)
    limits = {
        "warps": machine.warps // block_warps,
        "blocks": machine.blocks,
        "registers": _by_registers(machine, rules, demand.registers, block_warps),
        "shared": _by_shared(machine, rules, demand.shared),
        "barriers": _by_barriers(machine, rules, demand.barriers),
    }
    blocks = min(limit for limit in limits.values() if limit is not None)
    if not blocks:
        raise _refused(*_why(machine, rules, demand, block_warps, limits))
    limited = tuple(name for name, limit in limits.items() if limit == blocks)
    return Occupancy(demand, blocks, block_warps, MappingProxyType(limits), limited, _assumptions(machine, demand))


def _by_registers(machine: Multiprocessor, rules: AllocationRules, registers: int, block_warps: int) -> int | None:
    """Return how many blocks the registers allow: a warp's registers come in units, from one partition of the register file."""
    if not registers:
        return None
    warp = _up(registers * WARP_SIZE, rules.register_unit)
    checked = warp * _up(block_warps, rules.checked_partitions)
    if checked > rules.registers_per_block or registers > rules.registers_per_thread:
        return 0
    return machine.registers // machine.schedulers // warp * machine.schedulers // block_warps


def parts_of_an_sm(machine: Multiprocessor, demand: BlockDemand) -> Mapping[str, Fraction]:
    """Return the part of each resource of an SM that a block takes, at most 1: warps and registers of the partition that gives most.

    A block spreads its warps evenly over the partitions. Raises InputError `no-occupancy` for an SM whose rules are not known.
    """
    rules = rules_of(machine)
    warps = -(-demand.threads // (WARP_SIZE * machine.schedulers))
    registers = warps * _up(demand.registers * WARP_SIZE, rules.register_unit)
    shared = _block_shared(rules, demand.shared)
    parts = {
        "warps": Fraction(warps, machine.warps // machine.schedulers),
        "blocks": Fraction(1, machine.blocks),
        "registers": Fraction(registers, machine.registers // machine.schedulers),
        "shared": Fraction(shared, _KB * machine.shared[0]),
        "barriers": Fraction(demand.barriers, machine.blocks * rules.barriers) if rules.barriers else Fraction(0),
    }
    return MappingProxyType({name: min(part, Fraction(1)) for name, part in parts.items() if part})


def _block_shared(rules: AllocationRules, shared: int) -> int:
    return _up(shared + rules.shared_reserved, rules.shared_unit)


def _by_shared(machine: Multiprocessor, rules: AllocationRules, shared: int) -> int | None:
    block = _block_shared(rules, shared)
    if block > _KB * machine.shared[1] + rules.shared_reserved:
        return 0
    return _KB * machine.shared[0] // block if block else None


def _by_barriers(machine: Multiprocessor, rules: AllocationRules, barriers: int) -> int | None:
    return machine.blocks * rules.barriers // barriers if rules.barriers and barriers else None


def _why(
    machine: Multiprocessor, rules: AllocationRules, demand: BlockDemand, block_warps: int, limits: Mapping[str, int | None]
) -> tuple[str, str]:
    """Return what is too large for a single block, and how large it may be."""
    where = f"compute capability {machine.capability}"
    if limits["shared"] == 0:
        return (
            f"a block that uses {demand.shared} bytes of shared memory cannot be launched on {where}",
            f"{_KB * machine.shared[1]} at most",
        )
    if limits["registers"] == 0 and demand.registers > rules.registers_per_thread:
        return f"{demand.registers} registers per thread cannot be launched on {where}", f"{rules.registers_per_thread} at most"
    if limits["registers"] == 0:
        message = f"a block of {demand.threads} threads with {demand.registers} registers each cannot be launched on {where}"
        return message, f"a block has {rules.registers_per_block} registers at most"
    if limits["warps"] == 0:
        return f"a block of {block_warps} warps cannot be launched on {where}: its SM holds {machine.warps}", "a smaller block"
    return f"a block that uses {demand.barriers} barriers cannot be launched on {where}", "fewer barriers"


def _assumptions(machine: Multiprocessor, demand: BlockDemand) -> tuple[str, ...]:
    rules = rules_of(machine)
    used = f"{demand.threads} threads, {demand.registers} registers per thread, {demand.shared} bytes of shared memory per block"
    shared = "the SM gives shared memory as much of its on-chip memory as it can" if rules.carveout else ""
    alone = "of blocks in clusters, no more are resident" if demand.clustered else "blocks are not launched in clusters"
    clusters = alone if rules.clusters else ""
    head = f"occupancy by the rules of CUDA's calculator: {used}"
    return (head, ALONE, *filter(None, (shared, clusters)), *machine.inherited("allocation"))


def rules_of(machine: Multiprocessor) -> AllocationRules:
    """Return how an SM allocates.

    Raises InputError `no-occupancy` for one that no rule describes, `bad-table` with the file and the key.
    """
    row = rows(machine.arch, "allocation").get("")
    if row is None:
        first = next(described(name).capability for name in names() if rows(name, "allocation"))
        message = f"no architecture file says how many blocks an SM of compute capability {machine.capability} holds"
        raise InputError("no-occupancy", message, hint=f"known from {first} on; without --block-dim, -W gives the number of warps")
    fields = row.fields
    fields.only(*_NUMBERS, *_OPTIONAL, *_FLAGS, "source")
    numbers = {key: fields.whole(key) for key in _NUMBERS} | {key: fields.whole(key, 0, least=0) for key in _OPTIONAL}
    return AllocationRules(
        **numbers,
        reserved_in_cubin=fields.flag("reserved_in_cubin"),
        carveout=fields.flag("carveout"),
        clusters=fields.flag("clusters"),
        source=row.source,
    )


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _refused(message: str, hint: str) -> UsageError:
    return UsageError("launch", message, hint=hint)
