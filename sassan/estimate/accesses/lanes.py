"""What the lanes of executions have in common: different numbers, and passes over the banks of shared memory."""

import numpy as np
import numpy.typing as npt

from sassan.access.transactions import BANKS, WORD
from sassan.estimate.watch import Truth
from sassan.simt.values import LANES

Numbers = npt.NDArray[np.int64]


def distinct(numbers: npt.NDArray[np.uint32], active: Truth) -> Numbers:
    """Return how many different numbers the active lanes of each row have."""
    row = _sorted(numbers, active)
    return np.asarray(((row[:, 1:] != row[:, :-1]).sum(axis=1) + 1) * active.any(axis=1), np.int64)


def _sorted(numbers: npt.NDArray[np.uint32], active: Truth) -> npt.NDArray[np.uint32]:
    """Return the numbers of each row in order, those of lanes that are not active replaced by that of one that is."""
    first = numbers[np.arange(len(numbers)), active.argmax(axis=1)]
    return np.sort(np.where(active, numbers, first[:, None]), axis=1)


def passes(addresses: npt.NDArray[np.uint32], active: Truth, size: int) -> Numbers:
    """Return the passes over the banks of shared memory of each row."""
    words = max(1, size // WORD)
    lanes = max(1, LANES // words)
    total = np.zeros(len(addresses), np.int64)
    for first in range(0, addresses.shape[1], lanes):
        part, who = addresses[:, first : first + lanes], active[:, first : first + lanes]
        wide = np.concatenate([part // WORD + np.uint32(word) for word in range(words)], axis=1)
        ordered = _sorted(wide, np.concatenate([who] * words, axis=1))
        new = np.ones(ordered.shape, np.bool_)
        new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        row, column = np.nonzero(new)
        banks = np.bincount(row * BANKS + ordered[row, column] % BANKS, minlength=len(addresses) * BANKS).reshape(-1, BANKS)
        total += banks.max(axis=1) * who.any(axis=1)
    return total


def phases(active: Truth, size: int) -> Numbers:
    """Return the passes over the banks of shared memory of each row without conflicts: wide accesses take some for parts of the lanes."""
    lanes = max(1, LANES // max(1, size // WORD))
    return np.asarray(active.reshape(len(active), -1, lanes).any(axis=2).sum(axis=1), np.int64)
