"""What the accesses of a kernel take in a run of all warps: an observer of blocks that begin with an access each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sassan.access.counts import Transactions, transactions
from sassan.access.limits import AccessName
from sassan.access.opcodes import Reference, Space, references
from sassan.access.transactions import LANES, WORD
from sassan.ir import Constant, Instruction, Memory
from sassan.simt.addresses import address, registers_of
from sassan.simt.code import Code, number
from sassan.simt.integer_work import Longs, UnknownError
from sassan.simt.state import Session, lanes
from sassan.simt.values import Rows

_WIDE = frozenset({Space.GLOBAL, Space.GENERIC})
_COUNTED = _WIDE | {Space.SHARED, Space.CONSTANT}
_BITS = 9
"""Bits of a number of transactions, so that all of an execution are one word."""


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
    """Counts the transactions of accesses: `executions` of each access by what one takes, over all warps that run.

    An access whose block is not entered has none. `lost` are those of which some execution was not counted.
    """

    code: Code
    accesses: tuple[_Watched, ...]
    executions: dict[AccessName, Counter[int]] = field(default_factory=dict[AccessName, Counter[int]])
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
        if each.guard is not None:
            # A lane of which it is not known takes part.
            held = _held(session, each.guard, rows) != 0
            guard = each.instruction.guard
            assert guard is not None
            executing = executing & ((held != guard.negated) | ~certainty.certain_in((each.guard,), rows))
        if each.reference.space is Space.SHARED and each.reference.bytes > WORD and not (executing.all(axis=1) | ~executing.any(axis=1)).all():
            self.lost.add(each.name)
            return
        where = address(each.place, lambda name: _held(session, name, rows), wide=each.wide)
        counts = transactions(each.reference, np.broadcast_to(where, executing.shape), executing, certainty.certain_in(each.registers, rows))
        packed = (counts << np.arange(0, _BITS * counts.shape[1], _BITS)).sum(axis=1)
        kinds, times = np.unique(packed, return_counts=True)
        seen = self.executions.setdefault(each.name, Counter())
        for kind, number_of_times in zip(kinds.tolist(), times.tolist(), strict=True):
            seen[kind] += number_of_times

    def result(self, parted: Iterable[int]) -> Iterator[tuple[AccessName, Counter[Transactions]]]:
        """Yield the executions of each access of which all were counted; `parted` are blocks that others may enter with other lanes."""
        unknown = set(parted)
        for block, accesses in self._at.items():
            for each in accesses:
                if block not in unknown and each.name not in self.lost:
                    packed = self.executions.get(each.name, Counter[int]())
                    yield each.name, Counter({_unpacked(kind): times for kind, times in packed.items()})


def _held(session: Session, register: int, rows: Rows) -> Longs:
    return session.warps.registers[session.slots[register], rows].astype(np.uint64)


def _unpacked(kind: int) -> Transactions:
    return Transactions(*(kind >> _BITS * place & (1 << _BITS) - 1 for place in range(len(Transactions._fields))))


