"""Transactions of many accesses at once, whose addresses are known: the arrays beside the single ones of `transactions`.

Addresses are (accesses, 32) numbers of 64 bits, `executing` says which lanes of each take part; where `known` does not hold, a lane may be
anywhere. Each count is the most that an access may take.
"""

import numpy as np
import numpy.typing as npt

from sassan.access.limits import Transactions
from sassan.access.opcodes import MemorySpace, Reference
from sassan.access.transactions import BANKS, HALF, LANES, LINE, SECTOR, WORD, lanes_together

Longs = npt.NDArray[np.uint64]
Truth = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
_NOWHERE = np.uint64(0xFFFFFFFFFFFFFFFF)


def transactions(reference: Reference, addresses: Longs, executing: Truth, known: Truth) -> Counts:
    """Return the transactions of each access, in the order of the fields of `Transactions`: (accesses, 6).

    Global, generic, shared and constant memory only; of 8 and 16 bytes of shared memory, lanes that go together are those of a full warp.
    """
    sure, anywhere = executing & known, (executing & ~known).sum(axis=1)
    out = np.zeros((len(addresses), len(Transactions._fields)), np.int64)
    out[:, 0] = executing.sum(axis=1)
    if reference.space is MemorySpace.SHARED:
        out[:, 4] = _passes(reference, addresses, sure) + anywhere
    elif reference.space is MemorySpace.CONSTANT:
        out[:, 4] = _different(addresses, sure) + anywhere
    else:
        ends = np.concatenate([addresses, addresses + np.uint64(reference.bytes - 1)], axis=1)
        both = np.concatenate([sure, sure], axis=1)
        for place, size in ((1, SECTOR), (2, LINE), (3, HALF)):
            out[:, place] = _different(ends // np.uint64(size), both) + anywhere
    if reference.atomic:
        # Operations on parts of one word are at one place.
        out[:, 5] = _together(addresses // np.uint64(max(WORD, reference.bytes)), sure) + anywhere
    return out


def _sorted(keys: Longs, where: Truth) -> Longs:
    return np.sort(np.where(where, keys, _NOWHERE), axis=1)


def _first(keys: Longs) -> Truth:
    """Return which of sorted keys are the first of their kind."""
    before = np.concatenate([np.full((len(keys), 1), _NOWHERE), keys[:, :-1]], axis=1)
    return np.asarray((keys != before) & (keys != _NOWHERE))


def _different(keys: Longs, where: Truth) -> Counts:
    return np.asarray(_first(_sorted(keys, where)).sum(axis=1), np.int64)


def _together(keys: Longs, where: Truth) -> Counts:
    """Return how many lanes have the key that most have."""
    ordered = _sorted(keys, where)
    counts = np.cumsum(_first(ordered), axis=1)
    return _fullest(np.asarray(counts, np.int64), np.asarray(ordered != _NOWHERE), ordered.shape[1] + 1)


def _fullest(kinds: npt.NDArray[np.int64], where: Truth, number: int) -> Counts:
    """Return how often the most frequent of the kinds 0 to `number` - 1 occurs in each row."""
    rows = np.broadcast_to(np.arange(len(kinds))[:, None], kinds.shape)[where]
    counts = np.bincount(rows * number + kinds[where], minlength=len(kinds) * number)
    return np.asarray(counts.reshape(len(kinds), number).max(axis=1, initial=0), np.int64)


def _passes(reference: Reference, addresses: Longs, where: Truth) -> Counts:
    """Return the passes over the banks of shared memory, of the parts in which a warp goes."""
    total = np.zeros(len(addresses), np.int64)
    together = lanes_together(reference.bytes)
    for first in range(0, LANES, together):
        lanes = slice(first, first + together)
        width = max(1, reference.bytes // WORD)
        words = np.concatenate([addresses[:, lanes] // np.uint64(WORD) + np.uint64(place) for place in range(width)], axis=1)
        taking = np.concatenate([where[:, lanes]] * width, axis=1)
        if reference.atomic:
            total += _fullest((words % np.uint64(BANKS)).astype(np.int64), taking, BANKS)
        else:
            ordered = _sorted(words, taking)
            total += _fullest((ordered % np.uint64(BANKS)).astype(np.int64), _first(ordered), BANKS)
    return total
