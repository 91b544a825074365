"""The memory accesses of a graph whose registers are followed, each with its pattern and its transactions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from math import gcd

from sassan.access.opcodes import Reference, Space, references
from sassan.access.transactions import (
    LANES,
    LINE,
    SECTOR,
    Count,
    distinct,
    least_passes,
    least_sectors,
    over,
    passes,
    sectors,
)
from sassan.domains.lanes import SIZE, LaneWord, const
from sassan.ir import Constant, Instruction, Memory, Register
from sassan.isa.registers import bit
from sassan.values import WarpValues
from sassan.values.warp_values import Point
from sassan.values.words import Held, add, multiply, number

ALIGNED = 256
"""Bytes at whose multiples allocators return arrays."""
ASSUMPTIONS = (
    f"arrays begin at multiples of {ALIGNED} bytes, as allocators return them",
    "the addresses of one access lie within 4 GiB: lanes that agree on the low word agree on the address",
)
_PLAIN = frozenset({"64", "U32", "reuse"})
_SCALES = {"X4": 4, "X8": 8, "X16": 16}
_SIGN = SIZE >> 1


class Pattern(StrEnum):
    """How the addresses of the lanes of a warp lie to each other."""

    BROADCAST = "broadcast"
    """All at one place."""
    CONTIGUOUS = "contiguous"
    """One after the other."""
    STRIDED = "strided"
    PERMUTED = "permuted"
    """Known, and nothing of the above."""
    SCATTERED = "scattered"
    """Not known: each lane may be anywhere."""
    UNKNOWN = "unknown"
    """Not an access of lanes: a texture, or a copy in bulk."""


@dataclass(frozen=True, slots=True)
class Access:
    """One access of an instruction, for a full warp, in every context in which it runs.

    `bytes` are those of a lane. `stride` is the distance of neighbouring lanes in bytes, where there is one. `sectors` are those of 32
    bytes in global, local and generic memory, `passes` those over the banks of shared memory, or different addresses of constant memory;
    `ideal` is how many transactions the same bytes need. None: not an access of that kind. `collisions` are the most lanes that an
    atomic operation may bring to one address. `base` is the parameter that the address begins with, '' where it is not known.
    """

    address: int
    opcode: str
    space: Space
    bytes: int
    pattern: Pattern
    stride: int | None = None
    sectors: Count | None = None
    lines: Count | None = None
    passes: Count | None = None
    ideal: int | None = None
    collisions: int | None = None
    base: str = ""

    @property
    def transactions(self) -> Count | None:
        """Return the sectors or the passes, whichever there are."""
        return self.sectors or self.passes

    @property
    def exact(self) -> bool:
        """Say whether a full warp makes exactly so many transactions."""
        return self.transactions is not None and self.transactions.exact

    @property
    def waste(self) -> int | None:
        """Return the transactions beyond the ideal, at most."""
        return None if self.transactions is None or self.ideal is None else self.transactions.most - self.ideal


def accesses(values: WarpValues) -> tuple[Access, ...]:
    """Return the accesses of a graph by address; the worst of all contexts of each, by transactions."""
    worst: dict[tuple[int, int], Access] = {}
    for index in range(len(values.cfg.nodes)):
        for instruction, point in values.along(index):
            for reference in references(instruction):
                access = _access(instruction, reference, point)
                key = (instruction.address, reference.place)
                worst[key] = access if key not in worst else _worse(worst[key], access)
    return tuple(worst[key] for key in sorted(worst))


def _worse(a: Access, b: Access) -> Access:
    left, right = a.transactions, b.transactions
    if left is None or right is None:
        return a
    more = a if left.most >= right.most else b
    both = Count(min(left.least, right.least), max(left.most, right.most))
    return replace(more, sectors=both) if more.sectors else replace(more, passes=both)


def _access(instruction: Instruction, reference: Reference, point: Point) -> Access:
    plain = Access(instruction.address, instruction.opcode, reference.space, reference.bytes, Pattern.UNKNOWN)
    if not reference.bytes or reference.place < 0:
        return plain
    held = _address(instruction.operands[reference.place], point)
    if held is None:
        return _scattered(plain, reference)
    return _known(replace(plain, base=held.base), reference, held)


def _address(operand: object, point: Point) -> LaneWord | None:
    """Return the low word of the address of each lane, None where threads may differ in more than their lanes."""
    if not isinstance(operand, Memory | Constant) or not set(operand.modifiers) <= _PLAIN:
        return None
    total = number(operand.offset)
    for register in operand.base:
        part = _part(register, point)
        if part is None:
            return None
        total = add(total, part)
    return total.value


def _part(register: Register, point: Point) -> Held | None:
    if register.index is None:
        return number(0)
    scales = [_SCALES[name] for name in register.modifiers if name in _SCALES]
    value = point.word(bit(register.file, register.index).bit_length() - 1)
    if value is None or register.negated or not set(register.modifiers) - set(_SCALES) <= _PLAIN:
        return None
    return multiply(Held(value, 0), Held(const(scales[0]), 0)) if scales else Held(value, 0)


def _scattered(access: Access, reference: Reference) -> Access:
    """Return the most that an access of this size may cost, wherever its lanes go."""
    count, size = reference.lanes, reference.bytes
    collisions = count if reference.atomic else None
    access = replace(access, pattern=Pattern.SCATTERED, collisions=collisions)
    match access.space:
        case Space.SHARED:
            return replace(access, passes=Count(1, count), ideal=_parts(count, size))
        case Space.CONSTANT:
            return replace(access, passes=Count(1, count), ideal=1)
        case Space.LOCAL:
            return replace(access, sectors=Count(1, count * -(-size // 4)), ideal=-(-count * size // SECTOR))
        case _:
            # Each lane's bytes are aligned to their size, which divides a sector.
            return replace(access, sectors=Count(1, count), lines=Count(1, count), ideal=-(-count * size // SECTOR))


def _parts(lanes: int, size: int) -> int:
    return least_passes([0] * lanes, size)


def _known(access: Access, reference: Reference, word: LaneWord) -> Access:
    lanes = [each - SIZE if each & _SIGN else each for each in word.lanes or (0,) * LANES][: reference.lanes]
    modulus = min(word.modulus, ALIGNED) if word.base else word.modulus
    addresses = [word.offset % modulus + lane for lane in lanes]
    size = reference.bytes
    pattern, stride = _pattern(lanes, size)
    collisions = max(addresses.count(address) for address in addresses) if reference.atomic else None
    access = replace(access, pattern=pattern, stride=stride, collisions=collisions)
    match access.space:
        case Space.SHARED:
            return replace(access, passes=over(addresses, modulus, LINE, size, passes), ideal=least_passes(addresses, size))
        case Space.CONSTANT:
            return replace(access, passes=over(addresses, modulus, 1, 1, distinct), ideal=1)
        case Space.LOCAL:
            return _local(access, addresses, modulus, size)
        case _:
            lines = over(addresses, modulus, LINE, size, lambda where, _: len({address // LINE for address in where}))
            return replace(
                access, sectors=over(addresses, modulus, SECTOR, size, sectors), lines=lines, ideal=least_sectors(addresses, size)
            )


def _local(access: Access, addresses: Sequence[int], modulus: int, size: int) -> Access:
    """Return the sectors of local memory, where word n of all lanes of a warp lie next to each other."""
    del modulus
    width = max(size, 4)
    rows = len(set(addresses)) * width // 4
    each = LANES * 4 // SECTOR
    # One row is the word of all 32 lanes: a lane alone in its row touches one sector of it.
    most = width if rows == width // 4 else min(LANES * width // 4, rows * each)
    return replace(access, sectors=Count(most if rows == width // 4 else 1, most), ideal=width)


def _pattern(lanes: Sequence[int], size: int) -> tuple[Pattern, int | None]:
    steps = {late - early for early, late in pairwise(lanes)}
    if steps == {0}:
        return Pattern.BROADCAST, 0
    if steps == {size}:
        return Pattern.CONTIGUOUS, size
    return (Pattern.STRIDED, steps.pop()) if len(steps) == 1 else (Pattern.PERMUTED, None)


def reason(access: Access) -> str:
    """Return why an access makes more transactions than it needs, and how many it makes; '' where it does not."""
    count, why = access.transactions, cause(access)
    if not why or count is None or access.ideal is None:
        return ""
    at_most = "" if count.exact else "at most "
    return f"{why}: {at_most}{count.most} {_unit(access, count.most)} where {access.ideal} suffice{'s' if access.ideal == 1 else ''}"


def cause(access: Access) -> str:
    """Return in a few words why an access makes more transactions than it needs, and what would help; '' where it does not."""
    if not access.waste or access.transactions is None:
        return ""
    match access.pattern:
        case Pattern.SCATTERED:
            return "where each lane goes is not known"
        case Pattern.STRIDED if access.space is not Space.SHARED:
            return f"lane stride {access.stride} bytes"
        case Pattern.CONTIGUOUS:
            return "may begin inside a sector" if access.sectors is not None else "may begin inside a word"
        case _ if access.space is Space.SHARED:
            return (
                f"{access.transactions.most}-way bank conflict{_padding(access)}"
                if access.ideal == 1
                else f"bank conflicts{_padding(access)}"
            )
        case _:
            return "lanes are apart"


def _unit(access: Access, count: int) -> str:
    name = "sector" if access.sectors is not None else "address" if access.space is Space.CONSTANT else "pass"
    return name if count == 1 else f"{name}{'s' if name == 'sector' else 'es'}"


def _padding(access: Access) -> str:
    """Return how rows of an array would have to be padded so that its columns lie in different banks."""
    if access.stride is None or access.stride % 4 or not access.stride:
        return ""
    row = abs(access.stride) // 4
    return f", rows of {row} words: pad them to {row + 1}" if gcd(row, LANES) > 1 else ""
