"""Calls and returns since Volta: the return address is in ordinary registers, and is followed on single threads."""

import pytest

from listing import Code, assemble, edges, gaps
from sassan.warpcfg.assumptions import SAVED
from sassan.warpcfg.graph import WarpCfg

RET = "RET.REL.NODEC R20 `(kernel)"
TID = "S2R R0, SR_TID.X\n ISETP.NE.AND P0, PT, R0, RZ, PT"


def volta(text: str) -> Code:
    return assemble(text, "sm_75")


def call(callee: str, back: int, register: int = 20) -> str:
    """Three instructions; `back` is the address behind them."""
    return f"MOV R{register}, 0x{back:x}\n MOV R{register + 1}, 0x0\n CALL.REL.NOINC `({callee})\n"


TWO_SITES = f"{call('f', 0x30)} {call('f', 0x60)} back:\n EXIT\n f():\n MOV R3, RZ\n ret:\n {RET}"


def test_a_callee_returns_behind_the_call_that_it_was_entered_by():
    assert edges(volta(TWO_SITES)) == [
        "0030 call f@0050",
        "back exit end",
        "f@0020 fallthrough ret@0020",
        "f@0050 fallthrough ret@0050",
        "kernel call f@0020",
        "ret@0020 return 0030",
        "ret@0050 return back",
    ]


def test_with_call_strings_cut_to_nothing_a_callee_returns_behind_every_call():
    code = volta(TWO_SITES)
    assert edges(code, code.graph(call_depth=0)) == [
        "0030 call f",
        "back exit end",
        "f fallthrough ret",
        "kernel call f",
        "ret return 0030",
        "ret return back",
    ]


def test_a_callee_calls_with_registers_of_its_own():
    code = volta(f"{call('f', 0x30)} back:\n EXIT\n f():\n {call('g', 0x70, 24)} after:\n {RET}\n g():\n RET.REL.NODEC R24 `(kernel)")
    assert gaps(code.graph()) == []
    assert edges(code) == [
        "after@0020 return back",
        "back exit end",
        "f@0020 call g@0020@0060",
        "g@0020@0060 return after@0020",
        "kernel call f@0020",
    ]


SPILLED = f"""
    IADD3 R1, R1, -0x10, RZ
    {call("f", 0x40)}
    back:
    EXIT
    f():
    STL.64 [R1+0x8], R20
    MOV R20, RZ
    {{}}
    LDL.64 R20, [R1+0x8]
    ret:
    {RET}
"""


def test_a_return_address_is_followed_through_its_stack_slot():
    code = volta(SPILLED.format("STL [R1], R3"))
    assert gaps(code.graph()) == []
    assert "ret@0030 return back" in edges(code)


@pytest.mark.parametrize("store", ["STL [R1+0x8], R3", "STL.U8 [R1+0xb], R3"])
def test_a_return_address_that_a_store_overwrites_is_a_gap(store: str):
    assert gaps(volta(SPILLED.format(store)).graph()) == [(0x90, "unresolved-return")]


@pytest.mark.parametrize("store", ["STL [R2], R3", "ST.E [R2.64], R3"])
def test_a_store_at_an_unknown_address_is_assumed_to_leave_return_addresses_alone(store: str):
    code = volta(SPILLED.format(store))
    graph = code.graph()
    assert "ret@0030 return back" in edges(code, graph)
    assert gaps(graph) == []
    assert SAVED in graph.assumptions


def test_without_such_a_store_nothing_is_assumed_of_it():
    assert SAVED not in volta(SPILLED.format("STL [R1], R3")).graph().assumptions


ALIGNED = f"""
    MOV R1, c[0x0][0x28]
    {call("f", 0x40)}
    back:
    EXIT
    f():
    MOV R3, R1
    IADD3 R1, R1, -0x20, RZ
    LOP3.LUT R1, R1, 0xfffffff0, RZ, 0xc0, !PT
    STL [R1+0x10], R2
    STL.64 [R1+0x18], R20
    MOV R2, R3
    {{}}
    {call("g", 0xF0)}
    MOV R3, R2
    LDL.64 R20, [R1+0x18]
    LDL R2, [R1+0x10]
    MOV R1, R3
    ret:
    {RET}
    g():
    STL.64 [R1+-0x8], RZ
    RET.REL.NODEC R20 `(kernel)
"""


def test_a_frame_that_is_rounded_down_keeps_its_return_address():
    code = volta(ALIGNED.format("STL [R4], R5"))
    assert gaps(code.graph()) == []
    assert "ret@0030 return back" in edges(code)


def test_a_return_address_that_was_loaded_is_a_gap():
    code = volta(f"{call('f', 0x30)} back:\n EXIT\n f():\n LDG.E R20, [R4]\n ret:\n {RET}")
    assert gaps(code.graph()) == [(0x50, "unresolved-return")]


def test_a_tail_jump_returns_for_the_function_that_it_leaves():
    code = volta(f"{call('f', 0x30)} back:\n EXIT\n f():\n BRA g\n g():\n {RET}")
    assert edges(code) == ["back exit end", "f@0020 taken g@0020", "g@0020 return back", "kernel call f@0020"]


def test_a_call_that_keeps_no_return_address_is_a_far_jump():
    code = volta("CALL.REL.NOINC `(far)\n far():\n EXIT")
    assert edges(code) == ["far exit end", "kernel taken far"]


def test_a_guarded_call_splits_the_warp():
    code = volta(f"{TID}\n MOV R20, 0x50\n MOV R21, 0x0\n @P0 CALL.REL.NOINC `(f)\n back:\n EXIT\n f():\n {RET}")
    assert edges(code) == [
        "back exit end",
        "back reactivate back",
        "back reactivate f@0040",
        "f@0040 return back",
        "kernel call f@0040",
        "kernel diverge back",
        "kernel diverge f@0040",
        "kernel fallthrough back",
    ]


CHOSEN = f"""
    {TID}
    MOV R21, 0x0
    MOV R20, 0x70
    @P0 MOV R20, 0x80
    BRA f
    f():
    {RET}
    one:
    EXIT
    two:
    EXIT
"""


def test_threads_that_return_to_different_places_take_turns():
    assert [edge for edge in edges(volta(CHOSEN)) if edge.startswith("f") or " f" in edge] == [
        "f diverge one",
        "f diverge two",
        "f taken one",
        "f taken two",
        "kernel taken f",
        "one reactivate f",
        "two reactivate f",
    ]


def test_threads_that_agree_on_where_they_return_to_go_together():
    code = volta(CHOSEN.replace("SR_TID.X", "SR_CTAID.X"))
    assert [edge for edge in edges(code) if edge.startswith("f")] == ["f taken one", "f taken two"]


def pushed(code: Code, graph: WarpCfg, label: str) -> set[str]:
    """Return where threads wait after the block at a label has split the warp."""
    return {f"{edge.pushed}" for edge in graph.edges if graph.nodes[edge.src].start == code.labels[label] and edge.pushed is not None}


EARLY = f"{TID}\n {call('f', 0x50)} {call('f', 0x80)} back:\n EXIT\n f():\n NOP\n ret:\n @P0 {RET}\n on:\n {RET}"


def test_some_threads_return_early_by_a_branch_to_whoever_called():
    code = volta(EARLY)
    merged = code.graph(call_depth=0)
    assert [edge for edge in edges(code, merged) if edge.startswith("ret ")] == [
        "ret diverge 0050",
        "ret diverge back",
        "ret diverge on",
        "ret fallthrough on",
        "ret return 0050",
        "ret return back",
    ]
    assert pushed(code, merged, "ret") == {"side@00b0", "side@0050_by_00a0", "side@0080_by_00a0"}
    assert pushed(code, code.graph(call_depth=1), "ret") == {"side@00b0", "side@0050_by_00a0"}


def test_threads_that_return_early_to_different_places_also_take_turns():
    code = volta(CHOSEN.replace(RET, f"@P1 {RET}\n EXIT").replace("0x80", "0x90").replace("0x70", "0x80"))
    assert pushed(code, code.graph(), "f") == {"side@0060", "side@0070", "side@0080_by_0060", "side@0090_by_0060"}


def test_the_return_of_a_function_that_is_analyzed_by_itself_ends_it():
    code = volta("RET.REL.NODEC R20 0x0")
    assert edges(code) == ["kernel exit end"]
    assert gaps(code.graph()) == []


def test_a_saved_barrier_lets_a_callee_use_its_register():
    body = f"BMOV.32.CLEAR R8, B0\n BSSY B0, inner\n BSYNC B0\n inner:\n BMOV.32 B0, R8\n ret:\n {RET}"
    code = volta(f"BSSY B0, end\n {call('f', 0x40)} BSYNC B0\n end:\n EXIT\n f():\n {body}")
    assert gaps(code.graph()) == []
    assert "0040 reconverge end" in edges(code)


def test_a_callee_that_uses_the_barrier_of_its_caller_is_a_gap():
    code = volta(f"BSSY B0, end\n {call('f', 0x40)} BSYNC B0\n end:\n EXIT\n f():\n BSSY B0, ret\n BSYNC B0\n ret:\n {RET}")
    assert (0x60, "overwritten-barrier") in gaps(code.graph())


RECURSIVE = f"{call('f', 0x30)} back:\n EXIT\n f():\n @P0 {RET}\n MOV R20, 0x80\n MOV R21, 0x0\n CALL.REL.NOINC `(f)\n {RET}"


@pytest.mark.parametrize("depth", [None, 0, 1, 3])
def test_recursion_is_a_gap_whatever_the_depth_of_call_strings(depth: int | None):
    assert gaps(volta(RECURSIVE).graph(call_depth=depth)) == [(0x70, "recursion")]


def test_functions_that_call_each_other_are_a_gap():
    code = volta(f"{call('f', 0x30)} EXIT\n f():\n {call('g', 0x70, 24)} {RET}\n g():\n {call('f', 0xB0)} RET.REL.NODEC R24 `(kernel)")
    assert gaps(code.graph()) == [(0x60, "recursion")]


GRID_SYNC = f"""
    {TID}
    @P0 BRA `(wrong)
    MOV R2, 0x50
    CALL.REL.NOINC `(sync)
    back:
    BAR.SYNC 0x0
    EXIT
    wrong:
    BPT.TRAP 0x1
    {{}}
    MOV R3, 0x0
    WARPSYNC 0xffffffff
    BAR.SYNC 0x0
    RET.REL.NODEC R2 `(kernel)
"""
"""`grid.sync()` in a loop, as nvcc compiles it: the function of its barrier stands behind the trap of a kernel that is not cooperative."""


@pytest.mark.parametrize("entry", ["sync():", "sync:"])
def test_a_trap_that_ends_a_function_does_not_run_into_the_next(entry: str):
    graph = (code := volta(GRID_SYNC.format(entry))).graph()
    assert gaps(graph) == []
    assert "00b0@0040 return back" in edges(code)
    assert [edge for edge in edges(code) if edge.startswith("wrong")] == ["wrong exit end"]
    assert "no debugger resumes a warp at a trap that ends a function" in graph.assumptions


def test_behind_a_trap_within_a_function_a_debugger_may_go_on():
    code = volta(f"{TID}\n @P0 BRA `(on)\n trap:\n BPT.TRAP 0x1\n on:\n EXIT")
    assert [edge for edge in edges(code) if edge.startswith("trap")] == ["trap exit end", "trap fallthrough on"]
    assert "no debugger resumes a warp at a trap that ends a function" not in code.graph().assumptions


def test_a_guarded_trap_at_the_end_lets_other_threads_pass():
    code = volta(f"{call('f', 0x30)} EXIT\n {TID}\n f():\n NOP\n @P0 BPT.TRAP 0x1\n g():\n {RET}")
    assert "f@0020 fallthrough g@0020" in edges(code)
