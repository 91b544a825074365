"""Tables for notebooks, as HTML; every cell is untrusted text."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from sassan.app.analysis_fields import AnalysisFields, MakespanFields, WcetFields
from sassan.app.documents import FunctionFields
from sassan.app.result import AnalysisResult
from sassan.assumptions import kind_of
from sassan.errors import Gap
from sassan.fields.field import NONE, Field
from sassan.fields.kinds import address
from sassan.names import visible
from sassan.plurals import count_of
from sassan.render.text import shorten

_NAME, _STRING = 60, 120
"""Characters of a name and of a kernel string that are shown."""
_COLUMNS: Mapping[str, Field[Any, Any]] = {
    "function": FunctionFields.name,
    "arch": FunctionFields.arch,
    "instructions": AnalysisFields.instructions,
    "blocks": AnalysisFields.blocks,
    "divergent": AnalysisFields.divergent_branches,
    "WCET": WcetFields.wcet,
    "makespan": MakespanFields.makespan,
}
_LAST = "worst path, or gaps"


def kernels(results: Sequence[AnalysisResult]) -> str:
    """Return the numbers of each kernel, its worst path or how many gaps it has; the gaps and the assumptions stand below."""
    table = of_rows((*_COLUMNS, _LAST), map(_row, results))
    missing = [gap_line(result.function.name, gap) for result in results for gap in result.gaps]
    return table + listed("gaps", missing) + assumptions(text for result in results for text in result.assumptions)


def shown(field: Field[Any, Any], row: object) -> str:
    """Return the cell of a field."""
    return field.shown(row) if field.shown is not None else field.kind.shown(field.get(row))


def of_rows(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of texts."""
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{''.join(f'<th>{_text(head)}</th>' for head in heads)}</tr></thead><tbody>{body}</tbody></table>"


def assumptions(texts: Iterable[str]) -> str:
    """Return assumptions as a list, each once with its status; nothing where there is none."""
    return listed("assumptions", (f"{text} [{kind_of(text).value}]" for text in dict.fromkeys(texts)))


def gap_line(name: str, gap: Gap) -> str:
    """Return a gap of a function in a line."""
    return f"{name} {address(gap.address)} {gap.code}: {gap.message}"


def gaps(count: int) -> str:
    """Return how many gaps there are, in words."""
    return count_of(count, "gap")


def _row(result: AnalysisResult) -> tuple[str, ...]:
    values = (field.get(result) for field in _COLUMNS.values())
    last = gaps(len(result.gaps)) if result.gaps else str(result.worst_path or result.wcet.note or result.wcet.status)
    return (*(NONE if value is None else shorten(str(value), _NAME) for value in values), shorten(last, _STRING))


def _cell(text: str) -> str:
    return f"<td>{_text(text)}</td>"


def listed(title: str, items: Iterable[str]) -> str:
    """Return texts as a list with a title; nothing where there is none."""
    rows = "".join(f"<li>{_text(item)}</li>" for item in items)
    return f"<p>{title}</p><ul>{rows}</ul>" if rows else ""


def _text(text: str) -> str:
    return escape(visible(text))
