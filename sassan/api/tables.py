"""Tables for notebooks, as HTML; every cell is untrusted text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from sassan.app.result import AnalysisResult
from sassan.assumptions import kind_of
from sassan.fields.kinds import address
from sassan.names import visible
from sassan.render.text import shorten

_NONE = "-"
_NAME, _STRING = 60, 120
"""Characters of a name and of a kernel string that are shown."""


@dataclass(frozen=True, slots=True)
class KernelLine:
    """One kernel, and what its bounds rest on."""

    analysis: AnalysisResult
    assumptions: tuple[str, ...]


def kernels(lines: Sequence[KernelLine]) -> str:
    """Return the numbers of each kernel, its worst path or how many gaps it has; the gaps and the assumptions stand below."""
    head = ("function", "arch", "instructions", "blocks", "divergent", "WCET", "makespan", "worst path, or gaps")
    rows = "".join(f"<tr>{''.join(map(_cell, _row(line.analysis)))}</tr>" for line in lines)
    table = f"<table><thead><tr>{''.join(f'<th>{title}</th>' for title in head)}</tr></thead><tbody>{rows}</tbody></table>"
    missing = [
        f"{line.analysis.function.name} {address(gap.address)} {gap.code}: {gap.message}" for line in lines for gap in line.analysis.gaps
    ]
    said = dict.fromkeys(text for line in lines for text in line.assumptions)
    return table + _list("gaps", missing) + _list("assumptions", (f"{text} [{kind_of(text).value}]" for text in said))


def gaps(count: int) -> str:
    """Return how many gaps there are, in words."""
    return f"{count} gap{'' if count == 1 else 's'}"


def _row(result: AnalysisResult) -> tuple[str, ...]:
    numbers = (len(result.function.instructions), len(result.cfg.nodes), result.divergent_branches)
    bounds = (result.wcet.value if result.wcet.bound else None, result.makespan.bound.value if result.makespan else None)
    last = gaps(len(result.gaps)) if result.gaps else str(result.worst_path or result.wcet.note or result.wcet.status)
    shown = (_NONE if value is None else str(value) for value in bounds)
    return (shorten(result.function.name, _NAME), result.function.arch, *map(str, numbers), *shown, shorten(last, _STRING))


def _cell(text: str) -> str:
    return f"<td>{_text(text)}</td>"


def _list(title: str, items: Iterable[str]) -> str:
    rows = "".join(f"<li>{_text(item)}</li>" for item in items)
    return f"<p>{title}</p><ul>{rows}</ul>" if rows else ""


def _text(text: str) -> str:
    return escape(visible(text))
