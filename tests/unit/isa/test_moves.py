"""What an instruction moves where: return addresses, stack pointers and barriers."""

import pytest

from listing import assemble
from sassan.isa.moves import Add, InitialStackPointer, Load, Move, Put, RestoreBarrier, RoundDown, SaveBarrier, Store, moves
from sassan.isa.tables import load


def moved(text: str) -> tuple[Move, ...]:
    one = assemble(f"{text}\n EXIT", "sm_75").function.instructions[0]
    facts = load("sm_75").facts(one)
    assert facts is not None
    return moves(one, facts.computes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MOV R2, R3", (Add(2, 3),)),
        ("MOV R2, 0x30", (Put(2, 0x30),)),
        ("MOV R2, RZ", (Put(2, 0),)),
        ("IMAD.MOV.U32 R2, RZ, RZ, 0x30", (Put(2, 0x30),)),
        ("IMAD.MOV.U32 R2, RZ, RZ, R3", (Add(2, 3),)),
        ("IMAD.IADD R2, R3, 0x1, R4", ()),
        ("IMAD.IADD R2, R3, 0x1, RZ", (Add(2, 3),)),
        ("IMAD R2, R3, 0x2, RZ", ()),
        ("IADD3 R1, R1, -0x10, RZ", (Add(1, 1, 0xFFFFFFF0),)),
        ("IADD3 R2, R3, R4, RZ", ()),
        ("IADD3.X R2, R3, 0x1, RZ, P0, !PT", ()),
        ("HFMA2.MMA R2, -RZ, RZ, 0, 0", (Put(2, 0),)),
        ("HFMA2.MMA R2, -RZ, RZ, 0, 5.9604644775390625e-08", (Put(2, 1),)),
        ("CS2R R2, SRZ", (Put(2, 0), Put(3, 0))),
        ("CS2R.32 R2, SR_CLOCKLO", ()),
        ("LOP3.LUT R1, R1, 0xfffffff0, RZ, 0xc0, !PT", (RoundDown(1, 1, 15),)),
        ("LOP3.LUT R1, R1, 0xffffff0f, RZ, 0xc0, !PT", ()),
        ("LOP3.LUT R1, R1, 0xfffffff0, RZ, 0xfc, !PT", ()),
        ("LOP3.LUT R1, ~R1, 0xfffffff0, RZ, 0xc0, !PT", ()),
    ],
)
def test_words_are_copied_and_added(text: str, expected: tuple[Move, ...]):
    assert moved(text) == expected


def test_the_stack_pointer_starts_where_the_constant_bank_says():
    assert moved("IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]") == (InitialStackPointer(1),)
    assert moved("IMAD.MOV.U32 R2, RZ, RZ, c[0x0][0x28]") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("STL [R1+0x8], R3", (Store(1, 8, (3,)),)),
        ("STL.64 [R1], R4", (Store(1, 0, (4, 5)),)),
        ("STL.U8 [R1+0x7], R3", (Store(1, 4, (None, None)),)),
        ("STL.64 [R1], RZ", (Store(1, 0, (None, None), zeros=True),)),
        ("STL [0x8], R3", (Store(None, 0, ()),)),
        ("ST.E [R2.64], R3", (Store(None, 0, ()),)),
        ("LDL R3, [R1+0x8]", (Load(3, 1, 1, 8),)),
        ("LDL.128 R4, [R1]", (Load(4, 4, 1, 0),)),
        ("LDL.U8 R3, [R1]", ()),
        ("STG.E [R2.64], R3", ()),
    ],
)
def test_words_go_to_stack_slots_and_back(text: str, expected: tuple[Move, ...]):
    assert moved(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BMOV.32.CLEAR RZ, B0", (SaveBarrier(None, 0, clear=True),)),
        ("BMOV.32.CLEAR R4, B2", (SaveBarrier(4, 2, clear=True),)),
        ("BMOV.32 R4, B2", (SaveBarrier(4, 2, clear=False),)),
        ("BMOV.32 B2, R4", (RestoreBarrier(2, 4),)),
    ],
)
def test_barriers_are_saved_and_restored(text: str, expected: tuple[Move, ...]):
    assert moved(text) == expected
