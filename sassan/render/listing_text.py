"""The rows of a listing as lines of text: fixed columns, then the instruction, then a comment."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sassan.ir import SourceLine, Target
from sassan.isa.control import BARRIERS, Control
from sassan.render.listing import Branch, Row

NONE = "-"
_UNKNOWN = "?"
_REUSE_SLOTS = 4
_WIDEST = 56
"""Beyond this, an instruction pushes its source line to the right."""


class Style(StrEnum):
    """What a piece of a line is, for whoever colours it."""

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


Line = tuple[Piece, ...]


SourceText = Callable[[SourceLine], str]
"""Returns the text of a source line, '' where it is not known."""


def lines(listing: Sequence[Row], source: SourceText, *, agreement: bool = False) -> Iterator[Line]:
    """Yield the title and one line per row; with `agreement`, a line before each block says on which registers the warp agrees.

    Beside the first instruction of each source line stand its place and its text.
    """
    size = max((len(row.unit or _UNKNOWN) for row in listing), default=1)
    wide = min(max((len(_text(row)) for row in listing), default=0), _WIDEST) if any(row.source for row in listing) else 0
    yield (Piece(f"{'address':8} st y w r waits  reuse {'unit':{max(size, 4)}} l instruction", Style.TITLE),)
    before: SourceLine | None = None
    for row in listing:
        if agreement and row.agreement is not None:
            agreed = " ".join(row.agreement) or "no register"
            yield (Piece(f"{' ' * 8} // the warp agrees on {agreed}", Style.FAINT),)
        line = row.source if row.source != before else None
        before = row.source
        beside = "" if line is None else f"{' ' * (wide - len(_text(row)))}  | {_place(line)}  {source(line).strip()}"
        yield (*_pieces(row, max(size, 4)), Piece(beside, Style.SOURCE))


def _place(line: SourceLine) -> str:
    return f"{line.file.replace(chr(92), '/').rpartition('/')[2]}:{line.line}"


def _text(row: Row) -> str:
    return row.instruction.text + _comment(row)


def _comment(row: Row) -> str:
    """Return where a label leads, and what a branch does to the warp."""
    labels = [f"to 0x{one.address:04x}" for one in row.instruction.operands if isinstance(one, Target) and one.label]
    words = [*labels, *([] if row.branch is None else [_SAYS[row.branch]])]
    return f"  // {', '.join(words)}" if words else ""


def _pieces(row: Row, size: int) -> Iterator[Piece]:
    yield Piece(f"0x{row.instruction.address:04x}".ljust(8) + " ", Style.FAINT)
    yield from _control(row.control)
    yield Piece(f" {row.unit or _UNKNOWN:{size}} {row.letter.value if row.letter else _UNKNOWN} ")
    yield Piece(row.instruction.text, Style.PLAIN if row.branch is None else Style.BRANCH)
    yield Piece(_comment(row), Style.BRANCH if row.branch is Branch.DIVERGENT else Style.FAINT)


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
