"""One instruction of a listing as plain data for a page."""

from typing import TypedDict

from sassan.isa.control import BARRIERS, Control
from sassan.render.listing import Row

_REUSE_SLOTS = 4
_NONE = "-"


class ControlRecord(TypedDict):
    """A control code, each part as it is printed: `waits` and `reuse` have one character per barrier and per source slot."""

    stall: str
    hint: str
    write: str
    read: str
    waits: str
    reuse: str


class RowRecord(TypedDict):
    """`control` is None without encodings, `unit` and `letter` where no table knows the opcode."""

    address: str
    control: ControlRecord | None
    unit: str | None
    letter: str | None
    text: str
    branch: str | None
    source: str | None


def row(one: Row) -> RowRecord:
    """Return a row of a listing."""
    return {
        "address": f"{one.instruction.address:04x}",
        "control": None if one.control is None else _control(one.control),
        "unit": one.unit,
        "letter": one.letter.value if one.letter else None,
        "text": one.instruction.text or one.instruction.opcode,
        "branch": one.branch.value if one.branch else None,
        "source": None if one.source is None else f"{one.source.file}:{one.source.line}",
    }


def _control(one: Control) -> ControlRecord:
    return {
        "stall": str(one.stall),
        "hint": "Y" if one.yield_hint else _NONE,
        "write": _NONE if one.write_barrier is None else str(one.write_barrier),
        "read": _NONE if one.read_barrier is None else str(one.read_barrier),
        "waits": "".join(str(barrier) if one.wait_mask >> barrier & 1 else _NONE for barrier in range(BARRIERS)),
        "reuse": "".join(str(slot) if one.reuse >> slot & 1 else _NONE for slot in range(_REUSE_SLOTS)),
    }
