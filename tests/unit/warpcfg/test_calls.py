"""Calls, call strings and returns."""

import pytest

from listing import agreed, assemble, edges, gaps, steps
from sassan.errors import UsageError
from sassan.warpcfg import Options
from sassan.warpcfg.graph import External

TWO_SITES = """
    CAL f
second:
    CAL f
last:
    EXIT
f():
    RET
"""
DIVISION = """
    S2R R0, SR_TID.X
    ISETP.NE.AND P0, PT, R0, RZ, PT
    SSY end
    @P0 BRA slow
fast:
    SYNC
slow:
    CAL f
back:
    SYNC
end:
    EXIT
f():
    SSY join
    ISETP.GT.AND P1, PT, R0, 0x7, PT
    @P1 BRA two
one:
    SYNC
two:
    SYNC
join:
    RET
"""
CHAIN = """
    CAL f
back:
    CAL g
last:
    EXIT
f():
    CAL g
inner:
    RET
g():
    RET
"""


def test_two_call_sites_give_two_contexts():
    assert edges(assemble(TWO_SITES)) == [
        "f@0008 return second",
        "f@0010 return last",
        "kernel call f@0008",
        "last exit end",
        "second call f@0010",
    ]


def test_without_call_strings_a_callee_returns_to_the_site_that_its_stack_holds():
    code = assemble(TWO_SITES)
    assert edges(code, code.graph(call_depth=0)) == [
        "f return last",
        "f return second",
        "kernel call f",
        "last exit end",
        "second call f",
    ]


def test_a_call_is_a_step_of_the_thread_and_so_is_the_return():
    assert steps(assemble(TWO_SITES)) == ["f@0008 -> second", "f@0010 -> last", "kernel -> f@0008", "second -> f@0010"]


def test_a_callee_that_diverges_and_reconverges_returns_once():
    assert edges(assemble(DIVISION)) == [
        "back reactivate fast",
        "back reconverge end",
        "end exit end",
        "f@0038 diverge two@0038",
        "f@0038 fallthrough one@0038",
        "f@0038 taken two@0038",
        "fast reconverge end",
        "join@0038 return back",
        "kernel diverge slow",
        "kernel fallthrough fast",
        "kernel taken slow",
        "one@0038 reconverge join@0038",
        "slow call f@0038",
        "two@0038 reactivate one@0038",
        "two@0038 reconverge join@0038",
    ]


def test_a_callee_keeps_its_own_tokens_apart_from_those_of_its_caller():
    code = assemble(DIVISION)
    targets = {address: [code.name(one) for one in found] for address, found in code.graph().token_targets}
    assert targets == {0x30: ["end"], 0x48: ["end"], 0x78: ["join"], 0x88: ["join"]}


def test_call_strings_are_as_deep_as_the_calls():
    graph = assemble(CHAIN).graph()
    assert [node.context for node in graph.nodes] == [(), (), (), (0x08,), (0x08,), (0x08, 0x28), (0x10,)]


@pytest.mark.parametrize(
    ("depth", "contexts"),
    [(0, [()]), (1, [(), (0x08,), (0x10,), (0x28,)]), (2, [(), (0x08,), (0x08, 0x28), (0x10,)])],
)
def test_a_call_depth_keeps_the_innermost_sites(depth: int, contexts: list[tuple[int, ...]]):
    graph = assemble(CHAIN).graph(call_depth=depth)
    assert sorted({node.context for node in graph.nodes}) == contexts


def test_at_depth_one_a_return_finds_its_caller():
    code = assemble(CHAIN)
    assert edges(code, code.graph(call_depth=1)) == [
        "back call g@0010",
        "f@0008 call g@0028",
        "g@0010 return last",
        "g@0028 return inner@0008",
        "inner@0008 return back",
        "kernel call f@0008",
        "last exit end",
    ]


def test_a_guarded_return_resumes_the_caller_when_all_threads_are_there():
    code = assemble("S2R R0, SR_TID.X\n ISETP.NE.AND P0, PT, R0, RZ, PT\n CAL f\n back:\n EXIT\n f():\n @P0 RET\n rest:\n RET")
    assert edges(code) == [
        "back exit end",
        "f@0018 fallthrough rest@0018",
        "f@0018 return back",
        "kernel call f@0018",
        "rest@0018 return back",
    ]


def test_an_exit_in_a_callee_ends_its_threads_for_good():
    code = assemble("S2R R0, SR_TID.X\n ISETP.NE.AND P0, PT, R0, RZ, PT\n CAL f\n back:\n EXIT\n f():\n @P0 EXIT\n rest:\n RET")
    assert edges(code) == [
        "back exit end",
        "f@0018 exit end",
        "f@0018 fallthrough rest@0018",
        "kernel call f@0018",
        "rest@0018 return back",
    ]


def test_pret_and_a_branch_are_a_call_in_the_same_context():
    code = assemble("PRET back\n BRA f\n back:\n EXIT\n f():\n RET")
    assert edges(code) == ["back exit end", "f return back", "kernel taken f"]


def test_the_warp_starts_at_the_kernel_not_at_the_first_address():
    code = assemble("f():\n RET\n kernel:\n CAL f\n back:\n EXIT")
    graph = code.graph()
    assert graph.nodes[graph.entry].start == 0x10
    assert edges(code) == ["back exit end", "f@0010 return back", "kernel call f@0010"]


def test_a_device_function_on_its_own_ends_where_it_returns():
    code = assemble("S2R R0, SR_TID.X\n ISETP.NE.AND P0, PT, R0, RZ, PT\n @P0 RET\n rest:\n RET")
    graph = code.graph()
    assert edges(code, graph) == ["kernel exit end", "kernel fallthrough rest", "rest exit end"]
    assert graph.gaps == ()
    assert "the function is entered by a call: the bound ends where it returns" in graph.assumptions


def test_a_function_that_calls_itself_is_a_gap():
    code = assemble("CAL f\n back:\n EXIT\n f():\n @P0 RET\n again:\n CAL f\n after:\n RET")
    assert gaps(code.graph()) == [(0x28, "recursion")]


def test_functions_that_call_each_other_are_a_gap_at_both_calls():
    code = assemble("CAL f\n back:\n EXIT\n f():\n @P0 RET\n CAL g\n RET\n g():\n CAL f\n RET")
    assert gaps(code.graph()) == [(0x28, "recursion"), (0x38, "recursion")]


def test_a_tail_branch_into_another_function_can_close_a_recursion():
    code = assemble("CAL f\n back:\n EXIT\n f():\n @P0 RET\n BRA g\n g():\n CAL f\n RET")
    assert gaps(code.graph()) == [(0x30, "recursion")]


def test_a_kernel_that_calls_itself_is_a_gap():
    assert gaps(assemble("CAL kernel\n EXIT").graph()) == [(0x08, "recursion")]


def test_a_call_of_an_external_function_is_stepped_over_with_nothing_agreed():
    code = assemble("MOV R1, RZ\n CAL `(vprintf)\n back:\n EXIT")
    assert code.graph().externals == (External(0x10, "vprintf"),)
    assert gaps(code.graph()) == []
    assert edges(code) == ["back exit end", "kernel fallthrough back"]
    assert agreed(code, "back") == ""


def test_a_call_of_an_address_outside_the_input_is_a_gap():
    assert gaps(assemble("CAL `(0x2000)\n EXIT").graph()) == [(0x08, "indirect-call")]


def test_an_external_function_that_only_some_threads_may_call_is_a_gap():
    assert gaps(assemble("@P0 CAL `(vprintf)\n EXIT").graph()) == [(0x08, "indirect-call")]


def test_a_call_that_is_never_reached_is_no_external_function_of_the_graph():
    assert assemble("EXIT\n CAL `(vprintf)\n EXIT").graph().externals == ()


def test_what_external_functions_leave_alone_is_an_assumption():
    said = "external functions return to where they were called, wait at no block barrier, and leave stack, barriers, active threads and "
    graph = assemble("CAL `(malloc)\n CAL `(free)\n EXIT").graph()
    assert f"{said}the registers that callees save as they were: free, malloc" in graph.assumptions


def test_a_guarded_call_is_a_gap():
    code = assemble("@P0 CAL f\n back:\n EXIT\n f():\n RET")
    assert gaps(code.graph()) == [(0x08, "guarded-push")]


def test_behind_a_gap_a_function_that_nothing_reaches_is_still_shown():
    code = assemble("CAL `(0x2000)\n back:\n EXIT\n f():\n MOV R0, RZ\n RET")
    assert edges(code) == ["back exit end", "f exit end", "kernel fallthrough back"]


def test_dead_code_without_gaps_is_not_part_of_the_graph():
    assert edges(assemble("EXIT\n f():\n RET")) == ["kernel exit end"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"order": "random"}, "unknown-order"),
        ({"ablate": frozenset({"everything"})}, "unknown-ablation"),
        ({"call_depth": -1}, "bad-call-depth"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, object], code: str):
    with pytest.raises(UsageError) as caught:
        Options(**options)  # type: ignore[arg-type]
    assert caught.value.code == code


def test_a_jump_through_a_register_behind_its_own_return_token_is_an_unknown_call():
    code = assemble("PRET back\n BRX R2 -0x18\n back:\n EXIT")
    assert gaps(code.graph()) == [(0x10, "indirect-call")]
    assert edges(code) == ["0010 return back", "back exit end", "kernel fallthrough 0010"]


def test_a_jump_through_a_register_with_a_return_token_for_elsewhere_is_a_jump():
    code = assemble("PRET out\n BRX R2 -0x18\n back:\n EXIT\n out:\n EXIT")
    assert gaps(code.graph()) == [(0x10, "indirect-branch")]
