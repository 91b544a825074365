"""Colours of edges and units on a page: those of the drawings (palette.py, gantt.py), with lighter tones for dark mode."""

from sassan.render import palette
from sassan.render.gantt import MARK_STYLES, RESULT, TOGETHER, WAITING
from sassan.warpcfg.graph import EdgeKind

DARK: dict[EdgeKind, str] = {
    EdgeKind.FALLTHROUGH: "#dfe4ea",
    EdgeKind.TAKEN: "#6cb8f0",
    EdgeKind.DIVERGE: "#ff9d57",
    EdgeKind.REACTIVATE: "#e79bc8",
    EdgeKind.RECONVERGE: "#5cd0a8",
    EdgeKind.CALL: "#e0b45c",
    EdgeKind.RETURN: "#e0b45c",
    EdgeKind.EXIT: "#a3adb8",
}
_WAITS = {WAITING: "waits", RESULT: "result", TOGETHER: "barrier"}
_DASHES = {"solid": "", "dashed": "6 4", "dotted": "2 3"}


def style() -> str:
    """Return the colour rules of the style sheet."""
    kinds = [f"  --kind-{kind.value}: light-dark({look.color}, {DARK[kind]});" for kind, look in palette.EDGE_STYLES.items()]
    units = [f".unit-{_word(mark)} {{ {_unit(look.fill, look.line)} }}" for mark, look in MARK_STYLES.items()]
    lines = [f".kind-{kind.value} {{ --kind: var(--kind-{kind.value}); {_dash(look.style)}}}" for kind, look in palette.EDGE_STYLES.items()]
    return "\n".join([":root {", *kinds, "}", *units, *lines, ""])


def _unit(fill: str, line: str) -> str:
    return f"background: {fill}; fill: {fill}; stroke: {line}; --thin: light-dark({line}, {fill});"


def legend() -> dict[str, list[dict[str, str]]]:
    """Return the entries of the legends of a page, in their order."""
    return {
        "kinds": [
            {"kind": kind.value, "means": look.means, "head": look.head, "tail": look.tail} for kind, look in palette.EDGE_STYLES.items()
        ],
        "units": [{"mark": mark, "word": _word(mark), "means": look.means} for mark, look in MARK_STYLES.items()],
    }


def _word(mark: str) -> str:
    return mark if mark.isalpha() else _WAITS[mark]


def _dash(name: str) -> str:
    return f"stroke-dasharray: {_DASHES[name]}; " if _DASHES[name] else ""
