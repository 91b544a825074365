"""What copies of the copy engine (TMA) move: the boxes of the tensor maps that they are passed.

A map is a parameter of the kernel, or stands in known memory that the launch does not change; which one it is, the words of the registers
say.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import gcd

from sassan.access.opcodes import tensor_operands
from sassan.access.traffic import Moved
from sassan.access.transactions import HALF, SECTOR
from sassan.domains.lanes import LaneWord
from sassan.ir import Instruction, Memory
from sassan.isa.registers import bit
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.memory_pipeline import MemoryPipeline
from sassan.machine.parameters import bank_layout
from sassan.machine.tensor_map import MapKind, TensorMap, map_in_memory
from sassan.values import WarpValues
from sassan.values.environment import PARAMETER_WINDOW
from sassan.values.warp_values import PointValues

_BITS = 8
_LOADS, _PREFETCHES = "UTMALDG", "UTMAPF"
_REDUCES = "UTMAREDG"
"""How fast L2 does what these ask, no source says."""
_PROMOTED = (0, 64, 128, 256)
"""Bytes that L2 fetches for a part of them (CUtensorMapL2promotion)."""
_ROW_CYCLES = (9, 8)
"""Cycles of a row, as a fraction: 256 rows of 32 bytes take 274 (samples/engines/h100.csv)."""
BOXES = (
    "a copy by a tensor map moves the box of the map that the launch passes, the largest that fits where nothing says which, "
    "and the addresses of parameters decide nothing but which map that is"
)


def box_traffic(several: Iterable[WarpValues], launch: LaunchConfiguration, pipeline: MemoryPipeline) -> Mapping[int, Moved]:
    """Return what one execution of each copy by a tensor map moves at most, by its address; a copy whose map is not known is missing.

    `several` are the values of all warps that may execute it, in one or several parts.
    """
    whole = list(several)
    code = [each for values in whole[:1] for node in values.cfg.nodes for each in node.instructions]
    # What no warp executes moves nothing.
    traffic: dict[int, Moved | None] = {each.address: Moved() for each in code if tensor_operands(each)}
    for values in whole:
        for instruction, maps, aligned in _copies(values, launch):
            moved = reduce(_larger, [_moved(instruction, each, pipeline, aligned=aligned) for each in maps]) if maps else None
            before = traffic[instruction.address]
            traffic[instruction.address] = None if moved is None or before is None else _larger(before, moved)
    return {address: moved for address, moved in traffic.items() if moved is not None}


def _larger(first: Moved, second: Moved) -> Moved:
    return Moved(
        max(first.cycles, second.cycles),
        max(first.sectors, second.sectors),
        max(first.fetched, second.fetched),
        max(first.written, second.written),
        apart=first.apart or second.apart,
    )


def _copies(values: WarpValues, launch: LaunchConfiguration) -> Iterator[tuple[Instruction, Sequence[TensorMap], int]]:
    """Yield each copy, its map, and of how many bytes the places are multiples at which its rows begin.

    Where nothing is known of the address of the map: all that the launch passes and that fit, unless maps in memory are used, too. Without
    any, the map is not known.
    """
    where = bank_layout(values.cfg.function)
    passed = () if any(_forgets_maps(each) for node in values.cfg.nodes for each in node.instructions) else launch.maps
    parameters = {} if where is None else {PARAMETER_WINDOW + offset - where.parameters: each for offset, each in launch.maps}
    for index, node in enumerate(values.cfg.nodes):
        if not values.lanes(index) or not any(map(tensor_operands, node.instructions)):
            continue
        for instruction, point in values.executing(index, lambda each: tensor_operands(each) is not None):
            operands = tensor_operands(instruction)
            assert operands is not None
            box, place = operands
            address = _address(place, point)
            known = None if address is None else parameters.get(address) or map_in_memory(launch.contents, address)
            if known is not None and _fits(instruction, known):
                yield instruction, (known,), _alignment(instruction, known, box, point)
            else:
                any_of_them = [each for _, each in passed if address is None and _fits(instruction, each)]
                yield instruction, any_of_them, 1


def _forgets_maps(instruction: Instruction) -> bool:
    """Say whether the copy engine is to read maps in memory anew, which the kernel or another one has written (fence.proxy.tensormap)."""
    return instruction.opcode.startswith("UTMACCTL.IV")


def _address(operand: Memory, point: PointValues) -> int | None:
    words = [_word(operand, index, point) for index in (0, 1)]
    low, high = (None if word is None else word.constant for word in words)
    return None if low is None or high is None else low + (high << 32) + operand.offset


def _word(operand: Memory, index: int, point: PointValues) -> LaneWord | None:
    base = operand.base[0]
    return point.word(bit(base.file, base.index + index).bit_length() - 1) if base.index is not None else None


def _fits(instruction: Instruction, known: TensorMap) -> bool:
    """Say whether the form of an instruction is that of a map, and its bytes are known."""
    _, *modifiers = instruction.opcode.split(".")
    tiled = "IM2COL" not in modifiers
    rows = {"GATHER4", "SCATTER4"}.isdisjoint(modifiers)
    return (
        rows
        and not instruction.opcode.startswith(_REDUCES)
        and known.box_bytes is not None
        and f"{known.rank}D" in modifiers
        and tiled == (known.kind is MapKind.TILED)
    )


def _alignment(instruction: Instruction, known: TensorMap, box: Memory, point: PointValues) -> int:
    """Return of how many bytes, a power of two, the places are multiples at which rows of a box begin."""
    if known.kind is not MapKind.TILED or known.element.bits % _BITS:
        return 1
    # Coordinates stand behind the shared address, and of a load behind its barrier.
    first = _word(box, 2 if instruction.opcode.startswith(_LOADS) else 0 if instruction.opcode.startswith(_PREFETCHES) else 1, point)
    size = known.element.bits // _BITS
    coordinate = 0 if first is None or first.lanes is not None or first.base else gcd(first.modulus, first.offset) * size
    return gcd(known.address, *known.strides, coordinate or 1)


def _pieces(span: int, size: int, aligned: int) -> int:
    """Return in how many pieces of `size` bytes a row of `span` bytes may lie that begins at a multiple of `aligned`."""
    return -(-(size - gcd(aligned, size) + span) // size)


def _moved(instruction: Instruction, known: TensorMap, pipeline: MemoryPipeline, *, aligned: int) -> Moved:
    bits = known.element.bits
    # Of a row with gaps, each element may lie in a sector of its own.
    wide = known.channels if known.kind is not MapKind.TILED else known.box[0]
    span = -(-wide * bits // _BITS)
    rows = known.rows or 0
    piece = max(HALF, _PROMOTED[known.promotion])
    sectors, pieces, halves = (rows * _pieces(span, size, aligned) for size in (SECTOR, piece, HALF))
    # Where the tensor ends within a sector, so does a row of a box that reaches beyond.
    whole = not (aligned % SECTOR or span % SECTOR or known.extents[0] * bits % (SECTOR * _BITS)) and known.steps[0] == 1
    kind = instruction.opcode.partition(".")[0]
    loads = kind in {_LOADS, _PREFETCHES}
    return Moved(
        cycles=max(-(-max(known.shared_bytes or 0, sectors * SECTOR) // pipeline.bulk), -(-rows * _ROW_CYCLES[0] // _ROW_CYCLES[1])),
        sectors=sectors,
        fetched=pieces * piece if loads else 0 if whole else halves * HALF,
        written=0 if loads else halves * HALF,
    )
