"""One integer instruction, executed by `simt.integers`: words in, words out."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from assembly import instruction
from sassan.ir import Instruction
from sassan.isa.registers import bit
from sassan.isa.tables import load
from sassan.simt.code import Operation
from sassan.simt.integer_work import WarpInputs
from sassan.simt.integers import Integers
from sassan.simt.values import LANES, Moment

Numbers = npt.NDArray[np.int64]


def number(name: str) -> int:
    file = name.rstrip("0123456789")
    return bit(file, int(name[len(file) :] or 0)).bit_length() - 1


def run(text: str, arch: str = "sm_80", short: bool = False, **held: int) -> dict[int, int]:
    """Return the words that an instruction writes, by bit number, for these contents of its registers; the others hold 0."""
    return outputs(instruction(text), arch, {number(name): value for name, value in held.items()}, short=short)


def outputs(instruction: Instruction, arch: str, values: Mapping[int, int], *, short: bool = False, time: int = 0) -> dict[int, int]:
    """Return the same for contents by bit number; the contents of memory depend on `time`."""
    surroundings = WarpInputs(
        np.array([7], dtype=np.uint32),
        {"SRZ": np.zeros((1, LANES), dtype=np.uint32)},
        lambda offset: np.array([offset], dtype=np.uint32),
        short,
    )
    words = {register: np.full(LANES, value, dtype=np.int64) for register, value in values.items()}
    return {register: int(out[0]) for register, out in all_outputs(instruction, arch, words, surroundings, time).items()}


def all_outputs(
    instruction: Instruction, arch: str, values: Mapping[int, Numbers], surroundings: WarpInputs, time: int = 0
) -> dict[int, Numbers]:
    """Return what the lanes of some warps write, one warp after the other, for the contents of their registers."""
    facts = load(arch).facts(instruction)
    assert facts is not None
    reads, writes = ([index for index in range(560) if registers >> index & 1] for registers in (facts.reads, facts.writes))
    count = len(surroundings)
    nothing = np.zeros(count * LANES, dtype=np.int64)
    inputs = tuple(values.get(register, nothing).astype(np.uint32).reshape(count, LANES) for register in reads)
    at = Moment(np.arange(count), np.full(count, time, dtype=np.uint32), np.ones((count, LANES), dtype=np.bool_))
    out = Integers(surroundings).outputs(Operation(instruction, 0, tuple(reads), tuple(writes)), inputs, at)
    return {register: words.astype(np.int64).reshape(-1) for register, words in zip(writes, out, strict=True)}
