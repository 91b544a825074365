"""How many bytes copies of the copy engine move: those of their boxes where the tensor maps are known, else those announced at barriers.

What is announced at a barrier (`expect_tx`) and the boxes that arrive at it must agree (PTX ISA 8.8, "mbarrier"): a wait for more bytes
never ends, and one for fewer is over before the data are there.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sassan.estimate.roles.barrier_operations import BarrierOperation
from sassan.estimate.roles.traces import BarrierExecution, WarpTrace
from sassan.machine.tensor_map import TensorMap


class Copied(NamedTuple):
    """Bytes of a copy: those that pass between the SM and L2, and those that L2 reads or writes; fewer, where blocks share a box.

    `tensors` are what it copies from or to: address and bytes of each, nothing where that is not known. `different`: which part of the
    boxes that blocks ask for at the same time differ from each other. `rows` of a box, which the engine asks for one after the other.
    """

    passed: float
    requested: float
    tensors: frozenset[tuple[int, int]] = frozenset()
    different: float = 1.0
    rows: float = 0.0


Boxes = Mapping[tuple[int, int | None], TensorMap | None]
"""The tensor map of a copy by the address of the instruction and of the map, None where it is not known."""


def moved_by(traces: Sequence[WarpTrace], boxes: Boxes) -> Mapping[int, Copied]:
    """Return what one execution of each copy moves on average, by its address.

    The bytes that are announced at a barrier come by the copies that arrive at it.
    """
    announced, copies = Counter[int](), Counter[int]()
    by_copy = defaultdict[int, list[BarrierExecution]](list)
    for met in (each for trace in traces for each in trace.executions):
        if met.kind is BarrierOperation.EXPECT and met.amount is not None:
            announced[met.barrier] += met.amount * met.threads
        elif met.kind is BarrierOperation.COPY:
            copies[met.barrier] += 1
        if met.kind in {BarrierOperation.COPY, BarrierOperation.MOVE}:
            by_copy[met.address].append(met)

    def each(met: BarrierExecution) -> Copied | None:
        box = boxes.get((met.address, met.map))
        arrives = announced[met.barrier] / copies[met.barrier] if met.kind is BarrierOperation.COPY else None
        if box is None or box.box_bytes is None:
            return None if arrives is None else Copied(arrives, arrives)
        return Copied(arrives or box.box_bytes, box.box_bytes, frozenset({(box.address, box.tensor_bytes)}), rows=box.rows or 0)

    known = {address: [moved for met in several if (moved := each(met)) is not None] for address, several in by_copy.items()}
    return {
        address: Copied(
            sum(moved.passed for moved in several) / len(several),
            sum(moved.requested for moved in several) / len(several),
            frozenset().union(*(moved.tensors for moved in several)) if all(moved.tensors for moved in several) else frozenset(),
            rows=sum(moved.rows for moved in several) / len(several),
        )
        for address, several in known.items()
        if several
    }


def disagreements(traces: Sequence[WarpTrace], boxes: Boxes, shared: frozenset[int]) -> Iterator[str]:
    """Yield at which barriers other bytes are announced than copies bring; `shared` are copies that other blocks get or count, too."""
    by_barrier = defaultdict[int, dict[int, list[BarrierExecution]]](dict)
    for warp, trace in enumerate(traces):
        for met in trace.executions:
            if met.kind in {BarrierOperation.EXPECT, BarrierOperation.COPY}:
                by_barrier[met.barrier].setdefault(warp, []).append(met)
    for barrier, of_warps in sorted(by_barrier.items()):
        whole = all(traces[warp].ended for warp in of_warps)
        # Of a run that was cut short, the phases of one warp up to its last announcement are whole.
        several = [met for warp in of_warps.values() for met in (warp if whole else _whole_phases(warp))]
        if not several or (len(of_warps) > 1 and not whole):
            continue
        copies = [met for met in several if met.kind is BarrierOperation.COPY]
        maps = [boxes.get((met.address, met.map)) for met in copies]
        amounts = [met.amount for met in several if met.kind is BarrierOperation.EXPECT]
        known = [each for each in maps if each is not None]
        if not copies or len(known) < len(maps) or None in amounts or any(met.address in shared for met in copies):
            continue
        announced = sum(met.threads * (met.amount or 0) for met in several if met.kind is BarrierOperation.EXPECT)
        # Of types that are padded in shared memory, either number may be meant.
        sizes = {sum(each.shared_bytes or 0 for each in known), sum(each.box_bytes or 0 for each in known)}
        if announced not in sizes:
            yield _text(barrier, several, announced, max(sizes))


def _whole_phases(several: Sequence[BarrierExecution]) -> Sequence[BarrierExecution]:
    """Return what a warp did from its first announcement at a barrier to before its last one."""
    at = [index for index, met in enumerate(several) if met.kind is BarrierOperation.EXPECT]
    return several[at[0] : at[-1]] if at else []


def _text(barrier: int, several: Sequence[BarrierExecution], announced: int, arriving: int) -> str:
    expects, copies = (
        ", ".join(sorted({f"0x{met.address:04x}" for met in several if met.kind is kind}))
        for kind in (BarrierOperation.EXPECT, BarrierOperation.COPY)
    )
    phases = sum(met.kind is BarrierOperation.EXPECT for met in several)
    if phases and not announced % phases and not arriving % phases:
        announced, arriving = announced // phases, arriving // phases
    ends = "never ends" if announced > arriving else "may end before the data are there"
    return (
        f"the barrier at 0x{barrier:x} of shared memory expects {announced} bytes (at {expects or 'no place'}),"
        f" and the boxes of its copies have {arriving} (at {copies}): a wait for them {ends}"
    )
