"""Two small real listings against files that hold every field of every instruction.

The files were made by this reader and then compared with the listings line by line; a difference is to be explained, not copied.
"""

from dataclasses import fields
from pathlib import Path

import pytest

from sassan.ir import Instruction, Operand
from unit.frontend.listings import function, sample

GOLDEN = Path(__file__).parent / "golden"
# What each proves: dual issue, control words, encodings on later lines | schedule notes, descriptors, two words, padding dropped.
LISTINGS = ["sm_61/saxpy.nvdisasm-hex.sass", "sm_120/saxpy.cuobjdump.sass"]


def short(operand: Operand) -> str:
    """Return the class and every field that is not empty."""
    values = [(field.name, getattr(operand, field.name)) for field in fields(operand)]
    told = [f"{name}={value}" for name, value in values if value not in (False, (), "") or type(value) is int]
    return f"{type(operand).__name__}({' '.join(told)})"


def row(one: Instruction) -> str:
    """Return one line: address, address behind, control code, encoding, guard, opcode, operands."""
    operands = " ".join(short(operand) for operand in one.operands)
    return f"{one.address:04x} {one.following:04x} {one.control or 0:06x} {one.encoding or 0:032x} {one.guard} {one.opcode} {operands}\n"


@pytest.mark.parametrize("name", LISTINGS)
def test_a_real_listing_becomes_the_golden_program(name):
    arch, _, file = name.partition("/")
    seen = "".join(row(one) for one in function(sample(arch, file)).instructions)
    assert seen == (GOLDEN / f"{arch}.{file}.txt").read_text(encoding="utf-8")
