"""What is said of the difference of two builds."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sassan.app.builds.changes import ChangeState, FunctionChange, ListDifference, NumberChange
from sassan.app.builds.checked import Remark
from sassan.app.builds.conditions import differing, other
from sassan.app.builds.growth import unheld
from sassan.app.documents import ShapeFields
from sassan.fields.field import Declare, Record, Value
from sassan.fields.kinds import BOUND, EXTENTS, FLAG, NAME, STRING, TEXT, array, choice, mapping, nullable, one, written


def unknown(changes: Sequence[FunctionChange], *, growth: bool) -> Iterator[Remark]:
    """Yield under which other conditions numbers were made, and of which functions growth is not known.

    That is, no number on both sides, or, where `growth` was asked for, one side only.
    """
    conditions = differing((change.latest.name, other(change.old, change.new)) for change in changes if change.old and change.new)
    yield from [replace(conditions, what="made under other conditions")] if conditions.names else ()
    names = [
        change.latest.name for change in changes if change.old is not None and change.new is not None and unheld((change.old,), change.new)
    ]
    yield from [Remark("growth-not-known", "growth is not known", tuple(names))] if names else ()
    for state in (ChangeState.ADDED, ChangeState.REMOVED) if growth else ():
        names = [change.latest.name for change in changes if change.state is state]
        yield from [Remark(f"only-{state}", f"growth does not hold what was {state}", tuple(names))] if names else ()


def summary(changes: Sequence[FunctionChange]) -> Mapping[str, int]:
    """Return how many functions there are of each state, in the order of the states."""
    count = Counter(change.state for change in changes)
    return {state.value: count[state] for state in ChangeState if count[state]}


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
