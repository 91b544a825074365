"""The functional unit of an opcode."""

import pytest

from sassan.isa.tables import unit, units

ROWS = [
    ("sm_52", "IADD.X", "fp32"),
    ("sm_61", "LDG.E.128", "ldst"),
    ("sm_61", "MUFU.RCP", "sfu"),
    ("sm_61", "SYNC", "cf"),
    ("sm_61", "DFMA", "fp64"),
    ("sm_61", "HFMA2", "fp16"),
    ("sm_70", "IADD3", "alu"),
    ("sm_70", "IMAD.MOV.U32", "fma"),
    ("sm_75", "BSSY", "cbu"),
    ("sm_75", "BAR.SYNC.DEFER_BLOCKING", "adu"),
    ("sm_80", "HMMA.16816.F32", "tensor"),
    ("sm_80", "HFMA2.MMA", "fp16"),
    ("sm_90", "HFMA2", "fma"),
    ("sm_90", "UIADD3", "uniform"),
    ("sm_100", "LDCU.64", "uniform"),
    ("sm_120", "TEX.SCR.LL", "tex"),
    ("sm_120", "NOP", "issue"),
]


@pytest.mark.parametrize(("arch", "opcode", "name"), ROWS)
def test_an_opcode_has_its_unit(arch: str, opcode: str, name: str):
    assert unit(arch, opcode) == name


def test_units_are_listed_once():
    assert len(units()) == len(set(units())) == 17


def test_an_opcode_without_a_row_has_no_unit():
    assert unit("sm_61", "FROB") == unit("sm_61", "IMAD.WIDE.FROB".replace("IMAD", "HMMA")) == ""
