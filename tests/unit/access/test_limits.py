"""What a user knows of accesses whose addresses come from data."""

from fractions import Fraction

import pytest

from sassan.access.access import Access, AccessPattern
from sassan.access.accesses import assumptions
from sassan.access.limits import Limit, limited, spread
from sassan.access.opcodes import MemorySpace
from sassan.access.traffic import Moved, traffic
from sassan.access.transactions import Count
from sassan.errors import UsageError
from sassan.machine.memory_pipeline import memory_pipeline

ANYWHERE = Count(1, 32)
GATHER = Access(0x90, "LDG.E", MemorySpace.GLOBAL, 4, AccessPattern.SCATTERED, sectors=ANYWHERE, lines=ANYWHERE)
TABLE = Access(0xA0, "LDS", MemorySpace.SHARED, 4, AccessPattern.SCATTERED, passes=ANYWHERE, ideal=1)
COUNTER = Access(0xB0, "RED.E.ADD", MemorySpace.GLOBAL, 4, AccessPattern.SCATTERED, sectors=ANYWHERE, lines=ANYWHERE, collisions=32)


def moved(access: Access, limit: Limit) -> Moved:
    return traffic(limited([access], {access.address: limit}), memory_pipeline("sm_86")).moved[access.address]


def test_so_many_sectors_are_moved_and_no_more():
    assert moved(GATHER, Limit()) == Moved(cycles=32, sectors=32, fetched=2048)
    assert moved(GATHER, Limit(sectors=2)) == Moved(cycles=2, sectors=2, fetched=128)


def test_more_sectors_than_there_may_be_change_nothing():
    assert moved(GATHER, Limit(sectors=100)) == moved(GATHER, Limit())


def test_every_warp_of_a_table_is_limited():
    of_warps = Access(0x90, "LDG.E", MemorySpace.GLOBAL, 4, AccessPattern.ROWS, sectors=ANYWHERE, lines=ANYWHERE, warps=(GATHER, GATHER))
    found = traffic(limited([of_warps], {0x90: Limit(sectors=1)}), memory_pipeline("sm_86"))
    assert [each[0x90].sectors for each in found.warps] == [1, 1]


def test_so_many_passes_are_made_over_the_banks():
    assert moved(TABLE, Limit(passes=4)) == Moved(cycles=7)


def test_units_that_work_at_a_time_share_the_operations():
    assert moved(COUNTER, Limit()).atomics == 32 * 6
    assert moved(COUNTER, Limit(distinct=64)).atomics == 32 * Fraction(6, 64)
    assert moved(COUNTER, Limit(distinct=64)).written == moved(COUNTER, Limit()).written


def test_an_access_elsewhere_is_not_limited():
    assert limited([GATHER, COUNTER], {0xB0: Limit(sectors=1)})[0] == GATHER


def test_what_is_shared_is_assumed():
    text = "whenever atomic operations at 0x00b0 wait, 64 units of L2 work on them"
    assert text in assumptions(limited([COUNTER], {0xB0: Limit(distinct=64)}))
    assert text not in assumptions([COUNTER])


@pytest.mark.parametrize(
    ("access", "limit", "fits"),
    [
        (GATHER, Limit(sectors=1), True),
        (GATHER, Limit(passes=1), False),
        (GATHER, Limit(distinct=2), False),
        (TABLE, Limit(passes=1), True),
        (TABLE, Limit(sectors=1), False),
        (COUNTER, Limit(sectors=1, distinct=2), True),
    ],
)
def test_a_limit_is_said_of_the_memory_that_has_it(access: Access, limit: Limit, fits: bool):
    assert (limit.mismatch(access) == "") == fits


def test_an_option_names_an_instruction_and_units():
    assert spread("0x1230=64", "--distinct") == (0x1230, 64)


@pytest.mark.parametrize("text", ["", "0x1230", "0x1230=0", "0x1230=-1", "1230=4", "0x1230=4.5", "=4", "0x1230=x", "0x1230=9999999"])
def test_what_is_no_such_option_is_refused(text: str):
    with pytest.raises(UsageError) as caught:
        spread(text, "--distinct")
    assert caught.value.code == "distinct"
    assert "--distinct 0x1230=64" in (caught.value.hint or "")
