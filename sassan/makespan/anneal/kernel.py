"""The compiled annealing chain: what plain.py says, placing about a hundred million instructions per second.

Per unit, and for the issue limit, a row of bits says which slots have room: the earliest slot of Figure 4 is one count of trailing
zeros. Evaluation starts at the first changed index (makespan-annealing-2013, VII): the state of the construction there comes from one of
16 checkpoints along the string and the warp cycle string from the checkpoint on. Importing this module imports the compiler.

All compiled functions are in this one file: what is kept on disk is compiled anew when its own file changes, and only then.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from sassan.makespan.anneal.plain import Chain, Move, Plan, Rule
from sassan.makespan.jit import inner, unchecked
from sassan.makespan.start import Instance

F = TypeVar("F", bound=Callable[..., Any])
Array = NDArray[Any]
Word = Any
"""A machine word in compiled code: 64 bits, without a sign where bits are meant."""

_CHECKPOINTS = 16
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_WORD = np.uint64(6)
_BIT = np.uint64(63)
_SIZE = np.uint64(64)
_ONE = np.uint64(1)
_NONE = np.uint64(0)
_START = np.int64(0)
"""Of a type, where 0 would be a type of its own and compile everything once more."""
_SWAP, _INSERT, _WARP = int(Move.SWAP), int(Move.INSERT), int(Move.WARP)
_EQUATION_3 = int(Rule.EQUATION_3)


class Table(NamedTuple):
    """The instance: unit numbers of all warps one after the other, where each warp's begin (and the last ends), the room of a slot.

    `room` is per unit; its last entry is the issue limit.
    """

    units: Array
    begin: Array
    room: Array


class Build(NamedTuple):
    """A schedule under construction; `width` is the number of units and 1 for the issue limit.

    `left[slot * width + unit]` is the room that is left, bit `slot % 64` of `free[slot // 64 * width + unit]` says whether there is any.
    `early[w]` is the first slot in which warp `w` can go on, `at[w]` the index of its next instruction in `Table.units`.
    """

    left: Array
    free: Array
    early: Array
    at: Array


class Line(NamedTuple):
    """A warp pseudo-precedence string and its warp cycle string."""

    row: Array
    slots: Array


class Marks(NamedTuple):
    """Copies of a `Build` at regular places of the string, one per row; rows 0 to `valid[0]` belong to the current string."""

    left: Array
    free: Array
    early: Array
    at: Array
    valid: Array


class Memory(NamedTuple):
    """All that one chain works on besides its string."""

    table: Table
    build: Build
    marks: Marks


class Order(NamedTuple):
    """Which candidates of a plan to draw (`first` to `end` - 1), and the best makespan so far."""

    moves: Array
    iterations: int
    temperature: float
    rule: int
    lateness: int
    first: int
    end: int
    best: int


def memory_of(case: Instance) -> Memory:
    """Return the arrays of one chain, with checkpoint 0 (nothing placed yet) filled in."""
    room = np.array([*case.capacity, case.issue], np.int16)
    begin = np.cumsum([0, *(len(one) for one in case.units)], dtype=np.int64)
    table = Table(np.fromiter((unit for one in case.units for unit in one), np.uint8, case.total), begin, room)
    words = case.horizon // 64 + 1
    build = Build(
        np.tile(room, case.horizon), np.full(words * room.size, _ALL), np.zeros(case.warps, np.uint32), begin[:-1].astype(np.uint32)
    )
    left, free, early, at = (np.empty((_CHECKPOINTS + 1, one.size), one.dtype) for one in build)
    marks = Marks(left, free, early, at, np.zeros(1, np.int64))
    for rows, one in zip(marks, build, strict=False):
        rows[0] = one
    return Memory(table, build, marks)


def _trailing_zeros(typing: object, word: object) -> object:
    del typing, word

    def code(context: object, builder: Any, signature: object, arguments: Any) -> Any:  # noqa: ANN401  # the compiler has no types
        del context, signature
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.uint64(types.uint64), code


trailing_zeros = cast("Callable[[Word], Word]", intrinsic(_trailing_zeros))
"""The number of zero bits below the lowest set bit of a word that is not 0."""


@inner
def draw(random: Array) -> Word:
    """Return 64 random bits (xorshift64*)."""
    word = random[0]
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    random[0] = word
    return word * np.uint64(0x2545F4914F6CDD1D)


@inner
def below(random: Array, count: Word) -> Word:
    """Return a number from 0 to `count` - 1."""
    return np.int64(((draw(random) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@inner
def uniform(random: Array) -> float:
    """Return a number in [0, 1)."""
    return np.float64(draw(random) >> np.uint64(11)) * 2.0**-53


@inner
def take(left: Array, free: Array, slot: Word, width: Word, unit: Word) -> None:
    """Take room for one instruction in a slot of a unit."""
    rest = left[slot * width + unit] - 1
    left[slot * width + unit] = rest
    free[(slot >> _WORD) * width + unit] ^= _ONE << (slot & _BIT) if rest == 0 else _NONE


@inner
def place(table: Table, build: Build, line: Line, first: Word) -> None:
    """Place the instructions of `line` from index `first` on, each in its earliest slot (Figure 4), and note the slots."""
    left, free, early, at = build
    row, slots = line
    width = np.uint64(table.room.size)
    issue = width - _ONE
    for index in range(np.uint64(first), np.uint64(row.size)):
        warp = row[index]
        here = at[warp]
        unit = np.uint64(table.units[here])
        at[warp] = here + _ONE
        slot = np.uint64(early[warp])
        word = (slot >> _WORD) * width
        bits = free[word + unit] & free[word + issue] & (_ALL << (slot & _BIT))
        slot &= ~_BIT
        while bits == _NONE:
            word += width
            slot += _SIZE
            bits = free[word + unit] & free[word + issue]
        slot += trailing_zeros(bits)
        slots[index] = slot
        early[warp] = slot + _ONE
        take(left, free, slot, width, unit)
        take(left, free, slot, width, issue)


@inner
def replay(table: Table, build: Build, line: Line, first: Word, end: Word) -> None:
    """Place the instructions from `first` to `end` - 1 in the slots that the warp cycle string already names."""
    left, free, early, at = build
    row, slots = line
    width = np.uint64(table.room.size)
    for index in range(np.uint64(first), np.uint64(end)):
        warp = row[index]
        here = at[warp]
        at[warp] = here + _ONE
        slot = np.uint64(slots[index])
        early[warp] = slot + _ONE
        take(left, free, slot, width, np.uint64(table.units[here]))
        take(left, free, slot, width, width - _ONE)


@inner
def copy(into: Array, source: Array, first: Word) -> None:
    """Copy the entries from `first` on; an index without sign needs no look at whether it is negative, and the loop becomes one move."""
    for index in range(np.uint64(first), np.uint64(into.size)):
        into[index] = source[index]


@inner
def recall(table: Table, build: Build, marks: Marks, line: Line, first: Word) -> None:
    """Bring `build` to where the first `first` instructions of the current string are placed, and add the checkpoints passed."""
    step = (line.row.size + _CHECKPOINTS - 1) // _CHECKPOINTS
    mark = min(marks.valid[0], first // step)
    copy(build.left, marks.left[mark], _START)
    copy(build.free, marks.free[mark], _START)
    copy(build.early, marks.early[mark], _START)
    copy(build.at, marks.at[mark], _START)
    while (mark + 1) * step <= first:
        replay(table, build, line, mark * step, (mark + 1) * step)
        mark += 1
        copy(marks.left[mark], build.left, _START)
        copy(marks.free[mark], build.free, _START)
        copy(marks.early[mark], build.early, _START)
        copy(marks.at[mark], build.at, _START)
        marks.valid[0] = mark
    replay(table, build, line, mark * step, first)


@inner
def reached(build: Build) -> Word:
    """Return the makespan of what is placed."""
    found = np.uint32(0)
    for warp in range(np.uint64(build.early.size)):
        found = max(found, build.early[warp])
    return np.int64(found)


@inner
def lateness(slots: Array, found: Array, first: Word, before: Word) -> Word:
    """Return the sum of all slots where those from index `first` on change from `slots` to `found`; `before` is the sum now.

    A sum of 0 is not known yet: then all of `found` is added up.
    """
    total = before
    for index in range(np.uint64(first), np.uint64(found.size)):
        total += np.int64(found[index]) - (np.int64(slots[index]) if before else np.int64(0))
    return total


@inner
def accepts(order: Order, drop: Word, temperature: Word, random: Array) -> Word:
    """Draw whether a candidate whose score is `drop` slots lower is accepted."""
    if order.rule == _EQUATION_3:
        return uniform(random) * drop < temperature
    return uniform(random) * temperature < temperature - drop


@inner
def swap(row: Array, random: Array) -> Word:
    """Exchange two places of `row`; return the first of them, as every move returns a place before which nothing changed."""
    one = below(random, row.size)
    other = below(random, row.size)
    row[one], row[other] = row[other], row[one]
    return min(one, other)


@inner
def shift(row: Array, taken: Word, put: Word, size: Word, spare: Array) -> Word:
    """Move `size` entries from `taken` so that they begin at `put`."""
    for index in range(size):
        spare[index] = row[taken + index]
    for index in range(taken, put):
        row[index] = row[index + size]
    for index in range(taken - 1, put - 1, -1):
        row[index + size] = row[index]
    for index in range(size):
        row[put + index] = spare[index]
    return min(taken, put)


@inner
def gather(row: Array, table: Table, random: Array, spare: Array) -> Word:
    """Keep some first instructions of a warp, and put all of its others together at a later place."""
    warp = below(random, table.begin.size - 1)
    length = table.begin[warp + 1] - table.begin[warp]
    if length == 0:
        return row.size
    kept = below(random, length)
    first = 0
    seen = 0
    while row[first] != warp or seen < kept:
        seen += row[first] == warp
        first += 1
    others = 0
    for index in range(first, row.size):
        if row[index] != warp:
            spare[others] = row[index]
            others += 1
    before = below(random, others + 1)
    for index in range(before):
        row[first + index] = spare[index]
    for index in range(length - kept):
        row[first + before + index] = warp
    for index in range(before, others):
        row[first + length - kept + index] = spare[index]
    return first


@inner
def propose(row: Array, table: Table, random: Array, spare: Array, move: Word) -> Word:
    """Change `row` into a neighbour; return a place before which nothing changed."""
    if move == _SWAP:
        return swap(row, random)
    if move == _INSERT:
        taken = below(random, row.size)
        return shift(row, taken, below(random, row.size), np.int64(1), spare)
    if move == _WARP:
        return gather(row, table, random, spare)
    size = 1 + below(random, min(row.size - 1, 3 * (table.begin.size - 1)))
    taken = below(random, row.size - size + 1)
    return shift(row, taken, below(random, row.size - size + 1), size, spare)


@unchecked
def advance(memory: Memory, order: Order, row: Array, random: Array, counts: Array) -> Word:
    """Draw the candidates of `order`, or fewer when one is better than `order.best`; return the makespan of `row` then.

    `counts` grows by candidates drawn, evaluations, placements, candidates accepted.
    """
    table, build, marks = memory
    total = row.size
    line = Line(row, np.zeros(total, np.uint32))
    found = Line(row.copy(), np.zeros(total, np.uint32))
    spare = row.copy()
    recall(table, build, marks, line, _START)
    place(table, build, line, _START)
    makespan = reached(build)
    late = np.int64(0)
    if order.lateness:
        late = lateness(line.slots, line.slots, _START, late)
    value = makespan * total + order.lateness * late
    step = (total + _CHECKPOINTS - 1) // _CHECKPOINTS
    for iteration in range(order.first, order.end):
        if makespan > order.best:
            break
        counts[0] += 1
        changed = propose(found.row, table, random, spare, order.moves[below(random, order.moves.size)])
        while changed < total and found.row[changed] == row[changed]:
            changed += 1
        if changed == total:
            continue
        recall(table, build, marks, line, changed)
        place(table, build, found, changed)
        length = reached(build)
        later = late
        if order.lateness:
            later = lateness(line.slots, found.slots, changed, late)
        score = length * total + order.lateness * later
        counts[1] += 1
        counts[2] += total - changed
        temperature = order.temperature * (1.0 - iteration / order.iterations)
        if score >= value or accepts(order, (value - score) / total, temperature, random):
            counts[3] += 1
            makespan, value, late = length, score, later
            copy(row, found.row, changed)
            copy(line.slots, found.slots, changed)
            marks.valid[0] = min(marks.valid[0], changed // step)
        else:
            copy(found.row, row, changed)
    return makespan


def run(case: Instance, plan: Plan, state: Chain, count: int) -> Chain:
    """Do what `plain.advance` does."""
    row = np.array(state.precedence, np.uint16)
    random = np.array([state.random], np.uint64)
    counts = np.zeros(4, np.int64)
    order = Order(
        np.array(plan.moves, np.int64),
        plan.iterations,
        float(plan.temperature),
        int(plan.rule),
        plan.lateness,
        state.iteration,
        min(plan.iterations, state.iteration + count),
        state.best_makespan,
    )
    makespan = int(advance(memory_of(case), order, row, random, counts))
    precedence = tuple(row.tolist())
    better = makespan > state.best_makespan
    return replace(
        state,
        random=int(random[0]),
        precedence=precedence,
        makespan=makespan,
        best=precedence if better else state.best,
        best_makespan=max(makespan, state.best_makespan),
        iteration=state.iteration + int(counts[0]),
        evaluations=state.evaluations + int(counts[1]),
        placements=state.placements + int(counts[2]),
        accepted=state.accepted + int(counts[3]),
    )
