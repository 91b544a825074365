"""The memory accesses of a graph whose registers are followed, each with its pattern and its transactions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from types import MappingProxyType
from typing import NamedTuple

from sassan.access.access import Access, AccessPattern, at_most, least_known, worst
from sassan.access.nearby import Arc, nearby
from sassan.access.opcodes import MemorySpace, Reference, references
from sassan.access.reuse import Beside, beside, fresh, partial
from sassan.access.transactions import HALF, LANES, LINE, SECTOR, WORD
from sassan.access.warp_costs import ALIGNMENT, WarpAddresses, cost_of_warp, counted, warps_at
from sassan.domains.lanes import LaneWord, const
from sassan.ir import Constant, Instruction, Memory, Register
from sassan.isa.registers import bit
from sassan.values import WarpValues
from sassan.values.lanes.abstract_word import AbstractWord, number
from sassan.values.lanes.arithmetic import add, multiply
from sassan.values.single_thread import single_thread_instructions
from sassan.values.warp_values import PointValues

NOTHING_GIVEN: Mapping[str, int] = MappingProxyType({})
"""The alignments of single pointers where none is given."""
_POINTERS = f"parameters that addresses begin with are multiples of {ALIGNMENT} bytes, as allocators return them"
_GENERIC = "generic addresses lead to global memory"
_NEAR = "the addresses of one access lie within 4 GiB: lanes that agree on the low word agree on the address"
_KEPT = (
    "L2 keeps what a straight piece of code accesses until that is done, where the pieces of all warps on the GPU fit it: of several "
    "accesses of one, DRAM moves each half line once"
)
_PLAIN = frozenset({"64", "U32", "reuse"})
_SCALES = {"X4": 4, "X8": 8, "X16": 16}


_UNSETTLED = frozenset({AccessPattern.SCATTERED, AccessPattern.ROWS})
"""The patterns of lanes that may lie anywhere to each other."""


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
    by_place: dict[tuple[int, int], Access] = {}
    single = single_thread_instructions(values)
    for index, node in enumerate(values.cfg.nodes):
        pieces = beside(node.instructions, values.facts)
        arcs: Mapping[tuple[int, int], Arc] | None = None
        for instruction, point in values.executing(index, _accesses_memory):
            known = _Known(pieces.get(instruction.address), values.threads, single=(index, instruction.address) in single)
            for reference in references(instruction):
                access = _access(instruction, reference, point, known, alignments)
                if access.pattern in _UNSETTLED:
                    arcs = nearby(values, index) if arcs is None else arcs
                    arc = arcs.get((instruction.address, reference.place))
                    access = access if arc is None else _within(access, reference, arc)
                key = (instruction.address, reference.place)
                by_place[key] = access if key not in by_place else worst(by_place[key], access)
    return tuple(by_place[key] for key in sorted(by_place))


def _within(access: Access, reference: Reference, arc: Arc) -> Access:
    """Return an access whose addresses lie on an arc."""
    size = reference.bytes
    access = replace(access, warps=tuple(_within(warp, reference, arc) for warp in access.warps))
    match access.space:
        case MemorySpace.SHARED if not reference.atomic:
            return at_most(access, passes=arc.passes(size))
        case MemorySpace.CONSTANT:
            return at_most(access, passes=arc.places)
        case MemorySpace.LOCAL:
            return at_most(access, sectors=arc.places * max(size, WORD))
        case MemorySpace.GLOBAL | MemorySpace.GENERIC:
            access = replace(access, ideal=least_known(access.ideal, arc.blocks(SECTOR)))
            return at_most(access, sectors=arc.blocks(SECTOR), lines=arc.blocks(LINE), halves=arc.blocks(HALF))
        case _:
            return access


class _Known(NamedTuple):
    """Of an instruction: the accesses beside it in its straight piece of code, how many threads the warps of a table have.

    `single`: one thread at most executes it at a time.
    """

    piece: Beside | None
    threads: Sequence[int]
    single: bool


def _accesses_memory(instruction: Instruction) -> bool:
    return bool(references(instruction))


def _access(instruction: Instruction, reference: Reference, point: PointValues, known: _Known, alignments: Mapping[str, int]) -> Access:
    plain = Access(instruction.address, instruction.opcode, reference.space, reference.bytes, AccessPattern.UNKNOWN)
    if not reference.bytes or reference.place < 0:
        return plain
    operand = instruction.operands[reference.place]
    shared, thread = _address(operand, point.word), _address(operand, point.word_of_thread)
    held = shared.value if shared is not None and shared.needs is not None else None
    base = thread.value.base if thread is not None else ""
    if known.single:
        # One lane, anywhere: it costs what all lanes at one place do, but no two of them collide.
        access = counted(plain, reference, LaneWord())
        access = replace(access, base=base, collisions=1 if reference.atomic else None, lanes=1)
        return _beside(access, reference, WarpAddresses((0,), (0,), (0,), 1), known.piece)
    if held is None:
        held = LaneWord(base=base, rows=tuple(range(LANES)) * len(known.threads))
    alignment = alignments.get(base, ALIGNMENT)
    warps = warps_at(reference, held, alignment, known.threads, point.lanes, point.present)
    plain = replace(plain, base=base)
    made = {warp: _beside(cost_of_warp(plain, reference, warp), reference, warp, known.piece) for warp in sorted(set(warps))}
    # A warp of which no thread executes it does not count, unless none does.
    access = reduce(worst, [each for warp, each in made.items() if warp.lanes] or made.values())
    return replace(access, warps=tuple(made[warp] for warp in warps)) if len(made) > 1 else access


def _beside(access: Access, reference: Reference, warp: "WarpAddresses", piece: Beside | None) -> Access:
    """Return an access with what none of those before it accesses, and what is stored in part."""
    rows = warp.among(0, LANES)
    if piece is not None and piece.before:
        access = replace(access, fresh=fresh(rows, warp.modulus, reference, piece.before))
    if piece is None or not piece.stores:
        return access
    sure = warp.present(0, LANES)
    alone = partial(sure, warp.modulus, reference.bytes)
    return replace(access, partial=alone, filled=partial(sure, warp.modulus, reference.bytes, piece) if piece.varied else alone)


def _address(operand: object, held: Callable[[int], LaneWord | None]) -> AbstractWord | None:
    """Return the low word of the address in each lane, from what registers hold (by bit number); None where one is not known."""
    if not isinstance(operand, Memory | Constant) or not set(operand.modifiers) <= _PLAIN:
        return None
    total = number(operand.offset)
    for register in operand.base:
        part = _part(register, held)
        if part is None:
            return None
        total = add(total, part)
    return total


def _part(register: Register, held: Callable[[int], LaneWord | None]) -> AbstractWord | None:
    if register.index is None:
        return number(0)
    scales = [_SCALES[name] for name in register.modifiers if name in _SCALES]
    value = held(bit(register.file, register.index).bit_length() - 1)
    if value is None or register.negated or not set(register.modifiers) - set(_SCALES) <= _PLAIN:
        return None
    return multiply(AbstractWord(value, 0), AbstractWord(const(scales[0]), 0)) if scales else AbstractWord(value, 0)
