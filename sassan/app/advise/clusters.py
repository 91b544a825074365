"""The remedy of blocks that bring the same data to shared memory: clusters of blocks that share what they bring."""

from collections.abc import Iterator
from dataclasses import replace

from sassan.access.opcodes import MemorySpace, space
from sassan.access.transactions import SECTOR
from sassan.app.advise.changes import KernelAccess, accesses_of, executions_of, with_averages
from sassan.app.advise.code import instructions_of
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.app.estimating import Prepared
from sassan.machine import machine_of
from sassan.machine.occupancy import rules_of

_SIZES = (2, 4)
"""Blocks of a cluster that are tried."""


def clustered(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedies of clusters, where blocks request more of L2 than they read in all, and keep it in shared memory."""
    prepared, launch = launched.prepared, launched.result.settings.launch
    machine = machine_of(launched.result.function.arch, launched.result.settings.machine)
    if launch.cluster is not None or not rules_of(machine).clusters or prepared.kernel.sampled is None:
        return
    stores = any(space(each.opcode) is MemorySpace.SHARED for each in instructions_of(prepared.kernel).values())
    loads = [each for each in accesses_of(prepared.kernel) if _brings(each)]
    requested = _requested(prepared, loads)
    read = prepared.kernel.sampled.footprint[0]
    copies = prepared.kernel.traced.matched.copies if prepared.kernel.traced is not None else {}
    several = {at: each for at, each in copies.items() if each.tensors}
    for size in _SIZES:
        if not several and not (stores and read and requested >= size * read):
            continue
        places = tuple(sorted(several or {each.access.address for each in loads}))
        why = (
            "blocks bring the same data to shared memory, each for itself"
            if several
            else f"blocks request each byte of global memory {requested / read:.3g} times from L2, each for itself"
        )
        sure = f"upper limit: {size} blocks of a cluster each bring a part for all; barriers of the cluster are not counted"
        example = EXAMPLES[AdviceCode.CLUSTER].format(size=size)
        yield Remedy(AdviceCode.CLUSTER, places, why, _shared(prepared, loads, size), sure, example)


def _brings(each: KernelAccess) -> bool:
    return each.average is not None and each.access.space is MemorySpace.GLOBAL and each.access.opcode.startswith("LD")


def _requested(prepared: Prepared, loads: list[KernelAccess]) -> float:
    """Return the bytes that all blocks request of L2 by loads."""
    executions, warps = executions_of(prepared.kernel), prepared.grid.blocks * prepared.grid.block_warps
    return sum(SECTOR * warps * executions.get(each.access.address, 0.0) * each.average.fresh for each in loads if each.average is not None)


def _shared(prepared: Prepared, loads: list[KernelAccess], size: int) -> Prepared:
    """Return a launch in which a block requests its part of what a cluster needs."""
    changed = with_averages(
        prepared,
        {
            each.key: replace(each.average, fresh=each.average.fresh / size)
            for each in loads
            if each.key is not None and each.average is not None
        },
    )
    traced = changed.kernel.traced
    if traced is None:
        return changed
    copies = {at: each._replace(requested=each.requested / size) if each.tensors else each for at, each in traced.matched.copies.items()}
    traced = replace(traced, matched=replace(traced.matched, copies=copies))
    return replace(changed, kernel=replace(changed.kernel, traced=traced))
