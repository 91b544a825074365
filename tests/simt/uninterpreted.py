"""Uninterpreted functions over 32-bit words (docs/developer/oracles.md).

Every run draws its own interpretation: a word is the hash of the run, the operation and its inputs, so that two threads agree on a
result only where the operation may not tell them apart.
"""

from dataclasses import dataclass

import numpy as np

from sassan.simt.code import Operation
from sassan.simt.values import LANES, ONE_COPY, PREDICATES, Moment, Rows, Truth, Words, stir

PARTITIONS = 4
THRESHOLDS = 8


@dataclass(frozen=True, slots=True)
class Runs:
    """The interpretations that a batch of N runs draws, and where each starts.

    `salt` (N) names the run. `partitions` (N, 4, 32) are the words that stand for a lane: an operation that may tell lanes apart uses
    one of the four partitions, and coarse ones let lanes agree by chance. `thresholds` (N, 8): a predicate is true where its hash is
    below. `active` (N) are start masks.
    """

    salt: Words
    partitions: Words
    thresholds: Words
    active: Words

    def __len__(self) -> int:
        """Return N."""
        return len(self.salt)


_CLASSES = (1, 2, 2, 3, 8, 32)
_MOODS = ((32,), (224,), (8, 248), (128,), (24, 128, 232), (16, 64, 192, 240))
"""Out of 256, how often a predicate is true: what one run draws its thresholds from."""


def draw(seed: int, count: int) -> Runs:
    """Return `count` runs; the same seed draws the same runs.

    Half of the warps are full, a quarter are cut off at some lane (the last warp of a block), and a quarter have any threads.
    """
    random = np.random.default_rng(seed)
    classes = random.choice(_CLASSES, (count, PARTITIONS, 1))
    partitions = np.floor(random.random((count, PARTITIONS, LANES)) * classes).astype(np.uint32)
    lanes = np.arange(LANES, dtype=np.uint32)
    partitions = np.where(classes == LANES, lanes, partitions).astype(np.uint32)
    moods = random.integers(0, len(_MOODS), count)
    picks = random.integers(0, 1 << 16, (count, THRESHOLDS))
    thresholds = np.array([[_MOODS[mood][pick % len(_MOODS[mood])] << 24 for pick in row] for mood, row in zip(moods, picks, strict=True)])
    return Runs(
        salt=random.integers(0, 1 << 32, count, dtype=np.uint32),
        partitions=partitions,
        thresholds=thresholds.astype(np.uint32).reshape(count, THRESHOLDS),
        active=_masks(random, count),
    )


def _masks(random: np.random.Generator, count: int) -> Words:
    full = np.full(count, 0xFFFFFFFF, dtype=np.uint32)
    width = random.integers(1, LANES + 1, count).astype(np.uint64)
    head = ((np.uint64(1) << width) - np.uint64(1)).astype(np.uint32)
    some = random.integers(1, 1 << 32, count, dtype=np.uint32)
    shape = random.integers(0, 4, count)
    return np.choose(shape, (full, full, head, some)).astype(np.uint32)


class Uninterpreted:
    """`Values` by hashing. Predicates are true where the hash is below a threshold that the run drew for the operation."""

    def __init__(self, runs: Runs) -> None:
        """Hold the interpretations that were drawn."""
        self._runs = runs
        self._keys: dict[int, Words] = {}

    def _key(self, name: int) -> Words:
        key = self._keys.get(name)
        if key is None:
            key = self._keys[name] = stir(self._runs.salt, np.uint32(name))
        return key

    def initial(self, registers: tuple[int, ...]) -> Words:
        """Return a word of its own for every register and lane of every run: nothing but UR and UP is agreed on at the start."""
        lanes = np.arange(LANES, dtype=np.uint32)
        out = np.empty((len(registers), len(self._runs), LANES), dtype=np.uint32)
        for index, register in enumerate(registers):
            word = stir(self._key(register)[:, None], lanes * np.uint32(register not in ONE_COPY))
            out[index] = (word >> np.uint32(31)) if register in PREDICATES else word
        return out

    def known(self, register: int, rows: Rows) -> bool:
        """Return that every word may be stored for others to find."""
        del register, rows
        return True

    def note_load(self, operation: Operation, inputs: tuple[Words, ...], words: tuple[Words, ...], at: Moment) -> None:
        """Do nothing: what is found needs no word."""

    def outputs(self, operation: Operation, inputs: tuple[Words, ...], at: Moment) -> tuple[Words, ...]:
        """Return the hash of run, operation, inputs and whatever the operation mixes in; predicates as 0 or 1."""
        base = self._key(operation.key)[at.rows]
        state = base[:, None]
        shared = len(operation.gathered)
        for word in inputs[:shared]:
            state = stir(state, word)
        if shared:
            state = stir(base[:, None], np.where(at.executing, state, np.uint32(0)).sum(axis=1, dtype=np.uint32)[:, None])
        for word in inputs[shared:]:
            state = stir(state, word)
        if operation.time:
            state = stir(state, at.time[:, None])
        if operation.lane:
            state = stir(state, self._runs.partitions[at.rows, (base >> np.uint32(3)) % PARTITIONS])
        return tuple(self._word(register, stir(state, np.uint32(place)), base, at) for place, register in enumerate(operation.writes))

    def _word(self, register: int, word: Words, base: Words, at: Moment) -> Words:
        if register not in PREDICATES:
            return word
        return self._below(word, base, at).astype(np.uint32)

    def _below(self, word: Words, base: Words, at: Moment) -> Truth:
        limit = self._runs.thresholds[at.rows, base % THRESHOLDS]
        return np.asarray(stir(word, np.uint32(1)) < limit[:, None])

    def holds(self, test: int, flags: Words, at: Moment) -> Truth:
        """Return a truth value that depends on the test, the flags and the run only."""
        base = self._key(test)[at.rows]
        return self._below(stir(base[:, None], flags), base, at)

    def choose(self, selector: int, inputs: tuple[Words, ...], count: int, at: Moment) -> Rows:
        """Return a target that depends on the selecting registers and the run only."""
        state = self._key(selector)[at.rows][:, None]
        for word in inputs:
            state = stir(state, word)
        return (stir(state, np.uint32(1)) % np.uint32(count)).astype(np.intp)

    def coin(self, at: Moment) -> Words:
        """Return the hash of run and time."""
        return stir(stir(self._runs.salt[at.rows], at.time), np.uint32(1))
