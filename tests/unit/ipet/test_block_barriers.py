"""Which barriers all warps of a block pass one after the other."""

from __future__ import annotations

import pytest

from listing import assemble
from sassan.ipet.block_barriers import Barriers, block_barriers
from sassan.isa import tables


def barriers(*lines: str) -> Barriers:
    return block_barriers(assemble("\n".join((*lines, "EXIT"))).graph(), tables.load("sm_61").facts)


def test_barriers_are_counted_per_block() -> None:
    found = barriers("BAR.SYNC 0x0", "@P0 BRA behind", "BAR.SYNC 0x0", "BAR.RED.POPC 0x0, P0", "behind:", "MOV R0, R1")
    assert found == Barriers((1, 2, 0), in_order=True)
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
