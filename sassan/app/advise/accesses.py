"""Remedies of accesses that take more transactions than their bytes need."""

from collections.abc import Iterator
from dataclasses import replace

from sassan.access.access import Access, AccessPattern
from sassan.access.opcodes import L2_ATOMICS, MemorySpace
from sassan.access.transactions import LANES, LINE, SECTOR, WORD, Count
from sassan.app.advise.changes import KernelAccess, accesses_of, executions_of, with_accesses, with_averages
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.app.estimating import Prepared
from sassan.estimate.accesses.averages import AverageAccess
from sassan.estimate.watch import Key

_WASTE = 1.25
"""Transactions over those that the bytes need, from which on they are wasted."""
_LEAST = 1e-9
"""Of what no lane may need: executions by no lane count, too."""
_GLOBAL = (MemorySpace.GLOBAL, MemorySpace.GENERIC)
_UNKNOWN = (AccessPattern.SCATTERED, AccessPattern.UNKNOWN)


def coalesced(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedy of accesses of global memory whose lanes access more sectors, or lines, than their bytes fill."""
    several = [each for each in accesses_of(launched.prepared.kernel) if _is_global(each) and _scatters(each)]
    if several:
        places = tuple(dict.fromkeys(each.access.address for each in several))
        worst = max(several, key=lambda each: _sectors(each) / max(_LEAST, _sectors_needed(each)))
        why = (
            f"a warp accesses {_sectors(worst):.3g} sectors of 32 bytes where its bytes fill {_sectors_needed(worst):.3g}: neighbouring "
            "lanes do not access neighbouring addresses"
        )
        sure = "likely: the same bytes in whole sectors; if they go through shared memory instead, that work is not counted"
        yield Remedy(AdviceCode.COALESCE, places, why, _coalesced(launched.prepared, several), sure, EXAMPLES[AdviceCode.COALESCE])


def conflict_free(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedy of accesses of shared memory that several lanes make at different words of one bank."""
    several = [each for each in accesses_of(launched.prepared.kernel) if _conflicts(each)]
    if several:
        places = tuple(dict.fromkeys(each.access.address for each in several))
        worst = max(several, key=lambda each: _passes(each) / max(_LEAST, _passes_needed(each)))
        why = (
            f"an access of shared memory takes {_passes(worst):.3g} passes where {_passes_needed(worst):.3g} would do: lanes are at "
            "different words of the same bank"
        )
        sure = "likely: the same accesses without conflicts; the padding takes shared memory, an exchange of indices a few instructions"
        yield Remedy(
            AdviceCode.BANK_CONFLICT, places, why, _conflict_free(launched.prepared, several), sure, EXAMPLES[AdviceCode.BANK_CONFLICT]
        )


def _is_global(each: KernelAccess) -> bool:
    return each.access.space in _GLOBAL and each.access.opcode.partition(".")[0] not in L2_ATOMICS and each.access.bytes > 0


def _sectors(each: KernelAccess) -> float:
    if each.average is not None:
        return each.average.sectors
    count = each.access.sectors
    return 0.0 if count is None or each.key is not None or each.access.pattern in _UNKNOWN else (count.least + count.most) / 2


def _sectors_needed(each: KernelAccess) -> float:
    return each.average.ideal if each.average is not None else max(1.0, LANES * each.access.bytes / SECTOR)


def _scatters(each: KernelAccess) -> bool:
    return _sectors(each) > _WASTE * _sectors_needed(each)


def _passes(each: KernelAccess) -> float:
    if each.access.space is not MemorySpace.SHARED:
        return 0.0
    if each.average is not None:
        return each.average.passes
    count = each.access.passes
    return 0.0 if count is None or each.key is not None or each.access.pattern in _UNKNOWN else (count.least + count.most) / 2


def _passes_needed(each: KernelAccess) -> float:
    return each.average.ideal if each.average is not None else max(1.0, each.access.bytes / WORD)


def _conflicts(each: KernelAccess) -> bool:
    return not each.access.opcode.startswith("ATOM") and _passes(each) > _WASTE * _passes_needed(each)


def _coalesced(prepared: Prepared, several: list[KernelAccess]) -> Prepared:
    """Return a launch in which these accesses take as few sectors and lines as hold their bytes."""
    averages, accesses = dict[Key, AverageAccess](), dict[int, Access]()
    for each in several:
        needed = _sectors_needed(each)
        lines = max(1.0, needed * SECTOR / LINE)
        if each.average is not None and each.key is not None:
            known = each.average
            averages[each.key] = replace(
                known, sectors=min(known.sectors, needed), fresh=min(known.fresh, needed), lines=min(known.lines, lines)
            )
        else:
            of_sectors, of_lines = Count(int(needed), int(needed)), Count(int(lines), int(lines))
            accesses[each.number] = replace(each.access, pattern=AccessPattern.ALIGNED, sectors=of_sectors, lines=of_lines)
    return _whole(_with_footprint(with_accesses(with_averages(prepared, averages), accesses), several), several)


def _whole(prepared: Prepared, several: list[KernelAccess]) -> Prepared:
    """Return a launch whose loads that were coalesced bring no less from L2 than it reads in all: each byte comes once at least."""
    seen = prepared.kernel.sampled
    if seen is None:
        return prepared
    executions, numbers = executions_of(prepared.kernel), {each.number for each in several}
    mended = others = most = 0.0
    loads = [each for each in accesses_of(prepared.kernel) if each.average is not None and each.access.opcode.startswith("LD")]
    for each in loads:
        assert each.average is not None
        count = executions.get(each.access.address, 0.0)
        if each.number in numbers:
            mended, most = mended + count * each.average.fresh, most + count * each.average.sectors
        elif each.access.space in _GLOBAL:
            others += count * each.average.fresh
    missing = seen.footprint[0] / (prepared.grid.blocks * prepared.grid.block_warps) / SECTOR - others - mended
    if missing <= 0 or most <= mended:
        return prepared
    part = min(1.0, missing / (most - mended))
    return with_averages(
        prepared,
        {
            each.key: replace(each.average, fresh=each.average.fresh + part * (each.average.sectors - each.average.fresh))
            for each in loads
            if each.number in numbers and each.key is not None and each.average is not None
        },
    )


def _with_footprint(prepared: Prepared, several: list[KernelAccess]) -> Prepared:
    """Return a launch whose blocks access no more memory than their lanes access, where accesses that scattered are coalesced."""
    seen = prepared.kernel.sampled
    if seen is None:
        return prepared
    executions, warps = executions_of(prepared.kernel), prepared.grid.blocks * prepared.grid.block_warps
    of_lanes = [0.0, 0.0]
    for each in accesses_of(prepared.kernel):
        if each.access.space in _GLOBAL:
            stored = not each.access.opcode.startswith("LD")
            of_lanes[stored] += executions.get(each.access.address, 0.0) * warps * LANES * each.access.bytes
    stores = any(each.access.opcode.startswith("ST") for each in several)
    reads, writes = (min(known, most) for known, most in zip(seen.footprint, of_lanes, strict=True))
    read, written = (max(size, LINE) for size in seen.pieces)
    changed = replace(seen, footprint=(reads, writes), pieces=(read, written), parts=0.0 if stores else seen.parts)
    return replace(prepared, kernel=replace(prepared.kernel, sampled=changed))


def _conflict_free(prepared: Prepared, several: list[KernelAccess]) -> Prepared:
    averages, accesses = dict[Key, AverageAccess](), dict[int, Access]()
    for each in several:
        needed = _passes_needed(each)
        if each.average is not None and each.key is not None:
            averages[each.key] = replace(each.average, passes=min(each.average.passes, needed))
        else:
            accesses[each.number] = replace(each.access, passes=Count(int(needed), int(needed)))
    return with_accesses(with_averages(prepared, averages), accesses)
