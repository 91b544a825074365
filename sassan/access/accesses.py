"""The memory accesses of a graph whose registers are followed, each with its pattern and its transactions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from itertools import pairwise
from math import lcm
from types import MappingProxyType
from typing import NamedTuple

from sassan.access.lone import lone
from sassan.access.nearby import Arc, nearby
from sassan.access.opcodes import MemorySpace, Reference, references
from sassan.access.reuse import Beside, beside, fresh, partial
from sassan.access.transactions import (
    HALF,
    LANES,
    LINE,
    SECTOR,
    WORD,
    Count,
    distinct,
    lanes_together,
    least_passes,
    least_sectors,
    least_words,
    over,
    passes,
    sectors,
    single_passes,
)
from sassan.domains.lanes import SIZE, LaneWord, const
from sassan.ir import Constant, Instruction, Memory, Register
from sassan.isa.registers import bit
from sassan.values import WarpValues
from sassan.values.lanes.arithmetic import add, multiply
from sassan.values.lanes.held import AbstractWord, number
from sassan.values.warp_values import PointValues

NOTHING_GIVEN: Mapping[str, int] = MappingProxyType({})
"""The alignments of single pointers where none is given."""
ALIGNMENT = 256
"""Bytes at whose multiples allocators return arrays."""
_POINTERS = f"parameters that addresses begin with are multiples of {ALIGNMENT} bytes, as allocators return them"
_GENERIC = "generic addresses lead to global memory"
_NEAR = "the addresses of one access lie within 4 GiB: lanes that agree on the low word agree on the address"
_KEPT = (
    "L2 keeps what a straight piece of code accesses until that is done, where the pieces of all warps on the GPU fit it: of several "
    "accesses of one, DRAM moves each half line once"
)
_PLAIN = frozenset({"64", "U32", "reuse"})
_SCALES = {"X4": 4, "X8": 8, "X16": 16}
_SIGN = SIZE >> 1


class AccessPattern(StrEnum):
    """How the addresses of the lanes of a warp lie to each other."""

    BROADCAST = "broadcast"
    """All at one place."""
    ALIGNED = "aligned"
    """One after the other, in as few transactions as there can be."""
    MISALIGNED = "misaligned"
    """One after the other, from within a sector."""
    STRIDED = "strided"
    """At equal distances."""
    ROWS = "rows"
    """Known within each of several rows of lanes, which may lie anywhere to each other."""
    IRREGULAR = "irregular"
    """Known, and nothing of the above."""
    SCATTERED = "scattered"
    """Not known: each lane may be anywhere, or anywhere within some distance of the others."""
    UNKNOWN = "unknown"
    """Not an access of lanes: a texture, or a copy in bulk."""


_UNSETTLED = frozenset({AccessPattern.SCATTERED, AccessPattern.ROWS})
"""The patterns of lanes that may lie anywhere to each other."""


@dataclass(frozen=True, slots=True)
class Access:
    """One access of an instruction, by all lanes that may execute it, in every context in which it runs.

    `bytes` are those of a lane. `stride` is the distance of neighbouring lanes in bytes, where there is one. `sectors` are those of 32
    bytes in global, local and generic memory, `halves` the halves of lines in which those lie,
    `passes` those over the banks of shared memory, or different addresses of constant memory;
    `ideal` is how many transactions the same bytes need, where most are wasted. None: not an access of that kind. `collisions` are the
    most lanes that an atomic operation may bring to one address, of `lanes` that may do one. `base` is the
    parameter that the address begins with, '' where that is not known. `fresh` are those of `halves`, at most, that no access before
    it in its straight piece of code touches; None: all of them.
    Of a store, `partial` are those, at most, in which it leaves a sector stored in part; `filled` those that it is the first to touch of
    its piece and in which all stores of that do, where L2 keeps them until then. None: all of them.
    `distinct` units of L2 work on the operations of an atomic one whenever these wait.
    `warps` are the accesses of the warps of a block, which warp w repeats those of warp w modulo their number; empty: all are alike.
    """

    address: int
    opcode: str
    space: MemorySpace
    bytes: int
    pattern: AccessPattern
    stride: int | None = None
    sectors: Count | None = None
    lines: Count | None = None
    halves: Count | None = None
    passes: Count | None = None
    ideal: int | None = None
    collisions: int | None = None
    lanes: int = LANES
    base: str = ""
    fresh: int | None = None
    partial: int | None = None
    filled: int | None = None
    distinct: int = 1
    warps: tuple["Access", ...] = ()

    @property
    def transactions(self) -> Count | None:
        """Return the sectors or the passes, whichever there are."""
        return self.sectors or self.passes

    @property
    def exact(self) -> bool:
        """Say whether the lanes that may execute it make exactly so many transactions together."""
        return self.transactions is not None and self.transactions.exact

    @property
    def waste(self) -> int | None:
        """Return the transactions beyond the ideal, at most."""
        return None if self.transactions is None or self.ideal is None else self.transactions.most - self.ideal


def assumptions(followed: Sequence[Access], alignments: Mapping[str, int] = NOTHING_GIVEN) -> tuple[str, ...]:
    """Return what the transactions of accesses rest on."""
    counted = [access for access in followed if access.transactions is not None]
    bases = {access.base for access in counted if access.base}
    given = tuple(f"{base} is a multiple of {alignments[base]} bytes, as given" for base in sorted(bases & alignments.keys()))
    pointers = (_POINTERS,) if bases - alignments.keys() else ()
    generic = (_GENERIC,) if any(access.space is MemorySpace.GENERIC for access in counted) else ()
    spread = tuple(
        f"whenever atomic operations at 0x{access.address:04x} wait, {access.distinct} units of L2 work on them"
        for access in followed
        if access.distinct > 1
    )
    kept = (_KEPT,) if any(access.fresh is not None for access in counted) else ()
    return (*given, *pointers, *generic, *((_NEAR,) if counted else ()), *kept, *spread)


def accesses(values: WarpValues, alignments: Mapping[str, int] = NOTHING_GIVEN) -> tuple[Access, ...]:
    """Return the accesses of a graph by address; the worst of all contexts of each, by transactions.

    `alignments` are those of single pointers in bytes, powers of two, by the name of the parameter; ALIGNMENT for others.
    """
    worst: dict[tuple[int, int], Access] = {}
    single = lone(values)
    for index, node in enumerate(values.cfg.nodes):
        pieces = beside(node.instructions, values.facts)
        arcs: Mapping[tuple[int, int], Arc] | None = None
        for instruction, point in values.executing(index, _accesses_memory):
            known = _Known(pieces.get(instruction.address), values.threads, lone=(index, instruction.address) in single)
            for reference in references(instruction):
                access = _access(instruction, reference, point, known, alignments)
                if access.pattern in _UNSETTLED:
                    arcs = nearby(values, index) if arcs is None else arcs
                    arc = arcs.get((instruction.address, reference.place))
                    access = access if arc is None else _within(access, reference, arc)
                key = (instruction.address, reference.place)
                worst[key] = access if key not in worst else _worst(worst[key], access)
    return tuple(worst[key] for key in sorted(worst))


def _within(access: Access, reference: Reference, arc: Arc) -> Access:
    """Return an access whose addresses lie on an arc."""
    size, warps = reference.bytes, tuple(_within(warp, reference, arc) for warp in access.warps)
    match access.space:
        case MemorySpace.SHARED if not reference.atomic:
            return replace(access, passes=_no_more(access.passes, arc.passes(size)), warps=warps)
        case MemorySpace.CONSTANT:
            return replace(access, passes=_no_more(access.passes, arc.places), warps=warps)
        case MemorySpace.LOCAL:
            return replace(access, sectors=_no_more(access.sectors, arc.places * max(size, WORD)), warps=warps)
        case MemorySpace.GLOBAL | MemorySpace.GENERIC:
            sectors, halves = arc.blocks(SECTOR), arc.blocks(HALF)
            return replace(
                access,
                sectors=_no_more(access.sectors, sectors),
                lines=_no_more(access.lines, arc.blocks(LINE)),
                halves=_no_more(access.halves, halves),
                ideal=None if access.ideal is None else min(access.ideal, sectors),
                fresh=None if access.fresh is None else min(access.fresh, halves),
                partial=None if access.partial is None else min(access.partial, halves),
                filled=None if access.filled is None else min(access.filled, halves),
                warps=warps,
            )
        case _:
            return access


def _no_more(count: Count | None, most: int) -> Count | None:
    return None if count is None else Count(min(count.least, most), min(count.most, most))


class _Known(NamedTuple):
    """Of an instruction: the accesses beside it in its straight piece of code, how many threads the warps of a table have.

    `lone`: one thread at most executes it at a time.
    """

    piece: Beside | None
    threads: Sequence[int]
    lone: bool


def _accesses_memory(instruction: Instruction) -> bool:
    return bool(references(instruction))


def _worst(a: Access, b: Access) -> Access:
    """Return what holds of an access in two contexts, or of two warps: the pattern is that of more transactions."""
    if a.transactions is None or b.transactions is None or a.waste is None or b.waste is None:
        return a
    more = a if a.transactions.most >= b.transactions.most else b
    return replace(
        more,
        sectors=_either(a.sectors, b.sectors),
        lines=_either(a.lines, b.lines),
        halves=_either(a.halves, b.halves),
        passes=_either(a.passes, b.passes),
        ideal=max(a.transactions.most, b.transactions.most) - max(a.waste, b.waste),
        collisions=_most(a.collisions, b.collisions),
        lanes=max(a.lanes, b.lanes),
        fresh=_most(a.fresh, b.fresh),
        partial=_most(a.partial, b.partial),
        filled=_most(a.filled, b.filled),
        warps=_warp_by_warp(a, b),
    )


def _warp_by_warp(a: Access, b: Access) -> tuple[Access, ...]:
    if not a.warps and not b.warps:
        return ()
    of_a, of_b = a.warps or (a,), b.warps or (b,)
    return tuple(_worst(of_a[index % len(of_a)], of_b[index % len(of_b)]) for index in range(lcm(len(of_a), len(of_b))))


def _most(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)


def _either(a: Count | None, b: Count | None) -> Count | None:
    return None if a is None or b is None else Count(min(a.least, b.least), max(a.most, b.most))


def _access(instruction: Instruction, reference: Reference, point: PointValues, known: _Known, alignments: Mapping[str, int]) -> Access:
    plain = Access(instruction.address, instruction.opcode, reference.space, reference.bytes, AccessPattern.UNKNOWN)
    if not reference.bytes or reference.place < 0:
        return plain
    held = _address(instruction.operands[reference.place], point)
    if known.lone:
        # One lane, anywhere: it costs what all lanes at one place do, but no two of them collide.
        access = counted(plain, reference, LaneWord())
        access = replace(access, base=held.base if held is not None else "", collisions=1 if reference.atomic else None, lanes=1)
        return _beside(access, reference, _Warp((0,), (0,), (0,), 1), known.piece)
    if held is None:
        held = LaneWord(rows=tuple(range(LANES)) * len(known.threads))
    alignment = alignments.get(held.base, ALIGNMENT)
    warps = _warps(reference, held, alignment, known.threads, point.lanes, point.present)
    plain = replace(plain, base=held.base)
    made = {warp: _beside(_of_warp(plain, reference, warp), reference, warp, known.piece) for warp in sorted(set(warps))}
    # A warp of which no thread executes it does not count, unless none does.
    access = reduce(_worst, [each for warp, each in made.items() if warp.lanes] or made.values())
    return replace(access, warps=tuple(made[warp] for warp in warps)) if len(made) > 1 else access


def _beside(access: Access, reference: Reference, warp: "_Warp", piece: Beside | None) -> Access:
    """Return an access with what none of those before it touches, and what is stored in part."""
    rows = warp.among(0, LANES)
    if piece is not None and piece.before:
        access = replace(access, fresh=fresh(rows, warp.modulus, reference, piece.before))
    if piece is None or not piece.stores:
        return access
    sure = warp.present(0, LANES)
    alone = partial(sure, warp.modulus, reference.bytes)
    return replace(access, partial=alone, filled=partial(sure, warp.modulus, reference.bytes, piece) if piece.varied else alone)


def _address(operand: object, point: PointValues) -> LaneWord | None:
    """Return the low word of the address of each lane, None where threads may differ in more than their lanes."""
    if not isinstance(operand, Memory | Constant) or not set(operand.modifiers) <= _PLAIN:
        return None
    total = number(operand.offset)
    for register in operand.base:
        part = _part(register, point)
        if part is None:
            return None
        total = add(total, part)
    return None if total.needs is None else total.value


def _part(register: Register, point: PointValues) -> AbstractWord | None:
    if register.index is None:
        return number(0)
    scales = [_SCALES[name] for name in register.modifiers if name in _SCALES]
    value = point.word(bit(register.file, register.index).bit_length() - 1)
    if value is None or register.negated or not set(register.modifiers) - set(_SCALES) <= _PLAIN:
        return None
    return multiply(AbstractWord(value, 0), AbstractWord(const(scales[0]), 0)) if scales else AbstractWord(value, 0)


def _scattered(access: Access, reference: Reference, count: int) -> Access:
    """Return the most that an access of this size may cost, wherever its lanes go."""
    size = reference.bytes
    collisions = count if reference.atomic else None
    access = replace(access, pattern=AccessPattern.SCATTERED, collisions=collisions, lanes=count)
    match access.space:
        case MemorySpace.SHARED:
            return replace(access, passes=Count(1, count), ideal=least_passes([0] * count, size))
        case MemorySpace.CONSTANT:
            return replace(access, passes=Count(1, count), ideal=1)
        case MemorySpace.LOCAL:
            width = max(size, WORD)
            return replace(access, sectors=Count(width, count * width // WORD), ideal=width)
        case _:
            # Each lane's bytes are aligned to their size, which divides a sector.
            return replace(access, sectors=Count(1, count), lines=Count(1, count), ideal=-(-count * size // SECTOR))


def counted(access: Access, reference: Reference, word: LaneWord, alignment: int = ALIGNMENT) -> Access:
    """Return an access with what addresses of this form cost; `alignment` is that of the parameter that they begin with."""
    return reduce(_worst, [_of_warp(access, reference, warp) for warp in sorted(set(_warps(reference, word, alignment)))])


def _warps(  # noqa: PLR0913, PLR0917 - what is known of the lanes
    reference: Reference, word: LaneWord, alignment: int, threads: Sequence[int] = (LANES,), executing: int = -1, sure: int = -1
) -> list["_Warp"]:
    """Return the addresses of each warp of a table, of which the warps have so many threads.

    `executing` are its lanes as a set of bits, `sure` those that execute it whenever one does.
    """
    modulus = min(word.modulus, alignment) if word.base else word.modulus
    table = word.lanes or (0,) * len(word.rows or range(LANES * len(threads)))
    places = [word.offset % modulus + (lane - SIZE if lane & _SIGN else lane) for lane in table]
    rows = word.rows or (0,) * len(table)
    if reference.lanes < LANES or (reference.space is MemorySpace.SHARED and reference.bytes > WORD):
        # Lanes without an address of their own take part; which lanes go together is asked of full warps alone.
        executing = -1
    out: list[_Warp] = []
    for first in range(0, len(table), LANES):
        count = min(reference.lanes, threads[first // LANES % len(threads)])
        lanes = tuple(lane for lane in range(count) if executing >> first + lane & 1)
        sure_of = tuple(lane for lane in lanes if sure >> first + lane & 1)
        out.append(
            _Warp(tuple(places[first + lane] for lane in lanes), tuple(rows[first + lane] for lane in lanes), lanes, modulus, sure_of)
        )
    return out


class _Warp(NamedTuple):
    """The addresses of the lanes of a warp: each row of lanes may be moved by any multiple of a modulus; `sure` take part."""

    addresses: tuple[int, ...]
    rows: tuple[int, ...]
    lanes: tuple[int, ...]
    modulus: int
    sure: tuple[int, ...] = ()

    def among(self, first: int, count: int) -> list[list[int]]:
        """Return the addresses of the rows among some lanes that follow each other."""
        by_row: dict[int, list[int]] = {}
        for address, row, lane in zip(self.addresses, self.rows, self.lanes, strict=True):
            if first <= lane < first + count:
                by_row.setdefault(row, []).append(address)
        return list(by_row.values())

    def present(self, first: int, count: int) -> list[list[tuple[int, bool]]]:
        """Return the addresses of the rows likewise, each with whether its lane surely takes part."""
        by_row: dict[int, list[tuple[int, bool]]] = {}
        for address, row, lane in zip(self.addresses, self.rows, self.lanes, strict=True):
            if first <= lane < first + count:
                by_row.setdefault(row, []).append((address, lane in self.sure))
        return list(by_row.values())


def _of_warp(access: Access, reference: Reference, warp: _Warp) -> Access:
    size, modulus = reference.bytes, warp.modulus
    rows = warp.among(0, LANES)
    if len(rows) == len(warp.lanes) > 1:
        return _scattered(access, reference, len(rows))
    pattern, stride = _pattern(warp.addresses, size) if len(rows) <= 1 else (AccessPattern.ROWS, None)
    # Operations on parts of a word are at one place, wherever the word begins.
    collisions = sum(max(map(row.count, row)) if reference.bytes >= WORD else len(row) for row in rows) if reference.atomic else None
    access = replace(access, pattern=pattern, stride=stride, collisions=collisions, lanes=len(warp.lanes))
    match access.space:
        case MemorySpace.SHARED:
            least = max((over(row, modulus, LINE, size, least_words).least for row in rows), default=0)
            return replace(access, passes=Count(least, _most_passes(reference, warp)), ideal=least_passes(warp.addresses, size))
        case MemorySpace.CONSTANT:
            return replace(access, passes=_sum(over(row, modulus, 1, 1, distinct) for row in rows), ideal=1)
        case MemorySpace.LOCAL:
            return _local(access, rows, size, whole=warp.sure == tuple(range(LANES)))
        case _:
            lines = _sum(over(row, modulus, LINE, size, _lines) for row in rows)
            halves = _sum(over(row, modulus, HALF, size, _halves) for row in rows)
            ideal = least_sectors(rows, size)
            touched = _sum(over(row, modulus, SECTOR, size, sectors) for row in rows)
            if pattern is AccessPattern.ALIGNED and touched.most > ideal:
                access = replace(access, pattern=AccessPattern.MISALIGNED)
            return replace(access, sectors=touched, lines=lines, halves=halves, ideal=ideal)


def _lines(addresses: Sequence[int], size: int) -> int:
    """Return in how many lines the addresses lie; none of their accesses reaches from one into the next."""
    del size
    return len({address // LINE for address in addresses})


def _halves(addresses: Sequence[int], size: int) -> int:
    """Return in how many halves of lines the addresses lie, likewise."""
    del size
    return len({address // HALF for address in addresses})


def _sum(counts: Iterable[Count]) -> Count:
    """Return what rows of lanes cost together: they may or may not lie at one place."""
    known = list(counts)
    return Count(max((count.least for count in known), default=0), sum(count.most for count in known))


def _most_passes(reference: Reference, warp: _Warp) -> int:
    count = single_passes if reference.atomic else passes
    if len(set(warp.rows)) == 1:
        return over(warp.addresses, warp.modulus, LINE, reference.bytes, count).most
    together = lanes_together(reference.bytes)
    parts = [warp.among(first, together) for first in range(0, reference.lanes, together)]
    return sum(over(row, warp.modulus, LINE, reference.bytes, count).most for part in parts for row in part)


def _local(access: Access, rows: Sequence[Sequence[int]], size: int, *, whole: bool) -> Access:
    """Return the sectors of local memory, where the words of all lanes at one address lie next to each other: 4 sectors a word.

    `whole`: all lanes surely take part.
    """
    width = max(size, WORD)
    places = sum(len(set(row)) for row in rows)
    if whole and places == 1 and size >= WORD:
        access = replace(access, partial=0, filled=0)
    # A lane that is alone at its address touches one sector for each word.
    return replace(access, sectors=Count(width, width if places == 1 else min(places * width, LANES * width // WORD)), ideal=width)


def _pattern(lanes: Sequence[int], size: int) -> tuple[AccessPattern, int | None]:
    steps = {late - early for early, late in pairwise(lanes)}
    if steps <= {0}:
        return AccessPattern.BROADCAST, 0
    if steps == {size}:
        return AccessPattern.ALIGNED, size
    return (AccessPattern.STRIDED, steps.pop()) if len(steps) == 1 else (AccessPattern.IRREGULAR, None)
