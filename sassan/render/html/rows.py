"""One instruction of a listing as plain data for a page."""

from typing import TypedDict

from sassan.access.reasons import reason
from sassan.isa.control import BARRIERS, ControlCode
from sassan.render.listing import ListingRow

_REUSE_SLOTS = 4
_NONE = "-"


class ControlRecord(TypedDict):
    """A control code, each part as printed: `waits` and `reuse` have one character per barrier and per source slot."""

    stall: str
    hint: str
    write: str
    read: str
    waits: str
    reuse: str


class RowRecord(TypedDict):
    """`control` is None without encodings, `unit` and `letter` for an unknown opcode.

    `transactions` are those of memory by a warp with how few would do, '' without; `waste` says why there are more.
    `pattern` is how the lanes lie in memory. `live` counts the general registers in use.
    """

    address: str
    control: ControlRecord | None
    unit: str | None
    letter: str | None
    text: str
    branch: str | None
    source: str | None
    transactions: str
    waste: str
    pattern: str
    live: int | None


def row(line: ListingRow) -> RowRecord:
    """Return a row of a listing."""
    return {
        "address": f"{line.instruction.address:04x}",
        "control": None if line.control is None else _control(line.control),
        "unit": line.unit,
        "letter": line.letter.value if line.letter else None,
        "text": line.instruction.text or line.instruction.opcode,
        "branch": line.branch.value if line.branch else None,
        "source": None if line.source is None else f"{line.source.file}:{line.source.line}",
        "transactions": line.transactions,
        "live": line.live,
        "pattern": ", ".join(f"{access.space.value} {access.pattern.value}" for access in line.accesses),
        "waste": "\n".join(why for access in line.accesses if (why := reason(access))),
    }


def _control(control: ControlCode) -> ControlRecord:
    return {
        "stall": str(control.stall),
        "hint": "Y" if control.yield_hint else _NONE,
        "write": _NONE if control.write_barrier is None else str(control.write_barrier),
        "read": _NONE if control.read_barrier is None else str(control.read_barrier),
        "waits": "".join(str(barrier) if control.wait_mask >> barrier & 1 else _NONE for barrier in range(BARRIERS)),
        "reuse": "".join(str(slot) if control.reuse >> slot & 1 else _NONE for slot in range(_REUSE_SLOTS)),
    }
