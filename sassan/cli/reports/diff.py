"""What `sassan diff` says: a table of numbers, then the lines that went and came, or a document."""

import sys
from collections.abc import Sequence

from sassan.app.builds.change_fields import ChangeFields, summary, unknown
from sassan.app.builds.changes import ChangeState, FunctionChange
from sassan.app.builds.numbers import growth_text
from sassan.app.builds.saved_results import BOUNDS, Measure
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import colourful, heading, label, out, safe
from sassan.cli.reports.check import brief
from sassan.fields.kinds import extents
from sassan.plurals import count_of

_RED, _GREEN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[0m"
_NONE = "-"


def show(changes: Sequence[FunctionChange], *, growth: bool) -> None:
    """Print everything that changed, how many functions did, and of which it is unknown whether they grew; see `unknown` for `growth`."""
    changed = [change for change in changes if change.state is not ChangeState.SAME]
    if changed:
        _numbers(changed)
        out("\n")
    for change in changed:
        _lines(change)
    total = f"{count_of(len(changes), 'function')}: {', '.join(f'{number} {state}' for state, number in summary(changes).items())}"
    out("; ".join([total, *(brief(remark) for remark in unknown(changes, growth=growth))]) + "\n" if changes else "no functions\n")


def _numbers(changed: Sequence[FunctionChange]) -> None:
    """Print a row per function, with a column for every number that differs somewhere."""
    titles = {Measure.REGISTERS: "regs", Measure.INSTRUCTIONS: "instr", Measure.DIVERGENT: "div"}
    differ = {number.measure for change in changed for number in change.numbers}
    shown = [measure for measure in Measure if measure in differ or measure is Measure.WCET]
    known = table.of_fields(ChangeFields, changed)
    columns = (Column(titles.get(measure, measure.value), number=True, tone=_tone) for measure in shown)
    rows = ((*row, *(_cell(change, measure) for measure in shown)) for row, change in zip(known.rows, changed, strict=True))
    table.show(Table((*known.columns, *columns), tuple(rows)))


def _cell(change: FunctionChange, measure: Measure) -> str:

    old = change.old.number(measure) if change.old else None
    new = change.new.number(measure) if change.new else None
    if measure not in {number.measure for number in change.numbers}:
        return _spelled(change.latest.number(measure))
    text = f"{_spelled(old)} → {_spelled(new)}"
    if old is None or new is None or measure not in BOUNDS:
        return text
    return f"{text} {growth_text(old, new)}"


def _spelled(number: int | None) -> str:
    return _NONE if number is None else str(number)


def _tone(cell: str) -> str:
    """Return the style of a cell: red where a number grew or got lost, green where it shrank or was found."""
    old, arrow, rest = cell.partition(" → ")
    if not arrow:
        return ""
    new = rest.partition(" ")[0]
    if _NONE in (old, new):
        return "red" if new == _NONE else "green"
    return "red" if int(new) > int(old) else "green"


def _lines(change: FunctionChange) -> None:
    """Print what a function said before and what it says now, like a difference of texts; nothing is cut."""
    if change.old is None or change.new is None:
        return
    renamed = f", was {label(change.old.name)}" if change.old.name != change.new.name else ""
    body = [(sign, each.what, text) for each in change.lines for sign, texts in (("-", each.removed), ("+", each.added)) for text in texts]
    if not (body or renamed or change.code):
        return
    launch = ", grid {}, block {}".format(*map(extents, change.new.launch)) if change.new.launch is not None else ""
    out(f"{heading(change.new.name)} ({safe(change.new.arch)}){launch}{renamed}" + (": other instructions" if change.code else "") + "\n")
    colours = {"-": _RED, "+": _GREEN} if colourful(sys.stdout) else {}
    for sign, subject, text in body:
        start = colours.get(sign, "")
        out(f"  {start}{sign} {subject}: {safe(text)}{_PLAIN if start else ''}\n")
    out("\n")
