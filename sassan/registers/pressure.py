"""How many registers are in use at once, and how many fewer would let one more block be resident."""

import re
from dataclasses import dataclass, replace

from sassan.errors import UsageError
from sassan.ir import Function, Memory
from sassan.isa.registers import span
from sassan.machine.multiprocessor import Multiprocessor
from sassan.machine.occupancy import Occupancy, occupancy
from sassan.registers.liveness import Liveness

_GENERAL = span("R", 0, 256)
_LOCAL = re.compile(r"(LDL|STL)(\.|$)")
_STACK = 1
"""R1 is the stack pointer."""


@dataclass(frozen=True, slots=True)
class Spills:
    """Instructions that access places of the stack at constant offsets: spilled registers, and variables that are kept in memory."""

    loads: int
    stores: int


@dataclass(frozen=True, slots=True)
class Gain:
    """With `registers` per thread, `blocks` blocks are resident; `address` of each instruction where more are in use than that."""

    registers: int
    blocks: int
    addresses: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pressure:
    """The general registers of a function.

    `in_use` by instruction; `most` of them at `address`; `allocated` per thread, None where the input does not give it; `gain` is what
    one more block needs, None where no number of registers allows it or no launch is given.
    """

    in_use: tuple[int, ...]
    most: int
    address: int
    allocated: int | None
    spills: Spills
    occupancy: Occupancy | None = None
    gain: Gain | None = None


def pressure(function: Function, live: Liveness, resident: Occupancy | None = None, machine: Multiprocessor | None = None) -> Pressure:
    """Return the pressure on the registers of a function; with the occupancy of a launch on an SM, what fewer would allow."""
    counts = tuple((live.in_use(index) & _GENERAL).bit_count() for index in range(len(function.instructions)))
    most = max(range(len(counts)), key=lambda index: counts[index])
    gain = _gain(function, counts, resident, machine) if resident is not None and machine is not None else None
    allocated = resident.demand.registers if resident is not None else function.registers
    return Pressure(counts, counts[most], function.instructions[most].address, allocated, _spills(function), resident, gain)


def _gain(function: Function, counts: tuple[int, ...], resident: Occupancy, machine: Multiprocessor) -> Gain | None:
    """Return the most registers with which one more block is resident."""
    for registers in range(resident.demand.registers - 1, 0, -1):
        try:
            blocks = occupancy(machine, replace(resident.demand, registers=registers)).blocks
        except UsageError:
            continue
        if blocks > resident.blocks:
            over = (each.address for each, count in zip(function.instructions, counts, strict=True) if count > registers)
            return Gain(registers, blocks, tuple(over))
    return None


def _spills(function: Function) -> Spills:
    kinds = [
        instruction.opcode[:3]
        for instruction in function.instructions
        if _LOCAL.match(instruction.opcode) and any(_is_slot(operand) for operand in instruction.operands)
    ]
    return Spills(kinds.count("LDL"), kinds.count("STL"))


def _is_slot(operand: object) -> bool:
    return isinstance(operand, Memory) and [register.index for register in operand.base] == [_STACK]
