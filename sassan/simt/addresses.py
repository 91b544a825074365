"""The addresses of an operand that names a place in memory, lane by lane."""

from collections.abc import Callable

import numpy as np

from sassan.ir import Constant, Memory
from sassan.simt.code import number
from sassan.simt.integer_work import MASK, Longs, UnknownError

_SCALES = {"X4": 4, "X8": 8, "X16": 16}
_PLAIN = frozenset({"64", "U32", "reuse"})


def address(place: Memory | Constant, word: Callable[[int], Longs], *, wide: bool) -> Longs:
    """Return the address of each lane; `word` returns what a register holds, by its bit number.

    `wide` addresses have 64 bits (global and generic memory), others 32. Raises UnknownError for a form that is not followed.
    """
    if set(place.modifiers) - (_PLAIN if isinstance(place, Constant) else set[str]()) or (
        isinstance(place, Memory) and place.prefix and not place.descriptor
    ):
        raise UnknownError
    held = [(register, name) for register in place.base if (name := number(register.file, register.index)) is not None]
    total: Longs = np.full((1, 1), place.offset & 0xFFFFFFFFFFFFFFFF, np.uint64)
    for register, name in held:
        scales = [_SCALES[each] for each in register.modifiers if each in _SCALES]
        if register.negated or register.absolute or set(register.modifiers) - (_PLAIN if wide else {*_PLAIN, *_SCALES}):
            raise UnknownError
        pair = wide and ("64" in register.modifiers or ("U32" not in register.modifiers and (len(held) == 1 or register.file == "UR")))
        if wide and not pair and "U32" not in register.modifiers:
            raise UnknownError
        held_word = word(name).astype(np.uint64) * np.uint64(scales[0] if scales else 1)
        total = total + held_word + (word(name + 1).astype(np.uint64) << np.uint64(32) if pair else np.uint64(0))
    return total if wide else total & MASK


def registers_of(place: Memory | Constant, *, wide: bool) -> tuple[int, ...]:
    """Return the registers that an address depends on; raises UnknownError for a form that is not followed."""
    read: list[int] = []

    def word(name: int) -> Longs:
        read.append(name)
        return np.zeros((1, 1), np.uint64)

    address(place, word, wide=wide)
    return tuple(read)
