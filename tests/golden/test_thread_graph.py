"""Soundness golden: the thread-level graph against `nvdisasm -bbcfg`, edge by edge over control instructions.

Both graphs are sets of (last instruction of a block, first instruction of a successor). What differs by design is normalised, and counted:

call       nvdisasm draws each function by itself: no edge follows a CAL or JCAL, and the callee is entered by nothing; callees that
           were linked from other sections are compared where they stand alone
return     likewise no edge follows a RET
recursion  since Volta nvdisasm draws a recursive call as both entered and stepped over; sassan steps over it, and has a gap
over       since Volta nvdisasm draws a CALL as falling to the next instruction: sassan must reach it by a return
sync       nvdisasm lets a block run on through BSYNC; sassan ends it, and goes on at the next instruction only
trap       nvdisasm ends the graph at BPT.TRAP; sassan also lets a debugger resume
"""

from collections import Counter

import pytest

from budget import some
from sassan.ir import Function
from sassan.isa import tables
from sassan.isa.facts import Facts, Flow
from tests.samples import EVERY, PRE_VOLTA, explored, golden, names, own_end, program

NORMALISED = {
    Flow.CALL: "call",
    Flow.TRAP: "trap",
    Flow.INDIRECT_CALL: "call",
    Flow.RETURN: "return",
}
CONTROL = frozenset(Flow) - {Flow.NONE, Flow.PUSH, Flow.BLOCK_BARRIER, Flow.BREAK, Flow.BARRIER_MOVE, Flow.WARP_BARRIER}


Pairs = set[tuple[int, int]]


def compared(function: Function, document: dict[str, list[list[str]]], end: int = 1 << 32) -> tuple[Pairs, Pairs, Counter[str]]:
    """Return our edges and nvdisasm's after normalisation, and how often each normalisation was applied."""
    facts = {one.address: tables.load(function.arch).facts(one) for one in function.instructions}
    following = {one.address: one.following for one in function.instructions}
    graph = explored(function)
    recursive = {gap.address for gap in graph.gaps if gap.code == "recursion" and function.arch not in PRE_VOLTA}
    steps = {(graph.nodes[step.src].end, graph.nodes[step.dst].start) for step in graph.thread_edges}
    returned = {dst for src, dst in steps if facts[src].flow is Flow.RETURN}
    drawn = {(int(src, 16), int(dst, 16)) for src, dst in document["edges"]}
    peer = {(src, dst if dst in facts else dst + 8) for src, dst in drawn}
    normalised: set[tuple[str, tuple[int, int]]] = set()
    for edge in sorted(peer):
        if why := drawn_as(edge, facts[edge[0]], following, recursive, returned):
            normalised.add((why, edge))
            peer.remove(edge)
    peer = {edge for edge in peer if facts[edge[0]].flow in CONTROL}
    own: Pairs = set()
    for edge in sorted(one for one in steps if one[0] < end):
        why = "recursion" if edge[0] in recursive else reason(edge, facts[edge[0]], following)
        if why and edge not in peer:
            normalised.add((why, edge))
        elif facts[edge[0]].flow in CONTROL:
            own.add(edge)
    return own, peer, Counter(why for why, _ in normalised)


def drawn_as(edge: tuple[int, int], facts: Facts, following: dict[int, int], recursive: set[int], returned: set[int]) -> str:
    """Return why an edge of nvdisasm is none of ours, or ''."""
    if edge[0] in recursive and facts.target is not None:
        return "recursion"
    is_call = facts.flow in {Flow.CALL, Flow.INDIRECT_CALL}
    return "over" if is_call and edge[1] == following[edge[0]] and (edge[1] in returned or bool(recursive)) else ""


def reason(edge: tuple[int, int], facts: Facts, following: dict[int, int]) -> str:
    """Return why an edge of ours may be none of nvdisasm's, or ''."""
    if facts.flow is Flow.POP and facts.is_barrier and edge[1] == following[edge[0]]:
        return "sync"
    return "return" if facts.flow is Flow.POP and facts.tag == "RET" else NORMALISED.get(facts.flow, "")


@pytest.mark.parametrize(("arch", "name"), some([(arch, name) for arch in EVERY for name in names(arch)], of=8))
def test_thread_edges_equal_nvdisasm(arch: str, name: str):
    for function in program(arch, name).functions:
        own, peer, _ = compared(function, golden("bbcfg", arch, name)[function.name], own_end(arch, name, function))
        assert own == peer


@pytest.mark.parametrize(
    ("arch", "name", "expected"),
    [
        ("sm_61", "saxpy", {}),
        ("sm_61", "switch_brx", {}),
        ("sm_61", "int64_divide", {"call": 2, "return": 2}),
        ("sm_61", "calls_nested", {"call": 9, "return": 12}),
        ("sm_61", "trap_guard", {"trap": 3}),
        ("sm_80", "saxpy", {}),
        ("sm_80", "switch_brx", {"sync": 5}),
        ("sm_80", "int64_divide", {"call": 2, "over": 2, "return": 2, "sync": 2}),
        ("sm_80", "calls_nested", {"call": 9, "over": 9, "return": 9, "sync": 9}),
        ("sm_80", "trap_guard", {"sync": 1, "trap": 3}),
        ("sm_80", "recursion", {"call": 1, "over": 1, "recursion": 10, "sync": 7}),
    ],
)
def test_normalisations_are_counted(arch: str, name: str, expected: dict[str, int]):
    (function,) = program(arch, name).functions
    _, _, counts = compared(function, golden("bbcfg", arch, name)[function.name])
    assert counts == expected
