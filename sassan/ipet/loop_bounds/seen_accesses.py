"""What the accesses of a kernel take in a run of all warps: an observer of blocks that begin with an access each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sassan.access.counts import Counts, transactions
from sassan.access.limits import AccessName, Transactions
from sassan.access.opcodes import MemorySpace, Reference, references
from sassan.access.transactions import LANES, WORD
from sassan.ir import Constant, Instruction, Memory
from sassan.simt.addresses import address, registers_of
from sassan.simt.code import ExecutableFunction, number
from sassan.simt.integer_work import Longs, UnknownError
from sassan.simt.state import Session, lanes
from sassan.simt.values import Rows

_WIDE = frozenset({MemorySpace.GLOBAL, MemorySpace.GENERIC})
_COUNTED = _WIDE | {MemorySpace.SHARED, MemorySpace.CONSTANT}


class _Watched(NamedTuple):
    instruction: Instruction
    reference: Reference
    place: Memory | Constant
    registers: tuple[int, ...]
    """Those that the address depends on."""
    guard: int | None

    @property
    def name(self) -> AccessName:
        return self.instruction.address, self.reference.space

    @property
    def wide(self) -> bool:
        return self.reference.space in _WIDE


def watched(instructions: Iterable[Instruction], names: Iterable[AccessName]) -> tuple[_Watched, ...]:
    """Return those of some accesses whose transactions a run can count."""
    wanted = set(names)
    return tuple(
        each
        for instruction in instructions
        for reference in references(instruction)
        if (instruction.address, reference.space) in wanted and (each := _watched(instruction, reference)) is not None
    )


def _watched(instruction: Instruction, reference: Reference) -> _Watched | None:
    place = instruction.operands[reference.place]
    wide = reference.space in _WIDE
    counted = reference.space in _COUNTED and reference.bytes and reference.lanes == LANES
    if not counted or not isinstance(place, Memory | Constant) or (wide and "E" not in instruction.opcode.split(".")):
        return None
    if isinstance(place, Constant) and not isinstance(place.bank, int):
        return None
    try:
        registers = registers_of(place, wide=wide)
    except UnknownError:
        return None
    if instruction.condition or (instruction.guard is not None and instruction.guard.index is None):
        return None
    guard = None if instruction.guard is None else number(instruction.guard.file, instruction.guard.index)
    return _Watched(instruction, reference, place, registers, guard)


def read(accesses: Iterable[_Watched]) -> Mapping[int, frozenset[int]]:
    """Return the registers that are looked at when a block is entered that begins with an access, by its address."""
    out: dict[int, frozenset[int]] = {}
    for each in accesses:
        tested = () if each.guard is None else (each.guard,)
        out[each.instruction.address] = out.get(each.instruction.address, frozenset()) | {*each.registers, *tested}
    return out


@dataclass(slots=True)
class AccessCounter:
    """Counts the transactions of accesses: `most` that one execution takes, over all warps that run, in the order of `Transactions`.

    `lost` are accesses of which some execution was not counted.
    """

    code: ExecutableFunction
    accesses: tuple[_Watched, ...]
    most: dict[AccessName, Counts] = field(default_factory=dict[AccessName, Counts])
    lost: set[AccessName] = field(default_factory=set[AccessName])
    _at: dict[int, list[_Watched]] = field(init=False)

    def __post_init__(self) -> None:
        """Start with nothing."""
        numbers = {block.address: number for number, block in enumerate(self.code.blocks)}
        self._at = {}
        for each in self.accesses:
            self._at.setdefault(numbers[each.instruction.address], []).append(each)

    @property
    def blocks(self) -> frozenset[int]:
        """Return the blocks that begin with an access."""
        return frozenset(self._at)

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        """Count the accesses with which a block begins."""
        for each in self._at.get(block, ()):
            self._count(each, session, rows)

    def _count(self, each: _Watched, session: Session, rows: Rows) -> None:
        certainty = session.certainty
        assert certainty is not None
        executing = lanes(session.warps.active[rows])
        sure = np.ones_like(executing)
        if each.guard is not None:
            sure = certainty.certain_in((each.guard,), rows)
            # A lane of which it is not known takes part.
            held = _words_of(session, each.guard, rows) != 0
            guard = each.instruction.guard
            assert guard is not None
            executing = executing & ((held != guard.negated) | ~sure)
        if (
            each.reference.space is MemorySpace.SHARED
            and each.reference.bytes > WORD
            and not ((executing.all(axis=1) & sure.all(axis=1) & ~certainty.has_split(rows)) | ~executing.any(axis=1)).all()
        ):
            self.lost.add(each.name)
            return
        where = address(each.place, lambda name: _words_of(session, name, rows), wide=each.wide)
        counts = transactions(
            each.reference, np.broadcast_to(where, executing.shape), executing, certainty.certain_in(each.registers, rows)
        )
        if len(counts):
            most = counts.max(axis=0)
            known = self.most.get(each.name)
            self.most[each.name] = most if known is None else np.maximum(known, most)

    def result(self, parted: Iterable[int]) -> Iterator[tuple[AccessName, Transactions]]:
        """Yield what an execution of an access takes at most, of accesses of which all were counted: 0 where there is none.

        `parted` are blocks that other executions of the launch may enter with other lanes.
        """
        unknown = set(parted)
        for block, accesses in self._at.items():
            for each in accesses:
                if block not in unknown and each.name not in self.lost:
                    yield each.name, Transactions(*self.most[each.name].tolist()) if each.name in self.most else Transactions()


def _words_of(session: Session, register: int, rows: Rows) -> Longs:
    return np.asarray(session.warps.registers[session.slots[register], rows], np.uint64)
