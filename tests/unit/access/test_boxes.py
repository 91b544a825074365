"""What copies by tensor maps move, by hand."""

from dataclasses import replace

import pytest

from sassan.access.boxes import box_traffic
from sassan.access.traffic import Moved
from sassan.ir import CompilerFacts, Function, Parameter
from sassan.isa import tables
from sassan.machine.contents import Contents, KnownBytes
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.memory_pipeline import memory_pipeline
from sassan.machine.parameters import Setting
from sassan.machine.tensor_map import Element, MapKind, TensorMap
from sassan.values import WarpValues, with_values
from sassan.warpcfg import explore
from scheduled import scheduled
from tensor_maps import encoded

BOX = TensorMap(MapKind.TILED, Element("float32", 32, 32), 0, (256, 256), (1024,), (1, 1), (32, 64))
"""Rows of 128 bytes, four sectors each."""
COPIES = """
    ULDC.64 UR6, c[0x0][0x198]                       | 7
    UIADD3 UR8, UP0, UR6, 0x70, URZ                  | 7
    UIADD3.X UR9, URZ, UR7, URZ, UP0, !UPT           | 7
    ULDC.64 UR10, c[0x0][0x300]                      | 7
    ULDC UR17, c[0x0][0x308]                         | 7
    USHF.L.U32 UR18, UR17, {shift}, URZ              | 7
    USHF.L.U32 UR13, UR17, {shift}, URZ              | 7
    UMOV UR19, URZ                                   | 7
    UMOV UR14, URZ                                   | 7
    UTMALDG.2D [UR16], [UR8]                         | 5
    UTMASTG.2D [UR12], [UR10]                        | 5
    EXIT                                             | 5
"""
LOAD, STORE = 16 * 9, 16 * 10


def values(box: TensorMap, shift: str = "0x4", other: TensorMap | None = None) -> tuple[WarpValues, LaunchConfiguration]:
    facts = CompilerFacts(16 * 12, parameters=(Parameter(0, 0x70, 128), Parameter(1, 0xF0, 8)), parameter_base=0x210)
    function: Function = replace(scheduled(COPIES.replace("{shift}", shift), "sm_90"), kernel=True, compiler=facts)
    memory = Contents((KnownBytes(0x5000, encoded(other or box)),), "one")
    launch = LaunchConfiguration((32, 1, 1), (4, 1, 1), (Setting("", 0x300, 0x5000, 8),), maps=((0x280, box),), contents=memory)
    facts_of = tables.load("sm_90").facts
    found = with_values(explore(function, facts_of), facts_of, launch, lambda known: explore(function, known))
    assert found is not None
    return found, launch


def moved(box: TensorMap, shift: str = "0x4") -> dict[int, Moved]:
    known, launch = values(box, shift)
    return dict(box_traffic([known], launch, memory_pipeline("sm_90")))


def test_a_box_whose_rows_begin_at_sectors_moves_its_bytes():
    assert moved(BOX) == {
        LOAD: Moved(cycles=86, sectors=256, fetched=8192),
        STORE: Moved(cycles=86, sectors=256, written=8192),
    }


@pytest.mark.parametrize(
    ("box", "shift"),
    [(BOX, "0x2"), (replace(BOX, address=16), "0x4"), (replace(BOX, strides=(1040,)), "0x4")],
    ids=["coordinate", "tensor", "stride"],
)
def test_a_row_that_may_begin_within_a_sector_touches_one_more(box: TensorMap, shift: str):
    found = moved(box, shift)
    assert (found[LOAD].sectors, found[LOAD].fetched) == (64 * 5, 64 * 3 * 64)
    assert (found[STORE].fetched, found[STORE].written) == (64 * 3 * 64, 64 * 3 * 64)  # sectors that are stored in part


def test_sectors_that_begin_within_a_half_line_touch_one_more_of_these():
    found = moved(BOX, "0x3")
    assert (found[LOAD].sectors, found[LOAD].fetched, found[STORE].written) == (256, 64 * 3 * 64, 64 * 3 * 64)
    assert found[STORE].fetched == 0


def test_l2_fetches_what_it_is_told_to_for_a_part_of_it():
    assert moved(replace(BOX, promotion=2))[LOAD].fetched == 64 * 2 * 128  # rows of 128 bytes that begin at any 64
    assert moved(replace(BOX, promotion=2), "0x5")[LOAD].fetched == 64 * 128
    assert moved(replace(BOX, promotion=3), "0x5")[LOAD].fetched == 64 * 256  # 128 bytes at a multiple of 128 lie in one piece of 256
    assert moved(replace(BOX, promotion=3))[LOAD].fetched == 64 * 2 * 256


def test_a_box_that_may_reach_beyond_a_tensor_stores_a_part_of_the_last_sector_of_a_row():
    assert moved(replace(BOX, extents=(250, 256)))[STORE].fetched == 8192


def test_the_engine_takes_a_row_at_a_time():
    assert moved(replace(BOX, box=(4, 256)))[LOAD].cycles == 256 * 9 // 8


def test_steps_leave_gaps_in_which_whole_sectors_are_touched():
    found = moved(replace(BOX, steps=(4, 1)))
    assert (found[LOAD].sectors, found[LOAD].fetched, found[STORE].fetched) == (256, 8192, 8192)


def test_the_larger_box_counts_where_warps_are_passed_two_and_none_where_one_is_not_known():
    small, large = values(replace(BOX, box=(32, 8))), values(BOX)
    pipeline = memory_pipeline("sm_90")
    launch = large[1]
    assert box_traffic([small[0], large[0]], launch, pipeline)[LOAD].sectors == 256
    assert box_traffic([large[0]], replace(launch, maps=(), contents=None), pipeline) == {}


HANDED = """
    LDC.64 R6, c[0x0][0x198]                         | 7 w0
    IADD3 R2, P1, R6, 0x70, RZ                       | 7 wait0
    IMAD.X R3, RZ, RZ, R7, P1                        | 7
    R2UR UR8, R2                                     | 13
    R2UR UR9, R3                                     | 13
    UMOV UR19, URZ                                   | 7
    UTMALDG.2D [UR16], [UR8]                         | 5
    EXIT                                             | 5
"""


def test_a_map_is_known_whose_address_a_thread_hands_to_the_warp():
    facts = CompilerFacts(16 * 8, parameters=(Parameter(0, 0x70, 128),), parameter_base=0x210)
    function: Function = replace(scheduled(HANDED, "sm_90"), kernel=True, compiler=facts)
    launch = LaunchConfiguration((32, 1, 1), (4, 1, 1), maps=((0x280, BOX),))
    facts_of = tables.load("sm_90").facts
    found = with_values(explore(function, facts_of), facts_of, launch, lambda known: explore(function, known))
    assert found is not None
    assert set(box_traffic([found], launch, memory_pipeline("sm_90"))) == {16 * 6}


def test_of_a_map_of_which_nothing_is_known_the_largest_counts_that_the_launch_passes_and_that_fits():
    text = HANDED.replace("IADD3 R2, P1, R6, 0x70, RZ  ", "LDG.E R2, [R4.64]           ")
    facts = CompilerFacts(16 * 8, parameters=(Parameter(0, 0x70, 128),), parameter_base=0x210)
    function: Function = replace(scheduled(text, "sm_90"), kernel=True, compiler=facts)
    maps = [replace(BOX, box=(8, 8)), BOX, replace(BOX, extents=(256,) * 3, strides=(1024,) * 2, steps=(1,) * 3, box=(64, 64, 2))]
    launch = LaunchConfiguration((32, 1, 1), (4, 1, 1), maps=tuple((0x280 + 128 * place, each) for place, each in enumerate(maps)))
    facts_of = tables.load("sm_90").facts
    found = with_values(explore(function, facts_of), facts_of, launch, lambda known: explore(function, known))
    assert found is not None
    pipeline = memory_pipeline("sm_90")
    assert box_traffic([found], launch, pipeline)[16 * 6].sectors == 64 * 5
    assert box_traffic([found], replace(launch, maps=()), pipeline) == {}
    # Maps in memory, which the kernel may have written, have other boxes.
    anew = replace(scheduled(f"UTMACCTL.IV [UR4] | 5\n{text}", "sm_90"), kernel=True, compiler=facts)
    found = with_values(explore(anew, facts_of), facts_of, launch, lambda known: explore(anew, known))
    assert found is not None
    assert box_traffic([found], launch, pipeline) == {}
