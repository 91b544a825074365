"""What integer instructions really compute: `Values` for the operations that decide how often a loop iterates.

Whatever is not listed (memory, half precision, and forms without a rule) draws a word for each run, thread and moment: such a
run is one that could be, for some contents of memory. Words are 32 bits; the carry flag until Pascal is bit 0 of CC, the zero flag bit 1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sassan.simt import cross_lane, floats, integer_arithmetic, integer_logic, integer_moves
from sassan.simt.code import Operation
from sassan.simt.integer_work import GroupOperation, Longs, UnknownError, WarpInputs
from sassan.simt.loads import LOADS, load
from sassan.simt.micro_operations import MicroOperation, Translator
from sassan.simt.micro_rules import drawn
from sassan.simt.values import LANES, ONE_COPY, PREDICATES, Moment, Rows, Truth, Words, key, stir

if TYPE_CHECKING:
    from sassan.simt.history import History

_OPERATIONS: Mapping[str, Callable[[GroupOperation], None]] = {
    **integer_moves.OPERATIONS,
    **integer_arithmetic.OPERATIONS,
    **integer_logic.OPERATIONS,
    **floats.OPERATIONS,
    **floats.EXACT,
    **cross_lane.OPERATIONS,
}
_FLOATING = frozenset(floats.OPERATIONS)
_SMALL = 24
_MANY = 16
_WAITS = frozenset({"PHASECHK", "TRY_ALLOC"})
ZERO_TESTS: Mapping[int, bool] = {key(text): wanted for test, wanted in (("EQ", True), ("NEU", False)) for text in (test, f"CC.{test}")}
"""Tests of the flags by their key, and the zero flag under which they hold; flags of an integer result are never unordered."""


@dataclass(frozen=True, slots=True)
class Corners:
    """Words that show what few others do: `loads` by the address of what draws them and the place of the register among its results.

    `words` are those of constant bank 0, by their offset.
    """

    loads: Mapping[tuple[int, int], Words]
    words: Mapping[int, Words]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which warps find words at corners (N), and which of these the same word whenever they execute an instruction (N)."""

    corners: Corners
    where: Truth
    lasting: Truth


def at_corner(drawn: Words, some: Words, plain: Words, where: Truth) -> Words:
    """Return one of some words in place of a plain one, but for one time in eight; the first, which are nearest to a guard, more often."""
    part = (drawn >> np.uint32(12)).astype(np.uint64)
    place = part * part * np.uint64(len(some)) >> np.uint64(40)
    return np.where(where & (drawn & np.uint32(0x700) != 0), some[place], plain)


class Integers:
    """`Values` by integer arithmetic, for the warps of a place; those that are chosen find words at corners, most of the time."""

    def __init__(self, place: WarpInputs, chosen: Chosen | None = None, *, exchanges: bool = False) -> None:
        """Hold the warps; their order is that of the runs.

        `exchanges`: lanes that execute votes, shuffles and reductions do so together in every execution.
        """
        self.place = place
        self.history: History | None = None
        """Where executions are noted, if they are."""
        self.unknown: Truth | None = None
        """Which words depend on drawn ones (registers, N, 32), if that is followed."""
        self.lasting = np.zeros(len(place), np.bool_) if chosen is None else chosen.lasting
        self._exchanges = exchanges
        self._chosen = chosen

    def initial(self, registers: tuple[int, ...]) -> Words:
        """Return a word that is drawn for every register and lane of every run."""
        lanes = np.arange(LANES, dtype=np.uint32)
        out = np.empty((len(registers), len(self.place), LANES), dtype=np.uint32)
        for index, register in enumerate(registers):
            word = stir(stir(self.place.salt, np.uint32(register))[:, None], lanes * np.uint32(register not in ONE_COPY))
            out[index] = word >> np.uint32(31) if register in PREDICATES else word
        return out

    def outputs(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> tuple[Words, ...]:
        """Return one array per written register: computed, or drawn where no rule says what the operation computes."""
        return self.results(operation, inputs, at)[0]

    def results(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> tuple[tuple[Words, ...], Truth | bool]:
        """Return what `outputs` does, and in which lanes nothing of it was drawn."""
        work = self._computed(operation, inputs, at)
        known, where = self._loaded(operation, inputs, at) or (work.out, True)
        if np.all(where) and known.keys() >= set(operation.writes):
            name = operation.instruction.opcode.partition(".")[0]
            # What lanes tell each other depends on which of them come there together.
            sure = where if not work.drawn and (self._exchanges or name not in cross_lane.OPERATIONS) else False
            if name in _FLOATING and sure is not False:
                sure = np.logical_and(sure, floats.settled(work))
            return tuple(known[register].astype(np.uint32) for register in operation.writes), sure
        drawn = self._drawn(operation, dict(zip(operation.reads, inputs, strict=True)), at)
        if not known and len(operation.writes) > _MANY:
            # Products write up to 128 registers: one word stands for all of them.
            word = self._one(operation.writes[0], drawn, operation, 0, at)
            return (word,) * len(operation.writes), False
        words: list[Words] = []
        for place, register in enumerate(operation.writes):
            drawn_word = self._one(register, stir(drawn, np.uint32(place)), operation, place, at)
            words.append(np.where(where, known[register].astype(np.uint32), drawn_word) if register in known else drawn_word)
        return tuple(words), where if known.keys() >= set(operation.writes) else False

    def _loaded(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> tuple[Mapping[int, Longs], Truth] | None:
        """Return what an operation loads of memory whose contents are known, and in which lanes; None where it loads none."""
        contents = self.place.contents
        if contents is None or operation.instruction.opcode.partition(".")[0] not in LOADS:
            return None
        work = GroupOperation(operation.instruction, self.place, at.rows, dict(zip(operation.reads, inputs, strict=True)), {})
        try:
            where = load(work, contents)
        except (UnknownError, KeyError):
            return None
        if (where | ~at.executing).all():
            where = np.ones_like(where)
        return (work.out, where) if where.any() else None

    def computed(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> Mapping[int, Longs]:
        """Return what the rules compute of the inputs, by register; nothing where no rule covers the form."""
        return self._computed(operation, inputs, at).out

    def _computed(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> GroupOperation:
        work = GroupOperation(operation.instruction, self.place, at.rows, dict(zip(operation.reads, inputs, strict=True)), {}, at.executing)
        compute = _OPERATIONS.get(operation.instruction.opcode.partition(".")[0])
        if compute is not None:
            try:
                compute(work)
            except (UnknownError, ValueError, KeyError):
                work.out.clear()
        return work

    def _drawn(self, operation: Operation, inputs: Mapping[int, Words], at: Moment) -> Words:
        """Return words for an execution: one per address where it loads, as the graph assumes."""
        time = at.time if self._chosen is None else np.where(self._chosen.lasting[at.rows], np.uint32(0), at.time)
        state = stir(stir(self.place.salt[at.rows], np.uint32(operation.instruction.address)), time)[:, None]
        if operation.agreeing is None:
            return stir(state, np.arange(LANES, dtype=np.uint32))
        for register in operation.agreeing:
            state = stir(state, inputs[register])
        return np.broadcast_to(state, (len(at.rows), LANES))

    def known(self, register: int, rows: Rows) -> Truth | bool:
        """Return that every word may: it is not followed which are drawn."""
        del register, rows
        return True

    def note_load(self, operation: Operation, inputs: tuple[Words, ...], words: tuple[Words, ...], at: Moment) -> None:
        """Do nothing: what is found needs no word."""

    def drawn_row(self, rows: Translator, operation: Operation) -> MicroOperation | None:
        """Return the row of an operation whose words are drawn whatever it reads, None where it has none."""
        name, *modifiers = operation.instruction.opcode.split(".")
        if name in _OPERATIONS or name == "ELECT" or not _WAITS.isdisjoint(modifiers):
            return None
        if name in LOADS and self.place.contents is not None:
            return None
        some = () if self._chosen is None else self._chosen.corners.loads
        if any((operation.instruction.address, place) in some for place in range(len(operation.writes))):
            return None
        return drawn(rows, operation, together=len(operation.writes) > _MANY)

    def count_drawn(self, rows: Rows, choices: int) -> None:
        """Do nothing: choices by drawn words are not counted."""

    def _one(self, register: int, word: Words, operation: Operation, place: int, at: Moment) -> Words:
        """Return a drawn word: small every other time, as counts and indices in memory are; or one at a corner."""
        if register in PREDICATES:
            return word >> np.uint32(31)
        plain = np.where(word & np.uint32(64), word % np.uint32(_SMALL), word).astype(np.uint32)
        some = None if self._chosen is None else self._chosen.corners.loads.get((operation.instruction.address, place))
        if self._chosen is None or some is None:
            return plain
        return at_corner(word, some, plain, self._chosen.where[at.rows, None])

    def holds(self, test: int, flags: Words, at: Moment) -> Truth:
        """Return whether the result that set the flags is zero, or not; any other test is drawn."""
        if test in ZERO_TESTS:
            return np.asarray((flags & np.uint32(2) != 0) == ZERO_TESTS[test])
        return np.asarray(stir(stir(self.place.salt[at.rows], np.uint32(test)), at.time)[:, None] + flags > np.uint32(1 << 31))

    def choose(self, selector: int, inputs: tuple[Words, ...], count: int, at: Moment) -> Rows:
        """Return a target that is drawn."""
        state = stir(stir(self.place.salt[at.rows], np.uint32(selector)), at.time)[:, None]
        for word in inputs:
            state = stir(state, word)
        return (stir(state, np.uint32(1)) % np.uint32(count)).astype(np.intp)

    def coin(self, at: Moment) -> Words:
        """Return a word that is drawn."""
        return stir(stir(self.place.salt[at.rows], at.time), np.uint32(key("coin")))
