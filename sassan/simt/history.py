"""The last execution of operations by each of N warps: their words, and by how much these moved since the one before."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sassan.simt.code import Operation
from sassan.simt.values import LANES, Moment, Truth, Words


@dataclass(frozen=True, slots=True)
class Executed:
    """The last execution of an operation: its words (registers, N, 32) and by how much they moved.

    `steady` (N): by as much as before, in the same lanes (N, 32); `times` (N) counts executions.
    """

    operation: Operation
    words: Words
    moved: Words
    lanes: Truth
    steady: Truth
    times: npt.NDArray[np.int64]


@dataclass(slots=True)
class History:
    """The last executions of some operations by `runs` warps; `of` finds them by address, and `numbers` their place in the arrays.

    The words of an operation are those that it reads and, behind them, what it computes: from place `first` on in `words` and `moved`.
    """

    operations: Iterable[Operation]
    runs: int
    of: dict[int, Executed] = field(default_factory=dict[int, Executed])
    numbers: dict[int, int] = field(default_factory=dict[int, int])
    first: npt.NDArray[np.int64] = field(init=False)
    words: Words = field(init=False)
    moved: Words = field(init=False)
    lanes: Truth = field(init=False)
    steady: Truth = field(init=False)
    times: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        """Hold no execution."""
        every = {each.instruction.address: each for each in self.operations}
        sizes = [len(each.gathered) + len(each.reads) + len(each.writes) for each in every.values()]
        self.first = np.cumsum([0, *sizes], dtype=np.int64)
        self.words, self.moved = (np.zeros((int(self.first[-1]), self.runs, LANES), np.uint32) for _ in range(2))
        self.lanes = np.zeros((len(every), self.runs, LANES), np.bool_)
        self.steady = np.zeros((len(every), self.runs), np.bool_)
        self.times = np.zeros((len(every), self.runs), np.int64)
        for number, (address, operation) in enumerate(every.items()):
            part = slice(int(self.first[number]), int(self.first[number + 1]))
            arrays = (self.words[part], self.moved[part], self.lanes[number], self.steady[number], self.times[number])
            self.of[address], self.numbers[address] = Executed(operation, *arrays), number

    def note(self, operation: Operation, words: Words, at: Moment) -> None:
        """Note an execution with its words (registers, G, 32)."""
        known, rows = self.of[operation.instruction.address], at.rows
        moved = words - known.words[:, rows]
        alike = ((moved == known.moved[:, rows]) | ~at.executing).all(axis=(0, 2))
        known.steady[rows] = alike & (at.executing == known.lanes[rows]).all(axis=1)
        known.words[:, rows], known.moved[:, rows], known.lanes[rows] = words, moved, at.executing
        known.times[rows] += 1
