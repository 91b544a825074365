import pytest

from sassan.render import palette
from sassan.warpcfg.graph import EdgeKind

BACKGROUNDS = [palette.PAPER, palette.WORST_FILL, palette.HOT_FILL, palette.heat(0.5), *palette.LOOP_FILLS, palette.CONTEXT_FILL]
TEXTS = [
    palette.TEXT,
    palette.MUTED,
    palette.GAP,
    palette.DIVERGENT,
    palette.CONTEXT_LINE,
    *(line.color for line in palette.EDGE_STYLES.values()),
]


def luminance(color: str) -> float:
    """Relative luminance, WCAG 2.1."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_text_has_a_contrast_of_4_5(text: str, background: str):
    low, high = sorted((luminance(text), luminance(background)))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_every_kind_of_edge_has_a_line():
    assert list(palette.EDGE_STYLES) == list(EdgeKind)


def test_no_two_kinds_differ_by_colour_alone():
    assert len({(line.style, line.head, line.tail) for line in palette.EDGE_STYLES.values()}) == len(EdgeKind)
