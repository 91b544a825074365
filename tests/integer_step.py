"""One integer instruction, executed by `simt.integers`: words in, words out."""

from collections.abc import Mapping

import numpy as np

from assembly import instruction
from sassan.ir import Instruction
from sassan.isa.registers import bit
from sassan.isa.tables import load
from sassan.simt.code import Operation
from sassan.simt.integer_work import Place
from sassan.simt.integers import Integers
from sassan.simt.values import Moment


def number(name: str) -> int:
    file = name.rstrip("0123456789")
    return bit(file, int(name[len(file) :] or 0)).bit_length() - 1


def run(text: str, arch: str = "sm_80", short: bool = False, **held: int) -> dict[int, int]:
    """Return the words that an instruction writes, by bit number, for these contents of its registers; the others hold 0."""
    return outputs(instruction(text), arch, {number(name): value for name, value in held.items()}, short=short)


def outputs(instruction: Instruction, arch: str, values: Mapping[int, int], *, short: bool = False, time: int = 0) -> dict[int, int]:
    """Return the same for contents by bit number; the contents of memory depend on `time`."""
    facts = load(arch).facts(instruction)
    assert facts is not None
    reads, writes = ([index for index in range(560) if registers >> index & 1] for registers in (facts.reads, facts.writes))
    place = Place(
        np.array([7], dtype=np.uint32),
        {"SRZ": np.zeros((1, 32), dtype=np.uint32)},
        lambda offset: np.array([offset], dtype=np.uint32),
        short,
    )
    inputs = tuple(np.full((1, 32), values.get(register, 0), dtype=np.uint32) for register in reads)
    at = Moment(np.array([0]), np.array([time], dtype=np.uint32), np.ones((1, 32), dtype=np.bool_))
    out = Integers(place).outputs(Operation(instruction, 0, tuple(reads), tuple(writes)), inputs, at)
    return {register: int(words[0, 0]) for register, words in zip(writes, out, strict=True)}
