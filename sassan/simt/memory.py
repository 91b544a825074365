"""The local memory of every thread of a batch of warps: what spills go through, so that a spilled code address comes back."""

import numpy as np

from sassan.ir import Instruction, Memory
from sassan.isa.facts import Flow
from sassan.simt.code import ExecutableFunction
from sassan.simt.values import LANES, Rows, Truth, Words

SLOTS = 256
"""Words that one thread may have stored; a run that needs more is cut."""
_CALLS = frozenset({Flow.CALL, Flow.INDIRECT_CALL, Flow.RETURN})
_GENERIC = frozenset({"ST", "ATOM"})
"""Stores that may change local memory and are no plain store of it."""


class LocalMemory:
    """Per thread, the words that were stored, found again by their address (any 32-bit number)."""

    def __init__(self, runs: int) -> None:
        """Hold nothing."""
        self.full = np.zeros(runs, dtype=np.bool_)
        self._used = np.zeros((runs, LANES), dtype=np.int32)
        self._address = np.zeros((0, runs, LANES), dtype=np.uint32)
        self._word = np.zeros((0, runs, LANES), dtype=np.uint32)
        self._known = np.zeros((0, runs, LANES), dtype=np.bool_)

    def load(self, rows: Rows, address: Words, unknown: Words) -> Words:
        """Return the words (G, 32) at these addresses, and `unknown` where nothing was stored."""
        word, present, _ = self.look_up(rows, address)
        return np.where(present, word, unknown)

    def look_up(self, rows: Rows, address: Words) -> tuple[Words, Truth, Truth]:
        """Return the words (G, 32) at these addresses, where something was stored, and where that depends on nothing drawn."""
        slot, present = self._find(rows, address)
        if not present.any():
            return np.zeros(present.shape, np.uint32), present, present
        place = slot, rows[:, None], np.arange(LANES)
        return self._word[place], present, present & self._known[place]

    def store(self, rows: Rows, executing: Truth, address: Words, word: Words, *, known: Truth | bool = True) -> None:
        """Store words (G, 32) for the executing threads; `known` in which lanes they depend on nothing drawn."""
        slot, present = self._find(rows, address)
        used = self._used[rows]
        slot = np.where(present, slot, used)
        over = executing & (slot >= SLOTS)
        self.full[rows] |= over.any(axis=1)
        group, lane = np.nonzero(executing & ~over)
        if not group.size:
            return
        places = slot[group, lane]
        self._grow(int(places.max()) + 1)
        self._address[places, rows[group], lane] = np.broadcast_to(address, used.shape)[group, lane]
        self._word[places, rows[group], lane] = np.broadcast_to(word, used.shape)[group, lane]
        self._known[places, rows[group], lane] = np.broadcast_to(known, used.shape)[group, lane]
        self._used[rows[group], lane] = np.maximum(used[group, lane], places + 1)

    def _find(self, rows: Rows, address: Words) -> tuple[Rows, Truth]:
        used = self._used[rows]
        high = int(used.max(initial=0))
        hit = (self._address[:high, rows] == address) & (np.arange(high)[:, None, None] < used)
        if high == 0:
            return np.zeros(used.shape, dtype=np.intp), np.zeros(used.shape, dtype=np.bool_)
        return hit.argmax(axis=0), hit.any(axis=0)

    def _grow(self, slots: int) -> None:
        while len(self._address) < slots:
            more = np.zeros((max(4, len(self._address)), *self._used.shape), dtype=np.uint32)
            self._address = np.concatenate([self._address, more])
            self._word = np.concatenate([self._word, more])
            self._known = np.concatenate([self._known, more != 0])


def has_unfollowed_stores(code: ExecutableFunction) -> bool:
    """Say whether something may change local memory that is not a plain store of it."""
    calls = any(block.control is not None and block.control.flow in _CALLS for block in code.blocks)
    return calls or any(
        instruction.opcode.partition(".")[0] in _GENERIC or _is_unfollowed_store(instruction) for instruction in code.function.instructions
    )


def _is_unfollowed_store(instruction: Instruction) -> bool:
    """Say whether a store to local memory has an address of a form that is not followed."""
    if instruction.opcode.partition(".")[0] not in {"STL", "LDL"}:
        return False
    places = [operand for operand in instruction.operands if isinstance(operand, Memory)]
    plain = [place for place in places if not place.descriptor and not place.modifiers and not place.prefix]
    registers = [register for place in plain for register in place.base]
    return not plain or any(register.negated or set(register.modifiers) - {"reuse"} for register in registers)
