"""Loops that walk through a buffer, whatever ends them: a look-back, a search for a mark, a row whose end memory holds.

Let every way round a loop execute an access at a + c h(k), with a the same each time but for `spread` bytes, c a number, and h a counter
that every iteration moves by `least` to `most`, all of one sign: d to D bytes between two of these accesses, 0 < d. Taken for granted, and
printed: an access through a pointer argument stays within the buffer that this points to, of S bytes. So the low words of all c h(k) lie on
an arc of w = S + spread bytes of the circle of 2^32. Let the loop be executed n = floor(w / d) + 2 times. If n D + w < 2^32, the first n of
these words lie in a row that does not meet itself, the last one (n - 1) d > w bytes or more behind the first one: not all are on the arc.
So there are n - 1 accesses at most, and as many visits of the head that take a back edge.

Which argument an address begins with, the instructions say that it is made of, up to what is loaded: where one pointer argument alone is
among these, the address begins with that, for a sum of pointers leads nowhere, and a difference of two needs both. Of shared memory, S are
the bytes of a block.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

from sassan.access.opcodes import MemorySpace, references
from sassan.analysis.demand import demand
from sassan.domains import ranges
from sassan.domains.ranges import RANGES, Range
from sassan.ipet.loop_bounds.counters import Counter, LoopBound
from sassan.ipet.loop_bounds.flow import Flows, at
from sassan.ipet.loop_bounds.values import SymbolicState, Value
from sassan.ipet.loop_bounds.walk import Walk
from sassan.ir import Constant, Instruction, Memory
from sassan.isa.registers import bit

_WIDE = frozenset({MemorySpace.GLOBAL, MemorySpace.GENERIC})
_SCALES = {"X4": 4, "X8": 8, "X16": 16}
_MOST = 8
"""Accesses of one loop that are looked at."""
_SHARED = "an access of shared memory stays within that of its block"
ASSUMED = "an access through a pointer argument stays within the buffer that this points to"


@dataclass(frozen=True, slots=True)
class WalkedLoop:
    """A loop: `start` stands for every visit of its head, `counters` are those that each iteration moves by a known amount."""

    walk: Walk
    loop: int
    start: SymbolicState
    counters: Sequence[Counter]


class _Passed(NamedTuple):
    """An access that every way round a loop executes: node, place among what writes registers there, register of its address."""

    instruction: Instruction
    node: int
    place: int
    register: int
    scale: int
    is_shared: bool


def extent_bound(walked: WalkedLoop, targets: Mapping[int, int], shared: int | None) -> LoopBound | None:
    """Return the least bound that the extent of a buffer, or of the `shared` memory of a block, gives, None where none does.

    `targets` are the bytes of the buffer to which each pointer argument leads, by its place in constant bank 0.
    """
    bounds = [_of_access(walked, access, targets, shared) for access in list(_passed(walked.walk.flows, walked.loop))[:_MOST]]
    return min((bound for bound in bounds if bound is not None), key=lambda bound: bound.bound, default=None)


def _passed(flows: Flows, loop: int) -> Iterator[_Passed]:
    nodes = flows.cfg.loops[loop].nodes
    for node in nodes:
        if not _is_on_every_way(flows, loop, node):
            continue
        for instruction in flows.cfg.nodes[node].instructions:
            address = _address(flows, loop, instruction)
            if address is not None:
                place = sum(writer.instruction.address < instruction.address for writer in flows.writers[node])
                yield _Passed(instruction, node, place, *address)


def _address(flows: Flows, loop: int, instruction: Instruction) -> tuple[int, int, bool] | None:
    """Return the register that moves the low word of an address, by how much it is scaled, and whether the memory is that of the block.

    None of other instructions, or where the address is more than that register and what the loop leaves as it is.
    """
    known = [each for each in references(instruction) if each.space in _WIDE | {MemorySpace.SHARED} and each.place >= 0]
    operand = instruction.operands[known[0].place] if len(known) == 1 else None
    if instruction.guard is not None or not isinstance(operand, Memory):
        return None
    nodes = flows.cfg.loops[loop].nodes
    moved = reduce(or_, (flows.facts[each.address].writes for node in nodes for each in flows.cfg.nodes[node].instructions), 0)
    base = [each for each in operand.base if each.index is not None and (each.file == "R" or moved & bit(each.file, each.index))]
    is_shared = known[0].space is MemorySpace.SHARED
    if len(base) != 1 or base[0].file != "R" or base[0].negated or (not is_shared and len(operand.base) > 1):
        return None
    scales = [_SCALES[name] for name in base[0].modifiers if name in _SCALES]
    plain = set(base[0].modifiers) - set(_SCALES) <= {"64", "reuse"}
    return (bit("R", base[0].index).bit_length() - 1, scales[0] if scales else 1, is_shared) if plain else None


def _is_on_every_way(flows: Flows, loop: int, node: int) -> bool:
    """Say whether a thread comes back to the head of a loop only through a node."""
    of_loop = flows.cfg.loops[loop]
    if node == of_loop.head:
        return True
    inside, pending = frozenset(of_loop.nodes) - {node}, [of_loop.head]
    seen = set(pending)
    while pending:
        for after in flows.successors[pending.pop()]:
            if after == of_loop.head:
                return False
            if after in inside and after not in seen:
                seen.add(after)
                pending.append(after)
    return True


def _of_access(walked: WalkedLoop, access: _Passed, targets: Mapping[int, int], shared: int | None) -> LoopBound | None:
    walk, (instruction, node, place, register, scale, is_shared) = walked.walk, access
    size = shared if is_shared else _size(walk.flows, access, targets)
    if size is None:
        return None
    states = walk.within(walked.loop, walked.start, node, place, 1 << register)
    moved = [_moved(state.registers.get(register), walked.counters) for state in states]
    sure = [each for each in moved if each is not None]
    if not sure or len(sure) < len(moved) or any(each[:2] != sure[0][:2] for each in sure):
        return None
    counter, factor, _ = sure[0]
    spread = _all([each[2] for each in sure])
    bound = _most(counter.step, factor * scale, size + spread.width * scale)
    if bound is None:
        return None
    extent = f"{size} bytes of shared memory: {_SHARED}" if is_shared else f"a buffer of {size} bytes: {ASSUMED}"
    return LoopBound(bound, f"{instruction.opcode} at 0x{instruction.address:04x} walks through {extent}")


def _size(flows: Flows, access: _Passed, targets: Mapping[int, int]) -> int | None:
    """Return the bytes of the buffer in which an access lies, None where that is not known."""
    pointers = _pointers(flows, access) & targets.keys()
    return targets[min(pointers)] if len(pointers) == 1 else None


def _moved(value: object, known: Sequence[Counter]) -> tuple[Counter, int, Range] | None:
    """Return the counter of which a word is a multiple, the factor, and what is beside it."""
    if not isinstance(value, Value) or value.symbol is None:
        return None
    counter = next((each for each in known if each.symbol is value.symbol), None)
    return None if counter is None else (counter, value.factor, value.range)


def _most(step: Range, factor: int, width: int) -> int | None:
    """Return how many accesses lie on an arc of `width` bytes, of which each is a step times a factor from the one before."""
    ends = sorted(number * factor for number in step.signed)
    least, most = ends if ends[0] > 0 else (-ends[1], -ends[0])
    if least <= 0:
        return None
    count = width // least + 2
    return None if count * most + width >= ranges.SIZE else count - 1


def _all(parts: Sequence[Range]) -> Range:
    out = parts[0]
    for part in parts[1:]:
        out = RANGES.join(out, part)
    return out


def _pointers(flows: Flows, access: _Passed) -> frozenset[int]:
    """Return the places in constant bank 0 that the low word of an address is made of, up to what is loaded."""
    node, place, register = access.node, access.place, access.register
    loads = {each.address for of_node in flows.cfg.nodes for each in of_node.instructions if references(each)}
    uses = [
        [use._replace(reads=0) if writer.instruction.address in loads else use for use, writer in zip(line, writers, strict=True)]
        for line, writers in zip(flows.uses, flows.writers, strict=True)
    ]
    behind = demand(at(uses, node, place, 1 << register), flows.predecessors, flows.order, {}).behind
    live = {index: (*each[:place], *each[place + 1 :]) if index == node else each for index, each in behind.items()}
    made = [
        writer.instruction
        for index, each in live.items()
        for writer, wanted in zip(flows.writers[index], each, strict=True)
        if writer.written & wanted and _reads_parameters(writer.instruction, loads)
    ]
    return frozenset(each.offset for instruction in made for each in instruction.operands if isinstance(each, Constant) and each.bank == 0)


def _reads_parameters(instruction: Instruction, loads: set[int]) -> bool:
    return instruction.address not in loads or instruction.opcode.startswith(("LDC", "ULDC"))
