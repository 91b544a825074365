"""Which memory an instruction accesses, how many bytes of each lane, and by which operand."""

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from sassan.ir import Constant, Instruction, Memory


class MemorySpace(StrEnum):
    """A memory, as the instruction names it."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONSTANT = "constant"
    GENERIC = "generic"
    """Global, shared or local memory: the address decides."""
    TEXTURE = "texture"
    BULK = "bulk"
    """Copied by the unit for tensors: no lane has an address of its own."""


class Reference(NamedTuple):
    """One access of an instruction: `bytes` of each lane, 0 where the opcode does not say; `lanes` is how many of them have an address.

    `place` is the operand that holds the address.
    """

    space: MemorySpace
    bytes: int
    place: int
    atomic: bool = False
    lanes: int = 32


_SPACES = {
    MemorySpace.GLOBAL: ("LDG", "STG", "ATOMG", "REDG", "RED", "UREDGR"),
    MemorySpace.SHARED: ("LDS", "STS", "ATOMS", "LDSM", "STSM", "STAS", "REDAS"),
    MemorySpace.LOCAL: ("LDL", "STL"),
    MemorySpace.CONSTANT: ("LDC",),
    MemorySpace.GENERIC: ("LD", "ST", "ATOM"),
    MemorySpace.TEXTURE: ("TEX", "TEXS", "TLD", "TLDS", "TLD4", "TLD4S", "TXD", "SULD", "SUST", "SURED", "SUATOM"),
    MemorySpace.BULK: ("UBLKCP", "UBLKRED", "UBLKPF", "UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF"),
}
_OF_TENSORS = frozenset({"UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF"})
_SPACE_OF = {name: space for space, names in _SPACES.items() for name in names}
_COPY = "LDGSTS"
"""From global to shared memory; the shared address comes first."""
L2_ATOMICS = frozenset({"ATOM", "ATOMG", "RED", "REDG", "UREDGR"})
"""Atomic operations that units of L2 do."""
_ATOMIC = frozenset({*L2_ATOMICS, "ATOMS", "REDAS"})
_MATRICES = frozenset({"LDSM", "STSM"})
_ROW = 16
"""Bytes of a row of a matrix, whose address one lane holds; 8 lanes hold those of a matrix."""
_WIDTHS = {
    **dict.fromkeys(("U8", "S8", "8"), 1),
    **dict.fromkeys(("U16", "S16", "16"), 2),
    **dict.fromkeys(("64", "U64", "S64", "F64", "F16x4", "BF16x4", "F32x2"), 8),
    **dict.fromkeys(("128", "F16x8", "BF16x8", "F32x4"), 16),
    "256": 32,
}


@lru_cache(maxsize=4096)
def space(opcode: str) -> MemorySpace | None:
    """Return the memory that an opcode accesses; that of an asynchronous copy is the first of two."""
    name = opcode.partition(".")[0]
    return MemorySpace.SHARED if name == _COPY else _SPACE_OF.get(name)


def references(instruction: Instruction) -> tuple[Reference, ...]:
    """Return the accesses of an instruction, none for one that accesses no memory."""
    kind = space(instruction.opcode)
    if kind is None:
        return ()
    name, *modifiers = instruction.opcode.split(".")
    if name == _COPY:
        places = _places(instruction)
        return tuple(
            Reference(each, _width(modifiers), place) for each, place in zip((MemorySpace.SHARED, MemorySpace.GLOBAL), places, strict=False)
        )
    place = next(iter(_places(instruction)), -1)
    if kind is MemorySpace.CONSTANT and not _indexed(instruction.operands[place]):
        return ()  # an operand fetch
    if name in _MATRICES:
        count = next((int(modifier) for modifier in reversed(modifiers) if modifier in {"1", "2", "4"}), 1)
        return (Reference(kind, _ROW, place, lanes=8 * count),)
    if kind in {MemorySpace.TEXTURE, MemorySpace.BULK}:
        return (Reference(kind, 0, place),)
    return (Reference(kind, _width(modifiers), place, atomic=name in _ATOMIC),)


def tensor_operands(instruction: Instruction) -> tuple[Memory, Memory] | None:
    """Return the operands of a copy by a tensor map: where the box lies, and where the map; None of any other instruction."""
    if instruction.opcode.partition(".")[0] not in _OF_TENSORS:
        return None
    addresses = [operand for operand in instruction.operands if isinstance(operand, Memory)]
    return (addresses[0], addresses[1]) if len(addresses) > 1 and addresses[0].base and addresses[1].base else None


def _indexed(operand: object) -> bool:
    return isinstance(operand, Constant) and any(register.index is not None for register in operand.base)


def _places(instruction: Instruction) -> list[int]:
    return [place for place, operand in enumerate(instruction.operands) if isinstance(operand, Memory | Constant)]


def _width(modifiers: list[str]) -> int:
    return next((_WIDTHS[modifier] for modifier in modifiers if modifier in _WIDTHS), 4)
