"""Queries of an address space: answered where the address is made of arguments, numbers and indices, and only there."""

import pytest

from listing import assemble
from sassan.isa import tables
from sassan.values.spaces import outside

FACTS = tables.load("sm_80").facts
ARGUMENT = """
    S2R R4, SR_CTAID.X
    MOV R5, 0x4
    IMAD.WIDE.U32 R2, R4, R5, c[0x0][0x168]
"""


def answered(code: str, query: str = "QSPC.E.S P0, RZ, [R2]") -> bool:
    """Return whether the query behind some code is known to be false."""
    return bool(outside(assemble(f"{code}\n{query}\n@P0 BRA end\nNOP\nend:\nEXIT", "sm_80").graph(), FACTS))


@pytest.mark.parametrize("query", ["QSPC.E.S P0, RZ, [R2]", "QSPC.E.L P0, RZ, [R2]"])
def test_an_address_that_is_an_argument_and_an_index_is_outside(query: str):
    assert answered(ARGUMENT, query)


def test_both_ways_to_a_query_count():
    diamond = "ISETP.NE.AND P1, PT, RZ, c[0x0][0x170], PT\n@P1 BRA other\n{}\nBRA join\nother:\n{}\njoin:"
    pair = "MOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]"
    assert answered(diamond.format(pair, ARGUMENT))
    assert not answered(diamond.format(pair, "LDG.E.64 R2, [R6]"))


@pytest.mark.parametrize(
    "more",
    [
        "LDG.E R3, [R6]",  # from memory
        "@P2 LDG.E R3, [R6]",  # perhaps
        "LDG.E R4, [R6]\nIADD3 R2, R2, R4, RZ",  # in part
        "MOV R3, 0x7f",  # a high word that is a number
        "S2R R3, SR_SWINHI",  # the window of shared memory
        "MOV R3, c[0x0][0x18]",  # the same, as older code has it
        "MOV R3, c[0x3][0x4]",
        "MOV R3, R9",  # nobody wrote it
    ],
)
def test_any_other_part_leaves_the_question_open(more: str):
    assert not answered(f"{ARGUMENT}\n{more}")


def test_a_query_for_global_memory_is_not_answered():
    assert not answered(ARGUMENT, "QSPC.E.G P0, RZ, [R2]")
