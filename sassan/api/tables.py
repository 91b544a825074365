"""Tables for notebooks, as HTML; every cell is untrusted text."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from sassan.app.analysis_fields import AnalysisFields, MakespanFields, WcetFields
from sassan.app.builds.changes import FunctionChange
from sassan.app.builds.check_fields import FailurePlace
from sassan.app.documents import FunctionFields
from sassan.app.estimating import EstimateResult, expected_time
from sassan.app.memory import MemoryResult
from sassan.app.memory_fields import AccessFields
from sassan.app.program_times import KernelTime
from sassan.app.result import AnalysisResult
from sassan.assumptions import kind_of
from sassan.errors import Gap
from sassan.evolve.ranking.rank import RankedFields, Ranking
from sassan.fields.field import NONE, Field
from sassan.fields.kinds import address, microseconds
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
    missing = [_gap(result.function.name, gap) for result in results for gap in result.gaps]
    return table + _list("gaps", missing) + assumptions(text for result in results for text in result.assumptions)


def estimates(results: Sequence[EstimateResult]) -> str:
    """Return the expected time of each kernel and what binds it; the gaps and the assumptions stand below."""
    rows = ((result.analysis.function.name, *_expected(result), str(len(result.gaps) or "")) for result in results)
    table = of_rows(("kernel", "us", "cycles", "bound by", "occupancy", "assumed", "gaps"), rows)
    missing = [_gap(result.analysis.function.name, gap) for result in results for gap in result.gaps]
    return table + _list("gaps", missing) + assumptions(text for result in results for text in result.assumptions)


def _expected(result: EstimateResult) -> tuple[str, ...]:
    known = result.estimate
    if known is None:
        return (NONE,) * 5
    return (microseconds(known.us), f"{known.cycles:.0f}", known.bound_by, f"{known.occupancy:.0%}", f"{known.assumed:.0%}")


def memories(results: Sequence[MemoryResult]) -> str:
    """Return the memory accesses of each function; the gaps and the assumptions stand below."""
    fields = [field for field in AccessFields.fields if field.head]
    rows = ((result.function.name, *(_shown(field, row) for field in fields)) for result in results for row in result.rows)
    missing = [_gap(result.function.name, gap) for result in results for gap in result.gaps]
    table = of_rows(("function", *(field.head for field in fields)), rows)
    return table + _list("gaps", missing) + assumptions(text for result in results for text in result.assumptions)


def _shown(field: Field[Any, Any], row: object) -> str:
    return field.shown(row) if field.shown is not None else field.kind.shown(field.get(row))


def launches(kernels_by_time: Sequence[KernelTime]) -> str:
    """Return the kernels of a program by time, and their sum."""
    rows = [(each.name, str(each.launches), microseconds(each.us), *_expected_of(each)) for each in kernels_by_time]
    total = sum(each.us for each in kernels_by_time)
    last = ("all, one after the other", str(sum(each.launches for each in kernels_by_time)), microseconds(total), "", "")
    return of_rows(("kernel", "launches", "us", "longest us", "bound by"), [*rows, last])


def _expected_of(each: KernelTime) -> tuple[str, str]:
    known = expected_time(each.longest)
    return (NONE if known.us is None else microseconds(known.us), known.bound_by or NONE)


def failures(places: Sequence[FailurePlace], count: int) -> str:
    """Return the limits that functions fail, and of how many functions."""
    rows = ((place.entry.result.function.name, place.failure.rule.value, place.failure.message) for place in places)
    verdict = f"{count_of(count, 'function')} checked, {count_of(len({id(place.entry) for place in places}), 'function')} failed"
    return f"<p>{verdict}</p>" + of_rows(("function", "limit", "failure"), rows)


def changes(changed: Sequence[FunctionChange]) -> str:
    """Return a row for each number of a function that differs."""
    rows = (
        (change.latest.name, change.state.value, number.measure.value, _number(number.old), _number(number.new))
        for change in changed
        for number in change.numbers
    )
    return of_rows(("function", "state", "number", "old", "new"), rows)


def _number(value: int | None) -> str:
    return NONE if value is None else str(value)


def ranked(ranking: Ranking, most: int = 20) -> str:
    """Return the best configurations, each with its parameters."""
    fields = [field for field in RankedFields.fields if field.head]
    names = tuple(ranking.rows[0].candidate.values)
    rows = ((*(str(row.candidate.values[name]) for name in names), *(_shown(each, row) for each in fields)) for row in ranking.rows[:most])
    return of_rows((*names, *(each.head for each in fields)), rows) + assumptions(ranking.assumptions)


def of_rows(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of texts."""
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{''.join(f'<th>{_text(head)}</th>' for head in heads)}</tr></thead><tbody>{body}</tbody></table>"


def assumptions(texts: Iterable[str]) -> str:
    """Return assumptions as a list, each once with its status; nothing where there is none."""
    return _list("assumptions", (f"{text} [{kind_of(text).value}]" for text in dict.fromkeys(texts)))


def _gap(name: str, gap: Gap) -> str:
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


def _list(title: str, items: Iterable[str]) -> str:
    rows = "".join(f"<li>{_text(item)}</li>" for item in items)
    return f"<p>{title}</p><ul>{rows}</ul>" if rows else ""


def _text(text: str) -> str:
    return escape(visible(text))
