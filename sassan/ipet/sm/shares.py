"""What an instruction takes of an SM: how long it keeps other warps from issuing, and how long its own warp from the unit that it is on.

Let a unit take one instruction of a warp every i cycles, k such units stand side by side, and sigma instructions issue per cycle. A
warp that waits for such a unit waits until one of the k is free: in each such cycle k instructions are on them, each for i cycles in all.
So an instruction is in the way for i / k cycles, or for 1 / sigma where issue slots are short. README.md, "W warps", uses no more.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from sassan.alphabet import Letter
from sassan.ir import Instruction
from sassan.isa.tables import unit
from sassan.machine import Multiprocessor
from sassan.machine.pipes import SM

_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True)
class Share:
    """In cycles: what the warp itself may wait beside its isolated time, what a warp of the same scheduler may, and what any other may.

    Where the whole SM is one pool of units, the last two are the same.
    """

    self_stall: Fraction = _NOTHING
    scheduler_stall: Fraction = _NOTHING
    sm_stall: Fraction = _NOTHING

    def __add__(self, other: "Share") -> "Share":
        """Return the share of both."""
        return Share(self.self_stall + other.self_stall, self.scheduler_stall + other.scheduler_stall, self.sm_stall + other.sm_stall)

    def __mul__(self, times: int) -> "Share":
        """Return the share of `times` such instructions."""
        return Share(self.self_stall * times, self.scheduler_stall * times, self.sm_stall * times)


def of_letters(machine: Multiprocessor, letters: Mapping[Letter, int], *, partition: bool = False) -> Share:
    """Return the share of instructions that are known by their letters: the model of the papers, in which each takes one slot of its own.

    An instruction of a unit with capacity 1/n occupies it for n slots: its warp may have to wait for the n - 1 that follow the first.
    Raises InputError before Maxwell, whose SMs have no partitions.
    """
    share = _of_letter_in_partition if partition else _of_letter
    return sum((share(machine, letter) * count for letter, count in letters.items() if count), Share())


def _of_letter(machine: Multiprocessor, letter: Letter) -> Share:
    slots = _slots(machine.capacity(letter))
    share = max(slots, Fraction(1, machine.issue))
    return Share(max(slots - 1, _NOTHING), share, share)


def _of_letter_in_partition(machine: Multiprocessor, letter: Letter) -> Share:
    slots = _slots(machine.partition_capacity(letter))
    share = max(slots, Fraction(1, machine.dispatch))
    return Share(max(slots - 1, _NOTHING), share, slots if machine.is_shared(letter) else _NOTHING)


def _slots(sigma: Fraction) -> Fraction:
    """Return for how many slots an instruction occupies a unit by itself; of a unit that takes several at once, its part of a slot."""
    return Fraction(ceil(1 / sigma)) if sigma < 1 else 1 / sigma


def of_code(machine: Multiprocessor, code: Iterable[Instruction], *, partition: bool = False) -> Share:
    """Return the share of instructions whose units are known; their isolated time, unlike that of letters, knows their own intervals."""
    return sum((_of_opcode(machine, one.opcode, partition=partition) for one in code), Share())


def _of_opcode(machine: Multiprocessor, opcode: str, *, partition: bool) -> Share:
    pipe = machine.pipe(unit(machine.arch, opcode), opcode)
    # An opcode without a unit has no time either: the cost model names it as a gap, or it was measured, and takes an issue slot at least.
    interval = Fraction((pipe.interval(machine.lanes, machine.schedulers) or 1) if pipe is not None else 1)
    common = pipe is not None and pipe.scope == SM
    if partition:
        return Share(_NOTHING, max(interval, Fraction(1, machine.dispatch)), interval if common else _NOTHING)
    share = max(interval if common else interval / machine.schedulers, Fraction(1, machine.issue))
    return Share(_NOTHING, share, share)
