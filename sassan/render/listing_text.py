"""The rows of a listing as lines of text: fixed columns, then the instruction, then a comment."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sassan.ir import SourceLine, Target
from sassan.isa.control import BARRIERS, ControlCode
from sassan.render.listing import BranchEffect, ListingRow

NONE = "-"
_UNKNOWN = "?"
_TRANSACTIONS = "trans."
_LIVE = "live"
_REUSE_SLOTS = 4
_WIDEST = 56
"""Wider instructions push their source line to the right."""


class Style(StrEnum):
    """The kind of a piece of a line, which determines its colour."""

    PLAIN = "plain"
    TITLE = "title"
    FAINT = "faint"
    WAIT = "wait"
    BRANCH = "branch"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line in one style."""

    text: str
    style: Style = Style.PLAIN


TextLine = tuple[Piece, ...]


SourceText = Callable[[SourceLine], str]
"""Returns the text of a source line, '' if it is unknown."""


def lines(listing: Sequence[ListingRow], source: SourceText, *, agreement: bool = False, live: bool = False) -> Iterator[TextLine]:
    """Yield the title and one line per row; with `agreement`, a line before each block lists its warp-uniform registers.

    `live`: a column counts the registers in use.

    Where accesses of memory are known, a column has their transactions. The first instruction of each source line is followed by the
    position and the text of that line.
    """
    size = max((len(row.unit or _UNKNOWN) for row in listing), default=1)
    wide = min(max((len(_text(row)) for row in listing), default=0), _WIDEST) if any(row.source for row in listing) else 0
    counts = max((len(row.transactions) for row in listing), default=0)
    counts = max(counts, len(_TRANSACTIONS)) if counts else 0
    column = (f"{_TRANSACTIONS:>{counts}} " if counts else "") + (f"{_LIVE} " if live else "")
    yield (Piece(f"{'address':8} st y w r waits  reuse {'unit':{max(size, 4)}} l {column}instruction", Style.TITLE),)
    before: SourceLine | None = None
    for row in listing:
        if agreement and row.agreement is not None:
            verb = "is" if len(row.agreement) == 1 else "are"
            uniform = f"{' '.join(row.agreement)} {verb} warp-uniform" if row.agreement else "no register is warp-uniform"
            yield (Piece(f"{' ' * 8} // {uniform}", Style.FAINT),)
        line = row.source if row.source != before else None
        before = row.source
        beside = "" if line is None else f"{' ' * (wide - len(_text(row)))}  | {_place(line)}  {source(line).strip()}"
        yield (*_pieces(row, max(size, 4), counts, live=live), Piece(beside, Style.SOURCE))


def _place(line: SourceLine) -> str:
    return f"{line.file.replace(chr(92), '/').rpartition('/')[2]}:{line.line}"


def _text(row: ListingRow) -> str:
    return row.instruction.text + _comment(row)


def _comment(row: ListingRow) -> str:
    """Return the target of a label, and the effect of a branch on the warp."""
    labels = [f"to 0x{operand.address:04x}" for operand in row.instruction.operands if isinstance(operand, Target) and operand.label]
    words = [*labels, *([] if row.branch is None else [_BRANCH_TEXTS[row.branch]])]
    return f"  // {', '.join(words)}" if words else ""


def _pieces(row: ListingRow, size: int, counts: int, *, live: bool) -> Iterator[Piece]:
    yield Piece(f"0x{row.instruction.address:04x}".ljust(8) + " ", Style.FAINT)
    yield from _control(row.control)
    yield Piece(f" {row.unit or _UNKNOWN:{size}} {row.letter.value if row.letter else _UNKNOWN} ")
    if counts:
        yield Piece(f"{row.transactions:>{counts}} ", Style.WAIT if any(access.waste for access in row.accesses) else Style.FAINT)
    if live:
        yield Piece(f"{_UNKNOWN if row.live is None else row.live:>{len(_LIVE)}} ", Style.FAINT)
    yield Piece(row.instruction.text, Style.PLAIN if row.branch is None else Style.BRANCH)
    yield Piece(_comment(row), Style.BRANCH if row.branch is BranchEffect.DIVERGENT else Style.FAINT)


_BRANCH_TEXTS = {
    BranchEffect.DIVERGENT: "divergent",
    BranchEffect.UNIFORM: "uniform",
    BranchEffect.UNREACHED: "unreached",
    BranchEffect.UNKNOWN: "divergent?",
}


def _control(control: ControlCode | None) -> Iterator[Piece]:
    if control is None:
        yield Piece(f"{_UNKNOWN:>2} ? ? ? ??????  ????", Style.FAINT)
        return
    yield Piece(f"{control.stall:2} {'Y' if control.yield_hint else NONE} ")
    sets = " ".join(NONE if barrier is None else str(barrier) for barrier in (control.write_barrier, control.read_barrier))
    yield Piece(f"{sets} ", Style.WAIT if control.sets else Style.FAINT)
    waits = "".join(str(barrier) if control.wait_mask >> barrier & 1 else NONE for barrier in range(BARRIERS))
    yield Piece(waits, Style.WAIT if control.wait_mask else Style.FAINT)
    reuse = "".join(str(slot) if control.reuse >> slot & 1 else NONE for slot in range(_REUSE_SLOTS))
    yield Piece(f"  {reuse}", Style.PLAIN if control.reuse else Style.FAINT)
