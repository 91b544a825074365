"""Targets of branches and calls by register that a user gives, against the same code where the input names them."""

import pytest

from samples import SAMPLES
from sassan.app.analysis import analyze, flow_fact_template, warp_graph
from sassan.app.settings import Settings
from sassan.errors import InputError
from sassan.frontend import load, read
from sassan.ipet.facts.model import FlowFacts
from sassan.ipet.facts.read import read as read_facts
from sassan.ir import Function

BRX = {"sm_61": {0x170, 0x3D0, 0x4F0, 0x668}, "sm_80": {0x1B0, 0x3A0, 0x540, 0x6A0}}


def function(arch: str, name: str, tool: str) -> Function:
    return read(load(str(SAMPLES / arch / f"{name}.{tool}.sass"))).functions[0]


def facts(code: Function, *branches: tuple[int, tuple[int, ...]]) -> FlowFacts:
    tables = ""
    for at, targets in branches:
        listed = ", ".join(f'"0x{target:x}"' for target in targets)
        tables += f'[[function.{code.name}.branch]]\nat = "0x{at:x}"\ntargets = [{listed}]\n'
    return read_facts("f", f'[function.{code.name}]\ntext = "{code.text_hash}"\n{tables}')


@pytest.mark.parametrize("arch", BRX)
def test_given_targets_of_jump_tables_make_the_graph_of_a_listing_that_has_them(arch: str):
    bare, complete = (function(arch, "switch_brx", tool) for tool in ("cuobjdump", "nvdisasm"))
    assert {gap.code for gap in warp_graph(bare, Settings()).gaps} == {"indirect-branch"}
    tables = [(one.address, one.targets) for one in complete.instructions if one.address in BRX[arch]]
    graph, expected = warp_graph(bare, Settings(facts=facts(bare, *tables))), warp_graph(complete, Settings())
    assert graph.gaps == ()
    assert (graph.edges, graph.thread_edges) == (expected.edges, expected.thread_edges)


@pytest.mark.parametrize("arch", ["sm_61", "sm_80"])
def test_given_callees_replace_the_assumption_that_any_function_may_be_called(arch: str):
    code = function(arch, "function_pointer", "nvdisasm")
    assert code.callees is not None
    site = next(
        node.end for node in warp_graph(code, Settings()).nodes if node.instructions[-1].opcode.startswith(("BRX", "CALL.REL.NOINC"))
    )
    every, first = (analyze(code, Settings(facts=facts(code, (site, callees)))) for callees in (code.callees, code.callees[:1]))
    plain = analyze(code, Settings())
    assert every.wcet.value == plain.wcet.value
    assert first.wcet.value is not None
    assert plain.wcet.value is not None
    assert first.wcet.value < plain.wcet.value
    through = [text for text in plain.wcet.assumptions if "pointer" in text]
    assert len(through) == 1
    assert through[0] not in first.wcet.assumptions
    assert f"flow fact: the branch or call at 0x{site:04x} leads to 0x{code.callees[0]:04x} and nowhere else" in first.wcet.assumptions


def test_the_template_asks_for_targets():
    code = function("sm_80", "switch_brx", "cuobjdump")
    written = flow_fact_template((code,), Settings())
    assert '# [[function."switch_brx".branch]]\n# at = "0x01b0"\n# targets = []' in written
    assert read_facts("f", written).functions[0][0] == "switch_brx"


@pytest.mark.parametrize(
    ("tool", "at", "target", "why"),
    [
        ("cuobjdump", 0x1A0, 0x0, "no branch or call by register stands at 0x01a0"),
        ("cuobjdump", 0x1B4, 0x0, "no branch or call by register stands at 0x01b4"),
        ("cuobjdump", 0x1B0, 0x8, "BRX at 0x01b0 cannot lead to 0x0008: no instruction starts there"),
        ("nvdisasm", 0x1B0, 0x0, "the input names the targets of BRX at 0x01b0: 0x01f0, 0x0280, 0x01c0, 0x0490"),
    ],
)
def test_targets_that_cannot_be_are_refused(tool: str, at: int, target: int, why: str):
    code = function("sm_80", "switch_brx", tool)
    with pytest.raises(InputError) as caught:
        analyze(code, Settings(facts=facts(code, (at, (target,)))))
    assert caught.value.code == "facts-branch"
    assert why in caught.value.message


def test_targets_for_another_text_are_refused():
    code, other = function("sm_80", "switch_brx", "cuobjdump"), function("sm_61", "switch_brx", "cuobjdump")
    with pytest.raises(InputError) as caught:
        warp_graph(code, Settings(facts=facts(other, (0x1B0, (0x1F0,)))))
    assert caught.value.code == "facts-text-mismatch"
