"""The JSON schema of a document, made of its record; it holds all that it refers to."""

from collections.abc import Iterator, Mapping
from typing import Any

from sassan.fields.field import Field, Node, Record, Value
from sassan.fields.kinds import record_name

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(title: str, *records: type[Record[Any]]) -> Mapping[str, Value]:
    """Return the schema of a document with the fields of a record, or of one of several."""
    head: Mapping[str, Value] = {"$schema": DIALECT, "title": title}
    body: Mapping[str, Value] = (
        _object(records[0].tree) if len(records) == 1 else {"anyOf": [{"$ref": f"#/$defs/{record_name(each)}"} for each in records]}
    )
    inner = {each: None for record in records for each in within(record)}
    every = dict.fromkeys((*(records if len(records) > 1 else ()), *inner))
    known = {record_name(each): _record(each) for each in every}
    assert len(known) == len(every), "two records of one name"
    return {**head, **body, **({"$defs": known} if known else {})}


def within(record: type[Record[Any]]) -> Iterator[type[Record[Any]]]:
    """Yield the records that a record refers to, those that they refer to included; a merged one only for what stands in it."""
    for each in record.fields:
        for inner in each.kind.records:
            if not each.kind.merged:
                yield inner
            yield from within(inner)


def _record(record: type[Record[Any]]) -> Mapping[str, Value]:
    return {"description": " ".join((record.__doc__ or "").split()), **_object(record.tree)}


def _object(nodes: Mapping[str, Node]) -> Mapping[str, Value]:
    required, properties = _keys(nodes)
    return {"type": "object", "required": list(dict.fromkeys(required)), "properties": properties}


def _keys(nodes: Mapping[str, Node]) -> tuple[list[Value], dict[str, Value]]:
    required: list[Value] = []
    properties: dict[str, Value] = {}
    for key, node in nodes.items():
        if isinstance(node, Field):
            if node.kind.merged:
                more, inner = _keys(node.kind.records[0].tree)
                required.extend(more if node.when is None else ())
                properties.update(inner)
                continue
            properties[key] = {"description": node.meaning, **node.kind.schema}
            if node.when is None and not node.optional:
                required.append(key)
        else:
            properties[key] = _object(node)
            required.append(key)
    return required, properties
