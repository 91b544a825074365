"""Compiled code executes blocks as the values of a run do one operation after the other."""

from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from budget import FULL, part
from listing import assemble
from samples import EVERY, explored, names, program
from sassan.errors import SassanError
from sassan.estimate.deciding import Deciding
from sassan.ir import Function
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.simt import compiled
from sassan.simt.certain import Certainty
from sassan.simt.code import ExecutableFunction, Operation, lower
from sassan.simt.data import compute
from sassan.simt.decoder import TableDecoder
from sassan.simt.integers import Integers
from sassan.simt.launch_warps import Spot, warps_at
from sassan.simt.machine import new_session
from sassan.simt.micro_operations import Translator
from sassan.simt.micro_rules import row_of
from sassan.simt.slicing import control_slice
from sassan.simt.state import Session, SideOrder
from sassan.simt.values import LANES, PREDICATES, Moment

LAUNCH = LaunchConfiguration((64, 4, 1), (7, 3, 1))
SPOTS = [Spot((6, 2, 0), 7), Spot((0, 0, 0), 0), Spot((3, 1, 0), 4)]
KINDS = ("plain", "separate", "certain", "deciding")
IN_TURN = [(arch, kind) for place, arch in enumerate(EVERY) for at, kind in enumerate(KINDS) if FULL or at == place % len(KINDS)]
"""Every kind on every architecture, by default another on each."""


RARE = {
    "sm_80": """
        SHF.R.U64 R0, R1, 0x7, R2
        SHF.L.U64.HI R3, R1, 0x21, R2
        SHF.L.U32.HI R4, R1, 0x20, R2
        SHF.L.U32 R5, R1, R2, RZ
        SHF.R.S32.HI R6, RZ, R2, R1
        SHF.R.U32.HI R7, RZ, 0x1f, R1
        PRMT R8, R1, R2, R3
        PRMT R9, R1, 0x7632, R3
        LEA.HI.SX32 R10, R1, R2, 0x1b
        LEA.HI.X R11, R1, R2, R3, 0x5, P0
        LEA.HI.X.SX32 R12, R1, R2, 0x1, P1
        LEA.HI.X.SX32 R31, R1, ~R2, 0x1, P1
        LEA.HI.X R32, R1, ~R2, R3, 0x5, P0
        LEA R13, P2, R1, R2, 0x3
        LEA R28, P2, -R1, R2, 0x3
        LEA R29, P3, R1, -R2, 0x1f
        LEA R30, P4, -R1, RZ, 0x1e
        IADD3 R14, P0, P1, R1, R2, R3
        IADD3 R15, P0, R1, -R2, RZ
        IADD3.X R16, P3, R1, ~R2, R3, P0, P1
        IMAD.HI.U32 R17, R1, R2, RZ
        IMAD.WIDE R18, R1, R2, R4
        IMAD.X R20, R1, R2, R3, P0
        IMNMX R21, R1, R2, P0
        IMNMX.U32 R22, R1, R2, !PT
        IABS R23, R1
        SEL R24, R1, -R2, !P1
        ISETP.GE.AND.EX P2, PT, R1, R2, PT, P0
        ISETP.NE.U32.OR.EX P3, P4, R1, R2, P1, !P2
        ISETP.LT.U32.XOR P5, P6, R1, R2, !P3
        PLOP3.LUT P0, P1, P2, P3, P4, 0x96, 0x17
        LOP3.LUT P1, R25, R1, R2, R3, 0x6a, !PT
        LOP3.LUT R26, R1, ~R2, -R3, 0xe2, !PT
        @!P0 MOV R27, 0xfffffff8
        EXIT
    """,
    "sm_61": """
        BFE.U32 R0, R1, 0x807
        BFE R2, R1, 0x1f00
        XMAD.MRG R3, R1.H1, R2, RZ
        XMAD.PSL.CBCC R4, R1, R2.H1, R3
        XMAD.CHI R5, R1.H1, R2.H1, R3
        ICMP.GT R6, R1, R2, R3
        ICMP.NE.U32 R7, R1, R2, R3
        IADD R8.CC, R1, -R2
        IADD.X R9, R3, -R4
        IADD R10.CC, R1, R2
        IADD.X R11, R3, R4
        ISETP.GE.U32.X.AND P0, PT, R1, R2, PT
        ISET.LT.AND R12, R1, R2, P0
        ISCADD R13, R1, R2, 0x5
        PSETP.AND.OR P1, P2, P0, !P3, P4
        LOP.XOR R14, R1, ~R2
        SHR.U32 R15, R1, R2
        SHR R16, R1, 0x4
        SHL R17, R1, R2
        EXIT
    """,
}


@cache
def codes(arch: str) -> list[tuple[Function, ExecutableFunction]]:
    """Return all functions of the samples of an architecture that are lowered as a whole."""
    out: list[tuple[Function, ExecutableFunction]] = []
    for name in names(arch):
        for function in program(arch, name).functions:
            cfg = explored(function)
            decoder = TableDecoder(tables.load(arch).facts, cfg.calls, stack=True)
            with suppress(SassanError):  # a call that is not resolved has no rule
                out.append((function, lower(function, decoder)))
    for text in (RARE[arch],) if arch in RARE else ():
        function = assemble(text, arch).function
        out.append((function, lower(function, TableDecoder(tables.load(arch).facts))))
    return out


def session(function: Function, code: ExecutableFunction, kind: str, random: np.random.Generator) -> Session:
    """Return warps at the entry with registers full of words that are short, long, or near a border."""
    place, active = warps_at(function, LAUNCH, SPOTS, np.random.default_rng(1))
    values = Deciding(place, code, control_slice(code)) if kind == "deciding" else Integers(place, exchanges=True)
    made = new_session(code, values, active, SideOrder.TAKEN_FIRST, called=False)
    registers = made.warps.registers
    words = random.integers(0, 1 << 32, registers.shape, dtype=np.uint32)
    near = np.array([0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x10000], np.uint32)
    words = np.where(words & 1, words, near[words % len(near)])
    # In half of the registers all lanes hold the same.
    words = np.where(random.integers(0, 2, (len(registers), 1, 1)) > 0, words, words[:, :, :1])
    truths = np.array([register in PREDICATES for register in code.registers])
    registers[:] = np.where(truths[:, None, None], words >> 31, words)
    certainty = Certainty(code, len(SPOTS), [], [], values.results) if kind == "certain" else None
    if certainty is not None:
        certainty.words[:] = random.integers(0, 8, registers.shape) > 0
        certainty.entered(0, np.arange(len(SPOTS)), random.integers(0, 4, (len(SPOTS), LANES)) > 0, np.ones((len(SPOTS), LANES), np.bool_))
    return replace(made, certainty=certainty, separate=kind == "separate")


def state(made: Session) -> list[np.ndarray]:
    """Return all that a block may change."""
    out = [made.warps.registers]
    if made.certainty is not None:
        out += [made.certainty.words, np.array(sorted(made.certainty.torn))]
    if isinstance(made.values, Deciding):
        history = made.values.history
        assert history is not None
        out += [history.words, history.moved, history.lanes, history.steady, history.times, made.values.drawn]
        out += [] if made.values.unknown is None else [made.values.unknown]
    return out


@pytest.mark.parametrize(("arch", "kind"), IN_TURN)
def test_a_block_does_the_same_compiled_and_interpreted(arch: str, kind: str):
    several = codes(arch)
    rows = 0
    step = 1 + (len(several) - 1) // part(len(several))
    for index in sorted({*range(0, len(several), step), len(several) - 1}):
        function, code = several[index]
        sessions = [session(function, code, kind, np.random.default_rng(index)) for _ in range(2)]
        one, two = sessions
        assert isinstance(two.values, Integers)
        blocks = compiled.of_run(code, two.values, two.warps.registers, two.certainty, separate=two.separate)
        assert blocks is not None
        blocks.compile()
        two = replace(two, compiled=blocks)
        random = np.random.default_rng(arch == "sm_61")
        for number in range(len(code.blocks)):
            rows += sum(len(each.writes) for each in blocks.parts(number) if not isinstance(each, Operation))
            here = np.flatnonzero(random.integers(0, 3, len(SPOTS)) > 0)
            executing = random.integers(0, 4, (len(here), LANES)) > 0
            at = Moment(here, np.full(len(here), number, np.uint32), executing)
            assert (compute(one, number, at) == compute(two, number, at)).all()
            for first, second in zip(state(one), state(two), strict=True):
                assert np.array_equal(first, second), (function.name, hex(code.blocks[number].address))
    assert rows > 100


def test_rare_forms_have_rows():
    for arch in RARE:
        function, code = codes(arch)[-1]
        one = session(function, code, "plain", np.random.default_rng(0))
        assert isinstance(one.values, Integers)
        rows = Translator(one.values.place, one.slots)
        without = [each.instruction.text for block in code.blocks for each in block.operations if row_of(rows, each) is None]
        assert without == []
