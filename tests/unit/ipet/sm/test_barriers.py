"""Which barriers all warps of a block pass one after the other."""

from __future__ import annotations

import pytest

from listing import assemble
from sassan.ipet.sm.barriers import BlockBarriers, block_barriers
from sassan.isa import tables


def barriers(*lines: str, arch: str = "sm_61") -> BlockBarriers:
    return block_barriers(assemble("\n".join((*lines, "EXIT")), arch).graph(), tables.load(arch).facts)


def test_barriers_are_counted_per_block() -> None:
    found = barriers("BAR.SYNC 0x0", "@P0 BRA behind", "BAR.SYNC 0x0", "BAR.RED.POPC 0x0, P0", "behind:", "MOV R0, R1")
    assert found == BlockBarriers((1, 2, 0), in_order=True)
    assert found


def test_without_barriers_nobody_waits() -> None:
    assert not barriers("MOV R0, R1")


@pytest.mark.parametrize(
    "lines",
    [
        ("BAR.SYNC 0x0", "BAR.SYNC 0x1"),
        ("BAR.SYNC 0x1, 0x40",),
        ("BAR.SYNC R0",),
        ("BAR.SYNC 0x0", "BAR.ARV 0x1, 0x40"),
        ("@P0 BAR.SYNC 0x0",),
    ],
    ids=["two", "some-threads", "unknown", "arrive", "guarded"],
)
def test_barriers_of_some_warps_or_of_unknown_name_may_open_in_any_order(lines: tuple[str, ...]) -> None:
    found = barriers(*lines)
    assert (bool(found), found.in_order) == (True, False)


@pytest.mark.parametrize("arch", ["sm_90", "sm_100", "sm_120"])
def test_a_barrier_of_a_cluster_is_a_gap_where_a_warp_waits(arch: str) -> None:
    found = barriers("UCGABAR_ARV", "BAR.SYNC.DEFER_BLOCKING 0x0", "UCGABAR_WAIT", arch=arch)
    assert found.clusters == ((0x00, "UCGABAR_ARV"), (0x20, "UCGABAR_WAIT"))
    assert [(gap.address, gap.code) for gap in found.gaps] == [(0x20, "cluster-barrier")]


def test_an_arrival_at_a_barrier_of_a_cluster_is_enough() -> None:
    found = barriers("UCGABAR_ARV", arch="sm_90")
    assert (bool(found), [(gap.address, gap.code) for gap in found.gaps]) == (True, [(0, "cluster-barrier")])


def test_a_block_barrier_is_no_gap() -> None:
    assert barriers("BAR.SYNC 0x0").gaps == ()


@pytest.mark.parametrize("line", ["WARPGROUP.ARRIVE", "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, gsb0"])
def test_the_warps_of_a_warpgroup_may_wait_for_each_other_in_any_order(line: str) -> None:
    found = barriers("BAR.SYNC.DEFER_BLOCKING 0x0", line, arch="sm_90")
    assert (found.arrivals, found.in_order, found.gaps) == ((2,), False, ())
