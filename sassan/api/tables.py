"""Tables for notebooks, as HTML; every cell is untrusted text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from sassan.app.documents import address
from sassan.app.result import AnalysisResult
from sassan.render.text import shorten, visible

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
    rows = "".join(f"<tr>{''.join(map(_cell, _row(one.analysis)))}</tr>" for one in lines)
    table = f"<table><thead><tr>{''.join(f'<th>{one}</th>' for one in head)}</tr></thead><tbody>{rows}</tbody></table>"
    missing = [
        f"{one.analysis.function.name} {address(gap.address)} {gap.code}: {gap.message}" for one in lines for gap in one.analysis.gaps
    ]
    said = dict.fromkeys(text for one in lines for text in one.assumptions)
    return table + _list("gaps", missing) + _list("assumptions", said)


def gaps(count: int) -> str:
    """Return how many gaps there are, in words."""
    return f"{count} gap{'' if count == 1 else 's'}"


def _row(one: AnalysisResult) -> tuple[str, ...]:
    numbers = (len(one.function.instructions), len(one.cfg.nodes), one.divergent_branches)
    bounds = (one.wcet.value if one.wcet.bound else None, one.makespan.bound.value if one.makespan else None)
    last = gaps(len(one.gaps)) if one.gaps else str(one.worst_path or one.wcet.note or one.wcet.status)
    shown = (_NONE if value is None else str(value) for value in bounds)
    return (shorten(one.function.name, _NAME), one.function.arch, *map(str, numbers), *shown, shorten(last, _STRING))


def _cell(text: str) -> str:
    return f"<td>{_text(text)}</td>"


def _list(title: str, items: Iterable[str]) -> str:
    rows = "".join(f"<li>{_text(one)}</li>" for one in items)
    return f"<p>{title}</p><ul>{rows}</ul>" if rows else ""


def _text(text: str) -> str:
    return escape(visible(text))
