"""What stores and atomic operations do to global memory, lane after lane."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sassan.ir import Immediate, Memory, Operand, Register
from sassan.simt.global_memory import GlobalMemory
from sassan.simt.integer_work import GroupOperation, Longs, UnknownError, is_truth
from sassan.simt.loads import place_of
from sassan.simt.values import Rows, Truth

SHARED = frozenset({"LDS", "STS", "ATOMS"})
"""What accesses the shared memory of a block."""
PLAIN_STORES = frozenset({"STG", "ST", "STS"})
_ATOMIC = frozenset({"ATOMG", "ATOM", "RED", "REDG", "ATOMS"})
STORES = PLAIN_STORES | _ATOMIC
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2}
_WORDS = {"64": 2, "128": 4}
_ORDERS = frozenset(
    ("E", "EF", "EL", "LU", "CS", "WB", "WT", "NA", "CONSTANT", "WEAK", "STRONG", "SM", "GPU", "SYS", "CTA", "VC", "MMIO", "PRIVATE")
)
_TYPES: Mapping[str, npt.DTypeLike] = {
    "32": np.uint32,
    "U32": np.uint32,
    "S32": np.int32,
    "64": np.uint64,
    "U64": np.uint64,
    "S64": np.int64,
    "F32": np.float32,
    "F64": np.float64,
}
_OF_FLOATS = frozenset({"FTZ", "RN"})
Numbers = npt.NDArray[Any]


def _increment(old: Numbers, limit: Numbers) -> Numbers:
    return np.where(old >= limit, 0, old + 1).astype(old.dtype)


def _exchange(old: Numbers, new: Numbers) -> Numbers:
    del old
    return new


def _decrement(old: Numbers, limit: Numbers) -> Numbers:
    return np.where((old == 0) | (old > limit), limit, old - 1).astype(old.dtype)


_AT_ONCE: Mapping[str, np.ufunc] = {
    "ADD": np.add,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
}
"""Those that need no turns where no lane gets what was there."""
_OPERATIONS: Mapping[str, Callable[[Numbers, Numbers], Numbers]] = {
    **_AT_ONCE,
    "EXCH": _exchange,
    "INC": _increment,
    "DEC": _decrement,
}
_COMPARED = "CAS"
_COUNTED = frozenset({"POPC", "INC"})
"""How each lane adds one in shared memory."""


def change(work: GroupOperation, memory: GlobalMemory, window: Longs | None = None) -> Truth:
    """Store what an operation stores, and write what it returns; return in which lanes that memory is there, and known where it is read.

    `window`: where the shared memory of each warp begins, for an access to that. Raises UnknownError for a form that has no rule.
    """
    place = next((operand for operand in work.instruction.operands if isinstance(operand, Memory)), None)
    if place is None:
        raise UnknownError
    where = place_of(work, place, window)
    behind = work.instruction.operands[work.instruction.operands.index(place) + 1 :]
    if work.instruction.opcode.partition(".")[0] in PLAIN_STORES:
        return _store(work, memory, where, behind)
    return _atomic(work, memory, where, behind)


def _store(work: GroupOperation, memory: GlobalMemory, where: npt.NDArray[np.uint64], data: tuple[Operand, ...]) -> Truth:
    widths = work.modifiers - _ORDERS
    width = next(iter(widths), "32")
    if len(widths) > 1 or len(data) != 1 or not (width in _BYTES or width in _WORDS or width == "32"):
        raise UnknownError
    size, count = _BYTES.get(width, 4), _WORDS.get(width, 1)
    there, inside = memory.places(where, size * count)
    executing = inside if work.executing is None else inside & work.executing
    for part in range(count):
        memory.store(there[executing] + 4 * part, work.word(data[0], part).astype(np.uint32)[executing], size)
    return inside


def _atomic(work: GroupOperation, memory: GlobalMemory, where: npt.NDArray[np.uint64], data: tuple[Operand, ...]) -> Truth:
    named = work.modifiers - _ORDERS - _OF_FLOATS
    if named >= _COUNTED:
        named, data = named - _COUNTED | {"ADD"}, (Immediate(1),)
    names, types = named & {*_OPERATIONS, _COMPARED}, named & set(_TYPES)
    if len(names) != 1 or len(types) > 1 or named - names - types:
        raise UnknownError
    (name,), kind = names, np.dtype(_TYPES[next(iter(types), "32")])
    if len(data) != 1 + (name == _COMPARED) or (kind.kind == "f" and name not in {"ADD", "EXCH"}):
        raise UnknownError
    there, inside = memory.places(where, kind.itemsize)
    known = inside & (there % kind.itemsize == 0)
    lanes = known if work.executing is None else known & work.executing
    known = known.copy()
    known[lanes] &= memory.known(there[lanes], kind.itemsize)
    index = there[lanes] // kind.itemsize
    given = [_numbers(work, operand, kind)[lanes] for operand in data]
    place = next(number for number, operand in enumerate(work.instruction.operands) if isinstance(operand, Memory))
    returned = work.instruction.operands[:place]
    memory.note_changes(there[lanes], kind.itemsize)
    if not returned and name in _AT_ONCE:
        _AT_ONCE[name].at(memory.numbers(kind), index, given[0])
        return np.asarray(known)
    old = _one_after_the_other(memory.numbers(kind), index, name, given)
    for to in returned:
        if is_truth(to):
            if isinstance(to, Register) and to.index is not None:
                raise UnknownError
            continue
        for half in range(kind.itemsize // 4):
            word = np.zeros(where.shape, np.uint64)
            word[lanes] = old.view(np.uint32).reshape(len(old), -1)[:, half]
            work.put(to, word, half)
    return np.asarray(known)


def _numbers(work: GroupOperation, operand: Operand, kind: np.dtype[Any]) -> Numbers:
    """Return an operand as numbers of a type."""
    words = work.word(operand) if kind.itemsize == 4 else work.word(operand) | work.word(operand, 1) << np.uint64(32)  # noqa: PLR2004
    return np.asarray(words.astype(f"u{kind.itemsize}").view(kind))


def _one_after_the_other(numbers: Numbers, index: Rows, name: str, given: list[Numbers]) -> Numbers:
    """Change the numbers at places, those of one place in the order of the lanes; return what each lane finds."""
    previous = np.zeros(len(index), numbers.dtype)
    if name == "ADD" and numbers.dtype.kind != "f":
        # Sums that do not depend on the order: each lane finds what those before it have added.
        order = np.argsort(index, kind="stable")
        added, places = given[0][order], index[order]
        first = np.concatenate([[True], places[1:] != places[:-1]]) if len(places) else np.zeros(0, np.bool_)
        before = np.cumsum(added, dtype=numbers.dtype) - added
        begins = np.flatnonzero(first)
        before = before - np.repeat(before[begins], np.diff(np.append(begins, len(places))))
        previous[order] = numbers[places] + before
        np.add.at(numbers, index, given[0])
        return previous
    left = np.arange(len(index))
    while len(left):
        _, turn = np.unique(index[left], return_index=True)
        now = left[turn]
        old = numbers[index[now]]
        previous[now] = old
        if name == _COMPARED:
            numbers[index[now]] = np.where(old == given[0][now], given[1][now], old)
        else:
            numbers[index[now]] = _OPERATIONS[name](old, given[0][now])
        left = np.delete(left, turn)
    return previous
