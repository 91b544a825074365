"""Numbers of a listing of cuobjdump that the linker or the driver may write."""

import pytest

from sassan.app.analysis import analyze
from sassan.app.inputs import inherited
from sassan.app.settings import Settings
from sassan.ir import Immediate, Symbol
from unit.frontend.listings import cuobjdump, function, maxwell, nvdisasm

ZEROS = ("UMOV UR6, 0x0 ;", "MOV R2, 0x0 ;", "MOV R3, 0x0 ;", "MOV R9, 0x0 ;", "RET.REL.NODEC R8 0x0 ;")
CALL = ("MOV R20, 0x40 ;", "MOV R21, 0x0 ;", "NOP ;", "CALL.REL.NOINC 0x50 ;", "EXIT ;", "RET.REL.NODEC R20 0x0 ;")
LOOP = ("IADD3 R2, R2, 0x4, RZ ;", "ISETP.GE.U32.AND P0, PT, R2, R6, PT ;", "@!P0 BRA 0x20 ;")


def kinds(text: str, count: int) -> list[type]:
    return [type(each.operands[1]) for each in function(text).instructions[:count]]


def test_an_address_that_cuobjdump_prints_as_0_is_unknown():
    assert kinds(cuobjdump(*ZEROS), 4) == [Symbol, Symbol, Symbol, Immediate]
    assert [each.text for each in function(cuobjdump(*ZEROS)).instructions] == [each.removesuffix(" ;") for each in ZEROS]
    assert kinds(maxwell("MOV32I R2, 0x0 ;"), 1) == [Symbol]


def test_the_upper_half_of_a_return_address_is_0():
    assert kinds(cuobjdump(*CALL), 2) == [Immediate, Immediate]
    assert kinds(cuobjdump(CALL[1], CALL[0], *CALL[2:]), 2) == [Immediate, Immediate]


@pytest.mark.parametrize("other", ["MOV R21, R3 ;", "LDG.E.64 R20, [R2] ;", "BRA 0x30 ;", "MOV R20, 0x30 ;"])
def test_it_is_not_where_something_else_comes_between(other: str):
    assert kinds(cuobjdump(*CALL[:2], other, *CALL[3:]), 2)[1] is Symbol


def test_a_0_beside_a_number_elsewhere_is_unknown():
    assert kinds(cuobjdump("MOV R3, 0x0 ;", "MOV R2, 0x3f800000 ;", "EXIT ;"), 1) == [Symbol]


def test_a_number_is_one_wherever_it_is():
    assert kinds(cuobjdump("UMOV UR4, 0x37300010 ;", "UMOV UR5, 0x0 ;", "EXIT ;"), 2) == [Immediate, Symbol]


def test_what_is_taken_for_granted_of_the_others_is_said():
    functions = [function(cuobjdump(*bodies)) for bodies in (CALL, ZEROS)]
    assert [each.relocated for each in functions] == [0, 3]
    assert ["it prints 0 for one in 3 moves at most" in " ".join(inherited([each])) for each in functions] == [False, True]


def test_nvdisasm_prints_addresses_by_name_so_that_0_is_a_number():
    lines = [f"        /*{16 * index:04x}*/                   {body}" for index, body in enumerate(ZEROS[:3])]
    assert [each.operands[1] for each in function(nvdisasm(*lines)).instructions] == [Immediate(0)] * 3


@pytest.mark.parametrize(
    ("first", "second", "upper", "wcet"),
    [
        ("MOV R2, 0x0 ;", "MOV R6, 0x0 ;", "MOV R7, RZ ;", None),
        ("MOV R2, RZ ;", "MOV R6, 0x0 ;", "MOV R7, RZ ;", None),
        ("MOV R2, RZ ;", "MOV R6, RZ ;", "MOV R7, RZ ;", 8),
        ("MOV R2, RZ ;", "MOV R6, 0x100 ;", "MOV R7, RZ ;", 197),
    ],
)
def test_a_loop_from_an_address_or_to_one_has_no_bound(first: str, second: str, upper: str, wcet: int | None):
    text = cuobjdump(first, second, *LOOP, upper, "MOV R1, 0x3f800000 ;", "EXIT ;")
    assert analyze(function(text), Settings()).wcet.value == wcet
