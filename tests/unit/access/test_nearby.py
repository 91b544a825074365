"""Addresses that may be anywhere, but not far from each other: tables that lanes read at an index of few bits."""

import numpy as np
import pytest

from listing import assemble
from sassan.access import Access, accesses
from sassan.access.nearby import Arc
from sassan.access.transactions import LINE, SECTOR, passes, sectors
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.values import with_values
from sassan.warpcfg import explore

DRAWN = "S2R R0, SR_TID.X\nMOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]\nIMAD.WIDE R2, R0, 0x4, R2\nLDG.E R8, [R2.64]\n"
"""A word of memory for each lane."""
LOW = "LOP3.LUT R8, R8, 0x7, RZ, 0xc0, !PT\nIMAD.WIDE.U32 R6, R8, 0x4, R4\n"
LEA = "LOP3.LUT R8, R8, 0x1f, RZ, 0xc0, !PT\nLEA R6, P0, R8, R4, 0x3\nLEA.HI.X R7, R8, R5, RZ, 0x3, P0\n"
NONZERO = "ISETP.NE.AND P0, PT, R8, RZ, PT\n"
TABLE = "LDC.64 R4, c[0x4][0x0]\n"


def last(text: str) -> Access:
    """Return the last access of a listing of sm_80."""
    function = assemble(DRAWN + text + "\nEXIT", "sm_80").function
    facts_of = tables.load("sm_80").facts
    values = with_values(explore(function, facts_of), facts_of, LaunchConfiguration((64, 1, 1)), lambda facts: explore(function, facts))
    assert values is not None
    return accesses(values)[-1]


def most(access: Access) -> int | None:
    """Return the most transactions of an access."""
    return None if access.transactions is None else access.transactions.most


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # 8 words of a line, wherever it begins.
        (f"{TABLE}{LOW}LDG.E R9, [R6.64]", 2),
        # Two places, 64 bytes apart.
        (f"{TABLE}LOP3.LUT R8, R8, 0x8, RZ, 0xc0, !PT\nIMAD.WIDE.U32 R6, R8, 0x8, R4\nLDG.E.128 R12, [R6.64+0x10]", 2),
        (f"{TABLE}{LEA}LDG.E.64 R12, [R6.64]", 9),
        # Nothing is known of the index, or the table is each lane's own.
        (f"{TABLE}IMAD.WIDE.U32 R6, R8, 0x4, R4\nLDG.E R9, [R6.64]", 32),
        (f"MOV R4, R8\n{LOW}LDG.E R9, [R6.64]", 32),
        # Under a guard: what its threads wrote counts, and not what was there before a write of all.
        (f"{TABLE}{NONZERO}{LOW.replace('IMAD', '@P0 IMAD')}@P0 LDG.E R9, [R6.64]", 2),
        (f"{TABLE}{NONZERO}MOV R9, R8\n{LOW.replace('IMAD', '@P0 IMAD')}MOV R6, R9\n@P0 LDG.E R9, [R6.64]", 32),
        # Shared memory: 64 words are two of each bank.
        ("LOP3.LUT R8, R8, 0xfc, RZ, 0xc0, !PT\nLDS R9, [R8]", 2),
        ("LOP3.LUT R8, R8, 0x3c, RZ, 0xc0, !PT\nLDS R9, [R8]", 1),
        ("LOP3.LUT R8, R8, 0xfc, RZ, 0xc0, !PT\nATOMS.ADD R9, [R8], R0", 32),
    ],
)
def test_an_index_of_few_bits_reads_few_sectors(text, count):
    assert most(last(text)) == count


def test_an_arc_counts_no_fewer_than_any_addresses_on_it():
    random = np.random.default_rng(3)
    for _ in range(2000):
        size = int(random.choice([1, 2, 4, 8, 16]))
        step = size * int(random.integers(1, 9))
        count = int(random.integers(1, 40))
        begin = size * int(random.integers(0, 1000))
        addresses = (begin + step * random.integers(0, count, 32)).tolist()
        arc = Arc(step * (count - 1), step)
        assert sectors(addresses, size) <= arc.blocks(SECTOR)
        assert len({address // LINE for address in addresses}) <= arc.blocks(LINE)
        assert passes(addresses, size) <= arc.passes(size)
