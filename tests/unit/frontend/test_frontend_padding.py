"""Padding behind the code is dropped where nothing reaches it, and only there."""

import pytest

from unit.frontend.listings import cuobjdump, function, maxwell, nvdisasm, sample


@pytest.mark.parametrize(
    ("bodies", "kept"),
    [
        (("EXIT ;", "BRA 0x10;", "NOP;", "NOP;"), 1),
        (("EXIT ;", "BRA 0x10;"), 1),
        (("EXIT ;", "NOP;", "NOP;"), 1),
        (("RET.REL.NODEC R20 0x0 ;", "BRA 0x10;", "NOP;"), 1),
        (("BRA 0x0 ;", "BRA 0x10;", "NOP;"), 1),
        (("EXIT ;",), 1),
        (("BRA 0x0;", "NOP;"), 1),
        (("@P0 EXIT ;", "BRA 0x10;", "NOP;"), 2),
        (("CALL.ABS.NOINC 0x0 ;", "BRA 0x10;", "NOP;"), 2),
        (("BRA P0, 0x0 ;", "NOP;"), 2),
        (("BRA.DIV UR4, 0x0 ;", "NOP;"), 2),
        (("@P0 BRA 0x20 ;", "EXIT ;", "BRA 0x20;", "NOP;"), 3),
        (("@P0 BRA 0x30 ;", "EXIT ;", "BRA 0x20;", "NOP;"), 4),
        (("MOV R1, R2 ;", "NOP;"), 2),
        (("EXIT ;", "BRA 0x0;", "NOP;"), 2),
        (("NOP;", "NOP;"), 2),
    ],
)
def test_padding_is_what_nothing_reaches(bodies, kept):
    assert len(function(cuobjdump(*bodies)).instructions) == kept


def test_padding_of_maxwell_is_dropped():
    assert len(function(maxwell("EXIT ;", "BRA 0x10 ;", "NOP;")).instructions) == 1


def test_an_exit_under_a_cc_test_does_not_end_the_code():
    assert len(function(maxwell("EXIT CC.EQ ;", "BRA 0x10 ;")).instructions) == 2


def test_a_symbol_in_the_padding_keeps_it():
    text = nvdisasm(
        "        /*0000*/  EXIT ;",
        "        .type           $k$f,@function",
        "$k$f:",
        ".L_x_0:",
        "        /*0010*/  BRA `(.L_x_0);",
        "        /*0020*/  NOP;",
    )
    assert len(function(text).instructions) == 2


def test_the_last_instruction_of_a_sample_is_its_exit():
    last = function(sample("sm_90", "saxpy.cuobjdump.sass")).instructions[-1]
    assert (last.address, last.opcode, last.following) == (0x120, "EXIT", 0x130)
