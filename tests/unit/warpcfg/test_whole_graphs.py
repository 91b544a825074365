"""What holds of whole graphs: over samples, and whatever the options."""

from importlib import import_module

import pytest

from budget import some
from listing import assemble
from samples import names, program
from sassan.domains.agreement import Agreement
from sassan.domains.groups import ACTIVE
from sassan.domains.warp import ABLATIONS, WarpDomain
from sassan.errors import SelfCheckError
from sassan.ir import Function
from sassan.isa import tables
from sassan.isa.facts import Facts, Flow
from sassan.warpcfg import Options, explore
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.transfer import Transfer

EXPLORATION = import_module("sassan.warpcfg.explore")  # the package gives that name to the function
FACTS = tables.load("sm_61").facts
LARGE = frozenset({"large_5000"})
SAMPLES = [name for name in names("sm_61") if name not in LARGE]
IF_ELSE = "S2R R0, SR_TID.X\n ISETP.NE.AND P0, PT, R0, RZ, PT\n SSY end\n @P0 BRA else\n SYNC\n else:\n SYNC\n end:\n EXIT"

NOTHING = Agreement({ACTIVE: 0})

Place = tuple[tuple[int, ...], int]


def functions(name: str) -> tuple[Function, ...]:
    return program("sm_61", name).functions


def place(graph: WarpCfg, index: int | None) -> Place | None:
    return None if index is None else (graph.nodes[index].context, graph.nodes[index].start)


def warp_edges(graph: WarpCfg) -> set[tuple[object, ...]]:
    return {(place(graph, one.src), place(graph, one.dst), one.kind, one.pushed, one.popped) for one in graph.edges}


def thread_edges(graph: WarpCfg) -> set[tuple[Place | None, Place | None]]:
    return {(place(graph, one.src), place(graph, one.dst)) for one in graph.thread_edges}


def without_contexts(graph: WarpCfg) -> set[tuple[object, ...]]:
    return {
        (
            graph.nodes[one.src].start,
            None if one.dst is None else graph.nodes[one.dst].start,
            one.kind,
            one.pushed and (one.pushed.address, one.pushed.tag),
            one.popped and (one.popped.address, one.popped.tag),
        )
        for one in graph.edges
    }


@pytest.mark.parametrize("ablated", sorted(ABLATIONS))
@pytest.mark.parametrize("name", some(SAMPLES, of=4))
def test_an_ablation_loses_no_edge(name: str, ablated: str):
    for function in functions(name):
        full, less = explore(function, FACTS), explore(function, FACTS, Options(ablate=frozenset({ablated})))
        assert warp_edges(full) <= warp_edges(less)
        assert thread_edges(full) <= thread_edges(less)


@pytest.mark.parametrize("name", some(SAMPLES, of=4))
def test_either_order_adds_warp_edges_and_no_thread_edge(name: str):
    for function in functions(name):
        first, either = explore(function, FACTS), explore(function, FACTS, Options(order="either"))
        assert warp_edges(first) <= warp_edges(either)
        assert thread_edges(first) == thread_edges(either)
        assert first.token_targets == either.token_targets


@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("name", ["calls_nested", "call_early_exit", "int64_divide", "debug_build"])
def test_merged_call_strings_lose_no_edge(name: str, depth: int):
    for function in functions(name):
        deep, merged = explore(function, FACTS), explore(function, FACTS, Options(call_depth=depth))
        assert without_contexts(deep) <= without_contexts(merged)


@pytest.mark.parametrize("name", ["calls_nested", "switch_brx", "goto_two_heads"])
def test_two_runs_give_one_graph(name: str):
    for function in functions(name):
        assert explore(function, FACTS) == explore(function, FACTS)


def test_a_graph_does_not_depend_on_the_functions_around():
    forward = [explore(one, FACTS) for one in functions("calls_nested") + functions("saxpy")]
    backward = [explore(one, FACTS) for one in functions("saxpy") + functions("calls_nested")]
    assert sorted(forward, key=lambda graph: graph.function.name) == sorted(backward, key=lambda graph: graph.function.name)


@pytest.mark.parametrize("name", some(SAMPLES, of=3))
def test_nodes_and_edges_are_in_their_documented_order(name: str):
    for function in functions(name):
        graph = explore(function, FACTS)
        assert [(one.context, one.start) for one in graph.nodes] == sorted((one.context, one.start) for one in graph.nodes)
        order = [(one.src, -1 if one.dst is None else one.dst, one.kind.value) for one in graph.edges]
        assert order == sorted(order)


def test_an_answer_that_is_no_fixpoint_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(WarpDomain, "join", lambda _, old, new: old if new else new)
    with pytest.raises(SelfCheckError) as caught:
        assemble(IF_ELSE).graph()
    assert (caught.value.code, caught.value.message) == ("not-a-fixpoint", "block 0x0008: point 2 on top")


def test_a_transfer_that_changes_its_mind_is_refused(monkeypatch: pytest.MonkeyPatch):
    visit = EXPLORATION._Exploration._read_off

    def forgetful(self: object) -> WarpCfg:
        monkeypatch.setattr(Transfer, "before_last", lambda _self, _context, _block, warp: warp._replace(agreed=(0,)))
        return visit(self)

    monkeypatch.setattr(EXPLORATION._Exploration, "_read_off", forgetful)
    with pytest.raises(SelfCheckError) as caught:
        assemble("MOV R0, RZ\n BRA next\n next:\n EXIT").graph()
    assert (caught.value.code, caught.value.message) == ("not-a-fixpoint", "block 0x0008: group 0 on register bit 0")


def test_the_assumptions_name_the_order_and_what_was_ablated():
    graph = assemble(IF_ELSE).graph(order="either", ablate=frozenset({"no-groups"}))
    assert graph.assumptions == (
        "either side of a divergence may run first",
        "one load from one address gives all lanes one value",
        "the source lanes of SHFL are active",
        "ablated for an experiment: no-groups",
    )


def test_facts_that_agree_on_nothing_make_every_condition_divergent():
    def never(one: object) -> Facts | None:
        facts = FACTS(one)  # type: ignore[arg-type]
        return facts and facts._replace(effects=tuple(effect._replace(needs=None) for effect in facts.effects))

    for function in functions("reduce_shuffle"):
        graph = explore(function, never)
        taken = [node for node in graph.nodes if (found := FACTS(node.instructions[-1])) and found.flow is Flow.BRANCH and found.condition]
        assert all(node.divergent for node in taken)
