"""Which accesses of a straight piece of code go to places that others of it go to, at other offsets from the same register.

What those before it accessed is moved once; what stores of it cover together is not fetched.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sassan.access.opcodes import MemorySpace, Reference, references
from sassan.access.transactions import HALF, SECTOR, over
from sassan.ir import Instruction, Memory
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import bit

_CACHED = frozenset({MemorySpace.GLOBAL, MemorySpace.GENERIC})
_LOADS = ("LD",)
_WHOLE = (1 << SECTOR) - 1
"""All bytes of a sector, as a set of bits."""

Places = tuple[tuple[int, int], ...]
"""Accesses beside one: the distance of their addresses in bytes, and how many bytes of a lane they access."""


class Beside(NamedTuple):
    """The accesses of a piece beside one: `before` are those of its kind before it.

    Of a store, `stores` are all of the piece, `loads` those before it.
    """

    before: Places = ()
    stores: Places = ()
    loads: Places = ()

    @property
    def varied(self) -> bool:
        """Say whether there is anything beside a store."""
        return len(self.stores) > 1 or bool(self.loads)


ALONE = Beside()


@dataclass(slots=True)
class _Piece:
    """Accesses of the same threads by the same registers, as (offset, bytes): `registers` are those and the guard.

    `stored` are its stores by address, each with its offset, how many stores and how many loads are before it.
    """

    registers: int
    loads: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    stores: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    stored: dict[int, tuple[int, int, int]] = field(default_factory=dict[int, tuple[int, int, int]])


def beside(instructions: Sequence[Instruction], facts: Mapping[int, Facts]) -> dict[int, Beside]:
    """Return the accesses of a block which the same threads make by the same registers as each one, by address."""
    out: dict[int, Beside] = {}
    pieces: dict[tuple[object, ...], _Piece] = {}
    every: list[_Piece] = []
    for instruction in instructions:
        known = facts[instruction.address]
        if known.flow is not Flow.NONE:
            pieces.clear()
        for reference in references(instruction):
            operand = instruction.operands[reference.place] if reference.place >= 0 else None
            if isinstance(operand, Memory) and reference.space in _CACHED and not reference.atomic:
                key = operand.base, instruction.guard
                if key not in pieces:
                    pieces[key] = _Piece(_registers(operand) | known.guard)
                    every.append(pieces[key])
                piece, place = pieces[key], (operand.offset, reference.bytes)
                if instruction.opcode.startswith(_LOADS):
                    out[instruction.address] = Beside(_from(operand.offset, piece.loads))
                    piece.loads.append(place)
                else:
                    piece.stored[instruction.address] = operand.offset, len(piece.stores), len(piece.loads)
                    piece.stores.append(place)
        pieces = {key: piece for key, piece in pieces.items() if not piece.registers & known.writes}
    for piece in every:
        for address, (offset, stores, loads) in piece.stored.items():
            out[address] = Beside(_from(offset, piece.stores[:stores]), _from(offset, piece.stores), _from(offset, piece.loads[:loads]))
    return out


def _from(start: int, places: Sequence[tuple[int, int]]) -> Places:
    return tuple([(offset - start, size) for offset, size in places])


def _registers(operand: Memory) -> int:
    """Return the registers of an address, each with the one behind it."""
    single = [bit(register.file, register.index) for register in operand.base if register.index is not None]
    return sum({each << behind for each in single for behind in (0, 1)})


@dataclass(frozen=True, slots=True)
class _New:
    """Counts the halves of lines that an access accesses and none of those before it."""

    before: Places

    def __call__(self, addresses: Sequence[int], size: int) -> int:
        earlier = {piece for address in addresses for distance, width in self.before for piece in _halves(address + distance, width)}
        return len({piece for address in addresses for piece in _halves(address, size)} - earlier)


def fresh(rows: Sequence[Sequence[int]], modulus: int, reference: Reference, before: Places) -> int:
    """Return how many halves of lines an access accesses, at most, that none of those before it does; rows of lanes lie anywhere."""
    return sum(over(row, modulus, HALF, reference.bytes, _New(before)).most for row in rows)


@dataclass(frozen=True, slots=True)
class _Partial:
    """Counts the halves of lines that a store accesses first of its piece, and in which the piece leaves a sector stored in part.

    `sure` are the places of the lanes that surely take part among those of the row.
    """

    sure: tuple[int, ...]
    beside: Beside

    def __call__(self, addresses: Sequence[int], size: int) -> int:
        stores = self.beside.stores or ((0, size),)
        sure = [addresses[place] for place in self.sure]
        covered = _covered(sure, stores)
        parts = {part for part in _covered(addresses, stores) if covered.get(part) != _WHOLE}
        # A half line that all lanes have loaded is there.
        loaded = {half for each in sure for distance, width in self.beside.loads for half in _halves(each + distance, width)}
        before = {half for each in addresses for distance, width in self.beside.before for half in _halves(each + distance, width)}
        here = {half for each in addresses for half in _halves(each, size)}
        return len((here - before - loaded) & {part * SECTOR // HALF for part in parts})


def partial(rows: Sequence[Sequence[tuple[int, bool]]], modulus: int, size: int, beside: Beside = ALONE) -> int:
    """Return in how many halves of lines a store leaves a sector stored in part, at most; rows of lanes lie anywhere.

    Lanes are given as their address, and whether each surely takes part. With those `beside` it, what a piece of code leaves so that
    the store is the first to access.
    """
    total = 0
    for row in rows:
        sure = tuple([place for place, (_, surely) in enumerate(row) if surely])
        total += over([address for address, _ in row], modulus, HALF, size, _Partial(sure, beside)).most
    return total


def _covered(addresses: Sequence[int], places: Places) -> dict[int, int]:
    """Return the sectors that are accessed, each with its bytes that are, as a set of bits."""
    out: dict[int, int] = {}
    for distance, width in places:
        for address in addresses:
            first = address + distance
            part, bits = first // SECTOR, (1 << width) - 1 << first % SECTOR
            while bits:
                out[part] = out.get(part, 0) | bits & _WHOLE
                part, bits = part + 1, bits >> SECTOR
    return out


def _halves(address: int, size: int) -> Iterator[int]:
    yield from range(address // HALF, (address + size - 1) // HALF + 1)
