"""Which accesses of a straight piece of code go to places that others before it went to, at other offsets from the same register."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassan.access.opcodes import Reference, Space, references
from sassan.access.transactions import HALF, over
from sassan.ir import Instruction, Memory
from sassan.isa.facts import Facts, Flow
from sassan.isa.registers import bit

_CACHED = frozenset({Space.GLOBAL, Space.GENERIC})
_LOADS = ("LD",)

Earlier = tuple[tuple[int, int], ...]
"""The accesses before one: the distance of their addresses in bytes, and how many bytes of a lane they access."""


@dataclass(slots=True)
class _Piece:
    """Accesses of the same threads by the same registers, as (offset, bytes): `registers` are those and the guard."""

    registers: int
    places: list[tuple[int, int]]


def earlier(instructions: Sequence[Instruction], facts: Mapping[int, Facts]) -> dict[int, Earlier]:
    """Return the accesses before each one of a block which the same threads make by the same registers, by address."""
    out: dict[int, Earlier] = {}
    pieces: dict[tuple[object, ...], _Piece] = {}
    for instruction in instructions:
        known = facts[instruction.address]
        if known.flow is not Flow.NONE:
            pieces.clear()
        for reference in references(instruction):
            operand = instruction.operands[reference.place] if reference.place >= 0 else None
            if isinstance(operand, Memory) and reference.space in _CACHED and not reference.atomic:
                key = operand.base, instruction.guard, instruction.opcode.startswith(_LOADS)
                piece = pieces.setdefault(key, _Piece(_registers(operand) | known.guard, []))
                out[instruction.address] = tuple((offset - operand.offset, size) for offset, size in piece.places)
                piece.places.append((operand.offset, reference.bytes))
        pieces = {key: piece for key, piece in pieces.items() if not piece.registers & known.writes}
    return out


def _registers(operand: Memory) -> int:
    """Return the registers of an address, each with the one behind it."""
    single = [bit(register.file, register.index) for register in operand.base if register.index is not None]
    return sum({each << behind for each in single for behind in (0, 1)})


@dataclass(frozen=True, slots=True)
class _New:
    """Counts the halves of lines that an access touches and none of those before it."""

    before: Earlier

    def __call__(self, addresses: Sequence[int], size: int) -> int:
        touched = {piece for address in addresses for distance, width in self.before for piece in _halves(address + distance, width)}
        return len({piece for address in addresses for piece in _halves(address, size)} - touched)


def fresh(rows: Sequence[Sequence[int]], modulus: int, reference: Reference, before: Earlier) -> int:
    """Return how many halves of lines an access touches, at most, that none of those before it does; rows of lanes lie anywhere."""
    return sum(over(row, modulus, HALF, reference.bytes, _New(before)).most for row in rows)


def _halves(address: int, size: int) -> Iterator[int]:
    yield from range(address // HALF, (address + size - 1) // HALF + 1)
