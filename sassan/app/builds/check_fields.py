"""What is said of a function that was checked: its numbers, and the gates that it fails."""

from bisect import bisect_right
from typing import NamedTuple

from sassan.app.builds.checked import CheckedFunction
from sassan.app.builds.gates import Failure
from sassan.app.document_fields import ProfiledFields
from sassan.fields.field import Declare, Record
from sassan.fields.kinds import ADDRESS, LINE, SIGNED, STRING, TEXT, FileLine, array, nullable, one, written


def address_of(entry: CheckedFunction, failure: Failure) -> int:
    """Return where a failure is: at the entry of the function where it is that as a whole."""
    return entry.result.function.entry if failure.address is None else failure.address


def source_of(entry: CheckedFunction, address: int) -> tuple[str, int] | None:
    """Return the file and the line that an instruction was made from, None where the input has no line information."""
    lines = entry.result.function.lines
    place = bisect_right([line.address for line in lines], address)
    return (lines[place - 1].file, lines[place - 1].line) if place else None


class FailurePlace(NamedTuple):
    """A failure, and the function that fails."""

    entry: CheckedFunction
    failure: Failure


def places(entry: CheckedFunction) -> list[FailurePlace]:
    """Return the failures of a function."""
    return [FailurePlace(entry, each) for each in entry.failures]


def _line(place: FailurePlace) -> FileLine | None:
    source = source_of(place.entry, address_of(*place))
    return FileLine(*source) if source else None


_of_place, _of = Declare[FailurePlace](), Declare[CheckedFunction]()


class FailureFields(Record[FailurePlace]):
    """A gate that a function fails."""

    gate = _of_place(STRING, "which gate it is", lambda place: place.failure.rule.value, csv=True)
    address = _of_place(ADDRESS, "where", lambda place: address_of(*place), csv=True)
    source = _of_place(LINE, "the line that it was made from", _line, csv=True)
    code = _of_place(TEXT, "of the gap or the finding", lambda place: place.failure.code or None, csv=True)
    value = _of_place(SIGNED, "what the function has", lambda place: place.failure.value, csv=True)
    limit = _of_place(SIGNED, "what the gate allows", lambda place: place.failure.limit, csv=True)
    message = _of_place(STRING, "what is wrong", lambda place: place.failure.message, csv=True)


class CheckFields(Record[CheckedFunction]):
    """What `sassan check` says of one function."""

    _analysis = _of(written(ProfiledFields, merged=True), "what is known of it", lambda entry: entry.row)
    failures = _of(array(one(FailureFields)), "the gates that it fails", places)
    held_by = _of(array(STRING), "the gates that hold it")
    unheld = _of(
        nullable(array(STRING)),
        "the bounds that the baseline does not know, null without one",
        lambda entry: [measure.name.lower() for measure in entry.unheld] if entry.unheld is not None else None,
    )
    conditions = _of(nullable(array(STRING)), "what of `settings` differs from the baseline, null without one")
