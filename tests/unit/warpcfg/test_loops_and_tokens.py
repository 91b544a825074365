"""Loops with break and continue tokens, where tokens resume, and what the stacks hold."""

from listing import Code, assemble, edges, steps
from sassan.warpcfg.graph import WarpCfg

TID = """
    S2R R0, SR_TID.X
    ISETP.NE.AND P0, PT, R0, RZ, PT
    ISETP.GT.AND P1, PT, R0, 0x7, PT
"""
BREAKS = (
    TID
    + """
    PBK out
head:
    @P0 BRK
latch:
    BRA head
out:
    EXIT
"""
)
CONTINUES = (
    TID
    + """
    PBK out
head:
    PCNT latch
    @P0 BRA odd
even:
    CONT
odd:
    CONT
latch:
    @P1 BRK
again:
    BRA head
out:
    EXIT
"""
)
TWO_LOOPS = (
    TID
    + """
outer:
    MOV R2, RZ
inner:
    @P0 BRA inner
after:
    @P1 BRA outer
last:
    EXIT
"""
)


def loops(code: Code, graph: WarpCfg | None = None) -> list[tuple[str, bool]]:
    """Return the head of every loop and whether one thread witnesses every traversal."""
    graph = graph or code.graph()
    return [(code.name(graph.nodes[one.head].start), one.single_witness) for one in graph.loops]


def points(code: Code, label: str) -> list[str]:
    """Return the points on the stacks at the start of a block."""
    graph = code.graph()
    (index,) = [index for index, node in enumerate(graph.nodes) if node.start == code.labels[label]]
    return [str(one) for one in graph.stack_points[index]]


def test_threads_that_break_wait_for_the_others():
    assert edges(assemble(BREAKS)) == [
        "head fallthrough latch",
        "head reconverge out",
        "kernel fallthrough head",
        "latch taken head",
        "out exit end",
    ]


def test_one_thread_loops_until_it_breaks():
    assert steps(assemble(BREAKS)) == ["head -> latch", "head -> out", "kernel -> head", "latch -> head"]


def test_one_thread_witnesses_a_loop_that_only_tokens_leave():
    assert loops(assemble(BREAKS)) == [("head", True)]


def test_continue_reconverges_at_the_latch_in_every_turn():
    assert edges(assemble(CONTINUES)) == [
        "again taken head",
        "even reconverge latch",
        "head diverge odd",
        "head fallthrough even",
        "head taken odd",
        "kernel fallthrough head",
        "latch fallthrough again",
        "latch reconverge out",
        "odd reactivate even",
        "odd reconverge latch",
        "out exit end",
    ]


def test_token_targets_are_those_of_the_nearest_push():
    code = assemble(CONTINUES)
    targets = {address: [code.name(one) for one in found] for address, found in code.graph().token_targets}
    assert targets == {0x48: ["latch"], 0x50: ["latch"], 0x58: ["out"]}


def test_the_stack_inside_the_turn_holds_both_tokens_and_the_other_side():
    code = assemble(CONTINUES)
    assert points(code, "kernel") == []
    assert points(code, "head") == ["BRK@0070"]
    assert points(code, "odd") == ["side@0048", "CONT@0058", "BRK@0070"]
    assert points(code, "latch") == ["BRK@0070"]


def test_one_thread_witnesses_a_loop_whose_points_are_popped_in_every_turn():
    assert loops(assemble(CONTINUES)) == [("head", True)]


def test_a_side_left_pending_inside_a_loop_denies_the_single_witness():
    code = assemble(
        TID
        + """
        SSY end
    head:
        @P0 BRA head
    rest:
        @P1 BRA head
    done:
        SYNC
    end:
        EXIT
    """
    )
    assert loops(code) == [("head", False)]


def test_a_side_left_pending_outside_the_loop_keeps_the_single_witness():
    code = assemble(
        TID
        + """
        @P1 BRA head
    other:
        EXIT
    head:
        @P0 BRA head
    done:
        EXIT
    """
    )
    assert points(code, "head") == ["side@0030", "side@0048"]
    assert loops(code) == [("head", True)]


def test_loops_are_nested():
    code = assemble(TWO_LOOPS)
    graph = code.graph()
    heads = [(code.name(graph.nodes[one.head].start), one.parent) for one in graph.loops]
    assert heads == [("outer", None), ("inner", 0)]


def test_an_outer_loop_with_the_exit_of_the_inner_one_pending_has_no_single_witness():
    assert loops(assemble(TWO_LOOPS)) == [("outer", False), ("inner", True)]


def test_back_edges_lead_to_the_head_from_inside():
    code = assemble(TWO_LOOPS)
    graph = code.graph()
    back = [[(code.name(graph.nodes[src].start), code.name(graph.nodes[dst].start)) for src, dst in one.back] for one in graph.loops]
    assert back == [[("after", "outer")], [("inner", "inner")]]


def test_a_loop_of_a_uniform_branch_pushes_nothing():
    code = assemble("S2R R0, SR_CTAID.X\n ISETP.NE.AND P0, PT, R0, RZ, PT\n head:\n @P0 BRA head\n done:\n EXIT")
    assert edges(code) == ["done exit end", "head fallthrough done", "head taken head", "kernel fallthrough head"]


def test_a_divergent_loop_with_no_token_runs_its_exit_once_per_turn():
    code = assemble(f"{TID} head:\n @P0 BRA head\n done:\n EXIT")
    assert edges(code) == [
        "done exit end",
        "done reactivate done",
        "head diverge head",
        "head fallthrough done",
        "head taken head",
        "kernel fallthrough head",
    ]


def test_a_push_in_the_middle_of_a_block_covers_what_follows_only():
    code = assemble(
        TID
        + """
        @P0 EXIT
        MOV R2, R0
        SSY end
        MOV R3, R0
        SYNC
    end:
        EXIT
    """
    )
    graph = code.graph()
    pushes = [(node.start, [str(one) for one in node.pushes]) for node in graph.nodes]
    assert pushes == [(0x8, []), (0x30, ["SYNC@0058"]), (0x58, [])]


def test_an_unused_token_is_dropped_when_its_threads_leave_to_one_below():
    code = assemble(
        """
        SSY end
        PBK never
        SYNC
    never:
        EXIT
    end:
        EXIT
    """
    )
    assert edges(code) == ["end exit end", "kernel reconverge end"]
    assert points(code, "end") == []
