"""Operations that decide where control goes, looked at while warps run: how their words move from one iteration of a loop to the next.

Where every one of them computes a sum, a product with a constant or a comparison, or reads what does not move, and every word has moved
twice by the same amount, an iteration is an affine map x -> Mx + c with Md = d for the last step d: all further iterations move by d, too,
until a comparison comes out otherwise or a sum wraps. How many these are at least follows from the words. What is drawn decides nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sassan.estimate.ordinary import of_ordinary_numbers
from sassan.estimate.untimed import over
from sassan.ir import Immediate, Operand, Register
from sassan.isa.registers import bit
from sassan.simt.code import ExecutableFunction, LocalAccess, Operation, Unity
from sassan.simt.history import Executed, History
from sassan.simt.integer_work import GroupOperation, Longs, UnknownError, WarpInputs, is_truth, numbers, split
from sassan.simt.integers import Integers
from sassan.simt.values import LANES, PREDICATES, Moment, Rows, Truth, Words, stir

Counts = npt.NDArray[np.int64]
NEVER = 1 << 40
"""Iterations after which nothing comes out otherwise."""
_SUMS = frozenset(
    (
        *("IADD", "IADD3", "IADD32I", "VIADD", "UIADD3", "MOV", "MOV32I", "UMOV", "R2UR", "SEL", "USEL"),
        *("IMAD", "UIMAD", "IMAD32I", "IMUL", "IMUL32I", "LEA", "ULEA", "ISCADD", "ISCADD32I", "SHL"),
    )
)
_OF_NUMBERS = frozenset(("FSETP", "DSETP"))
_COMPARISONS = frozenset(("ISETP", "UISETP", "ISET", "IMNMX", "UIMNMX", "VIMNMX"))
_FLAGS = frozenset({*PREDICATES, bit("CC", 0).bit_length() - 1})


@dataclass(frozen=True, slots=True)
class Ahead:
    """So many further iterations of warps are like the last one; `exact` where that is proved."""

    iterations: Counts
    exact: Truth


class Deciding(Integers):
    """`Integers` that note the executions of operations; `drawn` counts choices by drawn words (N)."""

    def __init__(self, place: WarpInputs, whole: ExecutableFunction, code: ExecutableFunction) -> None:
        """Hold the warps that run `whole`; the operations of `code`, a part of it, decide where control goes."""
        super().__init__(place)
        # Which side of a divergent branch runs first decides nothing; whether all threads take an open branch does.
        self._coins = any(block.control is not None and block.control.unity is Unity.OPEN for block in code.blocks)
        self.history = self._noted = History([each for block in code.blocks for each in block.operations], len(place))
        self._slots = {register: slot for slot, register in enumerate(whole.registers)}
        every = [each for block in whole.blocks for each in block.operations]
        if any(_name(each) in _OF_NUMBERS or isinstance(each.exact, LocalAccess) for each in every):
            self.unknown = np.zeros((len(whole.registers), len(place), LANES), np.bool_)
        self._found = np.zeros(len(self._noted.times), np.bool_)
        """Which operations found known words in shared memory: those of one iteration say nothing of the next."""
        self.drawn = np.zeros(len(place), np.int64)
        self._usual: dict[int, tuple[bool, ...] | None] = {}
        self._drew = False

    def outputs(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> tuple[Words, ...]:
        """Return what `Integers` do, and note it."""
        self._drew = False
        known = over(operation, at)
        out = known if known is not None else super().outputs(operation, inputs, at)
        if self.unknown is not None and known is None:
            out = self._followed(operation, inputs, out, at, self.unknown)
        if operation.instruction.address in self._noted.of:
            if self._drew:
                self.drawn[at.rows] += 1
                return out  # no iteration with a choice by drawn words is exact
            self._note(operation, (*inputs, *out), at)
        return out

    def count_drawn(self, rows: Rows, choices: int) -> None:
        """Count choices by drawn words."""
        self.drawn[rows] += choices

    def known(self, register: int, rows: Rows) -> Truth | bool:
        """Return in which lanes the word of a register depends on none that is drawn."""
        return True if self.unknown is None else ~self.unknown[self._slots[register], rows]

    def note_load(self, operation: Operation, inputs: tuple[Words, ...], words: tuple[Words, ...], at: Moment) -> None:
        """Note what an operation found in shared memory."""
        if self.unknown is not None:
            for register in operation.writes:
                slot = self._slots[register]
                self.unknown[slot, at.rows] &= ~at.executing
        if operation.instruction.address in self._noted.of:
            self._found[self._noted.numbers[operation.instruction.address]] = True
            self._note(operation, (*inputs, *words), at)

    def _note(self, operation: Operation, words: tuple[Words, ...], at: Moment) -> None:
        """Note what an operation read and wrote; one that stores zeros at a constant address does neither."""
        shape = at.executing.shape
        stacked = np.stack([np.broadcast_to(each, shape) for each in words]) if words else np.zeros((0, *shape), np.uint32)
        self._noted.note(operation, stacked, at)

    def _followed(
        self, operation: Operation, inputs: tuple[Words, ...], out: tuple[Words, ...], at: Moment, followed: Truth
    ) -> tuple[Words, ...]:
        """Return what an operation writes: a comparison of numbers that depend on what is drawn comes out either way, or as is usual.

        A word that is drawn from all bits is not a number that a program computes with: nearly all comparisons with it come out alike.
        """
        if self._drew and _name(operation) not in _OF_NUMBERS:
            for register in operation.writes:
                followed[self._slots[register], at.rows] |= at.executing
            return out
        known = [followed[self._slots[register], at.rows] for register in (*operation.gathered, *operation.reads)]
        unknown = np.logical_or.reduce([np.full(at.executing.shape, self._drew), *known])
        if _name(operation) in _OF_NUMBERS and unknown.any():
            drawn = self._drawn(operation, dict(zip(operation.reads, inputs, strict=True)), at)
            coins = [
                self._one(register, stir(drawn, np.uint32(place)), operation, place, at) for place, register in enumerate(operation.writes)
            ]
            if (usual := self._usual_result(operation)) is not None:
                coins = [np.full_like(coin, result) for coin, result in zip(coins, usual, strict=False)]
            out = tuple(np.where(unknown, coin, word) for coin, word in zip(coins, out, strict=True))
        for register in operation.writes:
            slot = self._slots[register]
            followed[slot, at.rows] = np.where(at.executing, unknown, followed[slot, at.rows])
        return out

    def _usual_result(self, operation: Operation) -> tuple[bool, ...] | None:
        """Return what a comparison says of all ordinary numbers, in the order of its writes; None where that is open."""
        address = operation.instruction.address
        if address not in self._usual:
            results = of_ordinary_numbers(operation.instruction)
            targets = operation.instruction.operands[:2]
            written = [at for at, each in enumerate(targets) if isinstance(each, Register) and each.index is not None]
            self._usual[address] = None if results is None else tuple(results[at] for at in written)
        return self._usual[address]

    def _drawn(self, operation: Operation, inputs: Mapping[int, Words], at: Moment) -> Words:
        self._drew = True
        return super()._drawn(operation, inputs, at)

    def holds(self, test: int, flags: Words, at: Moment) -> Truth:
        """Return what `Integers` do; no flag is followed."""
        self.drawn[at.rows] += 1
        return super().holds(test, flags, at)

    def choose(self, selector: int, inputs: tuple[Words, ...], count: int, at: Moment) -> Rows:
        """Return a target that is drawn."""
        self.drawn[at.rows] += 1
        return super().choose(selector, inputs, count, at)

    def coin(self, at: Moment) -> Words:
        """Return a word that is drawn."""
        self.drawn[at.rows] += self._coins
        return super().coin(at)

    @property
    def times(self) -> Counts:
        """How often each warp has executed each operation so far (operations, N)."""
        return self._noted.times

    def ahead(self, rows: Rows, before: Counts, drawn: Counts, *, guess: bool) -> Ahead:
        """Return how many iterations are alike, of warps of which that is exact, or of all if it may be a `guess`.

        A guess ends where a comparison comes out otherwise: that a word wraps around ends no loop.
        `before` the last iteration, the warps had executed operations so often (operations, G), and `drawn` words.
        """
        out, exact = np.full(len(rows), NEVER, np.int64), self.drawn[rows] == drawn
        several = self._noted.times[:, rows] - before
        once = (several == 1) & self._noted.steady[:, rows]
        exact &= ((several == 0) | once).all(axis=0)
        out[(self._found[:, None] & (several > 0)).any(axis=0)] = 0
        looked_at = once & (exact | guess)
        turns = np.full(len(rows), NEVER, np.int64)
        operations = list(self._noted.of.values())
        for number in np.flatnonzero(looked_at.any(axis=1)):
            known = operations[number]
            followed = np.flatnonzero(looked_at[number])
            moves = (known.moved[:, rows[followed]] != 0).any(axis=0) & known.lanes[rows[followed]]
            moving = moves.any(axis=1)
            some = followed[moving]
            if len(some):
                limit, turn = self._limit(known, rows[some], moves[moving])
                exact[some] &= limit >= 0
                out[some] = np.where(limit >= 0, np.minimum(out[some], limit), out[some])
                turns[some] = np.minimum(turns[some], turn)
        return Ahead(np.where(exact | (turns < NEVER), out, 0), exact)

    def _limit(self, known: Executed, rows: Rows, moves: Truth) -> tuple[Counts, Counts]:
        """Return how often an operation does the same as in its last execution, with words that move in some lanes; -1: not known.

        And after how many iterations a comparison comes out otherwise, `NEVER` where it does not.
        """
        name = known.operation.instruction.opcode.partition(".")[0]
        unknown, never = np.full(len(rows), -1, np.int64), np.full((len(rows), LANES), NEVER, np.int64)
        if name not in _SUMS | _COMPARISONS:
            return unknown, never[:, 0]
        now, then = self._work(known, rows, 0), self._work(known, rows, 1)
        try:
            each, turn = _compared(now, then) if name in _COMPARISONS else (_summed(known, now, then), never)
        except (UnknownError, ValueError, IndexError):
            return unknown, never[:, 0]
        limit, turns = (np.asarray(np.where(moves, some, NEVER).min(axis=1), np.int64) for some in (each, turn))
        return limit, turns

    def _work(self, known: Executed, rows: Rows, earlier: int) -> GroupOperation:
        """Return an operation with the words of its last execution, or of the one before."""
        words = known.words[:, rows] - np.uint32(earlier) * known.moved[:, rows]
        registers = (*known.operation.gathered, *known.operation.reads, *known.operation.writes)
        # A register that is read and written holds first the one, then the other.
        inputs = dict(reversed(list(zip(registers, words, strict=True))))
        out = dict(zip(known.operation.writes, words[len(words) - len(known.operation.writes) :].astype(np.uint64), strict=True))
        return GroupOperation(known.operation.instruction, self.place, rows, inputs, out)


def _name(operation: Operation) -> str:
    return operation.instruction.opcode.partition(".")[0]


def _summed(known: Executed, now: GroupOperation, then: GroupOperation) -> Counts:
    """Return for how long a sum carries as before: NEVER where nothing holds the carry, and no word follows."""
    name = now.instruction.opcode.partition(".")[0]
    if now.modifiers & {"HI", "SX32"} or (name == "SHL" and not isinstance(now.instruction.operands[2], Immediate)):
        raise UnknownError
    limit = np.full((len(now.rows), LANES), NEVER, np.int64)
    if _FLAGS.isdisjoint(known.operation.writes) and not now.modifiers & {"64", "WIDE"}:
        return limit
    if name not in {"IADD", "IADD3", "UIADD3", "IMAD", "UIMAD"}:
        raise UnknownError
    _, _, words, _ = split(now.instruction.operands)
    for word in words:
        limit = np.minimum(limit, _unwrapped(now.word(word), then.word(word)))
    for register in set(known.operation.writes) - _FLAGS:
        limit = np.minimum(limit, _unwrapped(now.out[register], then.out[register]))
    return limit


def _compared(now: GroupOperation, then: GroupOperation) -> tuple[Counts, Counts]:
    """Return for how long a comparison comes out as before: until the difference of both sides changes its sign, or one of them wraps.

    And until when the difference changes its sign, `NEVER` where it does not.
    """
    left, right = _sides(now)
    a, b = now.word(left), now.word(right)
    was_a, was_b = then.word(left), then.word(right)
    limit = np.minimum(_unwrapped(a, was_a), _unwrapped(b, was_b))
    if now.modifiers & {"U64", "S64"}:
        raise UnknownError
    apart = numbers(a, now.signed) - numbers(b, now.signed)
    step = apart - (numbers(was_a, now.signed) - numbers(was_b, now.signed))
    nearer = np.where(apart < 0, step > 0, step < 0) & (apart != 0)
    least = np.where(nearer, (abs(apart) - 1) // np.maximum(abs(step), 1), NEVER)
    turn = np.asarray(np.where((apart == 0) & (step != 0), 0, least), np.int64)
    return np.asarray(np.minimum(limit, turn), np.int64), turn


def _sides(work: GroupOperation) -> tuple[Operand, Operand]:
    words = [operand for operand in work.instruction.operands if not is_truth(operand)]
    name = work.instruction.opcode.partition(".")[0]
    if name not in {"ISETP", "UISETP"}:
        del words[0]  # the destination
    left, right = words
    return left, right


def _unwrapped(now: Longs, then: Longs) -> Counts:
    """Return how often words move on as they did without a step over a border of signed or of unsigned numbers; 0 where they just did."""
    half = np.int64(1 << 31)
    word = now.astype(np.int64)
    step = (now - then).astype(np.uint32).view(np.int32).astype(np.int64)
    place = word & (half - 1)
    space = np.where(step > 0, half - 1 - place, np.maximum(place - 1, 0)) // np.maximum(abs(step), 1)
    same = (word - step) // half == word // half
    return np.asarray(np.where(step == 0, NEVER, np.where(same, space, 0)), np.int64)
