"""The remedy of data of global memory that threads of a block read again and again: tiles of them in shared memory."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import ceil

from sassan.access.access import Access, AccessPattern
from sassan.access.opcodes import MemorySpace
from sassan.access.transactions import LANES, LINE, SECTOR, WORD, Count
from sassan.app.advise.changes import KernelAccess, accesses_of, counts_of
from sassan.app.advise.code import Code, control_of, editable, shortened, with_code, with_control, with_iterations
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.app.estimating import Prepared
from sassan.ir import Instruction, Memory
from sassan.isa.control import BARRIERS
from sassan.isa.facts import Flow
from sassan.plurals import count_of

_REPEATS = 2.0
"""Reads of a word by a block from which on it is kept."""
_TILE = 32
"""Loads of a thread that one tile serves, at least; a loop of so many iterations at most goes through one."""
_LONGEST = 600
"""Instructions between two tiles, at most."""
_STALL = 2
_WIDEST = 16
"""Bytes that a lane loads at once."""
_GLOBAL = (MemorySpace.GLOBAL, MemorySpace.GENERIC)
_BARRIER = "BAR.SYNC.DEFER_BLOCKING"


def kept_in_shared_memory(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedy of loops of one node without a barrier, in which threads of a block load the same words."""
    prepared = launched.prepared
    if not editable(prepared) or prepared.grid.block_warps < 2 or prepared.kernel.sampled is None:  # noqa: PLR2004 - one warp shares nothing
        return
    cfg, facts_of = prepared.kernel.cfg, launched.result.isa.facts
    counts = counts_of(prepared.kernel)
    for loop in cfg.loops:
        code = cfg.nodes[loop.head].code
        if len(loop.nodes) != 1 or any((facts := facts_of(each)) is None or facts.flow is Flow.BLOCK_BARRIER for each in code):
            continue
        inside = {each.address for each in code}
        loads = [each for each in accesses_of(prepared.kernel) if each.access.address in inside and _repeated(each)]
        iterations = min(ceil(_TILE / max(1, len(loads))), int(counts[loop.head]), _LONGEST // len(code))
        if not loads or iterations < 1 or counts[loop.head] < 2:  # noqa: PLR2004 - no loop
            continue
        places = tuple(each.access.address for each in loads)
        most = max(each.average.repeats for each in loads if each.average is not None)
        why = f"threads of a block read each word of {count_of(len(loads), 'load')} up to {most:.3g} times from global memory, in a loop"
        sure = "likely: each word is loaded once per tile, and read without conflicts; loads of tiles and two barriers for each are counted"
        changed = _tiled(prepared, loop.head, loads, iterations)
        yield Remedy(AdviceCode.REUSE, places, why, changed, sure, EXAMPLES[AdviceCode.REUSE])


def _repeated(each: KernelAccess) -> bool:
    known = each.average
    return (
        known is not None
        and each.key is not None
        and each.access.space in _GLOBAL
        and each.access.opcode.startswith("LD")
        and known.repeats >= _REPEATS
    )


def _tiled(prepared: Prepared, node: int, loads: list[KernelAccess], iterations: int) -> Prepared:
    """Return a launch in which a loop reads a tile for so many of its iterations from shared memory, behind what fills it."""
    code = prepared.kernel.cfg.nodes[node].code
    words = sum(iterations * (each.access.bytes / WORD) / each.average.repeats for each in loads if each.average is not None)
    filling = ceil(words)
    kept = {each.access.address for each in loads}
    body = [replace(each, opcode=_from_shared(each.opcode)) if each.address in kept else each for each in code]
    together = {each.access.address: _WIDEST // each.access.bytes for each in loads if not _differ(each)}
    several = _once_for(body * iterations, together)
    kernel = prepared.kernel
    changed = with_iterations(with_code(prepared, {node: [*_fill(code[0], filling), *several, _barrier(code[-1])]}), node, iterations)
    assert kernel.sampled is not None
    numbers = {each.number for each in loads}
    accesses = tuple(_of_shared(access) if number in numbers else access for number, access in enumerate(kernel.accesses)) + tuple(
        access for number in range(filling) for access in _filling(number)
    )
    accessed = dict(kernel.sampled.accessed)
    for each in loads:
        assert each.key is not None
        assert each.average is not None
        accessed[each.key] = replace(each.average, passes=max(1.0, each.access.bytes / WORD) if _differ(each) else 1.0)
    # Each word of the tile comes from where it came from before, once.
    fresh = sum(each.average.fresh / each.average.sectors for each in loads if each.average is not None) / len(loads)
    sectors = LANES * WORD / SECTOR
    plain = replace(next(iter(accessed.values())), drawn=False, random=False, sectors=sectors, lines=sectors * SECTOR / LINE, hot=0.0)
    for number in range(filling):
        accessed[_load(number), 1] = replace(plain, fresh=sectors * min(1.0, max(fresh, _once(prepared, filling, node, iterations))))
        accessed[_store(number), 0] = replace(plain, passes=1.0)
    seen = replace(kernel.sampled, accessed=accessed)
    return replace(changed, kernel=replace(changed.kernel, accesses=accesses, sampled=seen))


def _once_for(code: Code, together: Mapping[int, int]) -> Code:
    """Return code in which loads of few words for all lanes bring several of those that follow each other in a tile."""
    turns = Counter[tuple[object, ...]]()

    def edit(each: Instruction) -> Instruction | None:
        if each.address not in together:
            return each
        base = tuple(operand.base for operand in each.operands if isinstance(operand, Memory))
        turns[base] += 1
        return each if (turns[base] - 1) % together[each.address] == 0 else None

    return shortened(code, edit)


def _once(prepared: Prepared, filling: int, node: int, iterations: int) -> float:
    """Return which part of what fills tiles comes from L2: no less than the launch reads in all."""
    kernel = prepared.kernel
    assert kernel.sampled is not None
    tiles = counts_of(kernel)[node] / iterations
    return min(1.0, kernel.sampled.footprint[0] / (prepared.grid.blocks * prepared.grid.block_warps * tiles * filling * LANES * WORD))


def _differ(each: KernelAccess) -> bool:
    """Say whether lanes read different words, rather than few all together."""
    return each.average is not None and each.average.sectors >= LANES * each.access.bytes / SECTOR / 2


def _from_shared(opcode: str) -> str:
    return ".".join(["LDS", *(part for part in opcode.split(".") if part in {"64", "128", "U8", "S8", "U16", "S16"})])


def _of_shared(access: Access) -> Access:
    passes = max(1, access.bytes // WORD)
    return replace(
        access, space=MemorySpace.SHARED, opcode=_from_shared(access.opcode), passes=Count(passes, passes), sectors=None, lines=None
    )


def _load(number: int) -> int:
    return -2 - 2 * number


def _store(number: int) -> int:
    return -3 - 2 * number


def _filling(number: int) -> tuple[Access, Access]:
    sectors, whole = Count(4, 4), Count(1, 1)
    load = Access(_load(number), "LDG.E", MemorySpace.GLOBAL, WORD, AccessPattern.ALIGNED, WORD, sectors, whole, ideal=4)
    return load, Access(_store(number), "STS", MemorySpace.SHARED, WORD, AccessPattern.ALIGNED, WORD, passes=whole, ideal=1)


def _fill(like: Instruction, filling: int) -> Code:
    """Return what fills a tile: loads, stores to shared memory, a barrier."""
    plain = replace(control_of(like), stall=_STALL, write_barrier=None, read_barrier=None, wait_mask=0, reuse=0, yield_hint=False)
    bare = replace(like, operands=(), guard=None, targets=())
    last = BARRIERS - 1
    loads = [
        with_control(replace(bare, address=_load(number), opcode="LDG.E"), replace(plain, write_barrier=last)) for number in range(filling)
    ]
    stores = [
        with_control(replace(bare, address=_store(number), opcode="STS"), replace(plain, wait_mask=1 << last)) for number in range(filling)
    ]
    return [*loads, *stores, _barrier(like)]


def _barrier(like: Instruction) -> Instruction:
    """Return a barrier of the block."""
    plain = replace(control_of(like), stall=5, write_barrier=None, read_barrier=None, wait_mask=0, reuse=0, yield_hint=False)
    return with_control(replace(like, address=-1, opcode=_BARRIER, operands=(), guard=None, targets=()), plain)
