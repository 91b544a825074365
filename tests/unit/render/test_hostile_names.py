from dataclasses import replace
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

import pytest

from sassan.names import visible
from sassan.render.graph.dot import dot_text
from sassan.render.graph.draw import draw
from sassan.render.text import shorten
from sassan.warpcfg.graph import WarpCfg

SVG = "{http://www.w3.org/2000/svg}"


def renamed(cfg: WarpCfg, name: str) -> WarpCfg:
    node = cfg.nodes[0]
    first = replace(node.instructions[0], text=name)
    nodes = (replace(node, instructions=(first, *node.instructions[1:])), *cfg.nodes[1:])
    return replace(cfg, function=replace(cfg.function, name=name), nodes=nodes)


def parse(svg: bytes) -> Element:
    return ET.fromstring(svg)  # noqa: S314  # our own drawing


@pytest.fixture(scope="module")
def drawn(diamond: WarpCfg, hostile: str) -> Element:
    return parse(draw(dot_text(renamed(diamond, hostile)), "svg").data)


def test_a_hostile_name_is_text_in_the_drawing(drawn: Element, hostile: str):
    assert shorten(visible(hostile), 96) in [one.text for one in drawn.iter(f"{SVG}text")]


def test_a_hostile_name_adds_no_node(drawn: Element):
    groups = [one.get("id") for one in drawn.iter(f"{SVG}g") if one.get("class") == "node"]
    assert groups == ["n0008", "n0018", "n0020", "n0028", "exit", "entry"]


def test_a_hostile_name_is_whole_in_the_tooltip_of_the_graph(drawn: Element, hostile: str):
    assert visible(hostile) in [one.text for one in drawn.iter(f"{SVG}title")]


def test_hostile_instruction_text_is_whole_in_the_tooltip_of_its_block(drawn: Element, hostile: str):
    assert f"0008  {visible(hostile)}\n0010  BRA 0x20" in [one.text for one in drawn.iter(f"{SVG}title")]


def test_hostile_instruction_text_is_text_in_a_listing(diamond: WarpCfg, hostile: str):
    svg = parse(draw(dot_text(renamed(diamond, hostile), listing=True), "svg").data)
    assert f"0008  {shorten(visible(hostile), 110)}" in [one.text for one in svg.iter(f"{SVG}text")]


def test_an_empty_name_can_be_drawn(diamond: WarpCfg):
    assert parse(draw(dot_text(renamed(diamond, "")), "svg").data).tag == f"{SVG}svg"


def test_unprintable_characters_are_spelled_out():
    assert visible("a\nb\x1b\u202e\udc80é") == "a\\nb\\x1b\\u202e\\udc80é"


def test_a_long_name_keeps_both_ends():
    assert shorten("_Z6kernelIfEvPT_i", 10) == "_Z6ker…T_i"
    assert shorten("kernel", 6) == "kernel"
