"""Loads of global memory whose contents are known, lane by lane."""

from typing import Protocol

import numpy as np

from sassan.ir import Instruction, Memory, Register
from sassan.simt.addresses import address
from sassan.simt.code import number
from sassan.simt.integer_work import GroupOperation, Longs, UnknownError
from sassan.simt.shared import OF_BLOCK
from sassan.simt.values import LANES, Truth, Words

LOADS = frozenset({"LDG", "LD"})
_NARROW = {"U8": (1, False), "S8": (1, True), "U16": (2, False), "S16": (2, True)}
_WORDS = {"64": 2, "128": 4}
_CACHED = frozenset(("E", "SYS", "CONSTANT", "CI", "CG", "CV", "CS", "EF", "EL", "LU", "NA", "WEAK", "SM", "GPU", "CTA", "reuse"))
_WATCHED = frozenset({"STRONG", "MMIO"})
_OF_BLOCK = np.uint64(OF_BLOCK)
_CACHED_TOO = frozenset(("LTC64B", "LTC128B", "LTC256B", "ZD"))


def place_of(work: GroupOperation, place: Memory, window: Longs | None) -> Longs:
    """Return the address that each lane accesses (G, 32); raises UnknownError for a form that is not followed."""
    where = address(place, lambda name: work.inputs[name].astype(np.uint64), wide=window is None)
    return np.broadcast_to(where if window is None else (where & _OF_BLOCK) + window[:, None], (len(work.rows), LANES))


class Readable(Protocol):
    """Memory of which some bytes are known."""

    def load(self, addresses: Longs, size: int) -> tuple[Words, Truth]:
        """Return the little-endian numbers of `size` bytes at addresses of any shape, and where they are known."""
        ...


def load(work: GroupOperation, contents: Readable, *, ordered: bool = False, window: Longs | None = None) -> Truth:
    """Write what a load finds, and return in which lanes all of it is known; `ordered`: others store in an order that is followed.

    `window`: where the shared memory of each warp begins, for a load of that.
    Raises UnknownError for a form whose address or width is not followed.
    """
    to, *rest = work.instruction.operands
    if len(rest) != 1 or not isinstance(rest[0], Memory) or not isinstance(to, Register):
        raise UnknownError
    if work.modifiers & _WATCHED and not ordered:
        raise UnknownError  # what others may write meanwhile
    widths = work.modifiers - _CACHED - _CACHED_TOO - _WATCHED - ({"U"} if window is not None else set[str]())
    if len(widths) > 1 or ("E" not in work.modifiers and window is None):
        raise UnknownError
    width = next(iter(widths), "32")
    where = place_of(work, rest[0], window)
    if width in _NARROW:
        size, signed = _NARROW[width]
        words, known = contents.load(where, size)
        sign = np.uint32(1 << 8 * size - 1)
        work.put(to, ((words ^ sign) - sign if signed else words).astype(np.uint64))
        return known
    if width not in _WORDS and width != "32":
        raise UnknownError
    whole = np.ones(where.shape, np.bool_)
    for place in range(_WORDS.get(width, 1)):
        words, known = contents.load(where + np.uint64(4 * place), 4)
        work.put(to, words.astype(np.uint64), place)
        whole &= known
    return whole


def descriptors(instruction: Instruction) -> frozenset[int]:
    """Return the registers that only say how caches treat an access (`desc[UR4]`), and are no part of its address."""
    if instruction.opcode.partition(".")[0] not in LOADS:
        return frozenset()
    places = [operand for operand in instruction.operands if isinstance(operand, Memory)]
    names = [number(register.file, register.index) for place in places for register in place.descriptor]
    said = {number(register.file, register.index) for place in places for register in place.base}
    address = {name + half for name in said if name is not None for half in range(2)}
    return frozenset(name + half for name in names if name is not None for half in range(2)) - address
