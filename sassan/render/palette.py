"""How each kind of edge and block is drawn: one table, so that the picture and its legend cannot disagree.

Colours are the Okabe-Ito set (Okabe and Ito, "Color Universal Design", 2008), darkened until text in them has a contrast of at
least 4.5:1 on every background below. Colour is never the only carrier: each kind also has its own line style and arrow head.
"""

from dataclasses import dataclass

from sassan.warpcfg.graph import Kind

TEXT = "#1a1a1a"
MUTED = "#555555"
PAPER = "#ffffff"
WORST_FILL = "#fff3c4"
"""Background of the blocks on the worst path."""
LOOP_FILLS = ("#f4f6f8", "#e9edf1")
"""Backgrounds of loop clusters, alternating with the depth."""
CONTEXT_FILL = "#f6f1e7"
LOOP_LINE = "#6b7680"
CONTEXT_LINE = "#7a5200"
GAP = "#b00020"
DIVERGENT = "#a34700"

FONT = "Helvetica,Arial,DejaVu Sans,sans-serif"
MONO = "Courier New,DejaVu Sans Mono,monospace"


@dataclass(frozen=True, slots=True)
class Line:
    """The look of one kind of edge, in names of Graphviz; `means` is its line in the legend, a high `weight` pulls it straight."""

    color: str
    style: str
    head: str
    tail: str
    means: str
    weight: int = 1


LINES: dict[Kind, Line] = {
    Kind.FALLTHROUGH: Line(TEXT, "solid", "vee", "none", "fall-through", 8),
    Kind.TAKEN: Line("#005f99", "solid", "normal", "none", "branch, taken by all active threads", 4),
    Kind.DIVERGE: Line(DIVERGENT, "dashed", "normal", "odiamond", "diverge: some threads branch, the others are suspended", 4),
    Kind.REACTIVATE: Line("#8f3568", "dashed", "onormal", "none", "reactivate: a suspended side resumes"),
    Kind.RECONVERGE: Line("#00664a", "dotted", "normal", "dot", "reconverge: a token's threads resume together", 2),
    Kind.CALL: Line("#7a5200", "solid", "box", "none", "call", 2),
    Kind.RETURN: Line("#7a5200", "dashed", "obox", "none", "return"),
    Kind.EXIT: Line(MUTED, "solid", "tee", "none", "exit"),
}
"""In the order of the legend."""

THREAD_MEANS = {
    Kind.TAKEN: "branch, taken",
    Kind.RECONVERGE: "to the target of a token",
}
"""What the legend says of a thread-level graph, where it differs."""
