"""Gantt charts say what the schedule says, on a terminal and as documents that hold no foreign markup."""

from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest

from sassan.alphabet import Letter
from sassan.errors import UsageError
from sassan.makespan.problem import Problem
from sassan.makespan.schedule import Schedule
from sassan.render.gantt import MARK_STYLES, CellRun, Chart, chart, runs
from sassan.render.gantt_svg import draw, html, svg
from sassan.render.gantt_text import ChartSize, lines, ruler
from sassan.render.palette import TEXT
from sassan.strings.kernel_string import parse

SVG = "{http://www.w3.org/2000/svg}"
FIGURE_5 = Schedule(((0, 1, 3), (1, 2, 4), (2, 3, 5), (6, 7, 8)))
"""Berezovskyi et al. 2013, Figure 5, with slots from 0."""


def figure_5(title: str = "LCL") -> Chart:
    one = {Letter.LOAD: Fraction(1), Letter.COMPUTE: Fraction(1)}
    return chart(Problem((parse("LCL"),) * 4, one), FIGURE_5, title)


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - our own bytes


def test_a_row_spells_what_a_warp_does_in_each_slot():
    assert figure_5().rows == ("LC.L     ", ".LC.L    ", "..LC.L   ", "......LCL")


def test_the_legend_names_what_occurs():
    assert figure_5().marks == ("L", "C", ".")


def test_runs_are_equal_neighbours():
    assert runs("LLC.", 5) == (CellRun(5, 2, "L"), CellRun(7, 1, "C"), CellRun(8, 1, "."))


def test_on_a_terminal_a_chart_is_readable_text():
    assert [str(line) for line in lines(figure_5(), ChartSize(80))] == [
        "L load/store, C compute, . waits for a unit",
        "   1",
        "w0 LC.L",
        "w1 .LC.L",
        "w2 ..LC.L",
        "w3 ......LCL",
    ]


def test_a_number_of_the_ruler_ends_above_its_slot():
    assert ruler(0, 25) == "1       10        20"
    assert ruler(70, 95) == "71      80        90"
    assert ruler(0, 9) == "1"


def test_sixteen_warps_in_200_slots_fit_80_columns_and_show_every_slot():
    shown = [str(line) for line in lines(Chart(("LC" * 100,) * 16, 200), ChartSize(80))]
    assert max(len(line) for line in shown) <= 80
    assert sum(line.count("L") for line in shown if line.startswith("w")) == 16 * 100
    assert len(shown) == 1 + 3 * 17


def test_too_many_slots_are_cut_from_the_middle_and_the_cut_is_named():
    shown = [str(line) for line in lines(Chart(("L" * 1000,), 1000), ChartSize(80, bands=3), ": -o x.svg has all")]
    assert shown[5] == "… slots 141 to 980 are omitted: -o x.svg has all"
    assert shown[-1] == "w0 " + "L" * 20


def test_too_many_warps_are_cut_and_the_cut_is_named():
    shown = [str(line) for line in lines(Chart(("L",) * 100, 1), ChartSize(80, warps=4))]
    assert shown[2:] == ["w0  L", "w1  L", "w2  L", "… warps 3 to 98 are omitted", "w99 L"]


def test_a_warp_that_is_done_has_no_line_in_later_bands():
    shown = [str(line) for line in lines(Chart(("L" * 10 + " " * 70, "." * 70 + "L" * 10), 80), ChartSize(80))]
    assert [line[:2] for line in shown[1:]] == ["  ", "w0", "w1", "  ", "w1"]


def test_a_narrow_terminal_still_gets_ten_slots_a_band():
    assert [str(line) for line in lines(Chart(("L" * 20,), 20), ChartSize(5))][2:] == ["w0 LLLLLLLLLL", "   11      20", "w0 LLLLLLLLLL"]


def test_an_svg_is_well_formed_and_holds_every_letter_of_every_warp():
    root = parsed(svg(figure_5()))
    texts = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert root.tag == f"{SVG}svg"
    assert texts.count("L") == 8 + 1  # an element of its own each, with its place: and one in the legend
    assert all("x" in element.attrib and not list(element) for element in root.iter(f"{SVG}text"))
    assert [text for text in texts if text.startswith("w") and text[1:].isdigit()] == ["w0", "w1", "w2", "w3"]


HOSTILE = "</title><script>alert(1)</script>\x1b[31m\u202e&\"'\x00"


@pytest.mark.parametrize("form", ["svg", "html"])
def test_a_hostile_name_is_text(form: str):
    picture = replace(figure_5(HOSTILE), facts=(HOSTILE,))
    text = draw(picture, form, (("key",), (HOSTILE,)))
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;" in text


def test_a_hostile_name_leaves_the_svg_well_formed():
    assert parsed(svg(figure_5(HOSTILE))).find(f"{SVG}title") is not None


def test_a_page_is_self_contained():
    page = html(figure_5(), (("engine", "value"), ("exact", "9")))
    assert "<td>exact</td><td>9</td>" in page
    assert "src=" not in page
    assert "href=" not in page
    assert "default-src 'none'" in page


def test_more_than_a_hundred_slots_are_drawn_in_bands():
    root = parsed(svg(Chart(("L" * 250,), 250)))
    assert int(root.attrib["width"]) < 1500
    assert [element.text for element in root.iter(f"{SVG}text") if element.text in {"1", "101", "201"}] == ["1", "101", "201"]


@pytest.mark.parametrize(("warps", "slots"), [(64, 660), (64, 3000), (32, 522), (8, 2000), (1, 250)])
def test_no_chart_of_many_slots_is_taller_than_wide(warps: int, slots: int):
    root = parsed(svg(Chart(("L" * slots,) * warps, slots)))
    assert int(root.attrib["height"]) <= 1.1 * int(root.attrib["width"])
    numbers = [element.text for element in root.iter(f"{SVG}text") if element.text == "w0"]
    assert len(numbers) >= int(root.attrib["width"]) // 1600


def test_a_chart_that_no_reader_would_open_is_refused():
    with pytest.raises(UsageError) as caught:
        draw(Chart(("L" * 10_000,) * 64, 10_000), "svg")
    assert caught.value.code == "too-large"
    assert "640000" in caught.value.message


def test_dark_text_on_every_colour_has_a_contrast_of_seven():
    assert [mark for mark, look in MARK_STYLES.items() if contrast(look.fill, TEXT) < 7] == []


def contrast(one: str, other: str) -> float:
    """WCAG 2.1 contrast ratio of two colours."""
    dark, light = sorted(luminance(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_lane_says_how_many_warps_run_in_each_slot():
    root = parsed(svg(Chart(("LC.C", "..LC", " CC "), 4)))
    lane = [(rect.get("height"), rect[0].text) for rect in root.iter(f"{SVG}rect") if len(rect)]
    assert lane == [("9", "1 of 3 warps run"), ("18", "2 of 3 warps run")]


def test_every_letter_has_one_position():
    root = parsed(svg(figure_5()))
    assert [part.get("x") for part in root.iter() if " " in (part.get("x") or "")] == []
