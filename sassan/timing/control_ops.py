"""An instruction as its scheduler sees it: what it waits for, what it sets, and how long it keeps its unit and the warp."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sassan.ir import Instruction, Register
from sassan.isa.control import decode
from sassan.timing.depbar import remainders
from sassan.timing.rates import Rates

if TYPE_CHECKING:
    from collections.abc import Hashable


@dataclass(frozen=True, slots=True)
class TimedOp:
    """Times in cycles from the issue.

    `least` and `most` bound the time until the next instruction of the thread may issue; between them lies what no stall says (branches,
    block barriers). `waits` and `sets` hold barriers: it issues when the first are clear (bits), and each of the second is clear after so
    many cycles at most. `clears` are those of `waits` that are zero then: DEPBAR may leave a remainder. `drains`: it issues when every
    earlier instruction has ended. Its `unit` takes the next instruction of the warp after `interval`. `ends` bounds its own end: it has
    ended, and its unit is free. `late`: for how long it may wait for a matrix product, from when the one before it lets it issue.
    """

    least: int
    most: int
    waits: int
    clears: int
    sets: tuple[tuple[int, int], ...]
    drains: bool
    ends: int
    unit: str
    interval: int
    late: int = 0


def _covers_result(instruction: Instruction) -> bool:
    """Say whether the read barrier of an instruction may be that of a predicate that it writes, too (ATOM since Hopper)."""
    first = next(iter(instruction.operands), None)
    return isinstance(first, Register) and first.file == "P" and first.index is not None


def op_of(instruction: Instruction, rates: Rates, *, together: bool) -> TimedOp:
    """Return what the control code of an instruction and the tables say; `together`: a stall of 0 issues it with the next one.

    The instruction has a control code and its time is known (`Rates.gaps`).
    """
    assert instruction.control is not None, "code without control codes has no cost"
    code, kind, latency, interval = (
        decode(instruction.control),
        rates.kind(instruction.opcode),
        rates.lasting(instruction),
        rates.occupied(instruction),
    )
    assert kind is not None, "an instruction of no class has no cost"
    least = code.stall if together else max(code.stall, 1)
    counted = remainders(instruction)
    waits, clears = code.wait_mask, code.wait_mask
    for barrier, remainder in counted.items():
        waits |= 1 << barrier
        clears |= (remainder == 0 and instruction.guard is None) << barrier
    sets: list[tuple[int, int]] = []
    if code.write_barrier is not None:
        sets.append((code.write_barrier, latency))
    if code.read_barrier is not None:
        reading = rates.reading(instruction.opcode) + latency - rates.latency(instruction)
        sets.append((code.read_barrier, latency if _covers_result(instruction) else reading))
    return TimedOp(
        least=least,
        most=max(least, latency) if kind.blocks else least,
        waits=waits,
        clears=clears,
        sets=tuple(sets),
        drains=kind.drains,
        ends=max(latency, interval),
        unit=rates.unit(instruction.opcode),
        interval=interval,
    )


class Ops:
    """The ops of the code of one function: a kernel has many instructions, few of which a scheduler tells apart."""

    def __init__(self, rates: Rates, *, together: bool) -> None:
        """Take what `op_of` takes."""
        self._rates = rates
        self._together = together
        self._known: dict[Hashable, TimedOp] = {}

    def of(self, instruction: Instruction) -> TimedOp:
        """Return the op of an instruction, as `op_of`."""
        counted = instruction.operands if remainders(instruction) else ()
        occupied = self._rates.occupied(instruction)
        key = instruction.opcode, instruction.control, instruction.guard is None, _covers_result(instruction), occupied, counted
        op = self._known.get(key)
        if op is None:
            op = self._known[key] = op_of(instruction, self._rates, together=self._together)
        return op
