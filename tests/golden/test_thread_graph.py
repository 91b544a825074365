"""Soundness golden: the thread-level graph against `nvdisasm -bbcfg`, edge by edge over control instructions.

Both graphs are sets of (last instruction of a block, first instruction of a successor). What differs by design is normalised, and counted:

call       nvdisasm draws each function by itself: no edge follows a CAL or JCAL, and the callee is entered by nothing; callees that
           were linked from other sections are compared where they stand alone
return     likewise no edge follows a RET
trap       nvdisasm ends the graph at BPT.TRAP; sassan also lets a debugger resume
"""

from collections import Counter

import pytest

from sassan.ir import Function
from sassan.isa import tables
from sassan.isa.facts import Flow
from tests.samples import PRE_VOLTA, explored, golden, names, own_end, program

NORMALISED = {
    Flow.CALL: "call",
    Flow.TRAP: "trap",
    Flow.INDIRECT_CALL: "call",
}
CONTROL = frozenset(Flow) - {Flow.NONE, Flow.PUSH, Flow.BLOCK_BARRIER}


def compared(
    function: Function, document: dict[str, list[list[str]]], end: int = 1 << 32
) -> tuple[set[tuple[int, int]], set[tuple[int, int]], Counter[str]]:
    """Return our edges and nvdisasm's after normalisation, and how often each normalisation was applied."""
    facts = {one.address: tables.load(function.arch).facts(one) for one in function.instructions}
    graph = explored(function)
    normalised: set[tuple[str, tuple[int, int]]] = set()
    own: set[tuple[int, int]] = set()
    peer = {(int(src, 16), int(dst, 16)) for src, dst in document["edges"]}
    peer = {(src, dst if dst in facts else dst + 8) for src, dst in peer}
    peer = {edge for edge in peer if facts[edge[0]].flow in CONTROL}
    for step in graph.thread_edges:
        edge = (graph.nodes[step.src].end, graph.nodes[step.dst].start)
        known = facts[edge[0]]
        why = "return" if known.flow is Flow.POP and known.tag == "RET" else NORMALISED.get(known.flow)
        if edge[0] >= end:
            continue
        if why is None and known.flow in CONTROL:
            own.add(edge)
        elif why is not None and edge not in peer:
            normalised.add((why, edge))
        elif why is not None:
            own.add(edge)
    return own, peer, Counter(why for why, _ in normalised)


@pytest.mark.parametrize(("arch", "name"), [(arch, name) for arch in PRE_VOLTA for name in names(arch)])
def test_thread_edges_equal_nvdisasm(arch: str, name: str):
    for function in program(arch, name).functions:
        own, peer, _ = compared(function, golden("bbcfg", arch, name)[function.name], own_end(arch, name, function))
        assert own == peer


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("saxpy", {}),
        ("switch_brx", {}),
        ("int64_divide", {"call": 2, "return": 2}),
        ("calls_nested", {"call": 9, "return": 12}),
        ("trap_guard", {"trap": 3}),
    ],
)
def test_normalisations_are_counted(name: str, expected: dict[str, int]):
    (function,) = program("sm_61", name).functions
    _, _, counts = compared(function, golden("bbcfg", "sm_61", name)[function.name])
    assert counts == expected
