"""What `sassan diff` says: a table of numbers, then the lines that went and came, or a document."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sassan.app.builds.changes import ChangeState, FunctionChange, ListDifference, NumberChange
from sassan.app.builds.checked import Remark
from sassan.app.builds.conditions import differing, other
from sassan.app.builds.growth import unheld
from sassan.app.builds.numbers import growth_text
from sassan.app.builds.saved_results import BOUNDS, Measure
from sassan.app.documents import ShapeFields
from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import colourful, heading, label, out, safe
from sassan.cli.reports.check import brief
from sassan.fields.field import Declare, Record, Value
from sassan.fields.kinds import BOUND, EXTENTS, FLAG, NAME, STRING, TEXT, array, choice, extents, mapping, nullable, one, written
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


def unknown(changes: Sequence[FunctionChange], *, growth: bool) -> Iterator[Remark]:
    """Yield under which other conditions numbers were made, and of which functions growth is not known.

    That is, no number on both sides, or, where `growth` was asked for, one side only.
    """
    conditions = differing((_name(change), other(change.old, change.new)) for change in changes if change.old and change.new)
    yield from [replace(conditions, what="made under other conditions")] if conditions.names else ()
    names = [_name(change) for change in changes if change.old is not None and change.new is not None and unheld((change.old,), change.new)]
    yield from [Remark("growth-not-known", "growth is not known", tuple(names))] if names else ()
    for state in (ChangeState.ADDED, ChangeState.REMOVED) if growth else ():
        names = [_name(change) for change in changes if change.state is state]
        yield from [Remark(f"only-{state}", f"growth does not hold what was {state}", tuple(names))] if names else ()


def summary(changes: Sequence[FunctionChange]) -> Mapping[str, int]:
    """Return how many functions there are of each state, in the order of the states."""
    count = Counter(change.state for change in changes)
    return {state.value: count[state] for state in ChangeState if count[state]}


def _numbers(changed: Sequence[FunctionChange]) -> None:
    """Print a row per function, with a column for every number that differs somewhere."""
    titles = {Measure.REGISTERS: "regs", Measure.INSTRUCTIONS: "instr", Measure.DIVERGENT: "div"}
    differ = {number.measure for change in changed for number in change.numbers}
    shown = [measure for measure in Measure if measure in differ or measure is Measure.WCET]
    known = table.of_fields(ChangeFields, changed)
    columns = (Column(titles.get(measure, measure.value), number=True, tone=_tone) for measure in shown)
    rows = ((*row, *(_cell(change, measure) for measure in shown)) for row, change in zip(known.rows, changed, strict=True))
    table.show(Table((*known.columns, *columns), tuple(rows)))


def _name(change: FunctionChange) -> str:
    return change.latest.name


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


_of, _of_number, _of_lines = Declare[FunctionChange](), Declare[NumberChange](), Declare[ListDifference]()


class NumberFields(Record[NumberChange]):
    """A number that differs."""

    _name = _of_number(STRING, "which number it is", lambda number: number.measure.value, key=None, csv="number")
    old = _of_number(BOUND, "its value before", csv=True)
    new = _of_number(BOUND, "its value now", csv=True)


class LinesFields(Record[ListDifference]):
    """What a list lost and got."""

    removed = _of_lines(array(STRING), "what it lost")
    added = _of_lines(array(STRING), "what it got")


def _launch(change: FunctionChange) -> Mapping[str, Value]:
    return dict(zip(("grid", "block"), map(list, change.latest.launch or ((), ())), strict=True))


def _shape(at: int, change: FunctionChange) -> Sequence[int] | None:
    return None if change.latest.launch is None else change.latest.launch[at]


_SHAPE = nullable(EXTENTS)


class ChangeFields(Record[FunctionChange]):
    """What `sassan diff` says of one function."""

    name = _of(NAME, "name of the function, as the input has it", lambda change: change.latest.name, csv=True, head="function", widest=24)
    arch = _of(STRING, "architecture: `sm_61`", lambda change: change.latest.arch, csv=True, head="arch")
    state = _of(choice(*ChangeState), "what became of it", lambda change: change.state.value, csv=True, head="state")
    _grid = _of(_SHAPE, "blocks of one of several launches", partial(_shape, 0), key=None, head="grid", head_after="function", sparse=True)
    _block = _of(_SHAPE, "threads of its blocks", partial(_shape, 1), key=None, head="block", head_after="grid", sparse=True)
    launch = _of(
        written(ShapeFields),
        "of a function that stands once for each of several launches",
        _launch,
        csv=True,
        when=lambda change: change.latest.launch is not None,
    )
    was = _of(TEXT, "its name before, null where it was not there", lambda change: change.old.name if change.old else None, csv=True)
    old = _of(TEXT, "the file before", lambda change: change.old.file if change.old else None, key="file.old")
    new = _of(TEXT, "the file now", lambda change: change.new.file if change.new else None, key="file.new")
    code = _of(nullable(FLAG), "whether the instructions differ, null where that is unknown", key="code_changed")
    numbers = _of(
        mapping(one(NumberFields)),
        "numbers that differ",
        lambda change: {each.measure.value.replace(" ", "_").lower(): each for each in change.numbers},
    )
    lists = _of(mapping(one(LinesFields)), "lists that differ", lambda change: {each.what.replace(" ", "_"): each for each in change.lines})
