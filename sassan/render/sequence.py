"""The Gantt chart of a task as SVG: when each launch ends at the latest, what its time is made of, when it is expected, the deadline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate

from sassan.names import visible
from sassan.render import palette
from sassan.render.text import shorten

_ROW, _TOP, _LEFT, _WIDTH, _RIGHT, _BELOW = 26, 62, 230, 560, 40, 64
_NAME, _TITLE, _TICKS, _MOST = 32, 90, 6, 40
_KINDS = (
    ("copies", "#cc79a7"),
    ("time between launches", "#999999"),
    ("dirty sectors of earlier work", "#e69f00"),
    ("kernel", "#56b4e9"),
    ("another task", "#f0e442"),
)
_EXPECTED = "#0072b2"


@dataclass(frozen=True, slots=True)
class SequenceRow:
    """A row of the chart: how long it takes at most, by kinds (`copies`, `kernel` ...), and as expected, None where unknown; in us."""

    name: str
    parts: Sequence[tuple[str, float]]
    expected: float | None = None

    @property
    def length(self) -> float:
        """The microseconds that it takes at most."""
        return sum(part for _, part in self.parts)


def svg(title: str, rows: Sequence[SequenceRow], deadline: float | None = None, *, note: str = "") -> str:
    """Return the chart as one SVG element: rows follow each other; `deadline` in microseconds.

    More rows than can be read are shown as one.
    """
    rows = _few(rows)
    ends = list(accumulate(row.length for row in rows))
    last = max([ends[-1] if ends else 0.0, deadline or 0.0]) or 1.0
    # A deadline that is far away would leave no space for the launches.
    far = deadline is not None and bool(ends) and deadline > 3 * ends[-1]
    last = ends[-1] * 1.15 if far else last
    scale, height, width = _WIDTH / last, _TOP + _ROW * max(len(rows), 1) + _BELOW, _LEFT + _WIDTH + _RIGHT
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = f'font-family="{palette.FONT}" font-size="12" fill="{palette.TEXT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>',
        f"<title>{_text(shorten(title, _TITLE))}</title>",
        f'<rect width="100%" height="100%" fill="{palette.PAPER}"/>',
        f'<text x="12" y="20" font-size="15" font-weight="bold">{_text(shorten(title, _TITLE))}</text>',
        f'<text x="12" y="40" fill="{palette.MUTED}">{_text(note)}</text>',
        *_axis(last, scale, height),
        *_bars(rows, scale),
        *_due(deadline, scale, height, far=far),
        *_legend(rows, height),
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def _few(rows: Sequence[SequenceRow]) -> list[SequenceRow]:
    if len(rows) <= _MOST:
        return list(rows)
    rest = rows[_MOST - 1 :]
    sums: dict[str, float] = {}
    for row in rest:
        for kind, part in row.parts:
            sums[kind] = sums.get(kind, 0.0) + part
    known = [row.expected for row in rest if row.expected is not None]
    return [*rows[: _MOST - 1], SequenceRow(f"{len(rest)} more", tuple(sums.items()), sum(known) if len(known) == len(rest) else None)]


def _axis(last: float, scale: float, height: int) -> Iterator[str]:
    bottom = height - _BELOW
    yield f'<path d="M{_LEFT} {_TOP - 4}V{bottom}H{_LEFT + _WIDTH}" stroke="{palette.TEXT}" fill="none"/>'
    for tick in range(_TICKS + 1):
        us = last * tick / _TICKS
        x = _LEFT + us * scale
        yield f'<path d="M{x:.1f} {bottom}v5" stroke="{palette.TEXT}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{us:.4g}{" us" if tick == _TICKS else ""}</text>'


def _bars(rows: Sequence[SequenceRow], scale: float) -> Iterator[str]:
    fills, start, likely = dict(_KINDS), 0.0, 0.0
    known = all(row.expected is not None for row in rows)
    for at, row in enumerate(rows):
        y = _TOP + _ROW * at
        yield f'<text x="{_LEFT - 8}" y="{y + 15}" text-anchor="end">{_text(shorten(row.name, _NAME))}</text>'
        for kind, part in row.parts:
            if part * scale > 0.05:  # noqa: PLR2004 - of a pixel
                yield (
                    f'<rect x="{_LEFT + start * scale:.1f}" y="{y + 2}" width="{part * scale:.1f}" height="13" fill="{fills[kind]}">'
                    f"<title>{_text(f'{row.name}: {kind}, {part:.2f} us at most')}</title></rect>"
                )
            start += part
        if known and row.expected is not None:
            yield (
                f'<rect x="{_LEFT + likely * scale:.1f}" y="{y + 17}" width="{max(1.0, row.expected * scale):.1f}" height="4" '
                f'fill="{_EXPECTED}"><title>{_text(f"{row.name}: expected {row.expected:.2f} us")}</title></rect>'
            )
            likely += row.expected


def _due(deadline: float | None, scale: float, height: int, *, far: bool) -> Iterator[str]:
    if deadline is None:
        return
    x = _LEFT + (_WIDTH if far else deadline * scale)
    said = f"deadline {deadline:.6g} us" + (" (beyond)" if far else "")
    if not far:
        yield f'<path d="M{x:.1f} {_TOP - 4}V{height - _BELOW}" stroke="{palette.GAP}" stroke-width="1.5" stroke-dasharray="4 3"/>'
    yield f'<text x="{min(x, _LEFT + _WIDTH):.1f}" y="{_TOP - 8}" text-anchor="end" fill="{palette.GAP}">{said}</text>'


def _legend(rows: Sequence[SequenceRow], height: int) -> Iterator[str]:
    used = {kind for row in rows for kind, part in row.parts if part}
    shown = [(kind, fill) for kind, fill in _KINDS if kind in used]
    if rows and all(row.expected is not None for row in rows):
        shown.append(("expected", _EXPECTED))
    x = 12
    for kind, fill in shown:
        yield f'<rect x="{x}" y="{height - 24}" width="14" height="12" fill="{fill}"/>'
        yield f'<text x="{x + 20}" y="{height - 14}">{kind}</text>'
        x += 40 + 7 * len(kind)


def _text(text: str) -> str:
    return escape(visible(text))
