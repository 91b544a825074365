"""Shared memory of the blocks of a run, as far as every execution has the same words there (docs/proofs/runs-of-a-launch.md).

Between two barriers of its block, the threads run in any order. What is read is what stood there at the last barrier, or what the same
thread has written since; a word that another thread writes before the next barrier is neither.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sassan.ir import Function, Immediate, Instruction
from sassan.isa.facts import Flow
from sassan.simt.code import ALWAYS, ExecutableFunction, LocalAccess
from sassan.simt.spills import shared_operation
from sassan.simt.stack import Ints
from sassan.simt.values import LANES, Rows, Truth, Words

OF_BLOCK = (1 << 24) - 1
"""The bits of an address that say where in the shared memory of its block it lies: those above name the block of the cluster."""
COMPILED = "sassan.simt.kernel"
"""The module of compiled code of runs: where a long run has loaded it, loads are compiled, too."""
WAITING = -3
"""The next block of a run that waits at a barrier."""
_WORDS = 1 << 22
"""Words of all blocks together that are followed."""
_NO_THREAD = np.iinfo(np.int32).max
_WRITERS = frozenset(
    (
        *("ST", "ATOM", "ATOMS", "STSM", "STAS", "REDAS", "RED", "REDG", "LDGSTS", "UBLKCP", "UBLKRED", "UTMALDG"),
        *("SYNCS", "ARRIVES", "LDTM", "UTCBAR", "UTCATOMSWS", "UGETNEXTWORKID"),
    )
)
"""What may change shared memory, and is not a plain store of it."""
_BESIDE = frozenset(("LDGSTS", "STSM", "UBLKCP", "UTMALDG", "SYNCS", "ARRIVES", "LDTM", "UTCBAR"))
"""Those of them that store tiles, or work at barriers in shared memory: what plain stores wrote stands beside these in most programs."""
_CALLS = frozenset({Flow.CALL, Flow.INDIRECT_CALL, Flow.RETURN})
_BOTH = 2
_Word = TypeVar("_Word", bound=np.generic)


class SharedMemory:
    """The words of `blocks` (the number of the block of each run), of which those at `racy` addresses are unknown, and after `lose` all.

    A word has one spelling in each interval between barriers: what it was at its begin, and what was written since, with the first and
    the last number of the threads that read it and that wrote it.
    """

    def __init__(self, blocks: Rows, racy: set[int]) -> None:
        """Hold nothing."""
        self.racy = racy
        count = int(blocks.max(initial=-1)) + 1
        self._blocks, self._sizes = blocks, np.bincount(blocks, minlength=count)
        self.lost = np.zeros(count, np.bool_)
        self._certain = np.zeros(count, np.bool_)
        """Blocks in which any word is certain: in a tile of what was loaded, which nothing says, none is."""
        self._next = np.full(len(blocks), WAITING, np.int32)
        self._word, self._late = (np.zeros((count, 0), np.uint32) for _ in range(2))
        self._sure, self._late_sure = (np.zeros((count, 0), np.bool_) for _ in range(2))
        self._readers, self._writers = (np.zeros((2, count, 0), np.int32) for _ in range(2))

    def load(self, rows: Rows, reading: Truth, address: Words) -> tuple[Words, Truth]:
        """Return the words (G, 32) that certainly stand at addresses, and where they do; `reading`: lanes with certain addresses."""
        words, known = np.zeros(address.shape, np.uint32), np.zeros(address.shape, np.bool_)
        if not self.knows(rows):
            return words, known
        if COMPILED in sys.modules:
            self._load_compiled(rows, reading, address, words, known)
            return words, known
        group, lane, place = self._places(rows, reading & ~self.lost[self._blocks[rows], None], address)
        if not len(group):
            return words, known
        thread, first, last = self._threads(rows, group, lane), self._flat(self._writers[0])[place], self._flat(self._writers[1])[place]
        is_own = (first == thread) & (last == thread)
        sure = (is_own & self._flat(self._late_sure)[place]) | ((first == _NO_THREAD) & self._flat(self._sure)[place])
        if self.racy:
            sure &= ~np.isin(place % self._word.shape[1], [address // 4 for address in self.racy])
        words[group, lane] = np.where(is_own, self._flat(self._late)[place], self._flat(self._word)[place])
        known[group, lane] = sure
        place, thread = place[sure], thread[sure]
        np.minimum.at(self._flat(self._readers[0]), place, thread)
        np.maximum.at(self._flat(self._readers[1]), place, thread)
        return words, known

    def knows(self, rows: Rows) -> bool:
        """Say whether any word of the blocks of runs is certain."""
        return bool(self._certain[self._blocks[rows]].any())

    def _load_compiled(self, rows: Rows, reading: Truth, address: Words, words: Words, known: Truth) -> None:
        from sassan.simt import shared_kernel  # noqa: PLC0415 - it loads the compiler

        racy = np.zeros(self._word.shape[1], np.bool_)
        racy[[each for address in self.racy if (each := address // 4) < len(racy)]] = True
        reading, address = np.broadcast_to(reading, words.shape), np.broadcast_to(address, words.shape)
        shared_kernel.load(
            rows,
            np.ascontiguousarray(reading),
            np.ascontiguousarray(address),
            self._blocks,
            self.lost,
            racy,
            self._word,
            self._sure,
            self._late,
            self._late_sure,
            self._readers,
            self._writers,
            int(_NO_THREAD),
            words,
            known,
        )

    def store(self, rows: Rows, writing: Truth, address: Words, word: Words, sure: Truth) -> None:
        """Store words that are certain where `sure`, in the lanes that are or may be `writing` at addresses that are certain."""
        if (writing & (address >= np.uint32(_WORDS * 4 // max(1, len(self.lost))))).any():
            self.lose(rows)
            return
        self._grow(int(np.where(writing, address, 0).max()) // 4 + 1)
        group, lane, place = self._places(rows, writing, address)
        thread, words, known = self._threads(rows, group, lane), word[group, lane], sure[group, lane] & (address[group, lane] % 4 == 0)
        readers, writers = ([self._flat(side) for side in both] for both in (self._readers, self._writers))
        late, late_sure = self._flat(self._late), self._flat(self._late_sure)
        read = readers[0][place]
        others = (read != _NO_THREAD) & ((read != thread) | (readers[1][place] != thread))
        self.racy.update((place[others] % self._word.shape[1] * 4).tolist())
        wrote = writers[0][place]
        first = (wrote == _NO_THREAD) | ((wrote == thread) & (writers[1][place] == thread))
        late[place[first]] = words[first]
        late_sure[place[first]] = True
        self._certain[np.unique(self._blocks[rows[group[known]]])] = True
        late_sure[place[~known | (late[place] != words)]] = False
        np.minimum.at(writers[0], place, thread)
        np.maximum.at(writers[1], place, thread)

    def lose(self, rows: Rows) -> None:
        """Let any word of the blocks of runs be anything from the last barrier on: what was read since then was not certain."""
        blocks = np.unique(self._blocks[rows])
        for block in blocks[~self.lost[blocks]].tolist():
            self.racy.update((np.flatnonzero(self._readers[0, block] != _NO_THREAD) * 4).tolist())
        self.lost[blocks] = True

    def wait(self, rows: Rows, following: Ints) -> Ints:
        """Let runs wait at a barrier before they go to blocks of the code; those whose memory is lost go on. Return where they are now."""
        waits = ~self.lost[self._blocks[rows]]
        self._next[rows[waits]] = following[waits]
        return np.where(waits, WAITING, following).astype(np.int32)

    def release(self, where: Ints, *, idle: bool) -> Rows:
        """Let runs go on whose blocks are all at a barrier, or have ended: return which; `where` is the block of the code of each run.

        `idle`: no other run goes on, so that the rest would wait for ever.
        """
        waits = where == WAITING
        if not waits.any():
            return np.zeros(0, np.intp)
        still = np.bincount(self._blocks[waits | (where < 0)], minlength=len(self.lost))
        free = (still == self._sizes) | self.lost
        rows = np.flatnonzero(waits & free[self._blocks])
        if idle and not len(rows):
            self.lose(np.flatnonzero(waits))
            rows = np.flatnonzero(waits)
        for block in np.unique(self._blocks[rows]).tolist():
            self._pass(block)
        where[rows] = self._next[rows]
        return rows

    def _pass(self, block: int) -> None:
        """Begin another interval."""
        wrote = self._writers[0, block] != _NO_THREAD
        self._word[block] = np.where(wrote, self._late[block], self._word[block])
        self._sure[block] = np.where(wrote, self._late_sure[block], self._sure[block])
        self._certain[block] = self._sure[block].any()
        self._readers[:, block] = self._writers[:, block] = np.array([[_NO_THREAD], [-1]])

    def _places(self, rows: Rows, which: Truth, address: Words) -> tuple[Rows, Rows, Rows]:
        """Return run, lane and place (of all blocks, one after the other) of the words at addresses that were stored to."""
        width = self._word.shape[1]
        group, lane = np.nonzero(which & (address < np.uint32(4 * width)))
        return group, lane, self._blocks[rows[group]] * width + (address[group, lane] // 4).astype(np.intp)

    @staticmethod
    def _flat(words: npt.NDArray[_Word]) -> npt.NDArray[_Word]:
        """Return the words of all blocks in a row: a view, which is indexed in a fraction of the time."""
        return words.reshape(-1)

    @staticmethod
    def _threads(rows: Rows, group: Rows, lane: Rows) -> npt.NDArray[np.int32]:
        return (rows[group] * LANES + lane).astype(np.int32)

    def _grow(self, words: int) -> None:
        more = words - self._word.shape[1]
        if more <= 0:
            return
        blocks = len(self.lost)
        self._word, self._late = (np.hstack([each, np.zeros((blocks, more), np.uint32)]) for each in (self._word, self._late))
        self._sure, self._late_sure = (np.hstack([each, np.zeros((blocks, more), np.bool_)]) for each in (self._sure, self._late_sure))
        none = np.broadcast_to(np.array([[[_NO_THREAD]], [[-1]]], np.int32), (_BOTH, blocks, more))
        self._readers, self._writers = (np.concatenate([each, none], axis=2) for each in (self._readers, self._writers))


def is_followed(code: ExecutableFunction, *, beside: bool = False) -> bool:
    """Say whether nothing but plain stores changes the shared memory of a block.

    `beside`: what stores tiles and works at barriers is taken to change other parts of it.
    """
    calls = any(block.control is not None and block.control.flow in _CALLS for block in code.blocks)
    names = [(instruction, instruction.opcode.partition(".")[0]) for instruction in code.function.instructions]
    strange = any(name == "STS" and shared_operation(instruction, ALWAYS, ()) is None for instruction, name in names)
    others = _WRITERS - _BESIDE if beside else _WRITERS
    return not calls and not strange and others.isdisjoint(name for _, name in names)


def reads_shared(code: ExecutableFunction) -> bool:
    """Say whether code reads shared memory of its block."""
    every = (operation.exact for block in code.blocks for operation in block.operations)
    return any(isinstance(exact, LocalAccess) and exact.shared and not exact.store for exact in every)


def barriers(instructions: Sequence[Instruction]) -> frozenset[int]:
    """Return the addresses of the barriers that all threads of a block wait at; none where some may be passed by a part of them."""
    several = [instruction for instruction in instructions if instruction.opcode.partition(".")[0] == "BAR"]
    first = [each for each in several if not _is_other(each)]
    return frozenset() if not all(map(_is_whole, first)) else frozenset(each.address for each in first)


def cluster_barriers(instructions: Sequence[Instruction]) -> frozenset[int]:
    """Return the addresses at which all threads of a cluster are waited for, those of the block among them.

    They have arrived before: what they stored since may be there or not.
    """
    return frozenset(each.address for each in instructions if each.opcode.partition(".")[0] == "UCGABAR_WAIT" and each.guard is None)


def behind_barriers(function: Function) -> Iterator[int]:
    """Yield the addresses behind barriers, at which threads go on that have waited for their block."""
    waits = barriers(function.instructions) | cluster_barriers(function.instructions)
    known = {instruction.address for instruction in function.instructions}
    yield from (each.following for each in function.instructions if each.address in waits and each.following in known)


def _is_other(barrier: Instruction) -> bool:
    """Say whether a barrier is another one than the first: what it orders besides is not used."""
    which = next(iter(barrier.operands), None)
    return isinstance(which, Immediate) and which.value != 0


def _is_whole(barrier: Instruction) -> bool:
    modifiers = set(barrier.opcode.split(".")[1:])
    operands = [operand for operand in barrier.operands if getattr(operand, "file", "") != "P"]
    plain = len(operands) == 1 and isinstance(operands[0], Immediate)
    return barrier.guard is None and bool(modifiers & {"SYNC", "RED"}) and plain


def shared_addresses(how: LocalAccess, inputs: Sequence[Words], like: Truth) -> Words:
    """Return the addresses of an access to shared memory (G, 32)."""
    address = np.full(like.shape, how.offset & 0xFFFFFFFF, np.uint32)
    for word, scale in zip(inputs[: how.base], how.scales, strict=True):
        address = address + word * np.uint32(scale)
    return address
