"""Reads a result back from the document that its fields wrote: keys and types are those of the declarations (`sassan.fields`)."""

from collections.abc import Callable, Mapping
from math import inf
from pathlib import PurePath
from typing import Any, TypeVar, cast

from sassan.checked import Fields
from sassan.fields.field import Field, Record
from sassan.fields.kinds import ADDRESS, LINE, FileLine

T = TypeVar("T")
R = TypeVar("R")
_PATTERN = str(ADDRESS.schema["pattern"])


def value(field: Field[Any, T], table: Fields) -> T:
    """Return what a table of a document has under the key of a field, for the field or for another one of the same kind.

    Where it has nothing, as an older document may: None of a number and of what may be null, an empty text or list. A source line is
    without the folders of its file. Raises the error of the table where a name or an address is missing, and for another type.
    """
    return cast("T", _value(field.kind.schema, table, str(field.key)))


def made(kind: Callable[..., R], record: type[Record[Any]], table: Fields) -> R:
    """Return an object whose attributes are the fields of a record; raises what `value` raises."""
    return kind(**{field.name: value(field, table) for field in record.fields})


def _value(schema: Mapping[str, Any], table: Fields, key: str) -> object:
    kinds = str(schema.get("type", "string"))
    if schema is LINE.schema:
        line = table.table(key)
        return FileLine(PurePath(line.text("file")).name, line.whole("line", least=0)) if line.values else None
    if "integer" in kinds:
        return table.whole(key, least=0, most=inf) if key in table else None
    if "boolean" in kinds:
        return table.flag(key)
    if "array" in kinds:
        return table.addresses(key) if schema["items"].get("pattern") == _PATTERN else table.texts(key)
    if "pattern" in schema:
        return table.address(key) if schema["pattern"] == _PATTERN else table.text(key)
    return None if "null" in kinds and key not in table else table.text(key, "")
