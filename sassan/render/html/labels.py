"""The labels of the blocks of a graph on a page, and the sizes of the blocks."""

from sassan.errors import Gap
from sassan.render.graph.dot import Size
from sassan.render.text import shorten, wrap
from sassan.warpcfg.graph import Node

DIAMOND, DASH, TIMES, DOT = "\u25c7", "\u2013", "\u00d7", "\u00b7"
_LETTERS, _LETTER_ROWS, _COMPACT_LETTERS = 26, 3, 14
_WIDEST = 44
_CHARACTER, _LINE = 6.7, 14.0
"""Points of a character and of a line, in the monospaced 11-point font of blocks (style.css)."""
_MARGIN = 8.0

Label = tuple[tuple[str, str], ...]
"""Lines, each with the name of its style and its text."""


def label(node: Node, letters: str, cost: str, gaps: tuple[Gap, ...], *, compact: bool) -> Label:
    """Return the lines of a block; `cost` is '' if it is unknown."""
    troubles = tuple(("gap", shorten(f"gap: {code}", _WIDEST)) for code in sorted({gap.code for gap in gaps}))
    if compact:
        words = (f"{node.start:04x}", DIAMOND * node.divergent, shorten(letters, _COMPACT_LETTERS), cost)
        return (("head", " ".join(word for word in words if word)), *troubles)
    size = len(node.code)
    lines = [("head", f"{node.start:04x} {DASH} {node.end:04x} {DOT} {size} instr")]
    lines += [("letters", piece) for piece in wrap(letters, _LETTERS, _LETTER_ROWS)]
    lines += [("cost", f"cost {cost}")] if cost else []
    lines += [("divergent", f"{DIAMOND} divergent branch")] if node.divergent else []
    return (*lines, *troubles)


def size(lines: Label) -> Size:
    """Return the width and height of a block with these lines, in points."""
    width = max(len(text) for _, text in lines) * _CHARACTER + 2 * _MARGIN
    return width, len(lines) * _LINE + 2 * _MARGIN - 4


def cost_text(cost: int | None, count: int | None, share: float | None, *, compact: bool) -> str:
    """Return the cost of a block: of one execution, times its executions on the worst path, and its share of the WCET."""
    if cost is None:
        return ""
    if not count:
        return str(cost)
    if compact or share is None:
        return f"{cost}{TIMES}{count}"
    return f"{cost} {TIMES} {count} = {cost * count} ({percent(share)})"


def percent(share: float) -> str:
    """Return a share as text; a share above 0 is never written as 0."""
    return "<1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"  # noqa: PLR2004 - one per cent
