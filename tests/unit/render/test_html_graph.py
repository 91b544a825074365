"""The graph of a page: what is written into blocks, where they go, and what happens when no layout is found."""

import pytest

from sassan.errors import Gap
from sassan.executor import Serial
from sassan.isa.facts import Facts
from sassan.render.gantt import Chart
from sassan.render.graph.decorations import Decorations
from sassan.render.graph.dot import bare_text
from sassan.render.html import layout
from sassan.render.html.chart import chart_record, trace
from sassan.render.html.labels import cost_text, label, size
from sassan.render.html.layout import PlacedGraph, place
from sassan.render.html.look import DARK, legend, style
from sassan.render.html.page import _part
from sassan.render.html.sketch import Sketch, sketch
from sassan.render.palette import EDGE_STYLES
from sassan.warpcfg.graph import EdgeKind, WarpCfg

COSTS = Decorations(letters=("L", "C", "C", "C", "C"), costs=(1, 2, 3, 4, 5), counts=(1, 2, 6, 2, 1, 1, 1))


def nothing(_: object) -> Facts | None:
    return None


def drawn(cfg: WarpCfg, decorations: Decorations | None = None, gaps: tuple[Gap, ...] = (), wcet: int | None = None) -> Sketch:
    return sketch(cfg, decorations or Decorations(), nothing, gaps, wcet)


def placed(cfg: WarpCfg) -> PlacedGraph:
    return next(place([drawn(cfg).text], Serial()))


def luminance(colour: str) -> float:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_block_shows_its_addresses_its_cost_and_its_divergence(diamond: WarpCfg):
    lines = label(diamond.nodes[0], "LC", cost_text(2, 3, 0.25, compact=False), (), compact=False)
    assert lines == (
        ("head", "0008 \u2013 0010 \u00b7 2 instr"),
        ("letters", "LC"),
        ("cost", "cost 2 \u00d7 3 = 6 (25 %)"),
        ("divergent", "\u25c7 divergent branch"),
    )


def test_a_block_of_a_large_graph_is_one_line(diamond: WarpCfg):
    assert label(diamond.nodes[0], "LC", cost_text(2, 3, 0.25, compact=True), (), compact=True) == (("head", "0008 \u25c7 LC 2\u00d73"),)


def test_gaps_are_named_in_the_block_that_has_them(diamond: WarpCfg):
    gaps = (Gap(0x10, "unknown-opcode", "FROB"), Gap(0x28, "recursion", "calls itself"))
    record = drawn(diamond, gaps=gaps).record(PlacedGraph())
    assert [one["gaps"] for one in record["blocks"]] == [["unknown-opcode at 0x0010: FROB"], [], [], ["recursion at 0x0028: calls itself"]]
    assert ["gap", "gap: unknown-opcode"] in record["blocks"][0]["lines"]


def test_what_costs_something_is_not_shown_as_nothing():
    assert cost_text(1, 1, 0.0001, compact=False) == "1 \u00d7 1 = 1 (<1 %)"


def test_a_block_is_as_wide_as_its_longest_line():
    assert size((("head", "x" * 10), ("letters", "y"))) == (83.0, 40.0)


def test_shares_are_parts_of_the_wcet(nested: WarpCfg):
    blocks = drawn(nested, COSTS, wcet=100).record(PlacedGraph())["blocks"]
    assert [(one["cost"], one["count"], one["share"]) for one in blocks] == [
        (1, 1, 0.01),
        (2, 2, 0.04),
        (3, 8, 0.24),
        (4, 2, 0.08),
        (5, 1, 0.05),
    ]


def test_without_a_wcet_there_are_no_shares(nested: WarpCfg):
    assert [one["share"] for one in drawn(nested, COSTS).record(PlacedGraph())["blocks"]] == [None] * 5


def test_every_block_and_every_edge_gets_a_place(diamond: WarpCfg):
    record = drawn(diamond).record(placed(diamond))
    assert [one["box"] is not None for one in record["blocks"]] == [True] * 4
    assert {(one["src"], one["dst"], one["kind"]): len(one["path"]) >= 4 for one in record["edges"]} == {
        ("entry", "n0008", ""): True,
        ("n0008", "n0018", "fallthrough"): True,
        ("n0008", "n0020", "taken"): True,
        ("n0008", "n0020", "diverge"): True,
        ("n0018", "n0028", "reconverge"): True,
        ("n0020", "n0018", "reactivate"): True,
        ("n0020", "n0028", "reconverge"): True,
        ("n0028", "exit", "exit"): True,
    }


def test_a_back_edge_begins_at_its_source(nested: WarpCfg):
    record = drawn(nested).record(placed(nested))
    boxes = {one["id"]: one["box"] or [] for one in record["blocks"]}
    edge = next(one for one in record["edges"] if (one["src"], one["dst"]) == ("n0020", "n0010"))
    (x, y), (to_x, to_y) = edge["path"][0], edge["path"][-1]
    for box, at_x, at_y in ((boxes["n0020"], x, y), (boxes["n0010"], to_x, to_y)):
        assert box[0] - 2 <= at_x <= box[0] + box[2] + 2
        assert box[1] - 2 <= at_y <= box[1] + box[3] + 2


def test_everything_lies_inside_the_drawing(called: WarpCfg):
    found = placed(called)
    boxes = [box for _, box in found.nodes] + [one.box for one in found.clusters]
    assert all(x >= 0 and x + width <= found.width + 0.2 and y >= 0 and y + height <= found.height + 0.2 for x, y, width, height in boxes)


def test_loops_and_calls_have_boxes(nested: WarpCfg, called: WarpCfg):
    assert [(one.loop, one.context) for one in placed(nested).clusters] == [(0, ()), (1, ())]
    assert {(one.loop, one.context) for one in placed(called).clusters} == {(0, ()), (None, (0x08,))}


def test_a_graph_that_takes_too_long_is_drawn_in_rows_with_a_note(nested: WarpCfg, monkeypatch: pytest.MonkeyPatch):
    layouts = layout._layouts
    monkeypatch.setattr(layout, "_layouts", lambda texts, how, seconds: [] if how == "dot" else layouts(texts, how, seconds))
    found = placed(nested)
    assert len([name for name, _ in found.nodes if name.startswith("n")]) == 5
    assert (
        found.note == "the full layout did not finish within the time limit: drawn in rows, with straight edges and without boxes for loops"
    )


def test_a_graph_without_a_layout_keeps_its_blocks_with_a_note(nested: WarpCfg, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(layout, "_layouts", lambda *_: [])
    record = drawn(nested).record(placed(nested))
    assert record["note"] == "the layout failed or did not finish within the time limit: the blocks are listed below"
    assert [one["id"] for one in record["blocks"]] == ["n0008", "n0010", "n0018", "n0020", "n0028"]


def test_one_bad_graph_does_not_stop_the_others(nested: WarpCfg):
    good = drawn(nested).text
    found = list(place([good, "no graph at all {", good], Serial(), seconds=30))
    assert [one.note for one in found] == ["", "the layout failed or did not finish within the time limit: the blocks are listed below", ""]


def test_time_is_kept():
    assert layout._layouts(("digraph { a -> b }",), "dot", 0.001) == []


def test_a_frame_that_is_cut_is_no_frame():
    assert layout._frames(b"3\nabc2\nde5\nfg") == [b"abc", b"de"]


def test_the_bare_text_names_the_kind_of_each_edge(nested: WarpCfg):
    text = bare_text(nested, Decorations(), ((10.0, 10.0),) * 5)
    assert text.count("class=taken") + text.count('class="taken turned"') == 2
    assert 'class="taken turned"' in text


def test_uniform_registers_are_unknown_in_a_graph_with_gaps(nested: WarpCfg):
    from dataclasses import replace  # noqa: PLC0415

    gap = Gap(0x08, "recursion", "calls itself")
    assert [one["agreement"] for one in drawn(replace(nested, gaps=(gap,)), gaps=(gap,)).record(PlacedGraph())["blocks"]] == [None] * 5
    assert [one["agreement"] for one in drawn(nested).record(PlacedGraph())["blocks"]] == [[]] * 5


DARK_PANEL = "#1a2028"
"""The background of graphs on a dark page (style.css)."""


def test_colours_of_a_dark_page_have_contrast():
    back = luminance(DARK_PANEL)
    assert {kind: (luminance(DARK[kind]) + 0.05) / (back + 0.05) >= 4.5 for kind in DARK} == dict.fromkeys(EdgeKind, True)


def test_the_sheet_has_the_dark_background_that_colours_were_chosen_for():
    assert f"--panel: light-dark(#ffffff, {DARK_PANEL});" in _part("style.css")


def test_the_legend_has_every_kind_with_the_words_of_the_drawings():
    assert [(one["kind"], one["means"]) for one in legend()["kinds"]] == [(kind.value, look.means) for kind, look in EDGE_STYLES.items()]
    assert all(f".kind-{kind.value} " in style() for kind in EDGE_STYLES)


def test_a_chart_is_kept_as_runs():
    assert chart_record(Chart(("LLC.", ".C  "), 4)) == {
        "slots": 4,
        "shown": 4,
        "rows": [[[0, 2, "L"], [2, 1, "C"], [3, 1, "."]], [[0, 1, "."], [1, 1, "C"]]],
    }


def test_a_trace_holds_the_moments_at_which_a_bound_moved():
    moves = [(0.1, None, 9), (0.2, None, 9), (0.3, 5, 9), (0.4, 5, 9), (0.5, 5, 9)]
    assert trace(moves) == [[0.1, None, 9], [0.3, 5, 9], [0.5, 5, 9]]


def test_of_a_large_chart_the_first_slots_are_kept():
    found = chart_record(Chart(("LC" * 20, "CL" * 20), 40), most=50)
    assert (found["slots"], found["shown"], [len(row) for row in found["rows"]]) == (40, 20, [20, 20])
