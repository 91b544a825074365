"""What an integer operation works on: its operands as words of all lanes, and the words that it writes."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sassan.ir import Constant, Immediate, Instruction, Operand, Register
from sassan.machine.contents import Contents
from sassan.simt.code import number
from sassan.simt.values import LANES, Rows, Truth, Words, key, stir

Longs = npt.NDArray[np.uint64]
MASK = np.uint64(0xFFFFFFFF)
MINUS_ZERO = re.compile(r", -0(\.0*)?(,|$)")
"""An immediate whose sign a reader does not keep."""
_WORD = 0xFFFFFFFF
_BANK = 1 << 16
"""Bytes of a constant bank."""


@dataclass(frozen=True, slots=True)
class WarpInputs:
    """N warps of a launch.

    `salt` (N) names each, `special` are special registers (N, 32), `bank` returns a word of constant bank 0 (N). `short` says that IADD3
    has immediates of 20 bits, which are printed without their sign: until Pascal. `contents` of global memory are known, and the launch
    does not change them. `literals` is constant bank 2, which the compiler fills.
    """

    salt: Words
    special: Mapping[str, Words]
    bank: Callable[[int], Words]
    short: bool = False
    contents: Contents | None = None
    literals: bytes = b""

    def __len__(self) -> int:
        """Return N."""
        return len(self.salt)


class UnknownError(Exception):
    """No rule covers a form: its results are drawn."""


@dataclass(slots=True)
class GroupOperation:
    """One operation on a group: what it reads, and what it has written so far, 64 bits to a word, so that carries fit."""

    instruction: Instruction
    place: WarpInputs
    rows: Rows
    inputs: Mapping[int, Words]
    out: dict[int, Longs]
    executing: Truth | None = None
    """Which lanes execute it (G, 32); None: not known."""
    drawn: bool = False
    """Whether a part of what it reads or writes is drawn."""

    @property
    def modifiers(self) -> set[str]:
        """Return what stands behind the mnemonic."""
        return set(self.instruction.opcode.split(".")[1:]) - {"reuse"}

    @property
    def signed(self) -> bool:
        """Say whether an operation works on signed numbers: the default."""
        return self.modifiers.isdisjoint({"U32", "U64"})

    def word(self, operand: Operand, half: int = 0) -> Longs:
        """Return an operand; signs and inversions applied."""
        match operand:
            case Register():
                if set(operand.modifiers) - {"reuse", "64"} or operand.absolute:
                    raise UnknownError
                return self._sign(self._register(operand, half), operand.negated, operand.inverted)
            case Immediate(value=int() as value, modifiers=()):
                return self.full((value >> 32 * half) & _WORD)
            case Constant(bank=2, modifiers=(), absolute=False) if self.place.literals:
                return self._sign(self._literal(operand, half), operand.negated, operand.inverted)
            case Constant(bank=int() as bank, base=(), modifiers=(), absolute=False) if bank:
                self.drawn = True
                drawn = stir(self.place.salt[self.rows], np.uint32(key(f"c[{bank}][{operand.offset + 4 * half}]")))
                return self._sign(self._all(drawn), operand.negated, operand.inverted)
            case Constant(bank=0, modifiers=()) if not operand.absolute:
                return self._sign(self._constant(operand, half), operand.negated, operand.inverted)
            case _:
                raise UnknownError

    def pair(self, operand: Operand) -> Longs:
        """Return an operand of two words as one number of 64 bits, with its sign."""
        if isinstance(operand, Register | Constant) and operand.negated:
            return np.uint64(0) - self.pair(replace(operand, negated=False))
        return self.word(operand) | self.word(operand, 1) << np.uint64(32)

    def full(self, value: int) -> Longs:
        """Return one word in every lane."""
        return np.full((len(self.rows), LANES), value, dtype=np.uint64)

    def _all(self, words: Words) -> Longs:
        """Return one word of each warp in all of its lanes."""
        return np.broadcast_to(words[:, None], (len(words), LANES)).astype(np.uint64)

    def _constant(self, operand: Constant, half: int) -> Longs:
        """Return a word of the constant bank, which each lane may read elsewhere; 0 where no word begins."""
        if not operand.base and operand.offset % 4 == 0 and 0 <= operand.offset < _BANK:
            return self._all(self.place.bank(operand.offset + 4 * half)[self.rows])
        base = sum((self._register(register, 0) for register in operand.base), self.full(operand.offset & _WORD)) & MASK
        words = self.full(0)
        for address in np.unique(base[(base < _BANK) & (base % np.uint64(4) == 0)]).tolist():
            words = np.where(base == address, self.place.bank(address + 4 * half)[self.rows][:, None], words)
        return words

    def _literal(self, operand: Constant, half: int) -> Longs:
        """Return a word of constant bank 2, which each lane may read elsewhere."""
        words = np.frombuffer(self.place.literals[: len(self.place.literals) // 4 * 4], "<u4").astype(np.uint64)
        where = sum((self._register(register, 0) for register in operand.base), self.full((operand.offset + 4 * half) & _WORD)) & MASK
        if ((where % np.uint64(4) != 0) | (where // np.uint64(4) >= np.uint64(len(words)))).any():
            raise UnknownError
        return words[(where // np.uint64(4)).astype(np.intp)]

    def _register(self, register: Register, half: int) -> Longs:
        name = number(register.file, register.index)
        return self.full(0) if name is None else self.inputs[name + half].astype(np.uint64)

    def _sign(self, words: Longs, negated: bool, inverted: bool) -> Longs:
        if negated:
            return (~words + np.uint64(1)) & MASK
        return ~words & MASK if inverted else words

    def truth(self, operand: Operand) -> Truth:
        """Return a condition operand."""
        if not isinstance(operand, Register) or operand.file not in {"P", "UP"}:
            raise UnknownError
        name = number(operand.file, operand.index)
        held = np.ones((len(self.rows), LANES), dtype=np.bool_) if name is None else self.inputs[name] != 0
        return np.asarray(held != operand.negated)

    def put(self, operand: Operand, words: Longs | Truth, half: int = 0) -> None:
        """Write a register, or the one behind it."""
        name = number(operand.file, operand.index) if isinstance(operand, Register) else None
        if name is not None:
            self.out[name + half] = words.astype(np.uint64) & MASK

    def integer(self, operand: Operand) -> int:
        """Return a plain number."""
        if not isinstance(operand, Immediate) or not isinstance(operand.value, int):
            raise UnknownError
        return operand.value


def as_signed(words: Longs) -> npt.NDArray[np.int64]:
    """Return words as signed numbers."""
    return words.astype(np.uint32).view(np.int32).astype(np.int64)


def numbers(words: Longs, signed: bool) -> npt.NDArray[np.int64]:
    """Return words as numbers."""
    return as_signed(words) if signed else words.astype(np.int64)


def back(numbers: npt.NDArray[np.int64]) -> Longs:
    """Return numbers as words."""
    return numbers.view(np.uint64) & MASK


def is_truth(operand: Operand) -> bool:
    """Say whether an operand is a condition."""
    return isinstance(operand, Register) and operand.file in {"P", "UP"}


def split(operands: tuple[Operand, ...]) -> tuple[Operand, list[Operand], list[Operand], list[Operand]]:
    """Return destination, condition destinations, words, and conditions at the end."""
    to, *rest = operands
    outs = rest[: next((place for place, operand in enumerate(rest) if not is_truth(operand)), 0)]
    rest = rest[len(outs) :]
    late = next((place for place, operand in enumerate(reversed(rest)) if not is_truth(operand)), 0)
    return to, outs, rest[: len(rest) - late], rest[len(rest) - late :]


def is_negated(operand: Operand) -> bool:
    """Say whether an operand is -x, which is ~x + 1."""
    return getattr(operand, "negated", False) and not getattr(operand, "inverted", False)


def carries_unknown(modifiers: Collection[str], first: Operand, words: Iterable[Operand], *, out: bool, flags: bool) -> bool:
    """Say whether signs leave open what a scaled sum is or carries: known is that of a difference of whole words in a predicate.

    So is the upper half of a difference, x + ~y + carry, which carries nothing on. `first` is the first operand of the instruction, `out`
    whether it has such a predicate, `flags` whether it sets CC.
    """
    every = list(words)
    signed = [word for word in every if isinstance(word, Register | Constant) and (word.negated or word.inverted)]
    if "X" in modifiers and "HI" in modifiers and not out and not flags and signed == every[1:2]:
        return is_negated(signed[0])
    is_known = not modifiers and not is_truth(first) and all(map(is_negated, signed))
    return bool(signed) and ("X" in modifiers or flags or (out and not is_known))
