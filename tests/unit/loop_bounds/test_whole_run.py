"""Loop bounds from a run of all warps: what is given decides them, contents of memory that are not known never do."""

from collections.abc import Mapping
from importlib import import_module

import pytest

from budget import part
from listing import assemble
from sassan.ipet.loop_bounds import recheck
from sassan.ipet.loop_bounds.recheck import Effort
from sassan.ipet.loop_bounds.whole_run import whole_run
from sassan.isa import tables
from sassan.machine.contents import Contents, KnownBytes
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import setting
from sassan.simt import certain

ARCH = "sm_80"
FACTS = tables.load(ARCH).facts
POINTER = 0x200000000000
LOAD = """
        MOV R2, c[0x0][0x160]
        MOV R3, c[0x0][0x164]
        S2R R1, SR_TID.X
        IMAD.WIDE R2, R1, 0x4, R2
"""
DRAWS = Effort(warps=12, corners=False, steps=600)


def edges(text: str, *given: str, contents: Contents | None = None, grid: int = 2) -> tuple[int | None, ...] | None:
    """Return the back edges of the loops of a listing; runs with drawn contents of memory take no more."""
    cfg = assemble(text, ARCH).graph()
    launch = LaunchConfiguration((64, 1, 1), (grid, 1, 1), (setting(f"0x160:8={POINTER}"), *map(setting, given)), contents=contents)
    seen = whole_run(cfg, FACTS, launch, range(len(cfg.loops)))
    if seen is None:
        return None
    for seed in range(part(4, of=1)):
        drawn = recheck.back_edge_counts(cfg, FACTS, (launch,), Effort(warps=12, corners=False, steps=600, seed=seed))
        assert drawn is not None
        for bound, most in zip(seen.back_edges, drawn[0], strict=True):
            assert bound is None or most <= bound
    return seen.back_edges


def words(*values: int) -> Contents:
    return contents_of(b"".join(value.to_bytes(4, "little") for value in values))


def contents_of(data: bytes) -> Contents:
    return Contents((KnownBytes(POINTER, data),), data.hex())


def loop(limit: str, body: str = "", test: str = "R0, {}", name: str = "head") -> str:
    return f"""
        MOV R0, RZ
    {name}:
        {body}
        IADD3 R0, R0, 0x1, RZ
        ISETP.LT.AND P0, PT, {test.format(limit)}, PT
        @P0 BRA {name}
    """


def test_what_indices_and_parameters_decide_is_counted_over_all_warps():
    text = f"S2R R4, SR_TID.X\nS2R R5, SR_CTAID.X\nIMAD R6, R5, c[0x0][0x168], R4{loop('R6')}EXIT"
    assert edges(text, "0x168=3") == (65,)  # thread 63 of block 1: 66 iterations
    assert edges(text, "0x168=3", grid=4) == (71,)


def test_what_is_not_given_decides_nothing():
    assert edges(f"MOV R6, c[0x0][0x168]{loop('R6')}EXIT") is None


@pytest.mark.parametrize(("known", "expected"), [(words(*[9] * 40, 17, *[2] * 23), 16), (words(*[9] * 63), None), (None, None)])
def test_known_contents_of_memory_decide(known: Contents | None, expected: int | None):
    found = edges(f"{LOAD}LDG.E R6, [R2.64]{loop('R6')}EXIT", contents=known)
    assert found == (None if expected is None else (expected,))


@pytest.mark.parametrize(
    ("width", "data", "expected"),
    [("U8", [0x05], 4), ("S8", [0xFF], 0), ("U16", [0x0007], 6), ("S16", [0x8000], 0), ("64", [6, 1], 5)],
)
def test_each_width_of_a_load_is_read(width: str, data: list[int], expected: int):
    scale = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8}[width]
    size = min(scale, 4)
    known = contents_of(b"".join(each.to_bytes(size, "little") for each in data) * 64)
    text = f"{LOAD.replace('0x4,', f'{scale:#x},')}LDG.E.{width} R6, [R2.64]{loop('R6')}EXIT"
    assert edges(text, contents=known) == (expected,)


def test_a_spilled_word_comes_back():
    spilled = "MOV R1, c[0x0][0x28]\nMOV R6, 0x7\nSTL [R1+0x10], R6\nMOV R6, RZ\nLDL R6, [R1+0x10]"
    assert edges(f"{spilled}{loop('R6')}EXIT") == (6,)
    other = spilled.replace("LDL R6, [R1+0x10]", "LDL R6, [R1+0x14]")
    assert edges(f"{other}{loop('R6')}EXIT") is None


def test_a_part_of_a_word_that_is_stored_makes_local_memory_unknown():
    start = "MOV R1, c[0x0][0x28]\nMOV R6, 0x7\nSTL [R1+0x10], R6\nMOV R7, 0xff"
    assert edges(f"{start}\nSTL.U8 [R1+0x11], R7\nLDL R6, [R1+0x10]{loop('R6')}EXIT") is None


def test_constants_that_no_launch_gives_decide_nothing():
    assert edges(f"MOV R6, c[0x3][0x10]\nLOP3.LUT R6, R6, 0x7, RZ, 0xc0, !PT{loop('R6')}EXIT") is None


def test_one_copy_for_the_warp_is_certain_where_what_it_is_computed_of_is():
    assert edges(f"S2UR UR4, SR_CTAID.X\nUIADD3 UR4, UR4, 0x3, URZ{loop('UR4')}EXIT") == (3,)
    assert edges(f"S2R R6, SR_TID.X\nR2UR UR4, R6{loop('UR4')}EXIT") is None


DATA = f"{LOAD}LDG.E R7, [R2.64]\nISETP.NE.AND P1, PT, R7, RZ, PT\n"


def test_a_loop_that_data_may_skip_is_counted():
    assert edges(f"{DATA}@P1 BRA end{loop('0x5')}\nend:\nEXIT") == (4,)


def test_a_loop_that_data_may_end_sooner_is_counted():
    assert edges(f"{DATA}{loop('0x5', '@P1 EXIT')}EXIT") == (4,)
    assert edges(f"{DATA}{loop('0x5', '@P1 BRA end')}\nend:\nEXIT") == (4,)


def test_what_either_side_of_a_branch_on_data_writes_decides_nothing():
    either = f"{DATA}MOV R6, 0x3\n@P1 BRA join\nMOV R6, 0x9\njoin:{loop('R6')}EXIT"
    assert edges(either) is None
    guarded = f"{DATA}MOV R6, 0x3\n@P1 MOV R6, 0x9{loop('R6')}EXIT"
    assert edges(guarded) is None
    after = f"{DATA}{loop('0x5', '@P1 BRA end')}\nend:\nMOV R6, R0{loop('R6', name='again')}EXIT"
    assert edges(after) == (4, None)


def test_what_a_skipped_loop_leaves_decides_nothing():
    text = f"{DATA}MOV R6, 0x2\n@P1 BRA end{loop('0x5', 'IADD3 R6, R6, 0x2, RZ')}\nend:{loop('R6', name='again')}EXIT"
    assert edges(text) == (4, None)


def test_a_store_on_a_side_that_data_decide_makes_local_memory_unknown():
    start = "MOV R1, c[0x0][0x28]\nMOV R6, 0x3\nSTL [R1], R6"
    text = f"{start}\n{DATA}@P1 BRA join\nMOV R6, 0x9\nSTL [R1], R6\njoin:\nLDL R6, [R1]{loop('R6')}EXIT"
    assert edges(text) is None


def test_a_loop_that_only_data_end_is_open():
    text = f"{LOAD}head:\nLDG.E R7, [R2.64]\nISETP.NE.AND P1, PT, R7, RZ, PT\n@P1 BRA head{loop('0x5', name='then')}EXIT"
    assert edges(text) == (None, 4)


def test_a_larger_grid_is_not_run():
    assert edges(f"MOV R6, 0x3{loop('R6')}EXIT", grid=1 << 20) is None


HALF = "S2R R4, SR_TID.X\nLOP3.LUT R4, R4, 0x1f, RZ, 0xc0, !PT\nISETP.GE.AND P2, PT, R4, 0x10, PT\n"
NARROW = "LDG.E R6, [R2.64]\nLOP3.LUT R6, R6, 0x3f, RZ, 0xc0, !PT"
OPEN = {
    "a target that is drawn": f"""S2R R8, SR_TID.X
        MOV R4, 0x0
        MOV R5, RZ
        BRX R4 -0x20 -> one, two
    one:
        MOV R6, 0x3
        BRA join
    two:
        MOV R6, 0x14
        BRA join
    join:
        {loop("R6")}EXIT""",
    "one copy that no lane writes": f"""S2UR UR4, SR_CLOCKLO
        ULOP3.LUT UR4, UR4, 0x1f, URZ, 0xc0, !UPT
        UMOV UR5, 0x3
        UISETP.EQ.AND UP0, UPT, UR5, 0x4, UPT
        @UP0 UMOV UR4, 0x2{loop("UR4")}EXIT""",
    "one copy that both sides write": f"""{HALF}BSSY B0, join
        @P2 BRA other
        UMOV UR4, 0x3
        BRA last
    other:
        UMOV UR4, 0x9
    last:
        BSYNC B0
    join:
        {loop("UR4")}EXIT""",
    "a parameter in the register of the stack": f"MOV R1, c[0x0][0x168]{loop('R1')}EXIT",
    "a clock in the register of the stack": f"S2R R1, SR_CLOCKLO\nLOP3.LUT R6, R1, 0x1f, RZ, 0xc0, !PT{loop('R6')}EXIT",
    "the stack as a number": f"MOV R1, c[0x0][0x28]\nLOP3.LUT R6, R1, 0x3f, RZ, 0xc0, !PT{loop('R6')}EXIT",
    "a reciprocal": f"MOV R4, 0x42280000\nMUFU.RCP R5, R4\nLOP3.LUT R6, R5, 0x3f, RZ, 0xc0, !PT{loop('R6')}EXIT",
    "a comparison of floating point": f"""MOV R4, 0x40800000
        FSET.GT.AND R6, R4, RZ, PT
        LOP3.LUT R6, R6, 0x9, RZ, 0xc0, !PT{loop("R6")}EXIT""",
    "a carry into a wide product": f"""MOV R8, 0x2
        MOV R9, RZ
        MOV R10, 0xffffffff
        IADD3 R11, P1, R10, R8, RZ
        IMAD.WIDE.U32.X R6, R8, R8, R8, P1{loop("R6")}EXIT""",
    "threads in a barrier register": f"""MOV R6, 0x3
        {DATA}@P1 EXIT
        BSSY B0, join
        BMOV.32 R6, B0
        LOP3.LUT R6, R6, 0x3f, RZ, 0xc0, !PT
        BSYNC B0
    join:
        {loop("R6")}EXIT""",
    "a branch that the first lane decides": f"""{HALF}{DATA}@P1 EXIT
        MOV R6, 0x3
        @P2 BRA.U other
        MOV R6, 0x9
    other:
        {loop("R6")}EXIT""",
    "two entries of a loop": f"""{DATA}MOV R0, RZ
        @!P1 BRA in
        BRA between
    between:
        IADD3 R0, R0, 0x1, RZ
        ISETP.LT.AND P0, PT, R0, 0x8, PT
        @!P0 EXIT
    in:
        MOV R9, R0
        BRA between""",
    "a volatile word": f"{LOAD}LDG.E.STRONG.SYS R6, [R2.64]{loop('R6')}EXIT",
}


@pytest.mark.parametrize("name", OPEN)
def test_what_other_executions_may_do_otherwise_decides_nothing(name: str):
    found = edges(OPEN[name], contents=words(*[3] * 64) if "volatile" in name else None)
    assert found is None or None in found


@pytest.mark.parametrize(
    "body",
    [
        f"""{LOAD}MOV R10, RZ
    outer:
        IADD3 R5, R5, 0x1, RZ
    head:
        LDG.E R7, [R2.64]
        ISETP.NE.AND P1, PT, R7, RZ, PT
        @P1 BRA outer
        IADD3 R10, R10, 0x1, RZ
        ISETP.LT.AND P2, PT, R10, 0x5, PT
        @P2 BRA head
        {NARROW}{loop("R6", name="again")}EXIT""",
        f"""{LOAD}MOV R10, RZ
    outer:
        IADD3 R5, R5, 0x1, RZ
    head:
        IADD3 R10, R10, 0x1, RZ
        ISETP.GE.AND P2, PT, R10, 0x5, PT
        @P2 BRA end
        LDG.E R7, [R2.64]
        ISETP.NE.AND P1, PT, R7, RZ, PT
        @P1 BRA outer
        BRA head
    end:
        {NARROW}{loop("R6", name="again")}EXIT""",
    ],
    ids=["retry", "meeting at the head"],
)
def test_a_way_out_that_comes_back_is_no_way_out(body: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(import_module("sassan.ipet.loop_bounds.whole_run"), "_WORK", 400_000)  # what is followed, goes round without an end
    found = edges(body)
    assert found is None or found[-1] is None


def test_more_ways_out_than_bits_of_a_word_are_still_followed():
    exits = "\n".join(f"LDG.E R7, [R2.64+{4 * number:#x}]\nISETP.NE.AND P1, PT, R7, RZ, PT\n@P1 BRA out" for number in range(65))
    ways = (
        f"{LOAD}{loop('0x3', exits)}\nMOV R6, 0x3\nBRA last\nout:\nMOV R6, 0x5{loop('R6', name='other')}last:{loop('R6', name='again')}EXIT"
    )
    found = edges(ways)
    assert found is None or found[-1] is None


MISTAKES: Mapping[str, tuple[str, str]] = {
    "what either side writes": (
        "_spoil",
        f"{DATA}MOV R6, 0x9\n@P1 BRA end{loop('0x5', 'IADD3 R6, R6, -0x1, RZ')}\nend:{loop('R6', name='again')}EXIT",
    ),
    "who leaves": ("_open", f"{LOAD}head:\nLDG.E R7, [R2.64]\nISETP.NE.AND P1, PT, R7, RZ, PT\n@P1 BRA head\nEXIT"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_certainty_that_forgets_nothing_is_noticed(mistake: str, monkeypatch: pytest.MonkeyPatch):
    name, text = MISTAKES[mistake]
    monkeypatch.setattr(certain.Certainty, name, lambda *_: None)
    with pytest.raises(AssertionError):
        edges(text)


def executions(condition: str) -> list[int] | None:
    """Return how often the blocks of a listing are executed that branches on a condition: of one block, which is not told which it is."""
    cfg = assemble(f"{condition}\n@P0 BRA slow\nEXIT\nslow:\nMOV R0, RZ\nEXIT", ARCH).graph()
    seen = whole_run(cfg, FACTS, LaunchConfiguration((64, 1, 1), (1 << 30, 1, 1)), alike=True)
    return None if seen is None or seen.executions is None else [count for _, count in sorted(seen.executions.items())]


SCALED = "S2R R0, SR_{}.X\nI2F.F64 R2, R0\nMOV R6, 0x54442d18\nMOV R7, 0x3fa921fb\n{} R4, R2, {}R6{}\n"
FAR = "DSETP.GE.AND P0, PT, |R4|, 2.14748364800000000000e+09, PT"


SINGLE = "S2R R0, SR_TID.X\nMOV R3, 0x3f000000\nI2FP.F32.U32 R0, R0\nFMUL R4, R0, R3\n"


@pytest.mark.parametrize(
    ("condition", "counts"),
    [
        # What the reduction of a sine asks: is the argument, an index times a number, large?
        (f"{SCALED.format('TID', 'DMUL', '-', '')}{FAR}", [1, 1, 0]),
        (f"{SCALED.format('TID', 'DMUL', '-', '')}{FAR.replace('2.14748364800000000000e+09', '3')}", [1, 1, 1]),
        (f"{SCALED.format('TID', 'DADD', '', '')}{FAR}", [1, 1, 0]),
        # In blocks of other numbers it may be, and so it may where roundings are not settled.
        (f"{SCALED.format('CTAID', 'DMUL', '-', '')}{FAR}", None),
        (f"{SCALED.format('TID', 'DFMA', '', ', R2')}{FAR}", None),
        (f"{SCALED.format('TID', 'DMUL.RP', '', '')}{FAR}", None),
        # A zero keeps its sign, which no reader has; what a negated integer becomes, no source says.
        ("S2R R0, SR_TID.X\nI2F.F64.U32 R2, R0\nDMUL R4, R2, -0\nISETP.LT.AND P0, PT, R5, RZ, PT", None),
        ("DADD R4, -RZ, -0.0\nISETP.LT.AND P0, PT, R5, RZ, PT", None),
        ("S2R R0, SR_TID.X\nI2F.F64 R4, -R0\nISETP.LT.AND P0, PT, R5, RZ, PT", None),
        ("S2R R0, SR_TID.X\nISETP.GT.AND P0, PT, R0, 0x40, PT", [1, 1, 0]),
        # Single precision: the index of a cluster, of a block or a thread.
        (f"{SINGLE}F2I.U32.TRUNC.NTZ R5, R4\nISETP.GT.U32.AND P0, PT, R5, 0x1f, PT", [1, 1, 0]),
        (f"{SINGLE}F2I.U32.TRUNC.NTZ R5, R4\nISETP.GT.U32.AND P0, PT, R5, 0x1e, PT", [1, 1, 1]),
        (f"{SINGLE}F2I.U32.TRUNC.NTZ R5, -R4\nISETP.GT.U32.AND P0, PT, R5, 0x1f, PT", None),
        (f"{SINGLE.replace('R0, R3', 'R0, 0.5')}F2I.U32.TRUNC.NTZ R5, R4\nISETP.GT.U32.AND P0, PT, R5, 0x1f, PT", None),
        (f"{SINGLE.replace('0x3f000000', '0x00000001')}ISETP.GT.U32.AND P0, PT, R4, 0x1f, PT", None),
        (f"{SINGLE.replace('0x3f000000', '0x7f800000')}ISETP.GT.U32.AND P0, PT, R4, 0x1f, PT", None),
        ("LDG.E R0, [R2.64]\nISETP.GT.AND P0, PT, R0, 0x40, PT", None),
    ],
)
def test_what_blocks_do_whatever_their_number_is_seen_in_one_of_them(condition: str, counts: list[int] | None):
    assert executions(condition) == counts


def test_the_bits_of_what_is_no_number_are_not_settled():
    text = "MOV R2, 0x0\nMOV R3, 0x7ff80000\nDADD R4, R2, R2\nISETP.EQ.AND P0, PT, R5, 0x7ff80000, PT"
    assert executions(text) is None
    assert executions(text.replace("0x7ff80000", "0x3ff80000")) == [1, 1, 0]


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("@P0 BRA skip\n STG.E [R2.64], R1\nskip:\n NOP", None),
        ("BSSY B0, meet\n @P0 BRA skip\n STG.E [R2.64], R1\nskip:\n BSYNC B0\nmeet:\n NOP", 1),
        ("BSSY B0, meet\n @P0 BREAK B0\n BSYNC B0\nmeet:\n NOP", None),
        ("NOP", 1),
    ],
    ids=["branch", "barrier", "left barrier", "none"],
)
def test_a_vote_is_of_all_lanes_only_where_no_execution_parts_them(inside: str, expected: int | None):
    # No lane of the run holds the number that sends lanes apart.
    text = f"""{LOAD}
        LDG.E R9, [R2.64]
        ISETP.EQ.AND P0, PT, R9, 0x12345678, PT
        S2R R5, SR_LANEID
        ISETP.EQ.AND P2, PT, R5, RZ, PT
        {inside}
        VOTE.ANY R7, P4, P2
        MOV R8, 0x9
        @P4 MOV R8, 0x2
        {loop("R8", test="R0, {}")}
        EXIT"""
    found = edges(text, grid=1) or (None,)
    assert found == (expected,)
