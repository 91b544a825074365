"""What a notebook shows, and that names from an input cannot act in it."""

from html.parser import HTMLParser

import pytest

import sassan
from cli.shell import SAMPLES

BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
HOSTILE = "<img/src=x/onerror=alert(1)>"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert attrs == []


def tags(text: str) -> set[str]:
    parser = Tags()
    parser.feed(text)
    return set(parser.seen)


def hostile() -> sassan.Kernels:
    text = BFS.read_text().replace("Function : bfs_step", f"Function : {HOSTILE}")
    return sassan.analyze(text.encode(), loop_bound=10)


def test_a_table_has_the_numbers_and_what_they_rest_on():
    shown = sassan.analyze(BFS, loop_bound=10)._repr_html_()
    assert "<td>296</td>" in shown
    assert "<li>every instruction takes one cycle (unit cost) [assumed]</li>" in shown


def test_a_table_lists_gaps():
    shown = sassan.analyze(BFS)._repr_html_()
    assert "<td>1 gap</td>" in shown
    assert "<li>bfs_step 0x0158 unbounded-loop: " in shown


def test_a_hostile_name_stays_text():
    kernels = hostile()
    assert kernels[0].name == HOSTILE
    known = {"table", "thead", "tbody", "tr", "th", "td", "p", "ul", "li"}
    assert tags(kernels._repr_html_()) <= known
    assert tags(kernels[0]._repr_html_()) <= known
    assert "<img" not in kernels[0].graph._repr_svg_()


def test_a_graph_is_drawn():
    graph = sassan.analyze(BFS, loop_bound=10)[0].graph
    assert "<svg" in graph._repr_svg_()
    assert len(graph) == 8
    assert graph.to_dict("thread")["level"] == "thread"


def test_a_graph_is_a_networkx_graph():
    graph = sassan.analyze(BFS, loop_bound=10)[0].graph.to_networkx()
    assert graph.graph["entry"] == "n0008"
    assert graph.nodes["n0158"]["string"] == "C3LC3LC3"
    assert {data["kind"] for _, _, data in graph.in_edges("exit", data=True)} == {"exit"}


def test_a_drawing_is_written_in_the_format_of_its_ending(tmp_path):
    graph = sassan.analyze(BFS, loop_bound=10)[0].graph
    graph.save(tmp_path / "x.dot")
    assert (tmp_path / "x.dot").read_text().startswith("digraph")
    with pytest.raises(sassan.UsageError):
        graph.save(tmp_path / "x.bmp")


def test_ipython_shows_tables_and_pictures():
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed")
    kernels = sassan.analyze(BFS, loop_bound=10)
    formatter = formatters.DisplayFormatter()
    assert "<table>" in formatter.format(kernels)[0]["text/html"]
    assert "<table>" in formatter.format(kernels[0])[0]["text/html"]
    assert "<svg" in formatter.format(kernels[0].graph)[0]["image/svg+xml"]
    assert "<svg" in formatter.format(sassan.makespan_of("LC", warps=2))[0]["image/svg+xml"]
