"""The lines of the results: one per function, or per file that was refused.

A function has the keys of `analyze --json`, a refusal has `error`; both have `file` and `input`: the SHA-256 of the file's content, and
which of its functions this is. With these an interrupted batch goes on: the lines themselves say what is done.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from sassan.app import documents
from sassan.errors import SassanError
from sassan.fields.field import Declare, Record, Value, document
from sassan.fields.kinds import COUNT, TEXT, present


@dataclass(frozen=True, slots=True)
class ResultPosition:
    """Where a line belongs: function `function` of the `functions` of a file; None: the line is all that there is of the file.

    `digest` is that of the content, None where it could not be read.
    """

    file: str
    digest: str | None
    function: int | None = None
    functions: int | None = None

    @property
    def done(self) -> bool:
        """Say whether this is the last line of the file."""
        return self.function is None or self.functions is None or self.function + 1 >= self.functions


_of_place = Declare[ResultPosition]()


class PlaceFields(Record[ResultPosition]):
    """Where the line of a batch belongs."""

    digest = _of_place(TEXT, "of the content of the file, null where it could not be read", key="sha256")
    function = _of_place(present(COUNT), "which function of the file it is", when=lambda place: place.function is not None)
    functions = _of_place(present(COUNT), "how many functions the file holds", when=lambda place: place.functions is not None)


@dataclass(frozen=True, slots=True)
class LineOutcome:
    """What the summary of a batch wants to know of a line; `error` is a code, `seconds` None where no time was taken."""

    file: str
    name: str = ""
    bounded: bool = False
    gaps: tuple[str, ...] = ()
    error: str = ""
    message: str = ""
    status: int = 0
    seconds: float | None = None


def line(document: Mapping[str, Value]) -> bytes:
    """Return a document as a line: plain ASCII, so that no name can break it."""
    return json.dumps(document).encode() + b"\n"


def refusal(place: ResultPosition, error: SassanError, name: str = "", arch: str = "") -> Mapping[str, Value]:
    """Return the line of a file, or of a function of it, that was refused."""
    known: dict[str, Value] = {"name": name, "arch": arch} if name else {}
    return {
        **known,
        "file": place.file,
        "error": {**document(documents.ErrorFields, error), "status": error.status},
        "input": document(PlaceFields, place),
    }


def nothing(place: ResultPosition) -> Mapping[str, Value]:
    """Return the line of a file that holds no function that is asked for."""
    return {"file": place.file, "input": document(PlaceFields, place)}


def outcome(document: Mapping[str, object], seconds: float | None = None) -> LineOutcome | None:
    """Return what the summary wants to know of a line, None where it is none of a batch."""
    match document:
        case {"file": str(file), "error": {"code": str(code), "message": str(message), "status": int(status)}}:
            return LineOutcome(file, str(document.get("name", "")), error=code, message=message, status=status, seconds=seconds)
        case {"file": str(file), "name": str(name), "wcet": {"value": value}, "gaps": [*gaps]}:
            codes = {_gap(gap) for gap in gaps}
            if None in codes:
                return None
            return LineOutcome(file, name, value is not None, tuple(sorted(filter(None, codes))), seconds=seconds)
        case {"file": str(file), "input": {"functions": 0}}:
            return LineOutcome(file)
        case _:
            return None


def _gap(gap: object) -> str | None:
    """Return the code of a gap, None of what is none."""
    match gap:
        case {"code": str(code)}:
            return code
        case _:
            return None


def place(document: Mapping[str, object]) -> ResultPosition | None:
    """Return where a line belongs, None where it does not say."""
    match document:
        case {"file": str(file), "input": {"sha256": str() | None as digest, **rest}}:
            function, functions = rest.get("function"), rest.get("functions")
            if isinstance(function, int | None) and isinstance(functions, int | None):
                return ResultPosition(file, digest, function, functions)
        case _:
            pass
    return None
