"""What `sassan diff` says: a table of numbers, then the lines that went and came, or a document."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sassan.app.builds.changes import Change, State
from sassan.app.builds.checked import Remark
from sassan.app.builds.gates import change, unheld
from sassan.app.builds.saved_results import BOUNDS, Measure
from sassan.cli.output import table
from sassan.cli.output.check_report import brief
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import colourful, out, safe

_RED, _GREEN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[0m"
_NONE = "-"


def show(found: Sequence[Change], *, growth: bool) -> None:
    """Print everything that changed, how many functions did, and of which it is unknown whether they grew; see `unknown` for `growth`."""
    changed = [one for one in found if one.state is not State.SAME]
    if changed:
        _numbers(changed)
        out("\n")
    for one in changed:
        _lines(one)
    total = f"{_count(len(found))}: {', '.join(f'{number} {state}' for state, number in summary(found).items())}"
    out("; ".join([total, *(brief(one) for one in unknown(found, growth=growth))]) + "\n" if found else "no functions\n")


def unknown(found: Sequence[Change], *, growth: bool) -> Iterator[Remark]:
    """Yield of which functions growth is not known: no number on both sides, or, where `growth` was asked for, one side only."""
    names = [_name(one) for one in found if one.old is not None and one.new is not None and unheld((one.old,), one.new)]
    yield from [Remark("growth-not-known", "growth is not known", tuple(names))] if names else ()
    for state in (State.ADDED, State.REMOVED) if growth else ():
        names = [_name(one) for one in found if one.state is state]
        yield from [Remark(f"only-{state}", f"growth does not hold what was {state}", tuple(names))] if names else ()


def _count(number: int) -> str:
    return f"{number} function" + ("" if number == 1 else "s")


def summary(found: Sequence[Change]) -> Mapping[str, int]:
    """Return how many functions there are of each state, in the order of the states."""
    count = Counter(one.state for one in found)
    return {state.value: count[state] for state in State if count[state]}


def _numbers(changed: Sequence[Change]) -> None:
    """Print a row per function, with a column for every number that differs somewhere."""
    titles = {Measure.REGISTERS: "regs", Measure.INSTRUCTIONS: "instr", Measure.DIVERGENT: "div"}
    differ = {number.measure for one in changed for number in one.numbers}
    shown = [one for one in Measure if one in differ or one is Measure.WCET]
    columns = [Column("function", widest=24), Column("arch"), Column("state")]
    columns.extend(Column(titles.get(one, one.value), number=True, tone=_tone) for one in shown)
    rows = tuple((_name(one), one.one.arch, one.state.value, *(_cell(one, measure) for measure in shown)) for one in changed)
    table.show(Table(tuple(columns), rows))


def _name(one: Change) -> str:
    return one.one.name


def _cell(one: Change, measure: Measure) -> str:

    old = one.old.number(measure) if one.old else None
    new = one.new.number(measure) if one.new else None
    if measure not in {number.measure for number in one.numbers}:
        return _spelled(one.one.number(measure))
    text = f"{_spelled(old)} → {_spelled(new)}"
    if old is None or new is None or measure not in BOUNDS:
        return text
    return f"{text} {change(old, new)}"


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


def _lines(one: Change) -> None:
    """Print what a function said before and what it says now, like a difference of texts; nothing is cut."""
    if one.old is None or one.new is None:
        return
    renamed = f", was {one.old.name}" if one.old.name != one.new.name else ""
    body = [(sign, each.what, text) for each in one.lines for sign, texts in (("-", each.removed), ("+", each.added)) for text in texts]
    if not (body or renamed or one.code):
        return
    out(safe(f"{one.new.name} ({one.new.arch}){renamed}") + (": other instructions" if one.code else "") + "\n")
    colours = {"-": _RED, "+": _GREEN} if colourful(sys.stdout) else {}
    for sign, what, text in body:
        start = colours.get(sign, "")
        out(f"  {start}{sign} {what}: {safe(text)}{_PLAIN if start else ''}\n")
    out("\n")


def row(one: Change) -> Mapping[str, object]:
    """Return the document of one function."""
    return {
        "name": one.one.name,
        "arch": one.one.arch,
        "state": one.state.value,
        "was": one.old.name if one.old else None,
        "file": {"old": one.old.file if one.old else None, "new": one.new.file if one.new else None},
        "code_changed": one.code,
        "numbers": {each.measure.value.replace(" ", "_").lower(): {"old": each.old, "new": each.new} for each in one.numbers},
        "lists": {each.what.replace(" ", "_"): {"removed": list(each.removed), "added": list(each.added)} for each in one.lines},
    }
