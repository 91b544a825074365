"""Loads of shared memory by compiled code find what the others do."""

import sys
import types

import numpy as np
import pytest

from sassan.simt.shared import COMPILED, SharedMemory

RUNS, BLOCKS, PLACES = 6, 2, 40


def history(seed: int) -> tuple[list[tuple[np.ndarray, ...]], set[int]]:
    """Return what loads find in a run of random stores, loads and barriers."""
    random = np.random.default_rng(seed)
    racy: set[int] = {4 * int(random.integers(PLACES))} if seed % 3 == 0 else set()
    memory = SharedMemory(np.repeat(np.arange(BLOCKS), RUNS // BLOCKS), racy)
    loaded = []
    for _ in range(60):
        rows = np.sort(random.choice(RUNS, size=int(random.integers(1, RUNS + 1)), replace=False))
        shape = (len(rows), 32)
        address = (4 * random.integers(0, PLACES + 2, shape)).astype(np.uint32)
        lanes = random.random(shape) < 0.7
        step = random.integers(10)
        if step < 5:
            loaded.append(memory.load(rows, lanes, address))
        elif step < 9:
            memory.store(rows, lanes, address, random.integers(0, 3, shape).astype(np.uint32), random.random(shape) < 0.8)
        else:
            where = np.zeros(RUNS, np.int32)
            memory.wait(np.arange(RUNS), where)
            memory.release(np.full(RUNS, -3, np.int32), idle=False)
    return loaded, racy


@pytest.mark.parametrize("seed", range(8))
def test_compiled_loads_find_what_others_find(seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, COMPILED, raising=False)
    plain, racy = history(seed)
    monkeypatch.setitem(sys.modules, COMPILED, types.ModuleType(COMPILED))
    compiled, compiled_racy = history(seed)
    assert racy == compiled_racy
    assert any(known.any() for _, known in plain)
    for (word, known), (compiled_word, compiled_known) in zip(plain, compiled, strict=True):
        assert np.array_equal(known, compiled_known)
        assert np.array_equal(word[known], compiled_word[known])
