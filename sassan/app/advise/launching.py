"""Remedies of a launch: more blocks at once, another block, whole waves."""

from collections.abc import Iterator
from dataclasses import replace

from sassan.app.advise.changes import with_places
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.app.registers import registers_of_result
from sassan.errors import UsageError
from sassan.machine import Multiprocessor, machine_of
from sassan.machine.occupancy import Occupancy, occupancy
from sassan.plurals import count_of

_KIB = 1024


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
        sure = "upper limit: spills are not counted"
        if live is not None:
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
