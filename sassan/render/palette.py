"""The style of each kind of edge and block, in one table for the picture and its legend.

Colours are the Okabe-Ito set (Okabe and Ito, "Color Universal Design", 2008), darkened until text in them has a contrast of at
least 4.5:1 on every background below. Colour is never the only sign: each kind also has its own line style and arrow head.
"""

from dataclasses import dataclass

from sassan.warpcfg.graph import EdgeKind

TEXT = "#1a1a1a"
MUTED = "#555555"
PAPER = "#ffffff"
WORST_FILL = "#fff3c4"
"""Background of the blocks on the worst path."""
HOT_FILL = "#ffd8ae"
"""Background of the block with the greatest share of the WCET; others lie between it and that of the worst path."""
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
class EdgeStyle:
    """The style of one kind of edge, in terms of Graphviz; `means` is its entry in the legend, a high `weight` straightens it."""

    color: str
    style: str
    head: str
    tail: str
    means: str
    weight: int = 1


EDGE_STYLES: dict[EdgeKind, EdgeStyle] = {
    EdgeKind.FALLTHROUGH: EdgeStyle(TEXT, "solid", "vee", "none", "fall-through", 8),
    EdgeKind.TAKEN: EdgeStyle("#005f99", "solid", "normal", "none", "branch, taken by all active threads", 4),
    EdgeKind.DIVERGE: EdgeStyle(DIVERGENT, "dashed", "normal", "odiamond", "diverge: some threads branch, the others are suspended", 4),
    EdgeKind.REACTIVATE: EdgeStyle("#8f3568", "dashed", "onormal", "none", "reactivate: the suspended side of a divergence is resumed"),
    EdgeKind.RECONVERGE: EdgeStyle("#00664a", "dotted", "normal", "dot", "reconverge: at the target of a token", 2),
    EdgeKind.CALL: EdgeStyle("#7a5200", "solid", "box", "none", "call", 2),
    EdgeKind.RETURN: EdgeStyle("#7a5200", "dashed", "obox", "none", "return"),
    EdgeKind.EXIT: EdgeStyle(MUTED, "solid", "tee", "none", "exit"),
}
"""In the order of the legend."""


def heat(share: float) -> str:
    """Return the background of a block on the worst path; `share` is its cost as a part of that of the most expensive one."""
    ends = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in (WORST_FILL, HOT_FILL)]
    return "#" + "".join(f"{round(cold + (hot - cold) * share):02x}" for cold, hot in zip(*ends, strict=True))


THREAD_MEANS = {
    EdgeKind.TAKEN: "branch, taken",
    EdgeKind.RECONVERGE: "to the target of a token",
}
"""The entries of the legend that differ in a thread-level graph."""
