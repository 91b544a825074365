"""The share of an SM that an instruction takes: for how long it stalls other warps, and its own warp at the same unit.

Let a unit take one instruction of a warp every i cycles, k such units stand side by side, and sigma instructions issue per cycle. A
warp that waits for such a unit waits until one of the k is free: in each such cycle k instructions are on them, each for i cycles in all.
So an instruction stalls others for i / k cycles, or for 1 / sigma where issue slots are short. docs/proofs/many-warps.md uses no more.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from sassan.alphabet import Letter
from sassan.errors import InputError
from sassan.ir import Instruction
from sassan.isa.tables import unit
from sassan.machine import Multiprocessor
from sassan.machine.matrices import register_cycles
from sassan.machine.pipes import SM
from sassan.timing.model import NO_ACCESSES

_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True)
class Interference:
    """Stalls that instructions may cause, in cycles: of their own warp beyond its isolated time, of a warp of the same scheduler, of any.

    Where the whole SM is one pool of units, the last two are equal.
    """

    self_stall: Fraction = _NOTHING
    scheduler_stall: Fraction = _NOTHING
    sm_stall: Fraction = _NOTHING

    def __add__(self, other: "Interference") -> "Interference":
        """The share of both."""
        return Interference(
            self.self_stall + other.self_stall, self.scheduler_stall + other.scheduler_stall, self.sm_stall + other.sm_stall
        )

    def __mul__(self, times: int) -> "Interference":
        """The share of `times` such instructions."""
        return Interference(self.self_stall * times, self.scheduler_stall * times, self.sm_stall * times)


def of_letters(machine: Multiprocessor, letters: Mapping[Letter, int], *, partition: bool = False) -> Interference:
    """The share of instructions by their letters: the model of the papers, in which each takes one slot of its own.

    An instruction of a unit with capacity 1/n occupies it for n slots: its warp may have to wait for the n - 1 that follow the first.
    Raises InputError `no-unit` for a letter that the SM has no unit for, and before Maxwell, whose SMs have no partitions.
    """
    missing = [letter for letter, count in letters.items() if count and letter not in machine.letters]
    if missing:
        raise InputError("no-unit", f"an SM of compute capability {machine.capability} has no unit for {', '.join(missing)}")
    share = _of_letter_in_partition if partition else _of_letter
    return sum((share(machine, letter) * count for letter, count in letters.items() if count), Interference())


def _of_letter(machine: Multiprocessor, letter: Letter) -> Interference:
    slots = _slots(machine.capacity(letter))
    share = max(slots, Fraction(1, machine.issue))
    return Interference(max(slots - 1, _NOTHING), share, share)


def _of_letter_in_partition(machine: Multiprocessor, letter: Letter) -> Interference:
    slots = _slots(machine.partition_capacity(letter))
    share = max(slots, Fraction(1, machine.dispatch))
    return Interference(max(slots - 1, _NOTHING), share, slots if machine.is_shared(letter) else _NOTHING)


def _slots(sigma: Fraction) -> Fraction:
    """The slots for which an instruction occupies a unit; of a unit that takes several at once, its part of a slot."""
    return Fraction(ceil(1 / sigma)) if sigma < 1 else 1 / sigma


def of_code(
    machine: Multiprocessor, code: Iterable[Instruction], busy: Mapping[int, int] = NO_ACCESSES, *, partition: bool = False
) -> Interference:
    """The share of instructions by the units of their opcodes; their isolated time includes their own intervals.

    `busy` are the cycles for which single accesses, by address, keep the memory pipeline, which all warps of the SM share.
    """
    return sum((_of_instruction(machine, instruction, busy, partition=partition) for instruction in code), Interference())


def _of_instruction(machine: Multiprocessor, instruction: Instruction, busy: Mapping[int, int], *, partition: bool) -> Interference:
    share = _of_opcode(machine, instruction.opcode, register_cycles(instruction, alone=False), partition=partition)
    cycles = Fraction(busy.get(instruction.address, 0))
    return Interference(share.self_stall, max(share.scheduler_stall, cycles), max(share.sm_stall, cycles)) if cycles else share


def _of_opcode(machine: Multiprocessor, opcode: str, longer: int, *, partition: bool) -> Interference:
    pipe = machine.pipe(unit(machine.arch, opcode), opcode)
    # An opcode without a unit has no time either: the cost model names it as a gap, or it was measured, and takes an issue slot at least.
    interval = Fraction((pipe.interval(opcode, machine.lanes, machine.schedulers) or 1) + longer if pipe is not None else 1)
    shared = pipe is not None and pipe.scope == SM
    if partition:
        return Interference(_NOTHING, max(interval, Fraction(1, machine.dispatch)), interval if shared else _NOTHING)
    share = max(interval if shared else interval / machine.schedulers, Fraction(1, machine.issue))
    return Interference(_NOTHING, share, share)
