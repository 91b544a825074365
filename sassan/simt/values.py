"""What data instructions compute: the interface of interpretations, and the arrays and hashes that they share."""

import zlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sassan.isa.registers import bit
from sassan.simt.code import Operation

LANES = 32
Words = npt.NDArray[np.uint32]
Rows = npt.NDArray[np.intp]
Truth = npt.NDArray[np.bool_]

PREDICATES = frozenset((bit(file, index).bit_length() - 1) for file, count in (("P", 16), ("UP", 8)) for index in range(count))
"""Bit numbers of the registers that hold a truth value, 0 or 1."""

ONE_COPY = frozenset((bit(file, index).bit_length() - 1) for file, count in (("UR", 256), ("UP", 8)) for index in range(count))
"""Bit numbers of the registers of which a warp has one copy."""

FACTOR = 0x9E3779B1
_FACTOR = np.uint32(FACTOR)
_SHIFT = np.uint32(15)


def key(text: str) -> int:
    """Return a 32-bit name for a text, the same on every machine."""
    return zlib.crc32(text.encode())


def stir(state: Words, word: Words | np.uint32) -> Words:
    """Return the hash state after one more input word; arrays broadcast."""
    mixed: Words = np.bitwise_xor(state, word)
    mixed = mixed * _FACTOR
    mixed ^= mixed >> _SHIFT
    return mixed


@dataclass(frozen=True, slots=True)
class Moment:
    """Where an operation executes: `rows` (G) number the runs, `time` (G) their steps, `executing` (G, 32) the threads."""

    rows: Rows
    time: Words
    executing: Truth


class Values(Protocol):
    """How a machine computes; arrays of words are (G, 32), one row per run of the group that executes."""

    def initial(self, registers: tuple[int, ...]) -> Words:
        """Return what the registers hold before the first instruction: (registers, N, 32)."""
        ...

    def outputs(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> tuple[Words, ...]:
        """Return one array per written register, in the order of `operation.writes`; the inputs are the gathered ones, then `reads`."""
        ...

    def known(self, register: int, rows: Rows) -> Truth | bool:
        """Return in which lanes the word of a register may be stored in shared memory for others to find."""
        ...

    def note_load(self, operation: Operation, inputs: tuple[Words, ...], words: tuple[Words, ...], at: Moment) -> None:
        """Take note of what an operation found in shared memory."""
        ...

    def holds(self, test: int, flags: Words, at: Moment) -> Truth:
        """Return where the CC test named by `test` holds of the flags."""
        ...

    def choose(self, selector: int, inputs: tuple[Words, ...], count: int, at: Moment) -> Rows:
        """Return which of `count` targets each thread of an indirect branch goes to."""
        ...

    def coin(self, at: Moment) -> Words:
        """Return (G) words for choices that the architecture leaves open."""
        ...
