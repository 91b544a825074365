"""Small graphs made by hand; addresses count by 8 and know no control words."""

from dataclasses import replace

import pytest

from budget import some
from sassan.errors import Gap
from sassan.ir import Function, Instruction
from sassan.source import Span
from sassan.warpcfg.graph import ActivationPoint, CfgLoop, Context, Edge, EdgeKind, Node, ThreadEdge, WarpCfg


def block(start: int, *texts: str, context: Context = (), divergent: bool = False) -> Node:
    ones = tuple(
        Instruction(start + 8 * at, start + 8 * at + 8, text.split()[0], (), None, Span(1, 1, 1), text=text)
        for at, text in enumerate(texts)
    )
    return Node(context, ones, divergent=divergent)


def function(*nodes: Node, name: str = "kernel") -> Function:
    return Function(name, "sm_61", tuple(one for node in nodes for one in node.instructions))


@pytest.fixture(scope="session")
def diamond() -> WarpCfg:
    """A divergent if: some threads branch to 0x20 and sync, the others resume at 0x18 and sync; all go on at 0x28."""
    nodes = (
        block(0x08, "SSY 0x28", "BRA 0x20", divergent=True),
        block(0x18, "SYNC"),
        block(0x20, "SYNC"),
        block(0x28, "EXIT"),
    )
    side, token = ActivationPoint((), 0x18, ""), ActivationPoint((), 0x28, "SYNC")
    edges = (
        Edge(0, 1, EdgeKind.FALLTHROUGH),
        Edge(0, 2, EdgeKind.DIVERGE, pushed=side),
        Edge(0, 2, EdgeKind.TAKEN),
        Edge(1, 3, EdgeKind.RECONVERGE, popped=token),
        Edge(2, 1, EdgeKind.REACTIVATE, popped=side),
        Edge(2, 3, EdgeKind.RECONVERGE, popped=token),
        Edge(3, None, EdgeKind.EXIT),
    )
    steps = (ThreadEdge(0, 1), ThreadEdge(0, 2), ThreadEdge(1, 3), ThreadEdge(2, 3))
    return WarpCfg(function(*nodes), nodes, edges, 0, steps, token_targets=((0x18, (0x28,)), (0x20, (0x28,))))


@pytest.fixture(scope="session")
def nested() -> WarpCfg:
    """A loop at 0x10 around a loop at 0x18; only the inner one has a single witness."""
    nodes = (block(0x08, "MOV R0, RZ"), block(0x10, "IADD R1"), block(0x18, "BRA 0x18"), block(0x20, "BRA 0x10"), block(0x28, "EXIT"))
    edges = (
        Edge(0, 1, EdgeKind.FALLTHROUGH),
        Edge(1, 2, EdgeKind.FALLTHROUGH),
        Edge(2, 2, EdgeKind.TAKEN),
        Edge(2, 3, EdgeKind.FALLTHROUGH),
        Edge(3, 1, EdgeKind.TAKEN),
        Edge(3, 4, EdgeKind.FALLTHROUGH),
        Edge(4, None, EdgeKind.EXIT),
    )
    steps = tuple(ThreadEdge(one.src, one.dst) for one in edges if one.dst is not None)
    loops = (CfgLoop(1, (1, 2, 3), ((3, 1),), None, single_witness=False), CfgLoop(2, (2,), ((2, 2),), 0, single_witness=True))
    return WarpCfg(function(*nodes), nodes, edges, 0, steps, loops)


@pytest.fixture(scope="session")
def called() -> WarpCfg:
    """A routine at 0x20 called from 0x08 inside a loop, whose latch is 0x10."""
    nodes = (block(0x08, "CAL 0x20"), block(0x10, "BRA 0x08"), block(0x18, "EXIT"), block(0x20, "RET", context=(0x08,)))
    back = ActivationPoint((), 0x10, "RET")
    edges = (
        Edge(0, 3, EdgeKind.CALL, pushed=back),
        Edge(1, 0, EdgeKind.TAKEN),
        Edge(1, 2, EdgeKind.FALLTHROUGH),
        Edge(2, None, EdgeKind.EXIT),
        Edge(3, 1, EdgeKind.RETURN, popped=back),
    )
    steps = (ThreadEdge(0, 3), ThreadEdge(1, 0), ThreadEdge(1, 2), ThreadEdge(3, 1))
    return WarpCfg(function(*nodes), nodes, edges, 0, steps, (CfgLoop(0, (0, 1, 3), ((1, 0),), None, single_witness=True),))


@pytest.fixture(scope="session")
def gapped(diamond: WarpCfg) -> WarpCfg:
    """One gap inside the block at 0x18, one at an address that no block holds."""
    gaps = (Gap(0x18, "unknown-opcode", "no entry for 'FROB'"), Gap(0x400, "unresolved-call", "no target"))
    return replace(diamond, gaps=gaps)


@pytest.fixture(scope="session")
def ladder() -> WarpCfg:
    """500 blocks, 1,497 edges: each block goes on, jumps over the next one, and is resumed by it."""
    nodes = tuple(block(8 + 8 * at, "IADD R0, R0, 0x1", divergent=at % 3 == 0) for at in range(500))
    edges = [Edge(at, at + 1, EdgeKind.FALLTHROUGH) for at in range(499)]
    edges += [Edge(at, at + 2, EdgeKind.TAKEN) for at in range(498)]
    edges += [Edge(at, at + 7, EdgeKind.REACTIVATE) for at in range(490)]
    edges += [Edge(499, None, EdgeKind.EXIT)]
    steps = tuple(ThreadEdge(at, at + 1) for at in range(499))
    return WarpCfg(function(*nodes), nodes, tuple(edges), 0, steps)


HOSTILE = [
    'quote"s',
    "<b>bold</b>",
    "a & b &amp; &lt; &#92;",
    "back\\slash \\N \\l \\G",
    'end\\"',
    "line\nfeed\ttab\rreturn",
    "\x00\x07\x1b[31m",
    "../../etc/passwd",
    "]]> --> <!-- <![CDATA[",
    "right\u202eleft",
    "lone\udc80surrogate",
    "_Z6kernelIN3foo3barEE" * 300,
]
KINDS = ["quote", "tag", "entity", "backslash", "escaped-quote", "newline", "control", "path", "xml", "bidi", "surrogate", "long"]


@pytest.fixture(scope="session", params=some(HOSTILE), ids=some(KINDS))
def hostile(request: pytest.FixtureRequest) -> str:
    """A name that somebody could put into a cubin."""
    return str(request.param)
