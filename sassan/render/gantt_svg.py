"""Gantt charts as SVG, and as an HTML page with one: nothing is fetched, no script runs, and untrusted text stays text."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from math import isqrt

from sassan.errors import UsageError
from sassan.names import visible
from sassan.render import palette
from sassan.render.gantt import DONE, IDLE, MARK_STYLES, CellRun, Chart, runs
from sassan.render.text import shorten

FORMATS = ("svg", "html")
"""File formats of a chart."""

_CELL, _ROW = 14, 18
_BAND = 100
"""Slots side by side, at least; more slots are drawn in bands below."""
_LEFT, _TOP, _GAP = 46, 12, 30
_RIGHT = 40
_LANE = 24
"""Height of the lane below the warps: how many of them run."""
_RUNNING = "warps running (lowest row)"
_LINE = 18
_TITLE = 110
_TICK = 10
_LARGEST = 200_000
"""Limit on the cells of a picture for a browser."""


def draw(picture: Chart, form: str, table: tuple[tuple[str, ...], ...] = ()) -> str:
    """Return the chart as a document in one of FORMATS; `table` (a head and rows of untrusted text) is placed below it on the page.

    Raises UsageError `too-large`.
    """
    cells = picture.slots * len(picture.rows)
    if cells > _LARGEST:
        message = f"the chart of {len(picture.rows)} warps in {picture.slots} slots has {cells} cells, more than the limit of {_LARGEST}"
        raise UsageError("too-large", message, hint="use --json for the whole schedule, or fewer warps (-W)")
    return html(picture, table) if form == "html" else svg(picture)


def svg(picture: Chart) -> str:
    """Return the chart as one SVG element."""
    head = _TOP + _LINE * (2 + len(picture.facts)) + 14
    band = _ROW * len(picture.rows) + _LANE + _GAP + 12
    wide = _side_by_side(picture.slots, band)
    bands = max(1, -(-picture.slots // wide))
    width = max(_LEFT + _CELL * min(picture.slots, wide) + _RIGHT, 640, _legend_width(picture))
    height = head + band * bands + 8
    title = _text(shorten(picture.title, _TITLE)) or "schedule"
    running = [sum(cell not in IDLE for cell in slot) for slot in zip(*picture.rows, strict=True)]
    starts = [(slot, head + band * number) for number, slot in enumerate(range(0, max(picture.slots, 1), wide))]
    body = [
        *_head(picture),
        *(line for slot, top in starts for line in _band(picture, running, (slot, min(slot + wide, picture.slots)), top)),
    ]
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = f'font-family="{palette.FONT}" font-size="12" fill="{palette.TEXT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>',
        f"<title>{title}</title>",
        f'<rect width="100%" height="100%" fill="{palette.PAPER}"/>',
        *body,
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def _side_by_side(slots: int, band: int) -> int:
    """Return how many slots to draw side by side, so that bands of this height make no picture that is taller than wide."""
    bands = max(1, isqrt(_CELL * slots // band))
    return max(_BAND, -(-slots // bands // _TICK) * _TICK)


def _text(text: str) -> str:
    return escape(visible(text))


def _head(picture: Chart) -> Iterator[str]:
    y = _TOP + 6
    yield f'<text x="{_TOP}" y="{y}" font-size="15" font-weight="bold">{_text(shorten(picture.title, _TITLE))}</text>'
    for fact in picture.facts:
        y += _LINE
        yield f'<text x="{_TOP}" y="{y}">{_text(shorten(fact, 2 * _TITLE))}</text>'
    y += _LINE
    x = _TOP
    for mark in picture.marks:
        look = MARK_STYLES[mark]
        yield _rect(x, y - 11, _CELL, 14, mark)
        yield f'<text x="{x + _CELL / 2:g}" y="{y}" text-anchor="middle" font-size="11">{_text(mark)}</text>'
        yield f'<text x="{x + _CELL + 6}" y="{y}">{_text(look.means)}</text>'
        x += _entry_width(look.means)
    yield f'<rect x="{x}" y="{y - 7}" width="{_CELL}" height="10" fill="{palette.MUTED}"/>'
    yield f'<text x="{x + _CELL + 6}" y="{y}">{_RUNNING}</text>'


def _legend_width(picture: Chart) -> int:
    return 2 * _TOP + sum(_entry_width(text) for text in (*(MARK_STYLES[mark].means for mark in picture.marks), _RUNNING))


def _entry_width(text: str) -> int:
    return _CELL + 34 + 7 * len(text)


def _band(picture: Chart, running: Sequence[int], slots: tuple[int, int], top: int) -> Iterator[str]:
    start, end = slots
    bottom = top + _GAP - 8 + _ROW * len(picture.rows)
    yield from _axis(start, end, top + 12, bottom)
    for warp, row in enumerate(picture.rows):
        y = top + _GAP - 8 + _ROW * warp
        yield f'<text x="{_LEFT - 6}" y="{y + 13}" text-anchor="end">w{warp}</text>'
        if end - start > _BAND:
            yield f'<text x="{_LEFT + _CELL * (end - start) + 6}" y="{y + 13}">w{warp}</text>'
        for run in runs(row[start:end]):
            if run.mark != DONE:
                yield from _cells(run, y)
    yield from _lane(running, len(picture.rows), start, end, bottom + _LANE)


def _lane(running: Sequence[int], warps: int, start: int, end: int, bottom: int) -> Iterator[str]:
    """Yield the lane of utilization: the warps that run in each slot, as a part of the most that do in any."""
    most = max(running, default=0)
    if most == 0:
        return
    yield f'<text x="{_LEFT - 6}" y="{bottom - 4}" text-anchor="end" fill="{palette.MUTED}">of {most}</text>'
    slot = start
    for count, same in groupby(running[start:end]):
        width = len(tuple(same))
        height = (_LANE - 6) * count / most
        x = _LEFT + _CELL * (slot - start)
        means = f"<title>{count} of {warps} warps run</title>"
        yield f'<rect x="{x}" y="{bottom - height:g}" width="{_CELL * width}" height="{height:g}" fill="{palette.MUTED}">{means}</rect>'
        slot += width


def _axis(start: int, end: int, top: int, bottom: int) -> Iterator[str]:
    if start == 0:
        yield f'<text x="{_LEFT - 6}" y="{top}" text-anchor="end" fill="{palette.MUTED}">slot</text>'
    for slot in range(start + 1, end + 1):
        if slot == start + 1 or slot % _TICK == 0:
            x = _LEFT + _CELL * (slot - start - 1) + _CELL / 2
            yield f'<text x="{x:g}" y="{top}" text-anchor="middle" fill="{palette.MUTED}">{slot}</text>'
            yield f'<path d="M{x:g} {top + 4}V{bottom + 4}" stroke="{palette.MUTED}" stroke-width="0.5" stroke-dasharray="1 3"/>'


def _cells(run: CellRun, y: int) -> Iterator[str]:
    x = _LEFT + _CELL * run.start
    yield _rect(x, y + 1, _CELL * run.count, _ROW - 2, run.mark)
    # An element for each letter: of positions in one text, librsvg takes one, or centres all letters at it.
    letters = "".join(f'<text x="{x + _CELL * k + _CELL / 2:g}" y="{y + 13}">{_text(run.mark)}</text>' for k in range(run.count))
    yield f'<g text-anchor="middle" font-size="11">{letters}</g>'


def _rect(x: int, y: int, width: int, height: int, mark: str) -> str:
    look = MARK_STYLES[mark]
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{look.fill}" stroke="{look.line}" stroke-width="0.8"/>'


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light; }}
body {{ font-family: {font}; color: {text}; background: {paper}; margin: 1.5em; }}
figure {{ margin: 0; overflow-x: auto; }}
table {{ border-collapse: collapse; margin-top: 1.5em; font-size: 0.9em; }}
th, td {{ text-align: left; padding: 0.3em 1em 0.3em 0; border-bottom: 1px solid #cccccc; vertical-align: top; }}
td:first-child {{ white-space: nowrap; }}
td {{ font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }}
</style>
</head>
<body>
<figure>
{svg}</figure>
{table}</body>
</html>
"""


def html(picture: Chart, table: tuple[tuple[str, ...], ...] = ()) -> str:
    """Return a self-contained page with the chart and a table below it."""
    return _PAGE.format(
        title=_text(shorten(picture.title, _TITLE)) or "schedule",
        font=palette.FONT,
        text=palette.TEXT,
        paper=palette.PAPER,
        svg=svg(picture),
        table=_table(table),
    )


def _table(table: tuple[tuple[str, ...], ...]) -> str:
    if not table:
        return ""
    head = "".join(f"<th>{_text(cell)}</th>" for cell in table[0])
    rows = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>\n" for row in table[1:])
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
