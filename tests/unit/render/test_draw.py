import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

import pytest

from sassan.errors import SelfCheckError, UsageError
from sassan.render.graph import draw as drawing
from sassan.render.graph.dot import dot_text
from sassan.render.graph.draw import draw
from sassan.warpcfg.graph import WarpCfg

SVG = "{http://www.w3.org/2000/svg}"


def parse(svg: bytes) -> Element:
    return ET.fromstring(svg)  # noqa: S314  # our own drawing


@pytest.mark.parametrize(
    ("form", "magic"), [("png", b"\x89PNG\r\n\x1a\n"), ("pdf", b"%PDF-1."), ("svg", b"<?xml"), ("dot", b"digraph cfg {")]
)
def test_each_format_begins_as_it_should(diamond: WarpCfg, form: str, magic: bytes):
    assert draw(dot_text(diamond), form).data.startswith(magic)


@pytest.mark.parametrize("form", ["png", "pdf", "svg", "dot"])
def test_the_same_graph_gives_the_same_bytes(nested: WarpCfg, form: str):
    assert draw(dot_text(nested), form) == draw(dot_text(nested), form)


@pytest.mark.slow
def test_the_svg_is_xml_that_holds_every_block_of_500(ladder: WarpCfg):
    svg = parse(draw(dot_text(ladder), "svg").data)
    ids = {one.get("id") for one in svg.iter(f"{SVG}g")}
    assert {node.id for node in ladder.nodes} <= ids


def test_text_in_the_svg_stays_text(diamond: WarpCfg):
    svg = parse(draw(dot_text(diamond), "svg").data)
    assert "0x0008 \u2013 0x0010" in [one.text for one in svg.iter(f"{SVG}text")]


def test_tooltips_are_titles_and_not_links(diamond: WarpCfg):
    svg = parse(draw(dot_text(diamond), "svg").data)
    assert "0008  SSY 0x28\n0010  BRA 0x20" in [one.text for one in svg.iter(f"{SVG}title")]
    assert list(svg.iter(f"{SVG}a")) == []


def test_no_program_named_dot_is_needed(diamond: WarpCfg, tmp_path: Path):
    (tmp_path / "graph.dot").write_text(dot_text(diamond))
    code = "import sys; from sassan.render.graph.draw import draw; print(len(draw(open(sys.argv[1]).read(), 'svg').data) > 1000)"
    environment = {key: value for key, value in os.environ.items() if key in {"HOME", "LD_LIBRARY_PATH", "PYTHONPATH"}} | {
        "PATH": str(tmp_path)
    }
    done = subprocess.run(  # our own program
        [sys.executable, "-c", code, str(tmp_path / "graph.dot")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "True\n", done.stderr


def test_a_layout_that_takes_too_long_is_replaced_by_a_cheaper_one_and_noted(nested: WarpCfg, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drawing, "_LAYOUTS", drawing._LAYOUTS[1:])
    drawn = draw(dot_text(nested), "svg")
    assert drawn.notes == ("the full layout takes too long for this graph: drawn in rows, with straight edges and without boxes for loops",)
    assert {node.id for node in nested.nodes} <= {one.get("id") for one in parse(drawn.data).iter(f"{SVG}g")}


def test_no_layout_in_time_is_an_error_with_a_hint(diamond: WarpCfg):
    with pytest.raises(UsageError) as caught:
        draw(dot_text(diamond), "svg", seconds=0.0)
    assert caught.value.code == "layout-timeout"
    assert caught.value.hint == "draw a single function, or write a .dot file"


def test_a_picture_too_large_for_png_is_scaled_and_noted():
    tall = "digraph { a [height=900 width=1] }"
    assert draw(tall, "png").notes == ("the picture is too large for png and was scaled by 0.38; .svg and .pdf keep every detail",)


def test_text_that_is_not_dot_is_a_defect_and_no_crash():
    with pytest.raises(SelfCheckError) as caught:
        draw("digraph { a -> ", "svg")
    assert caught.value.code == "layout-failed"


def test_another_format_is_refused(diamond: WarpCfg):
    with pytest.raises(UsageError) as caught:
        draw(dot_text(diamond), "exe")
    assert caught.value.code == "unknown-format"


def test_a_drawing_as_png_is_a_png(diamond: WarpCfg):
    assert draw(dot_text(diamond), "png").data.startswith(b"\x89PNG")
