"""The published schemas of the documents that commands print, and what a document violates."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import jsonschema
from jsonschema.exceptions import best_match

from sassan.cli.schemas import DOCUMENTS
from sassan.fields.field import Record
from sassan.fields.schema import within

SCHEMAS = Path(__file__).resolve().parents[1] / "docs" / "reference" / "schema"
DIALECT = jsonschema.Draft202012Validator
NAMES = tuple(sorted(path.stem for path in SCHEMAS.glob("*.json")))


def schema(name: str) -> Any:
    """Return a published schema as it is."""
    return json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))


def violations(name: str, document: object) -> list[str]:
    """Return what is wrong with a document by the schema of its command; keys that the schema does not know are wrong, too."""
    error = best_match(_validator(name).iter_errors(document))
    return [] if error is None else [f"{error.json_path}: {error.message}"]


@cache
def _validator(name: str) -> Any:
    return DIALECT(_closed(schema(name)))


def _closed(part: Any) -> Any:
    """Return a schema that admits no further keys."""
    if isinstance(part, list):
        return [_closed(each) for each in cast("list[Any]", part)]
    if not isinstance(part, dict):
        return part
    known = {key: _closed(value) for key, value in cast("dict[str, Any]", part).items()}
    if "properties" in known and "required" in known and "additionalProperties" not in known:
        known["unevaluatedProperties"] = False
    return known


def properties(part: Any) -> Iterator[str]:
    """Yield the names of all keys that a schema describes."""
    if isinstance(part, dict):
        for key, value in cast("dict[str, Any]", part).items():
            if key == "properties" and isinstance(value, dict):
                yield from cast("dict[str, Any]", value)
            yield from properties(value)
    elif isinstance(part, list):
        for each in cast("list[Any]", part):
            yield from properties(each)


def records() -> tuple[type[Record[Any]], ...]:
    """Return the records of all documents that commands print, those that they refer to included."""
    return tuple(dict.fromkeys(each for several in DOCUMENTS.values() for document in several for each in (document, *within(document))))
