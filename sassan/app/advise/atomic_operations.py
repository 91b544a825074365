"""The remedy of atomic operations that many lanes make at one place."""

from collections.abc import Iterator
from dataclasses import replace

from sassan.access.access import Access
from sassan.access.opcodes import L2_ATOMICS, MemorySpace
from sassan.access.transactions import LANES
from sassan.app.advise.changes import KernelAccess, accesses_of, with_accesses, with_averages
from sassan.app.advise.code import control_of, editable, with_code, with_control
from sassan.app.advise.examples import EXAMPLES
from sassan.app.advise.remedy import AdviceCode, LaunchedKernel, Remedy
from sassan.app.estimating import Prepared
from sassan.estimate.accesses.averages import AverageAccess
from sassan.estimate.watch import Key
from sassan.ir import Instruction

_STEPS = 5
"""Exchanges of the lanes of a warp, by half as far each, that add up what they have."""
_SHUFFLE, _SUM = "SHFL.DOWN", "FADD"


def aggregated(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield the remedy by which a warp adds up what its lanes have, and one of them makes the atomic operation."""
    several = [each for each in accesses_of(launched.prepared.kernel) if _collides(each)]
    if not several:
        return
    places = tuple(dict.fromkeys(each.access.address for each in several))
    worst = max(_lanes(each) for each in several)
    why = f"{worst:.3g} lanes of a warp make an atomic operation at one place, one after the other, and so do all warps"
    sure = "likely: one operation per warp; five exchanges of its lanes and five sums are counted"
    changed = _reduced(with_steps(launched.prepared, frozenset(places)), several)
    yield Remedy(AdviceCode.ATOMICS, places, why, changed, sure, EXAMPLES[AdviceCode.ATOMICS])


def _lanes(each: KernelAccess) -> float:
    """Return how many lanes of a warp are at one place, 1 where that is not known."""
    if each.access.opcode.partition(".")[0] not in L2_ATOMICS | {"ATOMS"}:
        return 1.0
    if each.average is not None:
        return each.average.passes if each.access.space is MemorySpace.SHARED else each.average.hot
    return 1.0


def _collides(each: KernelAccess) -> bool:
    return _lanes(each) > LANES / 4


def _reduced(prepared: Prepared, several: list[KernelAccess]) -> Prepared:
    averages = dict[Key, AverageAccess]()
    accesses = dict[int, Access]()
    for each in several:
        if each.key is None or each.average is None:
            continue
        averages[each.key] = replace(each.average, hot=min(1.0, each.average.hot), passes=min(1.0, each.average.passes), sectors=1.0)
    return with_accesses(with_averages(prepared, averages), accesses)


def with_steps(prepared: Prepared, places: frozenset[int]) -> Prepared:
    """Return a launch in which the lanes of a warp add up what they have before each of these instructions."""
    if not editable(prepared):
        return prepared
    code = dict[int, list[Instruction]]()
    for number, node in enumerate(prepared.kernel.cfg.nodes):
        if places & {each.address for each in node.code}:
            code[number] = [step for each in node.code for step in ([*_steps(each), each] if each.address in places else [each])]
    return with_code(prepared, code)


def _steps(each: Instruction) -> list[Instruction]:
    """Return the exchanges and sums ahead of an atomic operation: they wait for what it waits for."""
    control = control_of(each)
    plain = replace(control, write_barrier=None, read_barrier=None, wait_mask=0, reuse=0)
    of = replace(each, address=-1, operands=(), guard=None, targets=())
    exchange = with_control(replace(of, opcode=_SHUFFLE), replace(plain, stall=_LONGEST_STALL))
    total = with_control(replace(of, opcode=_SUM), replace(plain, stall=_LONGEST_STALL))
    first = with_control(exchange, replace(plain, stall=_LONGEST_STALL, wait_mask=control.wait_mask))
    return [first, total, *[exchange, total] * (_STEPS - 1)]


_LONGEST_STALL = 13
"""Cycles of a stall: two of them are about what an exchange and a sum take."""
