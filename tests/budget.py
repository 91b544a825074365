"""The extent of testing: some minutes by default, everything with SASSAN_FULL=1 in the environment, one minute with SASSAN_FAST=1.

`scripts/test --fast` sets the last: no test that is marked `slow`, and three of the cases of a test that has more.
"""

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest

FULL = bool(os.environ.get("SASSAN_FULL"))
FAST = not FULL and bool(os.environ.get("SASSAN_FAST"))
PATIENCE = 600
"""Seconds after which a program started by a test is considered hung, even on a busy machine."""
_FEW = 3
_SHARE, _FAST_SHARE = 2, 4
"""By how much more random draws are divided than their test says: all of them are drawn in a full run."""

T = TypeVar("T")


def whole(reason: str) -> pytest.MarkDecorator:
    """Leave a test to full runs, and say why."""
    return pytest.mark.skipif(not FULL, reason=f"{reason}: SASSAN_FULL=1 here")


def part(count: int, of: int = 8) -> int:
    """Return the number of random draws: `count` in a full run, else about one in 2 `of`."""
    return count if FULL else -(-count // (of * (_FAST_SHARE if FAST else _SHARE)))


def some(cases: Sequence[T], of: int = 2) -> Sequence[T]:
    """Return all cases in a full run, else every `of`-th."""
    return cases if FULL else cases[::of]


def few(cases: Iterable[T]) -> list[T]:
    """Return the first, the middle and the last of many cases, in their order."""
    every = list(cases)
    return every if len(every) <= _FEW else [every[0], every[len(every) // 2], every[-1]]
