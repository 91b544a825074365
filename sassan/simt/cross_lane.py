"""What the lanes of a warp tell each other: shuffles, votes, matches, reductions, and words of which the warp has one copy.

Of lanes that do not execute nothing is certain; a shuffle reads what their registers hold, so that all lanes read the same of one.
"""

from collections.abc import Callable, Mapping

import numpy as np

from sassan.ir import Register
from sassan.simt.integer_work import GroupOperation, Longs, UnknownError, as_signed, back, is_truth
from sassan.simt.values import LANES, Truth

_LANES = np.arange(LANES)
_BITS = np.left_shift(np.uint64(1), np.arange(LANES, dtype=np.uint64))
_SEGMENT = 8
"""Where the mask of a segment stands in the last operand of a shuffle; the last lane stands at 0."""


def _executing(work: GroupOperation) -> Truth:
    if work.executing is None:
        raise UnknownError
    return work.executing


def _mask(truth: Truth) -> Longs:
    """Return a mask of the lanes where something holds, in every lane."""
    return np.broadcast_to((truth * _BITS).sum(axis=1, dtype=np.uint64)[:, None], truth.shape)


def _shuffle(work: GroupOperation) -> None:
    inside, to, source, by, limits = work.instruction.operands
    executing, word = _executing(work), work.word(source)
    step, limit = work.word(by).astype(np.int64) & LANES - 1, work.word(limits).astype(np.int64)
    segment, last = limit >> _SEGMENT & LANES - 1, limit & LANES - 1
    furthest = _LANES & segment | last & ~segment
    match sorted(work.modifiers):
        case ["UP"]:
            lane = _LANES - step
            valid = lane >= furthest
        case ["DOWN"]:
            lane = _LANES + step
            valid = lane <= furthest
        case ["BFLY"]:
            lane = _LANES ^ step
            valid = lane <= furthest
        case ["IDX"]:
            lane = _LANES & segment | step & ~segment
            valid = lane <= furthest
        case _:
            raise UnknownError
    lane = np.where(valid, lane & LANES - 1, _LANES)
    there = np.take_along_axis(executing, lane, axis=1)
    work.drawn = bool((executing & ~there).any())  # nothing is said of what a lane finds that does not take part
    work.put(to, np.take_along_axis(word, lane, axis=1))
    work.put(inside, np.asarray(valid))


def _vote(work: GroupOperation) -> None:
    *results, source = work.instruction.operands
    executing, truth = _executing(work), work.truth(source)
    work.drawn = not isinstance(source, Register) or source.index is None  # it asks which lanes are here
    yes, no = (np.asarray((each & executing).any(axis=1)) for each in (truth, ~truth))
    match sorted(work.modifiers):
        case ["ALL"]:
            outcome = ~no
        case ["ANY"]:
            outcome = yes
        case ["EQ"]:
            outcome = ~(yes & no)
        case _:
            raise UnknownError
    for each in results:
        work.put(each, np.broadcast_to(outcome[:, None], truth.shape) if is_truth(each) else _mask(truth & executing))


def _match(work: GroupOperation) -> None:
    *also, to, source = work.instruction.operands
    if work.modifiers - {"ANY", "U64"} or also:
        raise UnknownError
    word, executing = work.pair(source) if "U64" in work.modifiers else work.word(source), _executing(work)
    equal = (word[:, :, None] == word[:, None, :]) & executing[:, None, :]
    work.put(to, (equal * _BITS).sum(axis=2, dtype=np.uint64))


def _reduction(work: GroupOperation) -> None:
    to, source = work.instruction.operands
    word, executing = work.word(source), _executing(work)
    names = work.modifiers - {"S32", "U32"}
    number = as_signed(word) if "S32" in work.modifiers else word.astype(np.int64)
    match sorted(names):
        case ["SUM"]:
            result = np.where(executing, number, 0).sum(axis=1)
        case ["MIN"]:
            result = np.where(executing, number, np.iinfo(np.int64).max).min(axis=1)
        case ["MAX"]:
            result = np.where(executing, number, np.iinfo(np.int64).min).max(axis=1)
        case ["OR"]:
            result = np.bitwise_or.reduce(np.where(executing, number, 0), axis=1)
        case ["XOR"]:
            result = np.bitwise_xor.reduce(np.where(executing, number, 0), axis=1)
        case ["AND"] | []:
            result = np.bitwise_and.reduce(np.where(executing, number, -1), axis=1)
        case _:
            raise UnknownError
    work.put(to, np.broadcast_to(back(result)[:, None], word.shape))


OPERATIONS: Mapping[str, Callable[[GroupOperation], None]] = {
    "SHFL": _shuffle,
    **dict.fromkeys(("VOTE", "VOTEU"), _vote),
    "MATCH": _match,
    **dict.fromkeys(("REDUX", "CREDUX"), _reduction),
}
