"""Votes, shuffles and reductions: words of the lanes that execute one of them together (PTX ISA, "vote.sync", "shfl.sync", "redux.sync")."""

from collections.abc import Callable, Mapping

import numpy as np

from sassan.ir import Register
from sassan.simt.integer_work import MASK, UnknownError, Work, back, is_truth, numbers
from sassan.simt.values import LANES, Truth

_LANE = np.arange(LANES, dtype=np.int64)


def _vote(work: Work, executing: Truth) -> None:
    *outs, source = work.instruction.operands
    if not isinstance(source, Register) or source.index is None:
        raise UnknownError  # which threads are here, and no vote
    held = work.truth(source)
    match sorted(work.modifiers):
        case ["ANY"]:
            result = (held & executing).any(axis=1, keepdims=True)
        case ["ALL"]:
            result = (held | ~executing).all(axis=1, keepdims=True)
        case ["EQ"]:
            result = (held | ~executing).all(axis=1, keepdims=True) | ~(held & executing).any(axis=1, keepdims=True)
        case _:
            raise UnknownError
    mask = np.packbits(held & executing, axis=1, bitorder="little").view(np.uint32).astype(np.uint64)
    for out in outs:
        work.put(out, np.broadcast_to(result if is_truth(out) else mask, executing.shape))


def _shuffle(work: Work, executing: Truth) -> None:
    out, to, source, places, limits = work.instruction.operands
    words, moved, limit = work.word(source), work.word(places).astype(np.int64) & 31, work.word(limits).astype(np.int64)
    clamp, segment = limit & 31, limit >> 8 & 31
    first = _LANE & segment
    last = first | (clamp & ~segment)
    match sorted(work.modifiers):
        case ["IDX"]:
            other = first | (moved & ~segment)
            inside = other <= last
        case ["UP"]:
            other = _LANE - moved
            inside = other >= last
        case ["DOWN"]:
            other = _LANE + moved
            inside = other <= last
        case ["BFLY"]:
            other = _LANE ^ moved
            inside = other <= last
        case _:
            raise UnknownError
    other = np.where(inside, other, _LANE)
    if (executing & ~np.take_along_axis(executing, other, axis=1)).any():
        raise UnknownError  # nothing is said of what a lane finds that does not take part
    work.put(to, np.take_along_axis(words, other, axis=1))
    work.put(out, inside)


def _reduce(work: Work, executing: Truth) -> None:
    to, source = work.instruction.operands
    words, signed = work.word(source), "S32" in work.modifiers
    kept = numbers(words, signed)
    match sorted(work.modifiers - {"S32", "U32"}):
        case ["SUM"]:
            result = np.where(executing, kept, 0).sum(axis=1, keepdims=True)
        case ["MIN"]:
            result = np.where(executing, kept, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
        case ["MAX"]:
            result = np.where(executing, kept, np.iinfo(np.int64).min).max(axis=1, keepdims=True)
        case ["OR"] | []:
            result = np.bitwise_or.reduce(np.where(executing, kept, 0), axis=1, keepdims=True)
        case ["XOR"]:
            result = np.bitwise_xor.reduce(np.where(executing, kept, 0), axis=1, keepdims=True)
        case ["AND"]:
            result = np.bitwise_and.reduce(np.where(executing, kept, -1), axis=1, keepdims=True)
        case _:
            raise UnknownError
    work.put(to, np.broadcast_to(back(result) & MASK, executing.shape))


EXCHANGES: Mapping[str, Callable[[Work, Truth], None]] = {
    **dict.fromkeys(("VOTE", "VOTEU"), _vote),
    "SHFL": _shuffle,
    **dict.fromkeys(("REDUX", "CREDUX"), _reduce),
}
