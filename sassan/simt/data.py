"""Data instructions on a group of runs that stand at one block."""

from collections.abc import Sequence

import numpy as np

from sassan.simt.code import ALWAYS, Condition, ExactQuotient, Linear, LocalAccess, Operation
from sassan.simt.shared import OF_BLOCK, SharedMemory, shared_addresses
from sassan.simt.state import Session
from sassan.simt.values import FACTOR, ONE_COPY, Moment, Truth, Words

_WORD = 0xFFFFFFFF


def compute(session: Session, number: int, at: Moment) -> Truth:
    """Execute the data instructions of a block, and return which threads take its control instruction (all, where there is none)."""
    local, block = _Registers(session, at), session.code.blocks[number]
    for part in block.operations if session.compiled is None else session.compiled.parts(number):
        if isinstance(part, Operation):
            _operate(part, local)
        elif session.compiled is not None:
            local.store()
            session.compiled.execute(part, at)
    taken = local.holds(block.control.condition if block.control is not None else ALWAYS)
    local.store()
    return taken


class _Registers:
    """The registers of a group, fetched when first used and stored back at the end of the block."""

    def __init__(self, session: Session, at: Moment) -> None:
        self.at = at
        self.values = session.values
        self.memory = session.warps.local
        self.certainty = session.certainty
        self.separate = session.separate
        self.shared = session.shared
        self._slots = session.slots
        self._all = session.warps.registers
        self._words: dict[int, Words] = {}
        self._written: set[int] = set()

    def get(self, register: int) -> Words:
        words = self._words.get(register)
        if words is None:
            words = self._words[register] = self._all[self._slots[register], self.at.rows]
        return words

    def put(self, register: int, words: Words) -> None:
        self._words[register] = words
        self._written.add(register)

    def store(self) -> None:
        """Store back what was written, and forget what was fetched."""
        for register in self._written:
            self._all[self._slots[register], self.at.rows] = self._words[register]
        self._words.clear()
        self._written.clear()

    def holds(self, condition: Condition) -> Truth:
        if condition.never:
            return np.zeros_like(self.at.executing)
        truth = self.at.executing
        for test in condition.tests:
            word = self.get(test.register)
            outcome = (word != 0) if test.flags is None else self.values.holds(test.flags, word, self.at)
            truth = truth & (outcome != test.negated)
        return truth


def _operate(operation: Operation, local: _Registers) -> None:
    executing = local.at.executing if operation.condition == ALWAYS else local.holds(operation.condition)
    inputs = tuple(local.get(register) for register in (*operation.gathered, *operation.reads))
    at = Moment(local.at.rows, local.at.time, executing)
    results, computed = _results(operation, inputs, local, at)
    if local.certainty is not None:
        local.certainty.operated(operation, inputs, local.at, executing, computed)
    where = executing
    if operation.broadcast:
        read = (*operation.gathered, *operation.reads)
        copies = [word for register, word in zip(read, inputs, strict=True) if register in ONE_COPY] if local.separate else []
        results = tuple(_broadcast(executing, result, copies) for result in results)
        where = executing if local.separate else np.asarray(executing.any(axis=1, keepdims=True))
    for register, result in zip(operation.writes, results, strict=True):
        local.put(register, np.where(where, result, local.get(register)))


def _results(  # noqa: C901, PLR0911 - one kind each
    operation: Operation, inputs: tuple[Words, ...], local: _Registers, at: Moment
) -> tuple[tuple[Words, ...], Truth | bool]:
    """Return what an operation writes, and in which lanes none of it is drawn, where that is followed."""
    match operation.exact:
        case None if local.certainty is not None:
            return local.certainty.results(operation, inputs, at)
        case None:
            return local.values.outputs(operation, inputs, at), False
        case Linear(constant=constant, factors=factors):
            return (_sum(constant, factors, inputs, at.executing),), True
        case ExactQuotient(divisor=divisor, remainder=remainder):
            whole = inputs[0] % np.uint32(divisor) if remainder else inputs[0] // np.uint32(divisor)
            return (np.broadcast_to(whole, at.executing.shape),), True
        case LocalAccess(shared=True, store=True) if local.certainty is None and local.shared is not None:
            _store_shared(local, operation, operation.exact, inputs, at)
            return (), True
        case LocalAccess(shared=True):
            loaded = None
            if local.certainty is not None and not operation.exact.store:
                loaded = local.certainty.loaded(operation, operation.exact, inputs, at)
            elif local.shared is not None:
                loaded = _load_shared(local.shared, operation, operation.exact, inputs, at)
                if loaded is not None and (loaded[1] | ~at.executing).all():
                    local.values.note_load(operation, inputs, loaded[0], at)
                    return loaded
            drawn = local.values.outputs(operation, inputs, at)
            if loaded is None:
                return drawn, operation.exact.store
            return tuple(np.where(loaded[1], word, other) for word, other in zip(loaded[0], drawn, strict=True)), loaded[1]
        case LocalAccess():
            return _local(operation, operation.exact, inputs, local, at), True


def _load_shared(
    shared: SharedMemory, operation: Operation, how: LocalAccess, inputs: tuple[Words, ...], at: Moment
) -> tuple[tuple[Words, ...], Truth] | None:
    """Return what a load finds in shared memory, and in which lanes; None for a part of a word, and where no word is certain."""
    if not how.whole or (not shared.knows(at.rows) and at.executing.any()):
        return None
    address = shared_addresses(how, inputs, at.executing) & np.uint32(OF_BLOCK)
    parts = [shared.load(at.rows, at.executing, address + np.uint32(4 * place)) for place in range(len(operation.writes))]
    return tuple(words for words, _ in parts), np.logical_and.reduce([known for _, known in parts])


def _store_shared(local: _Registers, operation: Operation, how: LocalAccess, inputs: tuple[Words, ...], at: Moment) -> None:
    """Store in shared memory; a part of a word, and one that depends on drawn words, make it unknown."""
    assert local.shared is not None
    registers = operation.reads[how.base :]
    address = shared_addresses(how, inputs, at.executing) & np.uint32(OF_BLOCK)
    address = address if how.whole else address & np.uint32(_WORD - 3)
    for place, word in enumerate((*inputs[how.base :], *[np.zeros_like(address)] * how.zeros)):
        known = local.values.known(registers[place], at.rows) if place < len(registers) else True
        local.shared.store(at.rows, at.executing, address + np.uint32(4 * place), word, at.executing & how.whole & known)


def _sum(constant: int, factors: tuple[int, ...], inputs: tuple[Words, ...], executing: Truth) -> Words:
    total = np.full(executing.shape, constant & _WORD, dtype=np.uint32)
    for factor, word in zip(factors, inputs, strict=True):
        total = total + word * np.uint32(factor & _WORD)
    return total


def _local(operation: Operation, how: LocalAccess, inputs: tuple[Words, ...], local: _Registers, at: Moment) -> tuple[Words, ...]:
    address = _sum(how.offset, (1,) * how.base, inputs[: how.base], at.executing)
    if not how.store:
        stored = [local.memory.look_up(at.rows, address + np.uint32(4 * place)) for place in range(len(operation.writes))]
        if stored and all((known | ~at.executing).all() for _, _, known in stored):
            words = tuple(word for word, _, _ in stored)
            local.values.note_load(operation, inputs, words, at)
            return words
        unknown = local.values.outputs(operation, inputs, at)
        return tuple(np.where(present, word, other) for (word, present, _), other in zip(stored, unknown, strict=True))
    registers, zero = operation.reads[how.base :], np.zeros(at.executing.shape, dtype=np.uint32)
    address = address if how.whole else address & np.uint32(_WORD - 3)
    for place, word in enumerate((*inputs[how.base :], *[zero] * how.zeros)):
        # A part of a word overwrites what was there with something that no other lane need have.
        whole = word if how.whole else word * np.uint32(FACTOR) + at.time[:, None]
        sure = local.values.known(registers[place], at.rows) if place < len(registers) else True
        local.memory.store(at.rows, at.executing, address + np.uint32(4 * place), whole, known=sure & how.whole)
    return ()


def _broadcast(executing: Truth, result: Words, copies: Sequence[Words]) -> Words:
    """Return the first executing thread's result in every lane, one copy per warp; its own where a lane reads other `copies`."""
    leader = (np.arange(len(executing)), executing.argmax(axis=1))
    alike = np.ones_like(executing)
    for word in copies:
        alike &= word == word[leader][:, None]
    wide = np.broadcast_to(result, executing.shape)
    return np.where(alike, wide[leader][:, None], wide)
