"""The page of the documents that commands print, and their schemas: both are made of the fields that the commands declare."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from sassan.app.documents import DocumentFields, HeadFields, RefusedFields
from sassan.cli.schemas import DOCUMENTS, schema_of
from sassan.fields.field import Field, Node, Record
from sassan.fields.kinds import record_name
from sassan.fields.schema import within
from sassan.fields.shared import AssumedFields, GapFields
from sassan.serve.views import PageLineFields

_WIDTH = 140
_INTRODUCTION = """\
With `--json`, standard output is one document and nothing else (`batch` writes JSON Lines). Keys are stable: more may be added beside them,
none is renamed or reused. A number that is not known is null, and `gaps` says why. Addresses are texts such as `"0x0158"`. What is empty is
`""` where the tables say nothing else.

With `--csv`, a command prints its table with whole names and numbers, in the columns that the tables below name: an unknown value is empty,
a list has blanks between its parts. `table` names the head of the [tables](columns.md) that people read.

Each command has a JSON schema, which is made of the same fields as its output, and tests hold that output to it. In a program that reads a
document, hold it to the schema of the version that you use, and admit further keys:
"""
_CSV = """\
## Rows of CSV

* `cfg`: one per block, as in `nodes`; `next` has the blocks that its edges lead to, or `exit`
* `ipet`: those of `analyze`
* `estimate`: one per kernel, then one per `--what-if`; with `--launches` one per recorded launch, as of `analyze`
* `strings`: one per block, then one whose `id` is `worst_path`
* `check`: one per failure; one without a gate for a function that passes
* `diff`: one per `number` that differs; one without for a function that was added, removed or differs otherwise
* `batch`: `what`, and its `count`
* `rank`: one per choice: its parameters, then as in the document
* `evolve`: one per `individual` (`default`, `best`, `front`): its numbers, `loops`, `choice`
* `serve --export X.csv`: one per line of a column of the page, as `page_line` says
* where rows are of several launches, `launch_grid` and `launch_block` stand behind all others
"""


def pages(head: str) -> Mapping[str, str]:
    """The page and the schemas, by their paths below docs/."""
    schemas = {f"reference/schema/{command}.json": f"{laid_out(schema_of(command))}\n" for command in DOCUMENTS}
    return {"reference/json.md": _page(head), **schemas}


def laid_out(value: object, indent: str = "", before: int = 0) -> str:
    """JSON in which what fits into a line stands in one; `before` characters stand before it there."""
    flat = json.dumps(value)
    if len(indent) + before + len(flat) < _WIDTH or not isinstance(value, dict | list):
        return flat
    inner = f"{indent}  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {laid_out(part, inner, len(key) + 5)}" for key, part in value.items()]
    else:
        parts = [laid_out(part, inner) for part in value]
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{end}"


def _page(head: str) -> str:
    links = " · ".join(f"[{command}](schema/{command}.json)" for command in DOCUMENTS)
    lines = ["# JSON", "", head, f"{_INTRODUCTION}{links}", "", "## Every document", ""]
    described: list[type[Record[Any]]] = []
    for record in (DocumentFields, HeadFields, RefusedFields, GapFields, AssumedFields):
        lines += _described(record, described)
    records = {
        command: [each for document in documents for each in (document, *within(document))] for command, documents in DOCUMENTS.items()
    }
    uses = Counter(each for record in dict.fromkeys(chain(*records.values())) for each in (*_merged(record), record))
    for command, several in records.items():
        lines += [f"## sassan {command}", ""]
        for record in (each for one in several for each in (*(inner for inner in _merged(one) if uses[inner] > 1), one)):
            if record not in described:
                lines += _described(record, described)
    lines += ["## sassan serve --export X.csv", "", *_described(PageLineFields, described)]
    return "\n".join([*lines, _CSV])


def _merged(record: type[Record[Any]]) -> Iterator[type[Record[Any]]]:
    """Yield the records whose keys stand in that of another one, the innermost first."""
    for inner in (inner for field in record.fields if field.kind.merged for inner in field.kind.records):
        yield from (*_merged(inner), inner)


def _described(record: type[Record[Any]], described: list[type[Record[Any]]]) -> Iterator[str]:
    """Yield the keys of a record, and of what belongs to it."""
    rows = list(_rows(record.tree, described))
    rows += [("", "", str(each.csv), each.head, each.meaning) for each in record.fields if each.key is None]
    described.append(record)
    csv, heads = any(row[2] for row in rows), any(row[3] for row in rows)
    yield from (f"### {record_name(record)}", "", _cell(record.__doc__ or ""))
    yield ""
    kept = [0, 1, *([2] if csv else []), *([3] if heads else []), 4]
    yield f"| {' | '.join(('key', 'holds', 'CSV', 'table', 'meaning')[at] for at in kept)} |"
    yield f"|{'---|' * len(kept)}"
    for key, holds, column, title, meaning in rows:
        cells = (f"`{key}`" if key else "", holds, f"`{column}`" if column else "", f"`{title}`" if title else "", meaning)
        yield f"| {' | '.join(_cell(cells[at]) for at in kept)} |"
    yield ""


def _rows(nodes: Mapping[str, Node], described: Sequence[type[Record[Any]]], path: str = "") -> Iterator[tuple[str, str, str, str, str]]:
    for key, node in nodes.items():
        if not isinstance(node, Field):
            yield from _rows(node, described, f"{path}{key}.")
        elif node.kind.merged:
            record = node.kind.records[0]
            if record in described:
                yield "…", f"the keys of [{record_name(record)}](#{record_name(record)})", "", "", node.meaning
            else:
                yield from _rows(record.tree, described, path)
        else:
            optional = "" if node.when is None and not node.optional else "; may be absent"
            yield f"{path}{key}", _holds(node.kind.schema) + optional, str(node.csv), node.head, node.meaning


def _holds(schema: Mapping[str, Any]) -> str:
    """What a schema says, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if several := schema.get("oneOf") or schema.get("anyOf"):
        return " or ".join(_holds(each) for each in reversed(several))
    if "enum" in schema:
        return ", ".join("null" if each is None else f"`{each}`" for each in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " or ".join(_of_type(str(kind), schema) for kind in kinds)


def _of_type(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array":
        return f"list of {_holds(schema['items'])}" if isinstance(schema.get("items"), dict) else "list"
    if kind == "object":
        if "additionalProperties" in schema:
            return f"{_holds(schema['additionalProperties'])}, by name"
        return ", ".join(f"`{key}`" for key in schema.get("properties", {})) or "object"
    return {"string": "text", "boolean": "true or false"}.get(kind, kind)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
