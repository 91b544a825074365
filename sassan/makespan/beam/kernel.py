"""Beam search over slots, compiled: the same as `plain`, except that states with very many successors have some drawn at random."""
# ruff: noqa: PLR0913, PLR0917  # what a compiled function takes is arrays: a record of them costs a count of references per call

from typing import NamedTuple

import numpy as np

from sassan.jit.decorators import compiled
from sassan.makespan.beam.plain import TIE, Rules
from sassan.makespan.states_kernel import Array, copy, splits, zero

UNITS = 5
_SHIFT = np.uint64(64 - TIE)


class RuleArrays(NamedTuple):
    """The rules as arrays; `weight` and `capacity` always of five units."""

    unit: Array
    reach: Array
    zobrist: Array
    weight: Array
    capacity: Array
    issue: int
    most: int
    """Of more choices than this, per unit and number of warps, `sample` are drawn."""
    sample: int
    salt: np.uint64


class States(NamedTuple):
    """The states of a slot: their places, hashes, and the scores of all letters left. `used[0]` counts them."""

    places: Array
    hash: Array
    base: Array
    used: Array


class Heap(NamedTuple):
    """The best states of the next slot so far; `order` is a heap over the other rows, the worst first."""

    order: Array
    key: Array
    hash: Array
    base: Array
    parent: Array
    mask: Array
    table: Array
    """The hashes of this slot."""
    stamp: Array
    """Which entries of `table` are of this slot: those that equal `at[1]`."""
    at: Array
    """How many states there are, the stamp, how many hashes are entered."""


class ChoiceArrays(NamedTuple):
    """Per unit, number of warps and choice: the largest `reach` of a warp of the unit afterwards, what the hash grows by, the mask."""

    far: Array
    add: Array
    mask: Array
    size: Array
    limit: Array


def rows(rule: Rules, most: int, sample: int, salt: int) -> RuleArrays:
    """Return the rules as arrays."""
    weight, capacity = np.zeros(UNITS, np.int64), np.zeros(UNITS, np.int64)
    weight[: len(rule.weight)], capacity[: len(rule.capacity)] = rule.weight, rule.capacity
    unit, reach = np.array(rule.unit, np.int64), np.array(rule.reach, np.int64)
    return RuleArrays(unit, reach, np.array(rule.zobrist, np.uint64), weight, capacity, rule.issue, most, sample, np.uint64(salt))


def scratch(rule: Rules, width: int, most: int) -> tuple[Heap, ChoiceArrays]:
    """Return empty arrays for a beam of this width."""
    warps = len(rule.start)
    words = (warps + 63) // 64
    deepest = min(max(rule.capacity, default=0), warps) + 1
    length = 1 << (4 * width).bit_length()
    columns = [np.zeros(width, np.int64) for _ in range(4)]
    heap = Heap(
        columns[0],
        columns[1],
        np.zeros(width, np.uint64),
        columns[2],
        columns[3],
        np.zeros((width, words), np.uint64),
        np.zeros(length, np.uint64),
        np.zeros(length, np.int64),
        np.zeros(3, np.int64),
    )
    shape = (UNITS, deepest, most)
    size, limit = np.zeros(shape[:2], np.int64), np.zeros(UNITS, np.int64)
    return heap, ChoiceArrays(np.zeros(shape, np.int64), np.zeros(shape, np.uint64), np.zeros((*shape, words), np.uint64), size, limit)


@compiled
def mixed(word: np.uint64) -> np.uint64:
    """Return 64 bits mixed."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def _end(row: Array, warp: int) -> int:
    """Return the end of the group of warps that stand where this one does."""
    end = warp + 1
    while end < len(row) and row[end] == row[warp]:
        end += 1
    return end


@compiled
def _set(mask: Array, first: int, end: int) -> None:
    for warp in range(first, end):
        mask[warp >> 6] |= np.uint64(1) << np.uint64(warp & 63)


@compiled
def _record(row: Array, unit_number: int, total: int, chosen: Array, rule: RuleArrays, choices: ChoiceArrays) -> None:
    """Append the choice that runs as many warps of each group as are chosen of it."""
    far, add, mask, size, _ = choices
    index = size[unit_number, total]
    size[unit_number, total] += 1
    far[unit_number, total, index] = 0
    add[unit_number, total, index] = 0
    zero(mask[unit_number, total, index])
    warp = 0
    while warp < len(row):
        end = _end(row, warp)
        place = row[warp]
        if rule.unit[place] == unit_number:
            run = 0
            for column in range(warp, end):
                run += chosen[column]
            left = rule.reach[place] if run < end - warp else rule.reach[place - 1]
            far[unit_number, total, index] = max(far[unit_number, total, index], left)
            add[unit_number, total, index] += np.uint64(run) * (rule.zobrist[place - 1] - rule.zobrist[place])
            _set(mask[unit_number, total, index], warp, warp + run)
        warp = end


@compiled
def _list_ready(row: Array, of: int, unit: Array, ready: Array) -> int:
    """Write the warps that are ready for a unit; return how many there are."""
    count = 0
    for warp in range(len(row)):
        if unit[row[warp]] == of:
            ready[count] = warp
            count += 1
    return count


@compiled
def _draw(row: Array, of: int, word: np.uint64, rule: RuleArrays, choices: ChoiceArrays) -> None:
    """Write some choices of a unit: the warps with most letters left, those with fewest, and others at random."""
    chosen, ready = np.zeros(len(row), np.int64), np.zeros(len(row), np.int64)
    for total in range(choices.limit[of] + 1):
        count = _list_ready(row, of, rule.unit, ready)
        for index in range(rule.sample if total else 1):
            for position in range(len(chosen)):
                chosen[position] = 0
            for position in range(total):
                drawn: int = position
                if index == 0:
                    drawn = count - 1 - position
                elif index > 1:
                    word += np.uint64(0x9E3779B97F4A7C15)
                    drawn = position + np.int64(mixed(word) % np.uint64(count - position))  # type: ignore[assignment]
                    ready[position], ready[drawn] = ready[drawn], ready[position]
                    drawn = position
                chosen[ready[drawn]] = 1
            _record(row, of, total, chosen, rule, choices)


@compiled
def _choice_count(row: Array, of: int, limit: int, rule: RuleArrays) -> float:
    """Return how many choices of up to `limit` warps a unit has at most."""
    counts = np.zeros(limit + 1)
    counts[0] = 1.0
    warp = 0
    while warp < len(row):
        end = _end(row, warp)
        if rule.unit[row[warp]] == of:
            for total in range(limit, 0, -1):
                for run in range(1, min(end - warp, total) + 1):
                    counts[total] += counts[total - run]
        warp = end
    most = 1.0
    for count in counts:
        most = max(most, count)
    return most


@compiled
def _ready(row: Array, unit: Array, capacity: Array, ready: Array, first: Array, limit: Array) -> int:
    """Write, per unit, the warps that are ready, the first of them, and how many run at most; return how many run in all."""
    for of in range(len(ready)):
        ready[of], first[of] = 0, len(row)
    for warp in range(len(row) - 1, -1, -1):
        of = unit[row[warp]]
        if of >= 0:
            ready[of] += 1
            first[of] = warp
    total = 0
    for of in range(len(limit)):
        limit[of] = min(ready[of], capacity[of])
        total += limit[of]
    return total


@compiled
def _many(row: Array, ready: int, of: int, rule: RuleArrays, choices: ChoiceArrays) -> bool:
    """Say whether a unit has too many choices to enumerate; the number of warps alone mostly rules that out."""
    count = most = 1.0
    for index in range(choices.limit[of]):
        count *= (ready - index) / (index + 1)
        most = max(most, count)
    return most > rule.most and _choice_count(row, of, choices.limit[of], rule) > rule.most


@compiled
def _choose(row: Array, first: int, of: int, rule: RuleArrays, choices: ChoiceArrays) -> None:
    """Write the choices of one unit; its first warp is `first`."""
    far, add, mask, size, limit = choices
    unit, reach, zobrist = rule.unit, rule.reach, rule.zobrist
    size[of, 0] = 1
    far[of, 0, 0] = 0
    add[of, 0, 0] = 0
    zero(mask[of, 0, 0])
    warp = first
    while warp < len(row):
        place = row[warp]
        end = _end(row, warp)
        # From the most warps down, so that no choice takes this group twice.
        for total in range(limit[of] if unit[place] == of else -1, -1, -1):
            last = size[of, total]
            for index in range(last):
                far[of, total, index] = max(far[of, total, index], reach[place])
            for run in range(1, min(end - warp, total) + 1):
                left = reach[place] if run < end - warp else reach[place - 1]
                step = np.uint64(run) * (zobrist[place - 1] - zobrist[place])
                for index in range(size[of, total - run]):
                    far[of, total, last] = max(far[of, total - run, index], left)
                    add[of, total, last] = add[of, total - run, index] + step
                    copy(mask[of, total, last], mask[of, total - run, index])
                    _set(mask[of, total, last], warp, warp + run)
                    last += 1
            size[of, total] = last
        warp = end


@compiled
def _worse(heap: Heap, first: int, second: int) -> bool:
    key, word = heap.key, heap.hash
    worse: bool = key[first] < key[second] or (key[first] == key[second] and word[first] < word[second])
    return worse


@compiled
def _sift(heap: Heap, at: int) -> None:
    """Put the entry at a place of the heap where it belongs."""
    order, size = heap.order, heap.at[0]
    while at and _worse(heap, order[at], order[(at - 1) >> 1]):
        up = (at - 1) >> 1
        order[at], order[up] = order[up], order[at]
        at = up
    while True:
        low = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < size and _worse(heap, order[child], order[low]):
                low = child
        if low == at:
            return
        order[at], order[low] = order[low], order[at]
        at = low


@compiled
def _enter_hash(heap: Heap, word: np.uint64) -> bool:
    """Enter a hash; return whether it was there already."""
    mask = np.uint64(len(heap.table) - 1)
    at = mixed(word) & mask
    while heap.stamp[at] == heap.at[1]:
        if heap.table[at] == word:
            return True
        at = (at + np.uint64(1)) & mask
    heap.stamp[at] = heap.at[1]
    heap.table[at] = word
    heap.at[2] += 1
    return False


@compiled
def _clear(heap: Heap) -> None:
    """Forget all hashes but those of the heap: what has left it is worse than all in it, and cannot come back."""
    heap.at[1] += 1
    heap.at[2] = 0
    for slot in range(heap.at[0]):
        _enter_hash(heap, heap.hash[slot])


@compiled
def _push(heap: Heap, key: int, word: np.uint64, base: int, parent: int) -> int:
    """Keep a state that is better than the worst; return its row, -1 if it is there already."""
    if 2 * heap.at[2] >= len(heap.table):
        _clear(heap)
    if _enter_hash(heap, word):
        return -1
    size = heap.at[0]
    full = size == len(heap.order)
    slot: int = heap.order[0] if full else size
    heap.key[slot], heap.hash[slot], heap.base[slot], heap.parent[slot] = key, word, base, parent
    if full:
        _sift(heap, 0)
    else:
        heap.order[size] = slot
        heap.at[0] = size + 1
        _sift(heap, size)
    return slot


@compiled
def _cutoff(heap: Heap) -> int:
    """Return a key that a state needs at least to be kept."""
    return int(heap.key[heap.order[0]]) if heap.at[0] == len(heap.order) else -1


@compiled
def _offer(parent: int, total: int, states: States, rule: RuleArrays, choices: ChoiceArrays, heap: Heap) -> None:
    """Offer all that can follow a state to the heap, a slot of `total` instructions later."""
    far, add, mask, size, limit = choices
    cutoff = _cutoff(heap)
    for k0, k1, k2, k3, k4 in splits(limit, total):
        base = states.base[parent] - k0 * rule.weight[0] - k1 * rule.weight[1] - k2 * rule.weight[2] - k3 * rule.weight[3]
        base -= k4 * rule.weight[4]
        for i4 in range(size[4, k4]):
            for i3 in range(size[3, k3]):
                for i2 in range(size[2, k2]):
                    for i1 in range(size[1, k1]):
                        reach = max(far[1, k1, i1], far[2, k2, i2], far[3, k3, i3], far[4, k4, i4])
                        start = states.hash[parent] + add[1, k1, i1] + add[2, k2, i2] + add[3, k3, i3] + add[4, k4, i4]
                        for i0 in range(size[0, k0]):
                            word = start + add[0, k0, i0]
                            key = ((base + max(reach, far[0, k0, i0])) << TIE) | np.int64(mixed(word ^ rule.salt) >> _SHIFT)
                            if key < cutoff or (key == cutoff and word <= heap.hash[heap.order[0]]):
                                continue
                            slot = _push(heap, key, word, base, parent)
                            if slot >= 0:
                                for column in range(heap.mask.shape[1]):
                                    outer = (
                                        mask[1, k1, i1, column]
                                        | mask[2, k2, i2, column]
                                        | mask[3, k3, i3, column]
                                        | mask[4, k4, i4, column]
                                    )
                                    heap.mask[slot, column] = mask[0, k0, i0, column] | outer
                                cutoff = _cutoff(heap)


@compiled
def _replace(states: States, heap: Heap, spare: Array) -> None:
    """Make the states of the heap those of the slot."""
    used = heap.at[0]
    for slot in range(used):
        before, mask = states.places[heap.parent[slot]], heap.mask[slot]
        for warp in range(len(before)):
            spare[slot, warp] = before[warp] - np.int64((mask[warp >> 6] >> np.uint64(warp & 63)) & np.uint64(1))
    for slot in range(used):
        copy(states.places[slot], spare[slot])
        states.hash[slot], states.base[slot] = heap.hash[slot], heap.base[slot]
    states.used[0] = used


@compiled
def advance(states: States, rule: RuleArrays, heap: Heap, choices: ChoiceArrays, parents: Array, masks: Array) -> int:
    """Advance by as many slots as `parents[slot, kept]` and `masks[slot, kept]` hold; return the number of slots that had states.

    If these are fewer, all warps of all states are done.
    """
    spare = np.empty_like(states.places)
    ready, first = np.zeros(UNITS, np.int64), np.zeros(UNITS, np.int64)
    for slot in range(len(parents)):
        heap.at[0] = 0
        heap.at[1] += 1
        heap.at[2] = 0
        for parent in range(states.used[0]):
            row = states.places[parent]
            total = min(rule.issue, _ready(row, rule.unit, rule.capacity, ready, first, choices.limit))
            if total == 0:
                continue
            for of in range(UNITS):
                zero(choices.size[of])
                if _many(row, ready[of], of, rule, choices):
                    _draw(row, of, states.hash[parent] ^ rule.salt, rule, choices)
                else:
                    _choose(row, first[of], of, rule, choices)
            _offer(parent, total, states, rule, choices, heap)
        if heap.at[0] == 0:
            return slot
        for kept in range(heap.at[0]):
            parents[slot, kept] = heap.parent[kept]
            copy(masks[slot, kept], heap.mask[kept])
        _replace(states, heap, spare)
    return len(parents)


@compiled
def trace(at: int, parents: Array, masks: Array, row: Array) -> int:
    """Write to `row` the masks on the path to the state number `at`; return the number of the state at its start."""
    for slot in range(len(row) - 1, -1, -1):
        copy(row[slot], masks[slot, at])
        at = parents[slot, at]
    return at
