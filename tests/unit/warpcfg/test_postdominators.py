"""Reconvergence of PTX: where threads of a split warp wait for each other, and that virtual instructions cost nothing."""

import pytest

from budget import some
from ptx import HEAD, NAMES, SAMPLES, functions, graph, kernel, only, source
from sassan.errors import Gap
from sassan.frontend.ptx.read import read_ptx
from sassan.isa.ptx import load
from sassan.timing import UnitCostModel
from sassan.warpcfg import Options, explore
from sassan.warpcfg.graph import EdgeKind, WarpCfg
from sassan.warpcfg.postdominators import post_dominators, regions
from sassan.warpcfg.virtual_tokens import RECONVERGENCE, with_joins

IF_ELSE = (
    "mov.u32 %r1, %tid.x;",
    "setp.lt.u32 %p1, %r1, 4;",
    "@%p1 bra THEN;",
    "mov.u32 %r2, 1;",
    "bra END;",
    "THEN: mov.u32 %r2, 2;",
    "END: mov.u32 %r3, 3;",
    "ret;",
)
LOOP = ("mov.u32 %r1, %tid.x;", "HEAD: add.s32 %r1, %r1, 1;", "setp.lt.s32 %p1, %r1, 99;", "@%p1 bra HEAD;", "mov.u32 %r2, 1;", "ret;")


def text_of(cfg: WarpCfg, node: int) -> str:
    return cfg.nodes[node].instructions[0].text


def kinds(cfg: WarpCfg) -> set[tuple[str, str, str]]:
    """Return the edges by the first instructions of their blocks."""
    return {(text_of(cfg, one.src), "end" if one.dst is None else text_of(cfg, one.dst), one.kind.value) for one in cfg.edges}


def tree(*successors: list[int]):
    return post_dominators(range(len(successors)), successors)


@pytest.mark.parametrize(
    ("successors", "above"),
    [
        ([[1, 2], [3], [3], []], {0: 3, 1: 3, 2: 3, 3: None}),
        ([[1], [1, 2], []], {0: 1, 1: 2, 2: None}),
        ([[1, 4], [2, 3], [4], [4], []], {0: 4, 1: 4, 2: 4, 3: 4, 4: None}),
        ([[1, 2], [], [3, 4], [4], []], {0: 2, 1: None, 2: 4, 3: 4, 4: None}),
        ([[1], [2, 1], [1]], {0: 1, 1: 2, 2: None}),
        ([[1, 2], [2, 1], [1, 2]], {0: 2, 1: 2, 2: None}),
    ],
)
def test_the_immediate_post_dominator_is_where_all_paths_meet(successors, above):
    assert tree(*successors).above == above


def test_post_dominators_of_a_random_graph_are_those_of_their_definition():
    successors = [[1, 5], [2, 3], [4], [4, 2], [1, 6], [6, 7], [8], [8], []]
    found = tree(*successors)
    for block in range(9):
        for other in range(9):
            if block != other:
                reach = {block}
                work = [block]
                while work:
                    new = [one for one in successors[work.pop()] if one not in reach and one != other]
                    reach.update(new)
                    work += new
                assert (other in found.chain(block)) == (8 not in reach), (block, other)
                assert found.leads(block, other) == (other in found.chain(block))


def test_a_region_is_what_the_branches_reach_before_the_join():
    successors = [[1], [2, 3], [4], [4], [5, 6], [6], []]
    found = regions(tree(*successors), [1, 4], successors)
    assert found == {4: {1, 2, 3}, 6: {4, 5}}


def test_the_region_of_a_loop_is_the_loop():
    successors = [[1], [2, 3], [1], []]
    assert regions(tree(*successors), [1], successors) == {3: {1, 2}}


def test_an_inner_region_lies_in_the_outer_one():
    successors = [[1, 6], [2, 3], [4], [4], [5], [6], []]
    found = regions(tree(*successors), [0, 1], successors)
    assert found == {4: {1, 2, 3}, 6: {0, 1, 2, 3, 4, 5}}


def test_both_sides_of_a_branch_meet_at_its_join():
    cfg = graph(*IF_ELSE)
    assert cfg.gaps == ()
    assert cfg.token_targets == ((44, (48,)),)
    assert ("_join join_0030", "END", "reconverge") not in kinds(cfg)
    assert ("_join join_0030", "mov.u32 %r3, 3", "reconverge") in kinds(cfg)
    assert ("_join join_0030", "mov.u32 %r2, 1", "reactivate") in kinds(cfg)


def test_after_the_join_threads_agree_again_on_what_all_of_them_agreed_on():
    function, isa = only("mov.u32 %r5, %ctaid.x;", *IF_ELSE)
    cfg = explore(function, isa.facts)
    end = next(one for one in cfg.nodes if one.instructions[0].text == "mov.u32 %r3, 3")
    agreed = {operand.number: operand.name for one in function.instructions for operand in one.operands if hasattr(operand, "number")}
    assert [name for number, name in sorted(agreed.items()) if end.agreement >> number & 1] == ["%r5"]


def test_a_branch_that_cannot_split_the_warp_needs_no_join():
    cfg = graph("mov.u32 %r1, %ctaid.x;", *IF_ELSE[1:])
    assert not [one for one in cfg.edges if one.kind in {EdgeKind.DIVERGE, EdgeKind.REACTIVATE}]


def test_a_loop_pushes_its_token_once():
    cfg = graph(*LOOP)
    assert cfg.gaps == ()
    assert [len(one.pushes) for one in cfg.nodes if one.instructions[0].text == "add.s32 %r1, %r1, 1"] == [0]
    assert sorted(str(one) for one in max(cfg.stack_points, key=len)) == ["join_0020@0020", "side@0008_by_0018", "side@001c"]


def test_a_loop_that_threads_leave_one_by_one_is_still_bounded():
    cfg = graph(*LOOP)
    (loop,) = cfg.loops
    assert loop.single_witness


def test_virtual_instructions_cost_nothing():
    cfg = graph(*IF_ELSE)
    prices = UnitCostModel().block_costs(cfg).costs
    assert sum(prices) == len(IF_ELSE)
    assert [cost for node, cost in zip(cfg.nodes, prices, strict=True) if node.instructions[0].virtual] == [0]


def test_the_function_of_the_graph_is_the_one_that_was_given():
    function, isa = only(*IF_ELSE)
    assert explore(function, isa.facts).function == function


def test_the_assumption_is_printed():
    assert RECONVERGENCE == "reconvergence at the immediate post-dominator; the machine code may differ"
    assert RECONVERGENCE in graph("ret;").assumptions


def test_paths_that_end_early_wait_for_nobody():
    cfg = graph(
        "mov.u32 %r1, %tid.x;", "setp.lt.u32 %p1, %r1, 4;", "@%p1 bra EARLY;", "bra ON;", "EARLY: exit;", "ON: mov.u32 %r2, 1;", "ret;"
    )
    assert (cfg.gaps, cfg.token_targets) == ((), ())


def test_a_guarded_return_splits_nobody_for_long():
    cfg = graph("mov.u32 %r1, %tid.x;", "setp.lt.u32 %p1, %r1, 4;", "@%p1 ret;", "mov.u32 %r2, 1;", "ret;")
    assert (cfg.gaps, cfg.token_targets) == ((), ())
    assert not [one for one in cfg.edges if one.kind is EdgeKind.REACTIVATE]


def test_a_loop_without_an_end_is_explored():
    cfg = graph("mov.u32 %r1, %tid.x;", "L: setp.lt.u32 %p1, %r1, 4;", "@%p1 bra M;", "add.u32 %r1, %r1, 1;", "M: bra L;")
    assert [gap for gap in cfg.gaps if gap.code != "unbounded-loop"] == []


def test_an_indirect_branch_meets_behind_its_cases():
    lines = (
        "mov.u32 %r1, %tid.x;",
        "ts: .branchtargets A, B, END;",
        "brx.idx %r1, ts;",
        "A: mov.u32 %r2, 1;",
        "bra END;",
        "B: mov.u32 %r2, 2;",
        "END: mov.u32 %r3, 3;",
        "ret;",
    )
    cfg = graph(*lines)
    assert cfg.gaps == ()
    assert len(cfg.token_targets) == 1


DEVICE = ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [a];\nst.param.b32 [r], %r1;\nret;\n}\n"


def called(argument: str) -> WarpCfg:
    body = (argument, "{", ".param .b32 in, out;", "st.param.b32 [in], %r1;", "call.uni (out), f, (in);", "ld.param.b32 %r2, [out];", "}")
    _, function = functions(kernel(*body, "setp.lt.s32 %p1, %r2, 4;", "@%p1 bra L;", "mov.u32 %r3, 1;", "L: ret;", head=HEAD + DEVICE))
    return explore(function, load(function).facts)


def test_what_a_call_returns_agrees_if_what_it_was_given_does():
    assert [node.end for node in called("mov.u32 %r1, %ctaid.x;").nodes if node.divergent] == []
    assert [node.end for node in called("mov.u32 %r1, %tid.x;").nodes if node.divergent] == [40]


def test_a_call_before_a_join_returns_to_the_join():
    head = HEAD + ".func g()\n{\nret;\n}\n"
    lines = ("mov.u32 %r1, %tid.x;", "setp.lt.u32 %p1, %r1, 4;", "@%p1 bra END;", "call.uni g;", "END: ret;")
    _, function = functions(kernel(*lines, head=head))
    cfg = explore(function, load(function).facts)
    assert cfg.gaps == ()
    assert ("ret", "_join join_0020", "return") in kinds(cfg)


@pytest.mark.parametrize("jump", [(), ("@%p2 bra CALL;",)])
def test_threads_pass_a_guarded_call_that_they_do_not_take(jump: tuple[str, ...]):
    head = HEAD + ".func g()\n{\nret;\n}\n"
    lines = (
        "mov.u32 %r1, %tid.x;",
        "setp.lt.u32 %p1, %r1, 4;",
        *jump,
        "mov.u32 %r3, 1;",
        "CALL: @%p1 call.uni g;",
        "mov.u32 %r2, 1;",
        "ret;",
    )
    _, function = functions(kernel(*lines, head=head))
    cfg = explore(function, load(function).facts)
    assert cfg.gaps == ()
    assert {kind for _, to, kind in kinds(cfg) if to == "@%p1 call.uni g"} >= {"fallthrough", "diverge"}
    assert sum(UnitCostModel().block_costs(cfg).costs) == len(lines) + 1


def test_recursion_is_a_gap():
    text = HEAD + ".func f(.reg .b32 a);\n.func f(.reg .b32 a)\n{\ncall f, (a);\nret;\n}\n"
    (function,) = functions(text)
    assert [gap.code for gap in explore(function, load(function).facts).gaps] == ["recursion"]


def test_a_call_of_code_outside_of_the_input_is_an_external_function():
    cfg = graph("call.uni g;", "ret;", head=HEAD + ".extern .func g();\n")
    assert (cfg.gaps, [one.name for one in cfg.externals]) == ((), ["g"])


def test_an_unknown_opcode_is_a_gap_with_its_place():
    assert graph("frob.u32 %r1, %r2;", "ret;").gaps == (Gap(0, "unknown-opcode", "no entry for 'frob.u32' in the sm_61 table"),)


@pytest.mark.parametrize("name", [name for name in some(NAMES, of=20) if "large_5000" not in name or name.startswith("sm_61")])
def test_the_graph_of_a_sample_has_no_gap_but_recursion(name: str):
    for function in read_ptx(source(name)):
        cfg = explore(function, load(function).facts)
        assert {gap.code for gap in cfg.gaps} <= ({"recursion"} if "recursion" in name else set())


@pytest.mark.parametrize("order", ["taken-first", "either"])
def test_every_order_of_sides_reconverges(order: str):
    for function in read_ptx(source("sm_61/nested_divergent_loops.ptx")):
        cfg = explore(function, load(function).facts, Options(order=order))
        assert cfg.gaps == ()


def test_every_way_goes_on_at_an_instruction():
    for path in sorted(SAMPLES.glob("sm_61/*.ptx")):
        for function in read_ptx(source(str(path.relative_to(SAMPLES)))):
            joined = with_joins(function, load(function).facts)
            known = {one.address for one in joined.instructions}
            assert len(known) == len(joined.instructions)
            behind = {one.following for one in joined.instructions if one.opcode != "_goto"}
            assert behind - known <= {one.following for one in function.instructions}
