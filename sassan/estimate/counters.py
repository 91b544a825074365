"""Counters in memory from which blocks take their next piece of work: what an atomic sum returns if all blocks take theirs in turn.

Which block gets which piece, the order of a run decides. Where all pieces take equally long it is this one: block b of n gets the values
b, n + b, 2 n + b, ... of the counter.
"""

from dataclasses import dataclass, field
from math import prod

import numpy as np

from sassan.ir import Memory, Register
from sassan.simt.code import Operation, number
from sassan.simt.integer_work import GroupOperation, Longs, UnknownError, WarpInputs
from sassan.simt.loads import place_of
from sassan.simt.values import Moment, Words

TURNS = "blocks take values of a counter in memory in turn"
_ATOMS = frozenset({"ATOM", "ATOMG"})
_PLAIN = frozenset({"E", "ADD", "S32", "STRONG", "GPU", "SYS", "CTA", "SM"})
_AXES = ("X", "Y", "Z")


def is_counter(operation: Operation) -> bool:
    """Say whether an operation adds a word to one in memory and returns what was there."""
    name, *modifiers = operation.instruction.opcode.split(".")
    return name in _ATOMS and "ADD" in modifiers and _PLAIN.issuperset(modifiers)


@dataclass(slots=True)
class Counters:
    """The counters of the warps of a place; `taken` is how often each warp has taken a value."""

    place: WarpInputs
    taken: Longs = field(init=False)
    _blocks: int = field(init=False)
    _numbers: Longs = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing taken."""
        self.taken = np.zeros(len(self.place), np.uint64)
        extents = [self.place.special[f"SR_NCTAID.{axis}"][:, 0].astype(np.uint64) for axis in _AXES]
        x, y, z = (self.place.special[f"SR_CTAID.{axis}"][:, 0].astype(np.uint64) for axis in _AXES)
        self._numbers = x + extents[0] * (y + extents[1] * z)
        self._blocks = prod(int(extent.max(initial=1)) for extent in extents)

    def value(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> Words | None:
        """Return what an atomic sum of one thread of each warp returns (G, 32); None where that is not known."""
        contents = self.place.contents
        operands = operation.instruction.operands
        memory = next((index for index, operand in enumerate(operands) if isinstance(operand, Memory)), None)
        if contents is None or memory is None or memory + 1 >= len(operands) or (at.executing.sum(axis=1) > 1).any():
            return None
        added, where = operands[memory + 1], operands[memory]
        words = dict(zip(operation.reads, inputs, strict=True))
        name = number(added.file, added.index) if isinstance(added, Register) else None
        if name not in words or not isinstance(where, Memory):
            return None
        try:
            addresses = place_of(GroupOperation(operation.instruction, self.place, at.rows, words, {}), where, None)
        except (UnknownError, KeyError):
            return None
        begin, known = contents.load(addresses, 4)
        if not (known | ~at.executing).all():
            return None
        before = self.taken[at.rows] * np.uint64(self._blocks) + self._numbers[at.rows]
        self.taken[at.rows[at.executing.any(axis=1)]] += np.uint64(1)
        return (begin.astype(np.uint64) + before[:, None] * words[name].astype(np.uint64)).astype(np.uint32)
