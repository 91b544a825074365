"""The little language that says which operands an instruction has and what it does with them.

A form is a sequence of slots, one per operand, each a role letter, a width and flags: `q! d:size m s2?`. The roles are `ROLES`; a
width is a number of registers, or `:` and the name of a width rule of the table; the flags are `?` (may be absent), `!` (what is
written here never agrees) and `+` (part of the old destination is kept, so that it is read too).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sassan.errors import InputError
from sassan.ir import CodeAddress, Constant, Immediate, Memory, Operand, Register, Special, Symbol, Target, Word

ROLES = {
    "d": ("R", "UR"),  # general or uniform register, written
    "q": ("P", "UP"),  # predicate, written
    "s": ("R", "UR", "immediate", "constant", "symbol"),  # value, read
    "p": ("P", "UP"),  # predicate, read
    "m": ("memory",),  # address, its registers are read
    "x": ("special",),  # special register, read
    "i": ("immediate", "word", "symbol"),  # no register
    "w": ("word", "immediate"),  # no register
    "g": ("SB", "word"),  # scoreboard: no register that an analysis follows
    "a": ("CC", "word"),  # set of registers by name (`PR`, `CC`), read
    "z": ("CC", "word"),  # set of registers by name, written
    "b": ("B",),  # convergence barrier, read
    "e": ("B",),  # convergence barrier, written
    "t": ("target", "symbol", "constant", "immediate"),  # code address
}
"""Per role letter, the kinds of operands that it stands for."""

_DEFAULT_WIDTH = {"m": "0"}  # an address is as wide as the opcode and its suffixes say
_SLOT = re.compile(r"([a-z])(\d+|:[a-z]+)?([?!+]*)")
_KINDS: Mapping[type, str] = {
    Immediate: "immediate",
    Constant: "constant",
    Memory: "memory",
    Special: "special",
    Target: "target",
    CodeAddress: "symbol",
    Symbol: "symbol",
    Word: "word",
}


@dataclass(frozen=True, slots=True)
class OperandSlot:
    """What an instruction does with one operand; `width` is a number of registers (0: given by the opcode) or the name of a width rule."""

    role: str
    width: int | str
    optional: bool
    never: bool
    keep: bool


Form = tuple[OperandSlot, ...]


def parse_form(text: str, where: str) -> Form:
    """Return the slots of a form; `where` (file and key) is named by the InputError `bad-table`."""
    slots: list[OperandSlot] = []
    for word in text.split():
        match = _SLOT.fullmatch(word)
        if match is None or match[1] not in ROLES:
            raise InputError("bad-table", f"{where}: '{word}' is not a slot of a form")
        role, width, flags = match[1], match[2] or _DEFAULT_WIDTH.get(match[1], "1"), match[3]
        span = width[1:] if width.startswith(":") else int(width)
        slots.append(OperandSlot(role, span, "?" in flags, "!" in flags, "+" in flags))
    return tuple(slots)


def kind(operand: Operand) -> str:
    """Return the kind of an operand: the file of a register, else the word of `ROLES`."""
    if isinstance(operand, Register):
        return operand.file
    return _KINDS[type(operand)]


def assign(form: Form, kinds: Sequence[str]) -> tuple[OperandSlot, ...] | None:
    """Return one slot per operand, leaving out optional slots where that makes the form fit, or None when it does not fit."""
    if not form:
        return None if kinds else ()
    first, rest = form[0], form[1:]
    if kinds and kinds[0] in ROLES[first.role]:
        tail = assign(rest, kinds[1:])
        if tail is not None:
            return (first, *tail)
    return assign(rest, kinds) if first.optional else None
