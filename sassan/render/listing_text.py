"""The rows of a listing as lines of text: fixed columns, then the instruction, then a comment."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sassan.isa.control import BARRIERS, Control
from sassan.isa.registers import names
from sassan.render.listing import Branch, Row

NONE = "-"
_UNKNOWN = "?"
_REUSE_SLOTS = 4


class Style(StrEnum):
    """What a piece of a line is, for whoever colours it."""

    PLAIN = "plain"
    TITLE = "title"
    FAINT = "faint"
    WAIT = "wait"
    BRANCH = "branch"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line in one style."""

    text: str
    style: Style = Style.PLAIN


Line = tuple[Piece, ...]


def lines(listing: Sequence[Row], *, agreement: bool = False) -> Iterator[Line]:
    """Yield the title and one line per row; with `agreement`, a line before each block says on which registers the warp agrees."""
    size = max((len(row.unit or _UNKNOWN) for row in listing), default=1)
    yield (Piece(f"{'address':8} st y w r waits  reuse {'unit':{max(size, 4)}} l instruction", Style.TITLE),)
    for row in listing:
        if agreement and row.agreement is not None:
            agreed = " ".join(names(row.agreement)) or "no register"
            yield (Piece(f"{' ' * 8} // the warp agrees on {agreed}", Style.FAINT),)
        yield tuple(_pieces(row, max(size, 4)))


def _pieces(row: Row, size: int) -> Iterator[Piece]:
    yield Piece(f"0x{row.instruction.address:04x}".ljust(8) + " ", Style.FAINT)
    yield from _control(row.control)
    yield Piece(f" {row.unit or _UNKNOWN:{size}} {row.letter.value if row.letter else _UNKNOWN} ")
    style = Style.PLAIN if row.branch is None else Style.BRANCH
    yield Piece(row.instruction.text, style)
    if row.branch is not None:
        yield Piece(f"  // {_SAYS[row.branch]}", Style.BRANCH if row.branch is Branch.DIVERGENT else Style.FAINT)


_SAYS = {
    Branch.DIVERGENT: "divergent",
    Branch.UNIFORM: "uniform",
    Branch.UNREACHED: "unreached",
    Branch.UNKNOWN: "divergent?",
}


def _control(control: Control | None) -> Iterator[Piece]:
    if control is None:
        yield Piece(f"{_UNKNOWN:>2} ? ? ? ??????  ????", Style.FAINT)
        return
    yield Piece(f"{control.stall:2} {'Y' if control.yield_hint else NONE} ")
    sets = " ".join(NONE if one is None else str(one) for one in (control.write_barrier, control.read_barrier))
    yield Piece(f"{sets} ", Style.WAIT if control.sets else Style.FAINT)
    waits = "".join(str(barrier) if control.wait_mask >> barrier & 1 else NONE for barrier in range(BARRIERS))
    yield Piece(waits, Style.WAIT if control.wait_mask else Style.FAINT)
    reuse = "".join(str(slot) if control.reuse >> slot & 1 else NONE for slot in range(_REUSE_SLOTS))
    yield Piece(f"  {reuse}", Style.PLAIN if control.reuse else Style.FAINT)
