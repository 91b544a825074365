"""Words of a thread's stack as registers: what a load or a store of known words copies, as facts of the instruction.

A word has a register number of its own (`registers.stack_word`). Where an analysis reads facts, `LDL R4, [R1+0x8]` then copies from one
register to another; the instruction stays what it is: it accesses memory, and takes what that takes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

from sassan.ir import Instruction, Register
from sassan.isa.computations import Computation, Number, Read, Write
from sassan.isa.effects import Effect
from sassan.isa.facts import Facts, WriteEffect
from sassan.isa.registers import file_of

_NOTHING = Effect("", (), (), frozenset(), frozenset())


class StackMove(NamedTuple):
    """What an instruction copies to words of the stack or from them: pairs of a target and its source (None: 0), by bit number.

    `spoiled` are the words of which nothing is known afterwards, as a set of bits.
    """

    pairs: tuple[tuple[int, int | None], ...] = ()
    spoiled: int = 0


@dataclass(frozen=True, slots=True)
class Copies(Computation):
    """The effect of an instruction that copies words as they are."""

    pairs: tuple[tuple[int, int | None], ...]

    def of(self, instruction: Instruction) -> tuple[Write, ...]:
        """Return a step for each pair, whatever the text of the instruction."""
        del instruction
        return tuple(Write((to,), str(to), Number(0) if source is None else Read(Register(*file_of(source)))) for to, source in self.pairs)


def with_move(facts: Facts, move: StackMove) -> Facts:
    """Return the facts of an instruction that also makes a move: what it copies agrees where its source does."""
    if not move.pairs and not move.spoiled:
        return facts
    copied = _union(to for to, _ in move.pairs)
    effects = [WriteEffect(1 << to, 0 if source is None else 1 << source) for to, source in move.pairs]
    other = [effect._replace(writes=effect.writes & ~copied) for effect in facts.effects if effect.writes & ~copied]
    spoiled = [WriteEffect(move.spoiled & ~copied, None)] if move.spoiled & ~copied else []
    read = facts.reads | _union(source for _, source in move.pairs if source is not None)
    computes = Copies(_NOTHING, {}, move.pairs) if move.pairs else facts.computes
    return facts._replace(reads=read, effects=(*effects, *other, *spoiled), computes=computes)


def _union(numbers: Iterable[int]) -> int:
    return reduce(or_, (1 << number for number in numbers), 0)
