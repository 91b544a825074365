"""The letters of a kernel string, by the two mappings."""

import pytest

from assembly import instruction
from sassan.alphabet import UNITS, Letter
from sassan.isa.tables import load

L, C, S, D, T = UNITS

ROWS = [
    ("sm_61", "LDG.E R0, [R2]", L, L),
    ("sm_61", "STS [R2], R0", L, L),
    ("sm_61", "RED.E.ADD [R2], R0", L, L),
    ("sm_61", "MEMBAR.CTA", L, C),
    ("sm_61", "SHFL.IDX PT, R0, R1, 0x0, 0x1f", L, C),
    ("sm_61", "LDC R0, c[0x2][R1]", L, L),
    ("sm_61", "LDC R0, c[0x2][0x0]", C, L),
    ("sm_61", "MOV R0, c[0x0][0x140]", C, L),
    ("sm_61", "MOV R0, R1", C, C),
    ("sm_61", "IADD R0, R1, c[0x0][0x140]", C, C),
    ("sm_61", "BRA 0x1a8", C, C),
    ("sm_61", "ISETP.GE.AND P0, PT, R0, R1, PT", C, C),
    ("sm_61", "MUFU.RCP R0, R1", S, C),
    ("sm_61", "F2F.F64.F32 R0, R2", S, C),
    ("sm_61", "S2R R0, SR_TID.X", S, C),
    ("sm_61", "DFMA R0, R2, R4, R6", D, C),
    ("sm_61", "DSETP.GT.AND P0, PT, R0, R2, PT", D, C),
    ("sm_61", "NOP", C, C),
    ("sm_70", "IMAD.MOV.U32 R0, RZ, RZ, c[0x0][0x28]", C, L),
    ("sm_75", "LDSM.16.M88 R0, [R2]", L, L),
    ("sm_80", "HMMA.16816.F32 R4, R8, R12, R16", T, C),
]


@pytest.mark.parametrize(("arch", "text", "timing", "paper"), ROWS)
def test_letters_are_as_listed(arch: str, text: str, timing: Letter, paper: Letter):
    one = instruction(text)
    found = [load(arch, mapping).facts(one) for mapping in ("timing", "2013")]
    assert [None if each is None else each.letter for each in found] == [timing, paper]
