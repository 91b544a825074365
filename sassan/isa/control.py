"""Control codes: the 21 bits that schedule one instruction, the same layout from sm_50 to sm_120 (docs/concepts/machine-code.md).

stall 0-3 · yield 4 (0 is the hint) · write barrier 5-7 · read barrier 8-10 (7: none) · wait mask 11-16 · reuse 17-20
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sassan.arch import Architecture

BITS = 0x1FFFFF
"""The bits of a control code."""
BARRIERS = 6
"""How many scoreboard barriers a warp has."""
NO_BARRIER = 7
"""In the place of a barrier: none is set."""
PLACES = (5, 8)
"""The first bits of the barriers for the result and for the sources."""
_WORD = 8
_STAYS = 16
_LONGEST = 11
"""The most cycles that a warp stalls without a yield hint, since Volta."""
_GROUPS = 6
"""Since Volta the bits of `reuse` say beside a yield hint how instructions are grouped: the first value that means nothing."""
_NOTES = ("&wr=", "&rd=", "&req=", "?trans", "?WAIT")
_DIGIT = re.compile("[0-9]")
_FOURTH = 1 << 20
"""The mark of a fourth register."""


@dataclass(frozen=True, slots=True)
class ControlCode:
    """What an instruction asks of the scheduler.

    `stall` is the number of cycles before the warp issues its next instruction; 0 on sm_50-62: both issue together. `write_barrier` is
    cleared when the result is written, `read_barrier` when the sources have been read; None: not set. `wait_mask` holds bit b when the
    instruction issues only after barrier b is clear. `reuse` holds bit k when source slot k stays in the operand cache.
    """

    stall: int
    yield_hint: bool = False
    write_barrier: int | None = None
    read_barrier: int | None = None
    wait_mask: int = 0
    reuse: int = 0

    @property
    def waits(self) -> tuple[int, ...]:
        """Return the barriers that the instruction waits for, in ascending order."""
        return tuple(barrier for barrier in range(BARRIERS) if self.wait_mask >> barrier & 1)

    @property
    def sets(self) -> tuple[int, ...]:
        """Return the barriers that the instruction sets: that of its result, then that of its sources."""
        return tuple(barrier for barrier in (self.write_barrier, self.read_barrier) if barrier is not None)


@lru_cache(maxsize=1 << 14)  # code has few different ones
def decode(code: int) -> ControlCode:
    """Return what a control code says; `encode` is its inverse."""
    write, read = code >> 5 & 7, code >> 8 & 7
    return ControlCode(
        stall=code & 15,
        yield_hint=not code >> 4 & 1,
        write_barrier=None if write == NO_BARRIER else write,
        read_barrier=None if read == NO_BARRIER else read,
        wait_mask=code >> 11 & 63,
        reuse=code >> 17 & 15,
    )


def encode(control: ControlCode) -> int:
    """Return the control code that says this."""
    write = NO_BARRIER if control.write_barrier is None else control.write_barrier
    read = NO_BARRIER if control.read_barrier is None else control.read_barrier
    flags = control.stall | (not control.yield_hint) << 4
    return flags | write << 5 | read << 8 | control.wait_mask << 11 | control.reuse << 17


@lru_cache(maxsize=1 << 14)
def known(code: int, *, paired: bool) -> bool:
    """Whether an instruction can have a control code; `paired`: until Pascal.

    Since Volta, disassemblers refuse every instruction with another one: found by printing all of them for each form of the samples, sm_70
    to sm_120, nvdisasm 12.8 and 13. Until Pascal they refuse a fourth mark of most instructions; none of 11 million in libraries of
    NVIDIA for sm_50 to sm_62 has one.
    """
    if paired:
        return not code & _FOURTH
    stall, reuse = code & 15, code >> 17 & 7
    if code & _STAYS:
        return 0 < stall <= _LONGEST
    return reuse < _GROUPS if stall else not reuse


@lru_cache(maxsize=1 << 14)
def notes(code: int) -> frozenset[str]:
    """Return the notes that tools print of a control code behind an instruction of sm_100 and later: `&wr=0x1`, `&req={0,2}`, `?trans4`."""
    control = decode(code)
    barriers = (("wr", control.write_barrier), ("rd", control.read_barrier))
    out = {f"&{name}=0x{barrier}" for name, barrier in barriers if barrier is not None}
    if control.waits:
        out.add(f"&req={{{','.join(map(str, control.waits))}}}")
    if control.stall:
        out.add(f"?WAIT{control.stall}_END_GROUP" if control.yield_hint else f"?trans{control.stall}")
    return frozenset(out)


def noted(printed: Iterable[str]) -> frozenset[str]:
    """Return those of the notes of a listing that restate the control code, the barriers of a wait in ascending order."""
    return frozenset(
        f"&req={{{','.join(sorted(_DIGIT.findall(note)))}}}" if note.startswith("&req") else note
        for note in printed
        if note.startswith(_NOTES)
    )


def codes(arch: Architecture, words: Sequence[int], addresses: Sequence[int]) -> Iterator[int]:
    """Yield the control code of the instruction at each address, given all 64-bit words of its section in order.

    Slot k of a control word stands at its bits 21k to 21k+20; without control words, bits 105 to 125 of the instruction hold the code.
    """
    if arch.control_words:
        for address in addresses:
            index = address // _WORD
            yield words[index & ~3] >> 21 * ((index & 3) - 1) & BITS
    else:
        for address in addresses:
            yield words[address // _WORD + 1] >> 41 & BITS
