"""What accesses move: cycles of the memory pipeline, sectors, bytes of DRAM, operations of atomic units."""

from dataclasses import replace
from random import Random

import pytest

from sassan.access.access import Access, AccessPattern
from sassan.access.opcodes import MemorySpace
from sassan.access.traffic import Moved, traffic
from sassan.access.transactions import Count
from sassan.machine.memory_pipeline import memory_pipeline

PIPELINE = memory_pipeline("sm_86")


def exactly(number: int) -> Count:
    return Count(number, number)


def moved(access: Access) -> Moved:
    return traffic([access], PIPELINE).moved[access.address]


def of_memory(opcode: str, pattern: AccessPattern, sectors: int, lines: int, **more: object) -> Moved:
    return moved(Access(0, opcode, MemorySpace.GLOBAL, 4, pattern, sectors=exactly(sectors), lines=exactly(lines), **more))


def test_a_load_of_a_line_moves_it_once():
    assert of_memory("LDG.E", AccessPattern.ALIGNED, 4, 1) == Moved(cycles=2, sectors=4, fetched=128)


def test_a_store_of_whole_sectors_fetches_nothing():
    assert of_memory("STG.E", AccessPattern.ALIGNED, 4, 1, partial=0, filled=0) == Moved(cycles=2, sectors=4, written=128)


def test_a_store_of_parts_of_sectors_fetches_their_half_lines():
    assert of_memory("STG.E", AccessPattern.STRIDED, 32, 8, halves=exactly(16), partial=16, filled=16).fetched == 1024
    assert of_memory("STG.E", AccessPattern.MISALIGNED, 5, 2, halves=exactly(3), partial=2, filled=1).fetched == 64
    assert of_memory("STG.E", AccessPattern.MISALIGNED, 5, 2, halves=exactly(3), partial=2, filled=1).lost.fetched == 128


def test_a_store_of_which_nothing_is_known_fetches_all_that_it_touches():
    assert of_memory("STG.E", AccessPattern.SCATTERED, 32, 32).fetched == 32 * 64


def test_scattered_lanes_take_a_line_each_and_half_of_it_from_dram():
    assert of_memory("LDG.E", AccessPattern.SCATTERED, 32, 32) == Moved(cycles=32, sectors=32, fetched=32 * 64)


def test_an_atomic_operation_fetches_and_writes_and_may_be_alone_at_each_lane():
    found = of_memory("REDG.E.ADD", AccessPattern.BROADCAST, 1, 1, collisions=32)
    assert (found.fetched, found.written, found.atomics) == (64, 64, 32 * 6)


def test_bank_conflicts_keep_the_pipeline():
    conflict = Access(0, "LDS", MemorySpace.SHARED, 4, AccessPattern.STRIDED, passes=exactly(32), ideal=1)
    assert moved(conflict) == Moved(cycles=63)
    assert moved(Access(0, "LDS.128", MemorySpace.SHARED, 16, AccessPattern.ALIGNED, passes=exactly(4), ideal=4)) == Moved(cycles=4)
    assert moved(Access(0, "ATOMS.ADD", MemorySpace.SHARED, 4, AccessPattern.STRIDED, passes=exactly(32))) == Moved(cycles=192)


def test_warps_of_a_block_move_what_each_of_them_does():
    full, half = (
        Access(0, "LDG.E", MemorySpace.GLOBAL, 4, AccessPattern.ALIGNED, sectors=exactly(n), lines=exactly(1), ideal=n) for n in (4, 2)
    )
    found = traffic([replace(full, warps=(full, half))], PIPELINE)
    assert found.moved[0].sectors == 4
    assert [moved[0].sectors for moved in found.warps] == [4, 2]


def test_dram_moves_what_no_access_before_moved():
    assert of_memory("LDG.E", AccessPattern.STRIDED, 12, 3, halves=exactly(7), fresh=1).fetched == 64
    assert of_memory("STG.E", AccessPattern.STRIDED, 12, 3, halves=exactly(7), fresh=0).written == 0


def test_dram_moves_all_again_where_l2_lost_it():
    known = {"halves": exactly(7), "fresh": 1, "partial": 0, "filled": 0}
    load, store = (of_memory(opcode, AccessPattern.STRIDED, 12, 3, **known) for opcode in ("LDG.E", "STG.E"))
    assert (load.lost.fetched, load.lost.written) == (7 * 64, 0)
    assert (store.lost.fetched, store.lost.written) == (0, 7 * 64)
    assert load.lost.lost == load.lost


def test_local_memory_and_textures_are_behind_no_argument():
    assert moved(Access(0, "LDL", MemorySpace.LOCAL, 4, AccessPattern.ALIGNED, sectors=exactly(4))).apart
    assert moved(Access(0, "TEX", MemorySpace.TEXTURE, 0, AccessPattern.UNKNOWN)).apart
    assert not of_memory("LDG.E", AccessPattern.ALIGNED, 4, 1).apart


def test_a_copy_in_bulk_is_a_gap():
    (gap,) = traffic([Access(0x40, "UBLKCP", MemorySpace.BULK, 0, AccessPattern.UNKNOWN)], PIPELINE).gaps
    assert (gap.address, gap.code) == (0x40, "unknown-bytes")


@pytest.mark.parametrize(
    ("opcode", "space"),
    [
        ("REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU", MemorySpace.GLOBAL),
        ("ATOMG.E.CAS.128.STRONG.GPU", MemorySpace.GLOBAL),
        ("ATOMS.ADD.F32", MemorySpace.SHARED),
        ("REDAS.ADD", MemorySpace.SHARED),
        ("SURED.D.BA.2D.ADD.STRONG.SYS.TRAP", MemorySpace.TEXTURE),
    ],
)
def test_an_atomic_operation_without_a_rate_is_a_gap(opcode: str, space: MemorySpace):
    (gap,) = traffic([Access(0x40, opcode, space, 4, AccessPattern.UNKNOWN)], PIPELINE).gaps
    assert (gap.address, gap.code) == (0x40, "no-rate")


def test_operations_of_neighbours_take_a_pass_per_sector_and_those_of_one_thread_one_operation():
    double = "RED.E.ADD.F64.RN.STRONG.GPU"
    assert of_memory(double, AccessPattern.ALIGNED, 8, 2, collisions=1).atomics == 8 * 12
    assert of_memory(double, AccessPattern.BROADCAST, 1, 1, collisions=32).atomics == 32 * 8
    assert of_memory(double, AccessPattern.BROADCAST, 1, 1, collisions=1, lanes=1).atomics == 8


def test_the_rate_of_an_atomic_operation_is_an_assumption():
    found = traffic([Access(0, "RED.E.ADD.F64.RN", MemorySpace.GLOBAL, 8, AccessPattern.BROADCAST, collisions=32)], PIPELINE).assumptions
    assert "atomic operations (double, reducing) keep a unit of L2 for 8 cycles on a word, for 12 on different words of a sector" in found


@pytest.mark.parametrize("run", [True, False], ids=["a run of sectors", "any sectors"])
def test_dram_gives_no_more_than_the_halves_of_lines_that_are_touched(run: bool):
    draw = Random(5)
    for _ in range(2000):
        first, count = draw.randrange(64), draw.randint(1, 32)
        sectors = range(first, first + count) if run else draw.sample(range(128), count)
        lines, halves = len({sector // 4 for sector in sectors}), len({sector // 2 for sector in sectors})
        pattern = AccessPattern.MISALIGNED if run else AccessPattern.IRREGULAR
        assert halves * 64 <= of_memory("LDG.E", pattern, count, lines).fetched <= lines * 128
