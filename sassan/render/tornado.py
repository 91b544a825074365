"""A tornado chart as SVG: how far a bound moves when each figure that it rests on is 10 % worse; untrusted text stays text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from sassan.names import visible
from sassan.render import palette
from sassan.render.text import shorten

_ROW, _TOP, _LEFT, _WIDTH, _RIGHT = 24, 58, 300, 420, 96
_NAME, _TITLE = 44, 90
_FILLS = {"assumed": "#e69f00", "recorded": "#cc79a7"}
"""Of the bars of figures that nothing, or only a recording, backs."""
_FILL = "#56b4e9"


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure with its value and its status, and by how many microseconds the bound moves; None: there is no bound then."""

    figure: str
    value: str
    status: str
    moves: float | None


def svg(title: str, bound: float, bars: Sequence[Bar], deadline: float | None = None) -> str:
    """Return the chart as one SVG element; `bound` and `deadline` in microseconds."""
    height = _TOP + _ROW * max(len(bars), 1) + 42
    width = _LEFT + _WIDTH + _RIGHT
    slack = deadline - bound if deadline is not None else None
    most = max([*(bar.moves for bar in bars if bar.moves is not None), 0.0]) or 1.0
    shown = slack if slack is not None and 0 <= slack <= most * 1.5 else None
    scale = _WIDTH / max(most, shown or 0.0)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = f'font-family="{palette.FONT}" font-size="12" fill="{palette.TEXT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>',
        f"<title>{_text(shorten(title, _TITLE))}</title>",
        f'<rect width="100%" height="100%" fill="{palette.PAPER}"/>',
        f'<text x="12" y="20" font-size="15" font-weight="bold">{_text(shorten(title, _TITLE))}</text>',
        f'<text x="12" y="40" fill="{palette.MUTED}">growth of the bound in us where one figure is 10 % worse</text>',
        *_bars(bars, scale),
        *_end(bars, height, scale, slack, shown),
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def _bars(bars: Sequence[Bar], scale: float) -> Iterator[str]:
    for row, bar in enumerate(bars):
        y = _TOP + _ROW * row
        name = shorten(f"{bar.figure} ({bar.value})", _NAME)
        yield f'<text x="{_LEFT - 8}" y="{y + 15}" text-anchor="end">{_text(name)}</text>'
        if bar.moves is None:
            yield f'<text x="{_LEFT + 6}" y="{y + 15}" fill="{palette.GAP}">no bound</text>'
            continue
        length = max(bar.moves, 0.0) * scale
        fill = _FILLS.get(bar.status, _FILL)
        yield f'<rect x="{_LEFT}" y="{y + 2}" width="{length:.1f}" height="{_ROW - 6}" fill="{fill}"/>'
        yield f'<text x="{_LEFT + length + 6:.1f}" y="{y + 15}">{bar.moves:+.2f}</text>'


def _end(bars: Sequence[Bar], height: int, scale: float, slack: float | None, shown: float | None) -> Iterator[str]:
    bottom = height - 40
    yield f'<path d="M{_LEFT} {_TOP - 4}V{bottom}" stroke="{palette.TEXT}"/>'
    if shown is not None and slack is not None:
        x = _LEFT + shown * scale
        yield f'<path d="M{x:.1f} {_TOP - 4}V{bottom}" stroke="{palette.GAP}" stroke-width="1.5" stroke-dasharray="4 3"/>'
        yield f'<text x="{x:.1f}" y="{_TOP - 8}" text-anchor="middle" fill="{palette.GAP}">deadline ({slack:+.2f})</text>'
    x = 12
    statuses = dict.fromkeys(bar.status for bar in bars)
    for status in statuses:
        yield f'<rect x="{x}" y="{height - 24}" width="14" height="12" fill="{_FILLS.get(status, _FILL)}"/>'
        yield f'<text x="{x + 20}" y="{height - 14}">{_text(status)}</text>'
        x += 40 + 8 * len(status)


def _text(text: str) -> str:
    return escape(visible(text))
