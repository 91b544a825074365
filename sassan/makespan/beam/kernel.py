"""Beam search over slots, compiled: the same as `plain`, except that states with very many successors have some drawn at random."""
# ruff: noqa: PLR0913, PLR0917  # what a compiled function takes is arrays: a record of them costs a count of references per call

from heapq import heappush, heapreplace
from typing import Any, NamedTuple

import numpy as np

from sassan.jit.decorators import compiled
from sassan.makespan.beam.plain import TIE, BeamRules
from sassan.makespan.states_kernel import Array, Picks, copy, first_pick, next_pick, no_picks, zero

_SHIFT = np.uint64(64 - TIE)
Word = Any
"""64 bits without a sign."""
Heap = list[tuple[int, Word, int]]
"""Key, hash and row of each state that is kept, the worst first."""


class RuleArrays(NamedTuple):
    """The rules as arrays."""

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


class StateArrays(NamedTuple):
    """The states of a slot: their places, hashes, and the scores of all letters left. `used[0]` counts them."""

    places: Array
    hash: Array
    base: Array
    used: Array


class KeptArrays(NamedTuple):
    """The best states of the next slot so far, in any order: hash, score of all letters left, the state before it, the warps that ran."""

    hash: Array
    base: Array
    parent: Array
    mask: Array


class ChoiceArrays(NamedTuple):
    """Per unit, number of warps and choice: the largest `reach` of a warp of the unit afterwards, what the hash grows by, the mask."""

    far: Array
    add: Array
    mask: Array
    size: Array
    limit: Array


class PickSums(NamedTuple):
    """Per unit, what the picks of the units behind it come to: the largest `far`, the hash, the score of all letters left."""

    far: Array
    hash: Array
    base: Array
    picks: Picks


def rows(rule: BeamRules, most: int, sample: int, salt: int) -> RuleArrays:
    """Return the rules as arrays."""
    unit, reach, weight, capacity = (np.array(row, np.int64) for row in (rule.unit, rule.reach, rule.weight, rule.capacity))
    return RuleArrays(unit, reach, np.array(rule.zobrist, np.uint64), weight, capacity, rule.issue, most, sample, np.uint64(salt))


def scratch(rule: BeamRules, width: int, most: int) -> tuple[KeptArrays, ChoiceArrays, PickSums]:
    """Return empty arrays for a beam of this width."""
    warps, units = len(rule.start), len(rule.capacity)
    words = (warps + 63) // 64
    base, parent = np.zeros((2, width), np.int64)
    kept = KeptArrays(np.zeros(width, np.uint64), base, parent, np.zeros((width, words), np.uint64))
    shape = (units, min(max(rule.capacity, default=0), warps) + 1, most)
    far, add, mask = np.zeros(shape, np.int64), np.zeros(shape, np.uint64), np.zeros((*shape, words), np.uint64)
    choices = ChoiceArrays(far, add, mask, np.zeros(shape[:2], np.int64), np.zeros(units, np.int64))
    return kept, choices, PickSums(np.zeros(units, np.int64), np.zeros(units, np.uint64), np.zeros(units, np.int64), no_picks(units))


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
def _offer(
    parent: int,
    total: int,
    states: StateArrays,
    rule: RuleArrays,
    choices: ChoiceArrays,
    sums: PickSums,
    kept: KeptArrays,
    worst: Heap,
    known: set[Word],
) -> None:
    """Keep of all that can follow a state, a slot of `total` instructions later, what is better than the worst that is kept, each once."""
    far, add, _, size, limit = choices
    width, last = len(kept.hash), len(limit) - 1
    first_pick(total, limit, sums.picks)
    sums.far[last], sums.hash[last], sums.base[last] = 0, states.hash[parent], states.base[parent]
    changed = last
    while changed <= last:
        for of in range(changed, 0, -1):
            run, index = sums.picks.run[of], sums.picks.choice[of]
            sums.far[of - 1] = max(sums.far[of], far[of, run, index])
            sums.hash[of - 1] = sums.hash[of] + add[of, run, index]
            sums.base[of - 1] = sums.base[of] - run * rule.weight[of]
        run = sums.picks.run[0]
        base = sums.base[0] - run * rule.weight[0]
        for index in range(size[0, run]):
            word = sums.hash[0] + add[0, run, index]
            key = ((base + max(sums.far[0], far[0, run, index])) << TIE) | np.int64(mixed(word ^ rule.salt) >> _SHIFT)
            full = len(worst) == width
            # What is worse than all that is kept is not looked up: it may have been kept, and cannot come back.
            if (full and (key, word) <= worst[0][:2]) or word in known:
                continue
            known.add(word)
            row = worst[0][2] if full else len(worst)
            if full:
                heapreplace(worst, (key, word, row))
            else:
                heappush(worst, (key, word, row))
            kept.hash[row], kept.base[row], kept.parent[row] = word, base, parent
            sums.picks.choice[0] = index
            _write_mask(kept.mask, row, choices, sums.picks)
        changed = next_pick(size, limit, sums.picks)


@compiled
def _write_mask(masks: Array, row: int, choices: ChoiceArrays, picks: Picks) -> None:
    for column in range(masks.shape[1]):
        ran = np.uint64(0)
        for of in range(len(picks.run)):
            ran |= choices.mask[of, picks.run[of], picks.choice[of], column]
        masks[row, column] = ran


@compiled
def _replace(states: StateArrays, kept: KeptArrays, used: int, spare: Array) -> None:
    """Make the first states that are kept those of the slot."""
    for row in range(used):
        before, mask = states.places[kept.parent[row]], kept.mask[row]
        for warp in range(len(before)):
            spare[row, warp] = before[warp] - np.int64((mask[warp >> 6] >> np.uint64(warp & 63)) & np.uint64(1))
    for row in range(used):
        copy(states.places[row], spare[row])
        states.hash[row], states.base[row] = kept.hash[row], kept.base[row]
    states.used[0] = used


@compiled
def advance(
    states: StateArrays, rule: RuleArrays, kept: KeptArrays, choices: ChoiceArrays, sums: PickSums, parents: Array, masks: Array
) -> int:
    """Advance by as many slots as `parents[slot, kept]` and `masks[slot, kept]` hold; return the number of slots that had states.

    If these are fewer, all warps of all states are done.
    """
    spare = np.empty_like(states.places)
    ready, first = np.zeros_like(rule.capacity), np.zeros_like(rule.capacity)
    # Key, hash and row of the states that are kept, as a heap with the worst first, and the hashes of all that were: lists and sets are
    # empty of a type.
    worst, known = [(0, np.uint64(0), 0)], {np.uint64(0)}
    for slot in range(len(parents)):
        worst.clear()
        known.clear()
        for parent in range(states.used[0]):
            row = states.places[parent]
            total = min(rule.issue, _ready(row, rule.unit, rule.capacity, ready, first, choices.limit))
            if total == 0:
                continue
            for of in range(len(ready)):
                zero(choices.size[of])
                if _many(row, ready[of], of, rule, choices):
                    _draw(row, of, states.hash[parent] ^ rule.salt, rule, choices)
                else:
                    _choose(row, first[of], of, rule, choices)
            _offer(parent, total, states, rule, choices, sums, kept, worst, known)
        used = len(worst)
        if used == 0:
            return slot
        for row_kept in range(used):
            parents[slot, row_kept] = kept.parent[row_kept]
            copy(masks[slot, row_kept], kept.mask[row_kept])
        _replace(states, kept, used, spare)
    return len(parents)


@compiled
def trace(at: int, parents: Array, masks: Array, row: Array) -> int:
    """Write to `row` the masks on the path to the state number `at`; return the number of the state at its start."""
    for slot in range(len(row) - 1, -1, -1):
        copy(row[slot], masks[slot, at])
        at = parents[slot, at]
    return at
