"""Parts and outlines of graphs: every block is drawn once, alone or in a group, and every edge between two of them."""

import re
from pathlib import Path

import pytest

from budget import some
from sassan.app.analysis import analyze
from sassan.app.reading import read_program
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.app.views import DrawingContent, draw
from sassan.errors import UsageError
from sassan.render.graph import outline as module
from sassan.render.graph.blocks import facts
from sassan.render.graph.clusters import forest
from sassan.render.graph.decorations import Decorations
from sassan.render.graph.dot import dot_text
from sassan.render.graph.levels import Level, arcs
from sassan.warpcfg.graph import Edge, EdgeKind, ThreadEdge, WarpCfg
from unit.render.conftest import block, function

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "sm_61"


def analyzed(name: str, loop_bound: int | None = 3) -> AnalysisResult:
    function = read_program(str(SAMPLES / f"{name}.cuobjdump.sass")).functions[0]
    return analyze(function, Settings(loop_bound=loop_bound, check=False), name)


def nodes(dot: str) -> set[str]:
    return set(re.findall(r"^\t+(g?n[0-9a-f_c]+) \[", dot, re.MULTILINE))


@pytest.mark.parametrize(
    ("name", "limit"), some([(name, limit) for name in ("switch_loop", "calls_nested", "bfs_step") for limit in (0, 5, 12)], of=4)
)
def test_every_block_is_drawn_once_and_every_edge_between_two_drawn_ones(name: str, limit: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST", 1)
    monkeypatch.setattr(module, "_OPEN", limit)
    result = analyzed(name)
    cfg, lines = result.cfg, arcs(result.cfg, Level.WARP)
    bare = Decorations(letters=tuple(map(str, result.strings)), costs=result.problem.costs, counts=result.wcet.counts)
    made = module.outline(cfg, forest(cfg), facts(cfg, bare), lines)
    members = [at for group in made.groups for at in group.members]
    assert made.groups or limit
    assert len(members) == len(set(members))
    standing = {at: group.name for group in made.groups for at in group.members}
    text = draw(result, "dot").data.decode()
    assert nodes(text) == {standing.get(at, node.id) for at, node in enumerate(cfg.nodes)}
    drawn = set(re.findall(r"^\t+(\w+) -> (\w+) \[", text, re.MULTILINE))
    for line in lines:
        tail = standing.get(line.src, cfg.nodes[line.src].id)
        head = None if line.dst is None else standing.get(line.dst, cfg.nodes[line.dst].id)
        if head is not None and head != tail:
            assert (tail, head) in drawn or (head, tail) in drawn


@pytest.mark.slow
def test_a_large_graph_is_an_outline_with_its_most_expensive_loops_open():
    result = analyzed("large_5000")
    text = draw(result, "dot").data.decode()
    assert len(result.cfg.nodes) > module.MOST
    assert len(nodes(text)) < len(result.cfg.nodes)
    assert "blocks are drawn: loops, calls and equal cases stand for their blocks" in text
    assert nodes(draw(result, "dot", DrawingContent(focus="all")).data.decode()) == {node.id for node in result.cfg.nodes}


def test_equal_cases_of_a_switch_are_one_block(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST", 1)
    starts = [0x08, 0x10, 0x20, 0x30, 0x40, 0x50]
    cases = [block(start, "MOV R1, 0x1", "BRA 0x50") for start in starts[1:5]]
    made = (block(0x08, "BRX R2", divergent=True), *cases, block(0x50, "EXIT"))
    edges = [edge for at in (1, 2, 3, 4) for edge in (Edge(0, at, EdgeKind.TAKEN), Edge(at, 5, EdgeKind.TAKEN))]
    # Of a divergent switch, one case resumes another.
    edges += [Edge(1, 2, EdgeKind.REACTIVATE), Edge(5, None, EdgeKind.EXIT)]
    steps = tuple(ThreadEdge(edge.src, edge.dst) for edge in edges if edge.kind is EdgeKind.TAKEN)
    text = dot_text(WarpCfg(function(*made), made, tuple(edges), 0, steps), Decorations(letters=("C", "C2", "C2", "C2", "CL", "C")))
    assert nodes(text) == {"n0008", "gn0010", "n0040", "n0050"}
    assert "3 equal blocks from 0x0010" in text
    drawn = re.findall(r"^\t+(\w+ -> \w+) \[", text, re.MULTILINE)
    assert drawn == ["entry -> n0008", "n0008 -> gn0010", "n0008 -> n0040", "gn0010 -> n0050", "n0040 -> n0050", "n0050 -> exit"]


def test_a_focus_draws_the_worst_path_a_loop_or_the_neighbours_of_an_address():
    result = analyzed("bfs_step", 10)
    cfg = result.cfg
    counts = Decorations(counts=result.wcet.counts).node_counts(cfg)
    worst = {node.id for node, count in zip(cfg.nodes, counts, strict=True) if count}
    assert nodes(draw(result, "dot", DrawingContent(focus="worst")).data.decode()) == worst
    (loop,) = cfg.loops
    assert nodes(draw(result, "dot", DrawingContent(focus="loop")).data.decode()) == {cfg.nodes[at].id for at in {*loop.nodes, loop.head}}
    near = nodes(draw(result, "dot", DrawingContent(focus="0x0070")).data.decode())
    assert {"n0008", "n0068"} <= near < {node.id for node in cfg.nodes}


@pytest.mark.parametrize(("name", "focus"), [("saxpy", "loop"), ("bfs_step", "worst"), ("saxpy", "0x9999"), ("saxpy", "hot")])
def test_nothing_in_focus_is_an_error(name: str, focus: str):
    with pytest.raises(UsageError) as raised:
        draw(analyzed(name, None), "dot", DrawingContent(focus=focus))
    assert raised.value.code == "focus"
