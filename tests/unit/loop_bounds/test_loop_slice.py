"""Loops of persistent kernels: a run of what decides how often they iterate."""

from collections.abc import Sequence

import pytest

from listing import assemble
from sassan.ipet.loop_bounds.whole_run import whole_run
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting
from sassan.warpcfg import explore

ARCH = "sm_90"
PERSISTENT = """
    S2R R0, SR_CTAID.X
    MOV R1, c[0x0][0x210]
    MOV R2, RZ
    UMOV UR6, URZ
tile:
    ISETP.GE.AND P0, PT, R0, R1, PT
    @P0 EXIT
    MOV R4, RZ
inner:
    SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR6], R2
    @!P1 BRA inner
    IADD3 R4, R4, 0x1, RZ
    LDG.E R8, [R6.64]
    FADD R9, R9, R8
    ISETP.NE.AND P2, PT, R4, 0x40000, PT
    @P2 BRA inner
    {more}
    IADD3 R0, R0, c[0x0][0xc], RZ
    BRA tile
"""


def counted(text: str, heads: Sequence[str], tiles: int = 100, grid: int = 7) -> list[int | None]:
    code = assemble(text, ARCH)
    facts_of = tables.load(ARCH).facts
    graph = explore(code.function, facts_of)
    loops = [index for index, loop in enumerate(graph.loops) if graph.nodes[loop.head].start in {code.labels[head] for head in heads}]
    launch = LaunchConfiguration((64, 1, 1), (grid, 1, 1), (Setting("", 0x210, tiles, 4),))
    run = whole_run(graph, facts_of, launch, loops, sliced=True)
    return [None] * len(loops) if run is None else [run.back_edges[loop] for loop in loops]


def test_an_outer_loop_is_counted_without_the_iterations_of_the_loops_inside():
    assert counted(PERSISTENT.replace("{more}", "NOP"), ["tile"]) == [-(-100 // 7)]
    assert counted(PERSISTENT.replace("{more}", "NOP"), ["tile"], tiles=3, grid=3) == [1]


def test_what_an_inner_loop_leaves_may_decide():
    later = PERSISTENT.replace("{more}", "IADD3 R0, R0, R4, RZ").replace("0x40000", "0x2")
    assert counted(later, ["tile"])[0] in {None, -(-100 // 9)}  # a wait is no certain way through the loop that counts


@pytest.mark.parametrize("more", ["IADD3 R0, R0, R8, RZ", "@P3 BRA tile", "@P3 MOV R0, RZ"])
def test_what_memory_decides_is_not_counted(more: str):
    # P3 and R8 are not known.
    short = PERSISTENT.replace("0x40000", "0x4")  # a run that takes too long counts nothing, either
    assert counted(short.replace("{more}", more), ["tile"]) == [None]


def test_a_branch_that_decides_nothing_is_passed():
    beside = "@P3 BRA beside\n    FADD R9, R9, R9\nbeside:\n    NOP"
    assert counted(PERSISTENT.replace("{more}", beside), ["tile"]) == [-(-100 // 7)]


ELECTED = """MOV R10, RZ
    PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0
again:
    @P0 ELECT P1, URZ, PT
    UMOV UR4, UR5
    UTMALDG.2D [UR8], [UR16]
    @P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0
    PLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x0
    @P0 BRA.U.ANY again"""
UNIFORM = (
    PERSISTENT.replace("MOV R1, c[0x0][0x210]", "UMOV UR4, 0x1")
    .replace("IADD3 R0, R0, c[0x0][0xc], RZ", "IADD3 R0, R0, UR4, RZ")
    .replace("R0, R1", "R0, 0x64")
)
MEETING = """{before}
    BSSY B0, meet
    @P3 BRA beside
    UMOV UR9, 0x2
beside:
    BSYNC B0
meet:
    {behind}
    IADD3 R0, R0, UR9, RZ"""


def test_a_word_of_the_whole_warp_that_others_write_anew_decides_nothing():
    written = PERSISTENT.replace("IADD3 R0, R0", "UMOV UR7, 0x1\n    IADD3 R0, R0").replace("R0, R0, c[0x0][0xc]", "R0, R0, UR7")
    assert counted(written.replace("{more}", ELECTED.replace("UR4", "UR7")), ["tile"]) == [100]


def test_a_word_of_the_whole_warp_that_some_lanes_may_write_meanwhile_is_not_certain():
    # P3 is not known: some lanes write UR4 while others are before the word is read, in the same tile or in another.
    beside = "@P3 BRA beside\n    UMOV UR4, 0x2\nbeside:\n    NOP"
    assert counted(UNIFORM.replace("{more}", "NOP"), ["tile"]) == [100]
    assert counted(UNIFORM.replace("{more}", beside), ["tile"]) == [None]


def test_lanes_that_meet_again_no_longer_write_for_others():
    def steps(before: str, behind: str) -> list[int | None]:
        return counted(UNIFORM.replace("{more}", MEETING.format(before=before, behind=behind)), ["tile"])

    assert steps("NOP", "UMOV UR9, 0x1") == [50]
    assert steps("UMOV UR9, 0x1", "NOP") == [None]


def test_a_word_of_the_whole_warp_that_each_group_of_lanes_changes_is_not_certain():
    inside = "BSSY B0, meet\n    @P3 BRA beside\n    STG.E [R6.64], R8\nbeside:\n    UIADD3 UR9, UR9, -0x1, URZ\n    BSYNC B0\nmeet:\n    "
    text = UNIFORM.replace("MOV R2, RZ", "MOV R2, RZ\n    UMOV UR9, 0x3").replace("{more}", inside + "IADD3 R0, R0, UR9, RZ")
    assert counted(text, ["tile"]) == [None]


def test_what_all_lanes_tell_each_other_is_counted_where_none_is_apart():
    told = PERSISTENT.replace("S2R R0, SR_CTAID.X", "S2R R5, SR_CTAID.X\n    SHFL.IDX PT, R0, R5, RZ, 0x1f")
    assert counted(told.replace("{more}", "NOP"), ["tile"]) == [-(-100 // 7)]


LIMITED = """
    LDG.E R1, [R2.64]
    S2R R5, SR_LANEID
    ISETP.EQ.AND P5, PT, R5, RZ, PT
    ISETP.NE.AND P0, PT, RZ, RZ, PT
    @P0 EXIT
    ISETP.NE.AND P0, PT, R1, RZ, PT
    ISETP.LT.AND P2, PT, R1, 0x100, PT
    {before}
    MOV R0, RZ
tile:
    IADD3 R0, R0, 0x1, RZ
    ISETP.LT.AND P1, PT, R0, R8, PT
    @P1 BRA tile
    EXIT
"""


@pytest.mark.parametrize(
    "before",
    [
        "@P0 BRA skip\n    STG.E [R2.64], R1\nskip:\n    VOTE.ANY R7, PT, P2\n    IADD3 R8, R7, 0x6, RZ",
        "BSSY B0, meet\n    @P0 BSYNC B0\nmeet:\n    VOTE.ANY R7, P4, P5\n    MOV R8, 0x9\n    @P4 MOV R8, 0x2",
        "BSSY B0, meet\n    @P0 BREAK B0\n    BSYNC B0\nmeet:\n    VOTE.ANY R7, P4, P5\n    MOV R8, 0x9\n    @P4 MOV R8, 0x2",
        "MOV R8, 0x9\n    @P0 BRA skip\n    STG.E [R2.64], R1\nskip:\n    BRA.DIV ~URZ, apart\n    MOV R8, 0x2\napart:\n    NOP",
    ],
    ids=["vote", "barrier under a guard", "left barrier", "diverged"],
)
def test_what_depends_on_which_lanes_are_together_is_not_counted_behind_a_branch_that_is_passed(before: str):
    assert counted(LIMITED.replace("{before}", before), ["tile"]) == [None]


def test_what_is_read_of_a_barrier_register_is_not_certain():
    read = "MOV R8, 0x2\n    BSSY B0, meet\n    @P0 BRA side\n    {}\nside:\n    BSYNC B0\nmeet:\n    NOP"
    assert counted(LIMITED.replace("{before}", read.format("BMOV.32 R8, B0")), ["tile"]) == [None]
    assert counted(LIMITED.replace("{before}", read.format("BMOV.32 R9, B0")), ["tile"]) == [1]


def test_a_loop_that_threads_may_enter_beside_its_head_is_open_though_the_way_is_passed():
    text = """
    LDG.E R1, [R2.64]
    ISETP.NE.AND P0, PT, R1, RZ, PT
    MOV R0, RZ
    @P0 BRA beside
tile:
    IADD3 R0, R0, 0x1, RZ
    ISETP.LT.AND P1, PT, R0, 0x5, PT
    @!P1 BRA done
beside:
    IADD3 R9, R9, 0x1, RZ
    BRA tile
done:
    EXIT
"""
    assert counted(text, ["tile"]) == [None]
