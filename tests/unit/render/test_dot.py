import re
from dataclasses import replace

import pytest

from sassan.render.graph import dot as dot_module
from sassan.render.graph.decorations import Decorations
from sassan.render.graph.dot import dot_text
from sassan.render.graph.levels import Level
from sassan.warpcfg.graph import WarpCfg


def edges(dot: str) -> list[str]:
    return re.findall(r"^\t+(\w+ -> \w+) \[", dot, re.MULTILINE)


def statement(dot: str, start: str) -> str:
    return next(line for line in dot.splitlines() if line.strip().startswith(f"{start} ["))


def test_every_edge_is_drawn_once_per_kind(diamond: WarpCfg):
    assert edges(dot_text(diamond)) == [
        "entry -> n0008",
        "n0008 -> n0018",
        "n0008 -> n0020",
        "n0008 -> n0020",
        "n0018 -> n0028",
        "n0020 -> n0018",
        "n0020 -> n0028",
        "n0028 -> exit",
    ]


def test_a_divergence_is_dashed_and_starts_at_a_diamond(diamond: WarpCfg):
    line = next(line for line in dot_text(diamond).splitlines() if "diverge 0x0010 to 0x0020" in line)
    assert "style=dashed" in line
    assert "arrowtail=odiamond" in line
    assert 'color="#a34700"' in line


def test_a_reactivation_is_dashed_and_names_what_it_resumes(diamond: WarpCfg):
    line = statement(dot_text(diamond), "n0020 -> n0018")
    assert "style=dashed" in line
    assert "resumes side@0018" in line


def test_a_reconvergence_is_dotted(diamond: WarpCfg):
    assert "style=dotted" in statement(dot_text(diamond), "n0018 -> n0028")


def test_a_divergent_branch_has_a_double_border_and_a_label(diamond: WarpCfg):
    line = statement(dot_text(diamond), "n0008")
    assert "peripheries=2" in line
    assert "divergent branch" in line


def test_the_thread_graph_has_neither_divergence_nor_reactivation(diamond: WarpCfg):
    assert edges(dot_text(diamond, level=Level.THREAD)) == [
        "entry -> n0008",
        "n0008 -> n0018",
        "n0008 -> n0020",
        "n0018 -> n0028",
        "n0020 -> n0028",
        "n0028 -> exit",
    ]


def test_the_legend_names_only_kinds_that_occur(nested: WarpCfg):
    dot = dot_text(nested)
    assert "fall-through" in dot
    assert "branch, taken by all active threads" in dot
    assert "diverge:" not in dot
    assert "reconverge:" not in dot
    assert "worst path" not in dot
    assert "called code" not in dot


def test_the_title_holds_function_architecture_and_wcet(diamond: WarpCfg):
    dot = dot_text(diamond, Decorations(wcet="42 cycles (unit model)"))
    assert "<B>kernel</B>   sm_61   WCET 42 cycles (unit model)" in dot
    assert "warp-level graph, 4 blocks, 7 edges, 1 divergent branch" in dot


def test_a_block_shows_range_letters_and_cost_times_executions(diamond: WarpCfg):
    shown = Decorations(letters=("C2", "C", "C", "L3C"), costs=(2, 1, 1, 9), counts=(0, 1, 0, 1, 1, 0, 1))
    dot = dot_text(diamond, shown)
    line = statement(dot, "n0008")
    assert "0x0008 &#8211; 0x0010" in line
    assert ">C2</FONT>" in line
    assert "cost 2 &#215; 1" in line
    assert "cost 1<" not in statement(dot, "n0018")
    assert "cost 9 &#215; 1" in statement(dot, "n0028")


def test_only_the_worst_path_is_bold(diamond: WarpCfg):
    dot = dot_text(diamond, Decorations(counts=(1, 0, 0, 1, 0, 0, 1)))
    assert "penwidth=2.6" in statement(dot, "n0008 -> n0018")
    assert "penwidth=1.1" in statement(dot, "n0020 -> n0028")
    assert 'fillcolor="#fff3c4"' in statement(dot, "n0018")
    assert 'fillcolor="#ffffff"' in statement(dot, "n0020")


def test_a_block_is_the_darker_the_more_it_costs_on_the_worst_path(nested: WarpCfg):
    costs = tuple(range(2, 2 + len(nested.nodes)))
    counts = (1, 10, 90, 10, 9, 1, 1)
    dot = dot_text(nested, Decorations(costs=costs, counts=counts))
    totals, tones = {}, {}
    for node in nested.nodes:
        line = statement(dot, node.id)
        cost = re.search(r"cost (\d+) &#215; (\d+)<", line)
        assert cost is not None
        totals[node.id] = int(cost[1]) * int(cost[2])
        tone = re.search(r'fillcolor="#(\w{6})"', line)
        assert tone is not None
        tones[node.id] = sum(bytes.fromhex(tone[1]))
    order = sorted(totals, key=totals.__getitem__)
    assert [tones[name] for name in order] == sorted(tones.values(), reverse=True)
    assert len(set(tones.values())) > 1


def test_an_edge_that_the_worst_path_repeats_shows_how_often(nested: WarpCfg):
    dot = dot_text(nested, Decorations(counts=(1, 10, 90, 10, 9, 1, 1)))
    assert 'label=" \u00d790 "' in statement(dot, "n0018 -> n0018")
    assert 'label=" \u00d79 "' in statement(dot, "n0010 -> n0020")


def test_a_back_edge_is_laid_out_from_its_head_and_drawn_towards_it(nested: WarpCfg):
    line = statement(dot_text(nested), "n0010 -> n0020")
    assert "taken 0x0020 to 0x0010" in line
    assert "dir=back" in line
    assert "arrowtail=normal" in line


def test_loops_are_nested_boxes_with_their_bounds(nested: WarpCfg):
    dot = dot_text(nested, Decorations(bounds={0x10: 10, 0x18: 4}))
    outer = (
        dot.index('subgraph "cluster_loop_0000_n0010"')
        if 'subgraph "cluster_loop_0000_n0010"' in dot
        else dot.index("cluster_loop_0000_n0010")
    )
    inner = dot.index("cluster_loop_0001_n0018")
    assert outer < inner < dot.index("}", inner)
    assert "loop ≤ 10 \u00d7 32" in dot
    assert "loop ≤ 4<" not in dot
    assert "label=<loop ≤ 4>" in dot
    assert "no bound" not in dot


def test_a_loop_without_a_bound_is_a_labelled_red_dashed_box(nested: WarpCfg):
    dot = dot_text(nested, Decorations(bounds={0x10: 10}))
    line = next(line for line in dot.splitlines() if "loop: no bound" in line)
    assert 'color="#b00020"' in line
    assert 'style="filled,rounded,dashed"' in line
    assert "loop without a bound: the WCET needs a flow fact" in dot


def test_called_code_is_a_box_inside_the_loop_that_calls_it(called: WarpCfg):
    dot = dot_text(called)
    assert dot.index("cluster_loop_0000_n0008") < dot.index("cluster_call_c0008") < dot.index("\t\t\tn0020_c0008 [")
    assert "called from 0x0008" in dot


def test_a_gap_is_red_in_its_block(gapped: WarpCfg):
    line = statement(dot_text(gapped), "n0018")
    assert "gap: unknown-opcode" in line
    assert 'color="#b00020"' in line
    assert "#b00020" not in statement(dot_text(gapped), "n0020")


def test_a_gap_outside_every_block_is_named_under_the_title(gapped: WarpCfg):
    assert "gap[unresolved-call] at 0x0400: no target" in dot_text(gapped)
    assert "2 gaps: no bound" in dot_text(gapped)


def test_a_listing_writes_every_instruction_into_its_block(diamond: WarpCfg):
    assert "0010  BRA 0x20" in statement(dot_text(diamond, listing=True), "n0008").partition("tooltip")[0]
    assert "BRA 0x20" not in statement(dot_text(diamond), "n0008").partition("tooltip")[0]


def test_the_tooltip_of_a_block_lists_its_instructions(diamond: WarpCfg):
    assert 'tooltip="0008  SSY 0x28&#10;0010  BRA 0x20"' in statement(dot_text(diamond), "n0008")


def test_a_large_graph_gets_small_blocks(ladder: WarpCfg):
    line = statement(dot_text(ladder), "n0008")
    assert "<B>0008</B>" in line
    assert "instr." not in line


def test_same_input_same_bytes(ladder: WarpCfg):
    assert dot_text(ladder) == dot_text(replace(ladder))


def test_many_exits_each_get_their_own_end(ladder: WarpCfg):
    ends = tuple(replace(edge, dst=None, kind=ladder.edges[-1].kind) for edge in ladder.edges[:7])
    dot = dot_text(replace(ladder, edges=(*ladder.edges, *ends)))
    assert "exit_n0008 [" in dot
    assert "\texit [" not in dot


def test_in_a_large_graph_the_blocks_on_every_path_are_aligned(diamond: WarpCfg, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dot_module, "_COMPACT_FROM", 1)
    assert [line.strip() for line in dot_text(diamond).splitlines() if "invis" in line] == ["n0008 -> n0028 [style=invis weight=30]"]


def test_a_small_graph_has_no_unseen_edge(diamond: WarpCfg):
    assert "invis" not in dot_text(diamond)
