"""The compiled annealing chain: the algorithm of plain.py, which places about a hundred million instructions per second.

Per unit, and for the issue limit, a row of bits marks the slots with capacity left: the earliest slot of Figure 4 is one count of
trailing zeros. Evaluation starts at the first changed index (Berezovskyi et al. 2013, VII): the state of the construction there comes
from one of 16 checkpoints along the string and the warp cycle string from the checkpoint on. Importing this module imports the compiler.

All compiled functions are in this one file: numba's disk cache recompiles a function only when its own file changes.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sassan.jit.bits import trailing_zeros
from sassan.jit.decorators import inner, unchecked
from sassan.makespan.anneal.plain import AcceptanceRule, AnnealingPlan, Chain, Move
from sassan.makespan.start import NumberedProblem

Array = NDArray[Any]
Word = Any
"""A machine word in compiled code: 64 bits, unsigned where it holds bits."""

_CHECKPOINTS = 16
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_WORD = np.uint64(6)
_BIT = np.uint64(63)
_SIZE = np.uint64(64)
_ONE = np.uint64(1)
_NONE = np.uint64(0)
_START = np.int64(0)
"""A typed 0: a literal has a type of its own, for which everything would be compiled again."""
_SWAP, _INSERT, _WARP = int(Move.SWAP), int(Move.INSERT), int(Move.WARP)
_EQUATION_3 = int(AcceptanceRule.EQUATION_3)


class InstanceArrays(NamedTuple):
    """The instance: unit numbers of all warps concatenated, the index where each warp begins (and the last ends), the capacities.

    `capacity` is per unit; its last entry is the issue limit.
    """

    units: Array
    begin: Array
    capacity: Array


class Placement(NamedTuple):
    """A schedule under construction; `width` is the number of units and 1 for the issue limit.

    `left[slot * width + unit]` is the capacity left; bit `slot % 64` of `free[slot // 64 * width + unit]` is set if it is above 0.
    `early[w]` is the first slot in which warp `w` can continue, `at[w]` the index of its next instruction in `InstanceArrays.units`.
    """

    left: Array
    free: Array
    early: Array
    at: Array


class OrderArrays(NamedTuple):
    """A warp pseudo-precedence string and its warp cycle string."""

    row: Array
    slots: Array


class Checkpoints(NamedTuple):
    """Copies of a `Placement` at regular positions of the string, one per row; rows 0 to `valid[0]` belong to the current string."""

    left: Array
    free: Array
    early: Array
    at: Array
    valid: Array


class ChainArrays(NamedTuple):
    """The arrays of one chain besides its string."""

    instance: InstanceArrays
    placement: Placement
    checkpoints: Checkpoints


class CandidateRange(NamedTuple):
    """Which candidates of a plan to draw (`first` to `end` - 1), and the best makespan so far."""

    moves: Array
    iterations: int
    temperature: float
    rule: int
    lateness: int
    first: int
    end: int
    best: int


def arrays_of(case: NumberedProblem) -> ChainArrays:
    """Return the arrays of one chain, with checkpoint 0 (nothing placed yet) filled in."""
    capacity = np.array([*case.capacity, case.issue], np.int16)
    begin = np.cumsum([0, *(len(units) for units in case.units)], dtype=np.int64)
    instance = InstanceArrays(np.fromiter((unit for units in case.units for unit in units), np.uint8, case.total), begin, capacity)
    words = case.horizon // 64 + 1
    placement = Placement(
        np.tile(capacity, case.horizon), np.full(words * capacity.size, _ALL), np.zeros(case.warps, np.uint32), begin[:-1].astype(np.uint32)
    )
    left, free, early, at = (np.empty((_CHECKPOINTS + 1, column.size), column.dtype) for column in placement)
    checkpoints = Checkpoints(left, free, early, at, np.zeros(1, np.int64))
    for rows, column in zip(checkpoints, placement, strict=False):
        rows[0] = column
    return ChainArrays(instance, placement, checkpoints)


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
    """Use the capacity of a unit for one instruction in a slot."""
    rest = left[slot * width + unit] - 1
    left[slot * width + unit] = rest
    free[(slot >> _WORD) * width + unit] ^= _ONE << (slot & _BIT) if rest == 0 else _NONE


@inner
def place(instance: InstanceArrays, placement: Placement, order: OrderArrays, first: Word) -> None:
    """Place the instructions of `order` from index `first` on, each in its earliest slot (Figure 4), and write the slots."""
    left, free, early, at = placement
    row, slots = order
    width = np.uint64(instance.capacity.size)
    issue = width - _ONE
    for index in range(np.uint64(first), np.uint64(row.size)):
        warp = row[index]
        instruction = at[warp]
        unit = np.uint64(instance.units[instruction])
        at[warp] = instruction + _ONE
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
def replay(instance: InstanceArrays, placement: Placement, order: OrderArrays, first: Word, end: Word) -> None:
    """Place the instructions from `first` to `end` - 1 in the slots of the warp cycle string."""
    left, free, early, at = placement
    row, slots = order
    width = np.uint64(instance.capacity.size)
    for index in range(np.uint64(first), np.uint64(end)):
        warp = row[index]
        instruction = at[warp]
        at[warp] = instruction + _ONE
        slot = np.uint64(slots[index])
        early[warp] = slot + _ONE
        take(left, free, slot, width, np.uint64(instance.units[instruction]))
        take(left, free, slot, width, width - _ONE)


@inner
def copy(into: Array, source: Array, first: Word) -> None:
    """Copy the entries from `first` on; an unsigned index needs no test for negative values, so the loop becomes a block copy."""
    for index in range(np.uint64(first), np.uint64(into.size)):
        into[index] = source[index]


@inner
def recall(instance: InstanceArrays, placement: Placement, checkpoints: Checkpoints, order: OrderArrays, first: Word) -> None:
    """Bring `placement` to where the first `first` instructions of the current string are placed, and add the checkpoints passed."""
    step = (order.row.size + _CHECKPOINTS - 1) // _CHECKPOINTS
    mark = min(checkpoints.valid[0], first // step)
    copy(placement.left, checkpoints.left[mark], _START)
    copy(placement.free, checkpoints.free[mark], _START)
    copy(placement.early, checkpoints.early[mark], _START)
    copy(placement.at, checkpoints.at[mark], _START)
    while (mark + 1) * step <= first:
        replay(instance, placement, order, mark * step, (mark + 1) * step)
        mark += 1
        copy(checkpoints.left[mark], placement.left, _START)
        copy(checkpoints.free[mark], placement.free, _START)
        copy(checkpoints.early[mark], placement.early, _START)
        copy(checkpoints.at[mark], placement.at, _START)
        checkpoints.valid[0] = mark
    replay(instance, placement, order, mark * step, first)


@inner
def makespan_of(placement: Placement) -> Word:
    """Return the makespan of the instructions placed so far."""
    end = np.uint32(0)
    for warp in range(np.uint64(placement.early.size)):
        end = max(end, placement.early[warp])
    return np.int64(end)


@inner
def lateness(slots: Array, changed: Array, first: Word, before: Word) -> Word:
    """Return the sum of all slots after those from index `first` on change from `slots` to `changed`; `before` is the current sum.

    A sum of 0 is not computed yet: then all of `changed` is added up.
    """
    total = before
    for index in range(np.uint64(first), np.uint64(changed.size)):
        total += np.int64(changed[index]) - (np.int64(slots[index]) if before else np.int64(0))
    return total


@inner
def accepts(candidates: CandidateRange, drop: Word, temperature: Word, random: Array) -> Word:
    """Draw whether a candidate whose score is `drop` slots lower is accepted."""
    if candidates.rule == _EQUATION_3:
        return uniform(random) * drop < temperature
    return uniform(random) * temperature < temperature - drop


@inner
def swap(row: Array, random: Array) -> Word:
    """Exchange two places of `row`; return the first of them, as every move returns a place before which nothing changed."""
    first = below(random, row.size)
    second = below(random, row.size)
    row[first], row[second] = row[second], row[first]
    return min(first, second)


@inner
def shift(row: Array, source: Word, target: Word, size: Word, spare: Array) -> Word:
    """Move `size` entries from `source` so that they begin at `target`."""
    for index in range(size):
        spare[index] = row[source + index]
    for index in range(source, target):
        row[index] = row[index + size]
    for index in range(source - 1, target - 1, -1):
        row[index + size] = row[index]
    for index in range(size):
        row[target + index] = spare[index]
    return min(source, target)


@inner
def gather(row: Array, instance: InstanceArrays, random: Array, spare: Array) -> Word:
    """Keep some first instructions of a warp, and put all of its others together at a later place."""
    warp = below(random, instance.begin.size - 1)
    length = instance.begin[warp + 1] - instance.begin[warp]
    if length == 0:
        return row.size
    kept = below(random, length)
    first = 0
    passed = 0
    while row[first] != warp or passed < kept:
        passed += row[first] == warp
        first += 1
    rest = 0
    for index in range(first, row.size):
        if row[index] != warp:
            spare[rest] = row[index]
            rest += 1
    before = below(random, rest + 1)
    for index in range(before):
        row[first + index] = spare[index]
    for index in range(length - kept):
        row[first + before + index] = warp
    for index in range(before, rest):
        row[first + length - kept + index] = spare[index]
    return first


@inner
def propose(row: Array, instance: InstanceArrays, random: Array, spare: Array, move: Word) -> Word:
    """Change `row` into a neighbour; return a place before which nothing changed."""
    if move == _SWAP:
        return swap(row, random)
    if move == _INSERT:
        source = below(random, row.size)
        return shift(row, source, below(random, row.size), np.int64(1), spare)
    if move == _WARP:
        return gather(row, instance, random, spare)
    size = 1 + below(random, min(row.size - 1, 3 * (instance.begin.size - 1)))
    source = below(random, row.size - size + 1)
    return shift(row, source, below(random, row.size - size + 1), size, spare)


@unchecked
def advance(arrays: ChainArrays, candidates: CandidateRange, row: Array, random: Array, counts: Array) -> Word:
    """Draw `candidates`, or fewer when one is better than `candidates.best`; return the makespan of `row` then.

    `counts` grows by candidates drawn, evaluations, placements, candidates accepted.
    """
    instance, placement, checkpoints = arrays
    total = row.size
    order = OrderArrays(row, np.zeros(total, np.uint32))
    neighbour = OrderArrays(row.copy(), np.zeros(total, np.uint32))
    spare = row.copy()
    recall(instance, placement, checkpoints, order, _START)
    place(instance, placement, order, _START)
    makespan = makespan_of(placement)
    late = np.int64(0)
    if candidates.lateness:
        late = lateness(order.slots, order.slots, _START, late)
    value = makespan * total + candidates.lateness * late
    step = (total + _CHECKPOINTS - 1) // _CHECKPOINTS
    for iteration in range(candidates.first, candidates.end):
        if makespan > candidates.best:
            break
        counts[0] += 1
        changed = propose(neighbour.row, instance, random, spare, candidates.moves[below(random, candidates.moves.size)])
        while changed < total and neighbour.row[changed] == row[changed]:
            changed += 1
        if changed == total:
            continue
        recall(instance, placement, checkpoints, order, changed)
        place(instance, placement, neighbour, changed)
        length = makespan_of(placement)
        later = late
        if candidates.lateness:
            later = lateness(order.slots, neighbour.slots, changed, late)
        score = length * total + candidates.lateness * later
        counts[1] += 1
        counts[2] += total - changed
        temperature = candidates.temperature * (1.0 - iteration / candidates.iterations)
        if score >= value or accepts(candidates, (value - score) / total, temperature, random):
            counts[3] += 1
            makespan, value, late = length, score, later
            copy(row, neighbour.row, changed)
            copy(order.slots, neighbour.slots, changed)
            checkpoints.valid[0] = min(checkpoints.valid[0], changed // step)
        else:
            copy(neighbour.row, row, changed)
    return makespan


def run(case: NumberedProblem, plan: AnnealingPlan, state: Chain, count: int) -> Chain:
    """Return the result of `plain.advance`, computed by the compiled chain."""
    row = np.array(state.precedence, np.uint16)
    random = np.array([state.random], np.uint64)
    counts = np.zeros(4, np.int64)
    candidates = CandidateRange(
        np.array(plan.moves, np.int64),
        plan.iterations,
        float(plan.temperature),
        int(plan.rule),
        plan.lateness,
        state.iteration,
        min(plan.iterations, state.iteration + count),
        state.best_makespan,
    )
    makespan = int(advance(arrays_of(case), candidates, row, random, counts))
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
