"""Remedies of a launch: more blocks at once, another block, whole waves."""

from collections.abc import Iterator
from dataclasses import replace

from sassan.app.advise.changes import counts_of, with_places
from sassan.app.advise.code import with_work
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.app.analysis import analyze
from sassan.app.estimating import Prepared, estimated
from sassan.app.registers import registers_of_result
from sassan.errors import InputError, UsageError
from sassan.ir import Constant
from sassan.isa.facts import Flow
from sassan.machine import Multiprocessor, machine_of
from sassan.machine.occupancy import Occupancy, occupancy
from sassan.machine.parameters import layout
from sassan.plurals import count_of

_KIB = 1024
_KEPT = 4
"""Registers that a compiler can do without, by computing again what they hold."""
_THREADS = (64, 128, 256, 512)
"""Threads of a block that are tried."""


def occupied(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedies that let more blocks be resident: fewer registers per thread, less shared memory per block."""
    known, grid = launched.result.residency, launched.prepared.grid
    resident = known.occupancy if known is not None else None
    if resident is None or grid.blocks <= grid.sms * resident.blocks:
        return
    machine = machine_of(launched.result.function.arch, launched.result.settings.machine)
    for resource in resident.limited_by:
        others = [limit for name, limit in resident.limits.items() if name != resource and limit is not None]
        most = min([*others, -(-grid.blocks // grid.sms)], default=0)
        for blocks in sorted({resident.blocks + 1, min(2 * resident.blocks, most), most}):
            if resident.blocks < blocks <= most and len(resident.limited_by) == 1:
                yield from _with_less(launched, machine, resident, resource, blocks)


def _with_less(launched: LaunchedKernel, machine: Multiprocessor, resident: Occupancy, resource: str, blocks: int) -> Iterator[Remedy]:
    """Yield the remedy by which a block takes so much less of a resource that so many blocks are resident."""
    demand = resident.demand
    given = {"registers": demand.registers, "shared": demand.shared}.get(resource)
    size = _most(machine, resident, resource, given, blocks) if given is not None else None
    if size is None:
        return
    changed = with_places(launched.prepared, blocks)
    if resource == "registers":
        why = (
            f"{demand.registers} registers per thread let {count_of(resident.blocks, 'block')} of {count_of(resident.block_warps, 'warp')} "
            f"be resident on an SM, {size} would let {blocks}"
        )
        live = registers_of_result(launched.result)
        if live is None or live.most > size + _KEPT:
            return  # it would spill
        fits = f"likely: at most {live.most} registers are in use at once"
        sure = fits if live.most <= size else f"upper limit: {live.most} registers are in use at once, and spills are not counted"
        example = EXAMPLES[AdviceCode.OCCUPANCY].format(threads=demand.threads, blocks=blocks)
    else:
        why = (
            f"{demand.shared / _KIB:.3g} KiB of shared memory per block let {count_of(resident.blocks, 'block')} be resident on an SM, "
            f"{size / _KIB:.3g} KiB would let {blocks}"
        )
        sure = "upper limit: what no longer fits shared memory is taken to cost nothing"
        example = f"// a smaller tile, or a smaller type: at most {size} bytes of __shared__ per block"
    yield Remedy(AdviceCode.OCCUPANCY, (), why, changed, sure, example)


def _most(machine: Multiprocessor, resident: Occupancy, resource: str, given: int, blocks: int) -> int | None:
    """Return the most of a resource with which so many blocks are resident, None where there is no such amount."""
    low, high = 0, given
    while low < high:
        middle = (low + high + 1) // 2
        if _resident(machine, resident, resource, middle) >= blocks:
            low = middle
        else:
            high = middle - 1
    return low if low and low < given and _resident(machine, resident, resource, low) >= blocks else None


def _resident(machine: Multiprocessor, resident: Occupancy, resource: str, amount: int) -> int:
    try:
        known = resident.demand
        demand = replace(known, registers=amount) if resource == "registers" else replace(known, shared=amount)
        return occupancy(machine, demand).blocks
    except UsageError:
        return 0


def other_blocks(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedies of another number of threads per block, where the code fits any: no barrier, no shared memory, one extent."""
    result = launched.result
    launch, known = result.settings.launch, result.residency
    resident = known.occupancy if known is not None else None
    if launch.block is None or launch.grid is None or resident is None or resident.demand.shared or launch.block[1:] != (1, 1):
        return
    if launched.known.occupancy >= _FULL or _meets(launched) or not _reads_block(launched):
        return
    threads = launch.block[0] * launch.grid[0]
    for size in _THREADS:
        changed = _with_block(launched, size, -(-threads // size)) if size != launch.block[0] else None
        if changed is not None:
            why = (
                f"blocks of {launch.block[0]} threads: {launched.known.occupancy:.0%} of the warps of an SM are resident on average "
                f"(limited by {', '.join(resident.limited_by)})"
            )
            sure = "certain: only the launch changes, if the code takes its indices from blockDim"
            example = EXAMPLES[AdviceCode.BLOCK_SIZE].format(blocks=-(-threads // size), threads=size)
            yield Remedy(AdviceCode.BLOCK_SIZE, (), why, changed, sure, example)


_SAME = 0.9
"""The part of its instructions that a launch keeps with other blocks, at least: so many may be those of warps that are not full."""
_FULL = 0.9
"""The share of the warps of an SM from which on more do not help."""


def _meets(launched: LaunchedKernel) -> bool:
    """Say whether threads of a block wait for each other."""
    known = [launched.result.isa.facts(each) for each in launched.result.function.instructions]
    return any(facts is None or facts.flow is Flow.BLOCK_BARRIER for facts in known)


def _reads_block(launched: LaunchedKernel) -> bool:
    """Say whether the code reads how many threads a block has: else their number is part of it."""
    function = launched.result.function
    where = layout(function.arch)
    constants = (operand for each in function.instructions for operand in each.operands if isinstance(operand, Constant))
    return where is not None and any(operand.bank == 0 and operand.offset == where.block for operand in constants)


def _with_block(launched: LaunchedKernel, threads: int, blocks: int) -> Prepared | None:
    """Return the launch of other blocks, None where it cannot be launched or has no estimate."""
    result = launched.result
    launch = result.settings.launch
    assert launch.grid is not None
    try:
        settings = replace(
            result.settings, launch=replace(launch, block=(threads, 1, 1), grid=(blocks, *launch.grid[1:])), contention=False, check=False
        )
        changed = estimated(analyze(result.function, settings, result.file), policy=launched.policy).prepared
    except (InputError, UsageError):
        return None
    if changed is None or any(after < _SAME * before for after, before in zip(_work(changed), _work(launched.prepared), strict=True)):
        return None
    return changed


def _work(prepared: Prepared) -> tuple[float, ...]:
    """Return the instructions of all warps, and the bytes that they read, and write.

    Code that takes its work from the numbers of its blocks, and not from their threads, does less of it with smaller ones.
    """
    kernel, grid = prepared.kernel, prepared.grid
    sizes = [len(node.code) for node in kernel.cfg.nodes]
    executed = grid.blocks * grid.block_warps * sum(size * count for size, count in zip(sizes, counts_of(kernel), strict=True))
    return (executed, *(kernel.sampled.footprint if kernel.sampled is not None else ()))


def whole_waves(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedies of a grid whose last blocks leave most SMs idle: as many blocks as run at once, each with more work.

    Threads that wait for each other have work that only whole blocks share, and is not divided further.
    """
    grid = launched.prepared.grid
    if _meets(launched):
        return
    wave = grid.sms * grid.places
    for blocks in {grid.blocks // wave * wave, grid.blocks // grid.sms * grid.sms if grid.blocks < wave else 0} - {0, grid.blocks}:
        why = (
            f"{grid.blocks} blocks on {grid.sms} SMs with {count_of(grid.places, 'place')} each: places have no block for "
            f"{launched.known.shares['tail']:.0%} of the time"
        )
        sure = "likely: the same work in blocks of equal length, by a loop over what blocks did (grid-stride)"
        changed = with_work(replace(launched.prepared, grid=replace(grid, blocks=blocks)), grid.blocks / blocks)
        yield Remedy(AdviceCode.TAIL, (), why, changed, sure, EXAMPLES[AdviceCode.TAIL].format(blocks=blocks))
