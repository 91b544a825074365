"""Random warp-level graphs of random instructions under random control codes: nothing that a compiler would write."""

from dataclasses import replace
from random import Random

from sassan.ir import Function, Immediate, Instruction, Register, Word
from sassan.source import Span
from sassan.warpcfg.graph import ActivationPoint, Edge, EdgeKind, Node, ThreadEdge, WarpCfg

EITHER = (
    "FFMA",
    "FADD",
    "MUFU.RCP",
    "F2F.F64.F32",
    "DFMA",
    "DADD",
    "LDG.E",
    "LDS",
    "STG.E",
    "STS",
    "LDC",
    "SHFL.IDX",
    "S2R",
    "BRA",
    "BAR.SYNC",
    "NOP",
)
MAXWELL = ("XMAD", "IADD", "ISETP.GE.AND", "SHL", "SSY", "SYNC", "IMUL", "TEX")
VOLTA = ("IADD3", "IMAD", "ISETP.GE.AND", "LOP3.LUT", "HFMA2", "BSSY", "BSYNC", "WARPSYNC", "POPC", "IMAD.WIDE")
WAITS = (
    ("DEPBAR.LE SB0, 0x0", (Register("SB", 0), Immediate(0))),
    ("DEPBAR.LE SB3, 0x2", (Register("SB", 3), Immediate(2))),
    ("DEPBAR.LE SB5, 0x1, {2,1}", (Register("SB", 5), Immediate(1), Word("{2,1}"))),
    ("DEPBAR {4,3}", (Word("{4,3}"),)),
)
BLOCKS = 6


def function(arch: str, random: Random) -> tuple[Function, list[tuple[Instruction, ...]]]:
    """A function and its blocks."""
    blocks: list[tuple[Instruction, ...]] = []
    address = 0
    for _ in range(BLOCKS):
        block: list[Instruction] = []
        for _ in range(random.randint(1, 12)):
            block.append(instruction(arch, address, random))
            address += 16
        blocks.append(tuple(block))
    return Function("random", arch, tuple(one for block in blocks for one in block)), blocks


def instruction(arch: str, address: int, random: Random) -> Instruction:
    opcode = random.choice((*EITHER, *(MAXWELL if int(arch[3:]) < 70 else VOLTA), "DEPBAR"))
    text, operands = random.choice(WAITS) if opcode == "DEPBAR" else (opcode, ())
    return Instruction(address, address + 16, text.split()[0], operands, None, Span(1, 1, 1), control=code(random), text=text)


def code(random: Random) -> int:
    """Often no barrier and no wait, so that waits find something open."""
    stall = random.choice((0, 1, 1, 2, 4, 5, 6, 13, 15))
    write, read = (random.choice((7, 7, 7, 0, 1, 2, 3, 4, 5)) for _ in range(2))
    waits = random.choice((0, 0, 0, 1 << random.randrange(6), random.randrange(64)))
    return stall | random.randrange(2) << 4 | write << 5 | read << 8 | waits << 11


def one_after_the_other(arch: str, random: Random) -> WarpCfg:
    """A graph whose blocks never run beside a pending side; loops are likely."""
    whole, blocks = function(arch, random)
    edges = {(block, random.randrange(BLOCKS)) for block in range(BLOCKS) for _ in range(2)}
    edges |= {(block, block + 1) for block in range(BLOCKS - 1)}
    found = [Edge(src, dst, EdgeKind.TAKEN) for src, dst in sorted(edges)] + [Edge(BLOCKS - 1, None, EdgeKind.EXIT)]
    return WarpCfg(whole, tuple(Node((), block) for block in blocks), tuple(found), 0, stack_points=((),) * BLOCKS)


def one_block(arch: str, random: Random) -> WarpCfg:
    """A graph of one block."""
    _, blocks = function(arch, random)
    return WarpCfg(Function("random", arch, blocks[0]), (Node((), blocks[0]),), (Edge(0, None, EdgeKind.EXIT),), 0, stack_points=((),))


def diverging(arch: str, random: Random) -> WarpCfg:
    """Block 0 splits into sides that begin at 1, 2 and 3, wander among 1 to 4, and meet at 5."""
    whole, blocks = function(arch, random)
    sides = range(1, BLOCKS - 1)
    pending = tuple(ActivationPoint((), blocks[side][0].address, "") for side in sides)
    steps = {(0, 1), (0, 2), (0, 3)} | {(side, random.choice(sides)) for side in sides for _ in range(2)}
    edges = [
        Edge(0, 1, EdgeKind.DIVERGE, pushed=pending[1]),
        *(Edge(src, dst, EdgeKind.TAKEN) for src, dst in sorted(steps) if src),
        *(Edge(side, 5, EdgeKind.RECONVERGE) for side in sides),
        Edge(5, None, EdgeKind.EXIT),
    ]
    threads = tuple(ThreadEdge(src, dst) for src, dst in sorted(steps | {(side, 5) for side in sides}))
    points = ((), *(pending for _ in sides), ())
    return WarpCfg(whole, tuple(Node((), block) for block in blocks), tuple(edges), 0, thread_edges=threads, stack_points=points)


def quiet_sides(arch: str, random: Random) -> WarpCfg:
    """The same with sides that set no barrier: what they wait for was open before."""
    found = diverging(arch, random)
    quiet = 7 << 5 | 7 << 8
    nodes = tuple(
        replace(node, instructions=tuple(replace(one, control=one.control | quiet) for one in node.instructions)) if points else node
        for node, points in zip(found.nodes, found.stack_points, strict=True)
    )
    return replace(
        found, nodes=nodes, function=replace(found.function, instructions=tuple(one for node in nodes for one in node.instructions))
    )
