"""What fields hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, NamedTuple, Protocol, TypeVar

from sassan.fields.field import NONE, FieldKind, Record, Value, document

S = TypeVar("S")
T = TypeVar("T")


class SourceLocation(Protocol):
    """A line of a source file."""

    @property
    def file(self) -> str:
        """The file, as the compiler names it."""
        ...

    @property
    def line(self) -> int:
        """The line, from 1."""
        ...


class FileLine(NamedTuple):
    """A line of a file."""

    file: str
    line: int


def address(value: int) -> str:
    """Return the spelling of an address in every document and table."""
    return f"0x{value:04x}"


def microseconds(bound: float | None) -> str:
    """Return how a bound in microseconds is shown: rounded up."""
    return NONE if bound is None else f"{ceil(bound * 100) / 100:.2f}"


def plain(us: float) -> str:
    """Return how a time that a user gave is shown: as written, without an exponent."""
    return f"{us:.3f}".rstrip("0").rstrip(".")


def extents(shape: Sequence[int]) -> str:
    """Return how the extents of a grid or block are shown: 16x16x1."""
    return "x".join(map(str, shape))


def _integer(least: int | None, *, null: bool = False) -> Mapping[str, Value]:
    return {"type": ["integer", "null"] if null else "integer", **({} if least is None else {"minimum": least})}


def _list(values: Iterable[Any]) -> list[Any]:
    return list(values)


def _line(line: SourceLocation | None) -> Value:
    return None if line is None else {"file": line.file, "line": line.line}


def _figure(value: float | None) -> str:
    return NONE if value is None else f"{value:.6g}"


def _place(line: SourceLocation | None) -> str:
    return NONE if line is None else f"{line.file.rpartition('/')[2]}:{line.line}"


WHOLE: FieldKind[int] = FieldKind(_integer(None), number=True)
COUNT: FieldKind[int] = FieldKind(_integer(0), number=True)
POSITIVE: FieldKind[int] = FieldKind(_integer(1), number=True)
BOUND: FieldKind[int | None] = FieldKind(_integer(0, null=True), number=True)
"""A count that may be unknown."""
OFFSET: FieldKind[int | None] = FieldKind(_integer(None, null=True), number=True)
AMOUNT: FieldKind[float] = FieldKind({"type": "number", "minimum": 0}, shown=_figure, number=True)
FIGURE: FieldKind[float | None] = FieldKind({"type": ["number", "null"], "minimum": 0}, shown=_figure, number=True)
"""An amount that may be unknown."""
SIGNED: FieldKind[float | None] = FieldKind({"type": ["number", "null"]}, number=True)
MICROSECONDS: FieldKind[float | None] = FieldKind(FIGURE.schema, shown=microseconds, number=True)
SHARE: FieldKind[float] = FieldKind({"type": "number", "minimum": 0, "maximum": 1}, number=True)
FLAG: FieldKind[bool] = FieldKind({"type": "boolean"})
STRING: FieldKind[str] = FieldKind({"type": "string"})
TEXT: FieldKind[str | None] = FieldKind({"type": ["string", "null"]})
CODE: FieldKind[str] = FieldKind({"type": "string", "pattern": "^[a-z0-9-]+$"})
NAME: FieldKind[str] = FieldKind(STRING.schema)
"""The name of a function, which tables show as the source has it."""
HASH: FieldKind[str] = FieldKind({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"})
ADDRESS: FieldKind[int] = FieldKind({"type": "string", "pattern": "^0x[0-9a-f]{4,}$"}, address, shown=address)
SPELLED: FieldKind[str] = FieldKind(ADDRESS.schema)
"""An address that is spelled already."""
EXTENTS: FieldKind[Sequence[int]] = FieldKind({"type": "array", "items": _integer(1), "minItems": 3, "maxItems": 3}, _list, shown=extents)
LINE: FieldKind[SourceLocation | None] = FieldKind(
    {
        "oneOf": [
            {"type": "null"},
            {"type": "object", "required": ["file", "line"], "properties": {"file": {"type": "string"}, "line": _integer(0)}},
        ]
    },
    _line,
    shown=_place,
)


def choice(*names: str) -> FieldKind[str]:
    """Return the kind of one of several names."""
    return FieldKind({"enum": [str(name) for name in names]}, str)


def nullable(kind: FieldKind[T]) -> FieldKind[T | None]:
    """Return the kind of values that may be null."""
    known = kind.schema.get("type")
    schema = {**kind.schema, "type": [known, "null"]} if isinstance(known, str) else {"oneOf": [{"type": "null"}, kind.schema]}

    def write(value: T | None) -> Value:
        return None if value is None else kind.write(value)

    def shown(value: T | None) -> str:
        return NONE if value is None else kind.shown(value)

    return FieldKind(schema, write, shown=shown, number=kind.number, records=kind.records)


def present(kind: FieldKind[T]) -> FieldKind[T | None]:
    """Return the kind of values that are null in no document, since the object around them is; in the library they may be None."""
    return replace(nullable(kind), schema=kind.schema)


def array(kind: FieldKind[T]) -> FieldKind[Iterable[T]]:
    """Return the kind of lists."""

    def write(values: Iterable[T]) -> Value:
        return [kind.write(value) for value in values]

    return FieldKind({"type": "array", "items": kind.schema}, write, records=kind.records)


def mapping(kind: FieldKind[T], keys: Mapping[str, Value] | None = None) -> FieldKind[Mapping[str, T]]:
    """Return the kind of objects with any names, or with those of the schema `keys`."""

    def write(values: Mapping[str, T]) -> Value:
        return {name: kind.write(value) for name, value in values.items()}

    more = {} if keys is None else {"propertyNames": keys}
    return FieldKind({"type": "object", **more, "additionalProperties": kind.schema}, write, records=kind.records)


def one(record: type[Record[S]]) -> FieldKind[S]:
    """Return the kind of objects with the fields of a record."""
    return FieldKind({"$ref": reference(record)}, lambda source: document(record, source), records=(record,))


def merged(record: type[Record[S]]) -> FieldKind[S]:
    """Return the kind of fields that stand in the object themselves, as if they were its own."""
    return FieldKind({}, lambda source: document(record, source), records=(record,), merged=True)


def written(record: type[Record[Any]], *, merged: bool = False) -> FieldKind[Mapping[str, Value]]:
    """Return the kind of objects with the fields of a record that are written already; `merged`: they stand in the object themselves."""
    return FieldKind({} if merged else {"$ref": reference(record)}, records=(record,), merged=merged)


def reference(record: type[Record[Any]]) -> str:
    """Return the place of a record in a schema."""
    return f"#/$defs/{record_name(record)}"


def record_name(record: type[Record[Any]]) -> str:
    """Return what schemas call a record: `LoopFields` is `loop`."""
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in record.__name__.removesuffix("Fields"))
    return words.lstrip("_")
