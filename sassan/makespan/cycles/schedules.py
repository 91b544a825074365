"""Long schedules of machine code: a few rules say which warp goes first, and the schedule that takes longest counts.

Every one of them is an execution that the model of `code` allows (`validator`), so each bounds the longest makespan from below.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sassan.errors import SelfCheckError
from sassan.makespan.cycles.code import ResidentCode
from sassan.makespan.cycles.kernel import COLUMNS, CodeArrays, Ints, run
from sassan.makespan.cycles.validator import refusal

MOST = 4_000_000
"""Instructions of all warps up to which schedules are made: 32 MB each, and seconds."""
_BEHIND, _NUMBER = 1, 0


@dataclass(frozen=True, slots=True)
class CycleSchedule:
    """The cycle in which each warp (row) issues each instruction of its path, and when everything has ended; `rule` made it."""

    issued: Ints
    cycles: int
    rule: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """Who goes first: warps by group; within a group the one furthest behind (`lead` 1), or the one of the lowest number (0)."""

    name: str
    group: Ints
    lead: int


def _rules(warps: int, block: int) -> Iterator[_Rule]:
    """Yield the rules: those that keep one warp of all, or of each block, waiting for the others make barriers open late."""
    number = np.arange(warps)
    in_block, of_block = number % block, number // block
    yield _Rule("lowest number first", number, _NUMBER)
    yield _Rule("furthest behind first", np.zeros_like(number), _BEHIND)
    yield _Rule("furthest behind first, one warp last", (number == warps - 1).astype(np.int64), _BEHIND)
    yield _Rule("furthest behind first, one block last", (of_block == of_block[-1]).astype(np.int64), _BEHIND)
    yield _Rule("furthest behind first, one warp of each block last", (in_block == block - 1).astype(np.int64), _BEHIND)
    yield _Rule("block by block", of_block, _BEHIND)
    yield _Rule("rank by rank in all blocks", in_block, _BEHIND)


def longest(code: ResidentCode, stop: Callable[[], bool] = lambda: False) -> CycleSchedule:
    """Return the longest of the schedules that these rules make, validated; `stop` is polled between them.

    Raises SelfCheckError `bad-schedule` where the validator refuses it.
    """
    rows = _rows(code)
    best: CycleSchedule | None = None
    for rule in _rules(code.warps, code.block):
        issued = np.zeros((code.warps, len(code.path)), np.int64)
        cycles = int(run(rows, code.core.issue, code.block, rule.group, rule.lead, issued)) if len(code.path) else 0
        if best is None or cycles > best.cycles:
            best = CycleSchedule(issued, cycles, rule.name)
        if stop():
            break
    assert best is not None
    why = refusal(code, best.issued, best.cycles)
    if why:
        raise SelfCheckError("bad-schedule", f"the schedule of rule '{best.rule}' is invalid: {why}")
    return best


def _rows(code: ResidentCode) -> CodeArrays:
    steps = np.zeros((len(code.steps), COLUMNS), np.int64)
    for row, step in zip(steps, code.steps, strict=True):
        (first, first_clear), (second, second_clear) = (*step.sets, (-1, 0), (-1, 0))[:2]
        row[:] = (
            *(step.delay, step.waits, first, first_clear, second, second_clear),
            *(step.drains, step.ends, step.unit, step.interval, step.own, step.pipeline, step.opens),
        )
    return CodeArrays(steps, np.array(code.path, np.int64), np.array(code.core.places, np.int64))
