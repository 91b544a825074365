"""Data instructions on a group of runs that stand at one block."""

import numpy as np

from sassan.simt.code import ALWAYS, Block, Condition, Operation
from sassan.simt.state import Session
from sassan.simt.values import Moment, Truth, Words


def compute(session: Session, block: Block, at: Moment) -> Truth:
    """Execute the data instructions of a block, and return which threads take its control instruction (all, where there is none)."""
    local = _Registers(session, at)
    for one in block.operations:
        _operate(one, local)
    taken = local.holds(block.control.condition if block.control is not None else ALWAYS)
    local.store()
    return taken


class _Registers:
    """The registers of a group, fetched when first used and stored back at the end of the block."""

    def __init__(self, session: Session, at: Moment) -> None:
        self.at = at
        self.values = session.values
        self._slots = session.slots
        self._all = session.warps.registers
        self._words: dict[int, Words] = {}
        self._written: set[int] = set()

    def get(self, register: int) -> Words:
        found = self._words.get(register)
        if found is None:
            found = self._words[register] = self._all[self._slots[register], self.at.rows]
        return found

    def put(self, register: int, words: Words) -> None:
        self._words[register] = words
        self._written.add(register)

    def store(self) -> None:
        for register in self._written:
            self._all[self._slots[register], self.at.rows] = self._words[register]

    def holds(self, condition: Condition) -> Truth:
        if condition.never:
            return np.zeros_like(self.at.executing)
        truth = self.at.executing
        for test in condition.tests:
            word = self.get(test.register)
            one = (word != 0) if test.flags is None else self.values.holds(test.flags, word, self.at)
            truth = truth & (one != test.negated)
        return truth


def _operate(one: Operation, local: _Registers) -> None:
    executing = local.at.executing if one.condition == ALWAYS else local.holds(one.condition)
    inputs = tuple(local.get(register) for register in (*one.gathered, *one.reads))
    results = local.values.outputs(one, inputs, Moment(local.at.rows, local.at.time, executing))
    for register, result in zip(one.writes, results, strict=True):
        old = local.get(register)
        local.put(register, _broadcast(executing, result, old) if one.broadcast else np.where(executing, result, old))


def _broadcast(executing: Truth, result: Words, old: Words) -> Words:
    """Return the first executing thread's result in every lane: one copy per warp."""
    wide = np.broadcast_to(result, executing.shape)
    chosen = wide[np.arange(len(executing)), executing.argmax(axis=1)]
    return np.where(executing.any(axis=1, keepdims=True), chosen[:, None], old)
