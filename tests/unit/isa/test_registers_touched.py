"""Which registers an instruction reads and writes: widths, pairs, partial writes, flags and masks."""

import pytest

from assembly import facts, instruction, listed, reads, writes
from sassan.isa.tables import load

MAXWELL = [
    ("MOV R1, c[0x0][0x20]", "", "R1"),
    ("MOV R1, R2, 0x3", "R1 R2", "R1"),
    ("MOV32I R4, 0x3ff00000", "", "R4"),
    ("IADD R6.CC, R0, c[0x4][0x0]", "R0", "R6 CC"),
    ("IADD.X R7, RZ, c[0x4][0x4]", "CC", "R7"),
    ("IADD RZ.CC, R2, -R3", "R2 R3", "CC"),
    ("IADD3.X R0, R1, R2, RZ", "R1 R2 CC", "R0"),
    ("ISCADD R18.CC, R4, c[0x0][0x140], 0x2", "R4", "R18 CC"),
    ("XMAD.MRG R3, R2.reuse, c[0x0][0x8].H1, RZ", "R2", "R3"),
    ("XMAD.PSL.CBCC R2, R2.H1, R3.H1, R0", "R0 R2 R3", "R2"),
    ("LEA.HI.X P0, R3, R3, RZ, R4", "R3 R4 CC", "R3 P0"),
    ("LEA R2.CC, R3, 0x1000", "R3", "R2 CC"),
    ("ISETP.GE.U32.X.AND P0, P1, R3, R4, !P2", "R3 R4 P2 CC", "P0 P1"),
    ("PSETP.AND.AND P0, PT, P1, !P2, PT", "P1 P2", "P0"),
    ("TEX.LL.P P0, R4, R8, R12, 0x56, 2D, 0xf", "R8 R9 R10 R11 R12 R13 R14 R15", "R4 R5 R6 R7 P0"),
    ("CSETP.SFT.AND P0, PT, CC, PT", "CC", "P0"),
    ("LOP.AND.NZ P0, RZ, R5, 0x1", "R5", "P0"),
    ("LOP3.LUT R0, R1, c[0x0][0x140], R2, 0x80", "R1 R2", "R0"),
    ("IMNMX.U32.XLO R78, R78, c[0x0][0x158], PT", "R78 CC", "R78"),
    ("SEL R0, R1, R2, !P3", "R1 R2 P3", "R0"),
    ("SHF.R.U64 R16, R10, 0xb, R11", "R10 R11", "R16"),
    ("DADD R20, -RZ, -R12", "R12 R13", "R20 R21"),
    ("DFMA R4, R2, c[0x2][0x0], R8", "R2 R3 R8 R9", "R4 R5"),
    ("DSETP.GEU.AND P0, PT, R12, 1000, PT", "R12 R13", "P0"),
    ("DSET.GE.AND RZ.CC, R2, c[0x0][0x140], PT", "R2 R3", "CC"),
    ("MUFU.RCP64H R9, R5", "R5", "R9"),
    ("F2F.F64.F32 R24, R14", "R14", "R24 R25"),
    ("F2F.F32.F64.RM R23, R6", "R6 R7", "R23"),
    ("F2I.S64.F64.TRUNC R26, R6", "R6 R7", "R26 R27"),
    ("F2I.FTZ.U32.F32.TRUNC R6, R7", "R7", "R6"),
    ("I2F.F32.U64.RP R0, R6", "R6 R7", "R0"),
    ("I2F.F64.S32 R28, R0", "R0", "R28 R29"),
    ("HADD2.MRG_H0 R3, R1, R2", "R1 R2 R3", "R3"),
    ("HFMA2 R18, R12, 1, 0.5, R9", "R9 R12", "R18"),
    ("LDG.E R0, [R18]", "R18 R19", "R0"),
    ("LDG.E.64 R8, [R6+0x1008]", "R6 R7", "R8 R9"),
    ("LDG.E.CI.128 R8, [R4]", "R4 R5", "R8 R9 R10 R11"),
    ("LD.E R4, [R2], P0", "R2 R3 P0", "R4"),
    ("LDS.U.128 R20, [R52+0x10]", "R52", "R20 R21 R22 R23"),
    ("LDL R2, [R1]", "R1", "R2"),
    ("LDC.64 R2, c[0x2][R0]", "R0", "R2 R3"),
    ("STG.E.64 [R8], R2", "R2 R3 R8 R9", ""),
    ("STS [R4], RZ", "R4", ""),
    ("ATOM.E.CAS.64 R8, [R16], R12, R10", "R10 R11 R12 R13 R16 R17", "R8 R9"),
    ("ATOMS.CAS R3, [R17], R2, R3", "R2 R3 R17", "R3"),
    ("RED.E.ADD.F64.RN [R8], R10", "R8 R9 R10 R11", ""),
    ("SHFL.BFLY PT, R0, R1, 0x10, 0x1f", "R1", "R0"),
    ("SHFL.IDX P0, R0, R1, R2, R3", "R1 R2 R3", "R0 P0"),
    ("VOTE.ANY R7, P1, !P2", "P2", "R7 P1"),
    ("BAR.RED.OR 0x0, P1", "P1", ""),
    ("B2R.RESULT RZ, P0", "", "P0"),
    ("P2R R0, PR, R1, 0x5", "R1 P0 P2", "R0"),
    ("P2R.B1 R0, PR, R0, 0x5", "R0 P0 P2", "R0"),
    ("R2P PR, R3, 0x6", "R3", "P1 P2"),
    ("CS2R R7, SR_CLOCKLO", "", "R7"),
    ("S2R R7, SR_TID.X", "", "R7"),
    ("BRX R2 -0xa0", "R2", ""),
    ("VMAD.U8.U8.SHR_7 R25, R0.B1, R5.B2, R6", "R0 R5 R6", "R25"),
    ("SUST.D.BA.2D.64 [R18], R16, 0x52", "R16 R17 R18 R19", ""),
]

LATER = [
    ("sm_70", "IADD3 R0, P0, P1, R1, R2, R3", "R1 R2 R3", "R0 P0 P1"),
    ("sm_70", "IADD3.X R0, R1, R2, RZ, P0, !PT", "R1 R2 P0", "R0"),
    ("sm_70", "IMAD.WIDE.U32 R8, P1, R7, R6, R4", "R4 R5 R6 R7", "R8 R9 P1"),
    ("sm_70", "IMAD.HI.U32 R3, R3, R5, R6", "R3 R5 R6 R7", "R3"),
    ("sm_70", "IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]", "", "R1"),
    ("sm_70", "LEA.HI.X R2, R5, R9, R3, 0x6, P0", "R3 R5 R9 P0", "R2"),
    ("sm_70", "ISETP.GE.U32.AND.EX P0, PT, R4, R5, P1, P2", "R4 R5 P1 P2", "P0"),
    ("sm_70", "LOP3.LUT P0, RZ, R5, 0x1, RZ, 0xc0, !PT", "R5", "P0"),
    ("sm_70", "PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x0", "P1 P2", "P0"),
    ("sm_70", "LDG.E.SYS R0, [R2]", "R2 R3", "R0"),
    ("sm_70", "CS2R R2, SRZ", "", "R2 R3"),
    ("sm_70", "CS2R.32 R2, SR_CLOCKLO", "", "R2"),
    ("sm_70", "F2I.S64.TRUNC R2, R4", "R4", "R2 R3"),
    ("sm_70", "F2I.F64.TRUNC R2, R4", "R4 R5", "R2"),
    ("sm_70", "I2F.F64 R2, R4", "R4", "R2 R3"),
    ("sm_70", "I2F.U64.RP R2, R4", "R4 R5", "R2"),
    ("sm_70", "HMMA.884.F32.F32.STEP0 R4, R12.ROW, R14.COL, R4", "R4 R5 R12 R13 R14 R15", "R4 R5"),
    ("sm_70", "MATCH.ANY.U64 R2, R4", "R4 R5", "R2"),
    ("sm_75", "LDG.E.SYS R5, [R16.64+UR4+0x4]", "R16 R17 UR4 UR5", "R5"),
    ("sm_75", "LDG.E.64.SYS R4, [R2.U32+UR4]", "R2 UR4 UR5", "R4 R5"),
    ("sm_75", "LDS.U R0, [R2+UR4]", "R2 UR4", "R0"),
    ("sm_75", "ULDC.64 UR6, c[0x0][0x118]", "", "UR6 UR7"),
    ("sm_75", "VOTEU.ANY UR4, UPT, PT", "", "UR4"),
    ("sm_75", "LDSM.16.M88.4 R8, [R4]", "R4", "R8 R9 R10 R11"),
    ("sm_80", "LDG.E.128 R4, [R4.64]", "R4 R5", "R4 R5 R6 R7"),
    ("sm_80", "LDGSTS.E.BYPASS.128 [R3], [R4.64], P0", "R3 R4 R5 P0", ""),
    ("sm_80", "HMMA.16816.F32 R4, R8, R12, R16", "R8 R9 R10 R11 R12 R13 R16 R17 R18 R19", "R4 R5 R6 R7"),
    ("sm_80", "REDUX.SUM UR4, R2", "R2", "UR4"),
    ("sm_80", "ATOM.E.ARRIVE.64.STRONG.SM PT, R4, [R2.64+URZ]", "R2 R3", "R4 R5"),
    ("sm_86", "ATOM.E.POPC.INC.32.STRONG.SM PT, RZ, [UR4+0x58]", "UR4 UR5", ""),
    ("sm_90", "ELECT P1, URZ, ~URZ", "", "P1"),
    ("sm_90", "DEPBAR", "", ""),
    ("sm_90", "LDG.E R5, desc[UR36][R18.64+0x4]", "R18 R19 UR36 UR37", "R5"),
    ("sm_90", "ATOMG.E.CAS.64.STRONG.GPU PT, R8, [R20], R6, R10", "R6 R7 R10 R11 R20 R21", "R8 R9"),
    ("sm_90", "RET.REL.NODEC R20 `(kernel)", "R20 R21", ""),
    ("sm_90", "HGMMA.64x8x16.F32 R24, gdesc[UR4], R28, gsb0", "R28 R29 R30 R31 UR4 UR5 UR6 UR7", "R24 R25 R26 R27"),
    ("sm_90", "HGMMA.64x16x16.F16 R24, gdesc[UR4], RZ, !UPT", "UR4 UR5 UR6 UR7", "R24 R25 R26 R27"),
    (
        "sm_90",
        "QGMMA.SP.64x8x64.F32.E4M3.E4M3 R24, gdesc[UR8], R24, UP0, R152",
        "R24 R25 R26 R27 R152 UR8 UR9 UR10 UR11 UP0",
        "R24 R25 R26 R27",
    ),
    ("sm_90", "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R6", "R6 UR9", "P0"),
    ("sm_100", "SYNCS.CCTL.IVALL", "", ""),
    ("sm_90", "SYNCS.EXCH.64 URZ, [UR9], UR6", "UR6 UR7 UR9", ""),
    ("sm_90", "HMMA.SP.16832.F32 R4, R8, R12, R16, R3, 0x0", "R3 R8 R9 R10 R11 R12 R13 R14 R15 R16 R17 R18 R19", "R4 R5 R6 R7"),
    ("sm_80", "IMMA.SP.16864.S4.U4.SAT R4, R8, R12, R16, R3, 0x0", "R3 R8 R9 R12 R13 R16 R17 R18 R19", "R4 R5 R6 R7"),
    ("sm_80", "IMMA.SP.168128.S4.S4.SAT R4, R8, R12, R16, R3, 0x0", "R3 R8 R9 R10 R11 R12 R13 R14 R15 R16 R17 R18 R19", "R4 R5 R6 R7"),
    ("sm_100", "LDC R8, c[0x0][UR4]", "UR4", "R8"),
    ("sm_90", "UTMALDG.2D [UR8], [UR20]", "UR8 UR9 UR10 UR11 UR20 UR21", ""),
    ("sm_100", "UTMASTG.4D [UR32], [UR22]", "UR22 UR23 UR32 UR33 UR34 UR35 UR36", ""),
    ("sm_100", "UTMALDG.2D.GATHER4 [UR8], [UR16], desc[UR54]", "UR8 UR9 UR10 UR11 UR12 UR13 UR14 UR16 UR17 UR54 UR55", ""),
    ("sm_100", "UTCCP.T.S.4x32dp128bit tmem[UR26+0x100], gdesc[UR42]", "UR26 UR42 UR43", ""),
    ("sm_100", "FFMA2 R16, R4.F32x2.HI_LO, UR4.F32, -R6.reuse.F32", "R4 R5 R6 UR4", "R16 R17"),
    ("sm_100", "FMUL2 R16, R20.F32x2.HI_LO, R3.F32", "R3 R20 R21", "R16 R17"),
    ("sm_100", "LDG.E.NA.ENL2.LTC256B.256.CONSTANT RZ, R8, desc[UR46][R4.64], 0xf", "R4 R5 R8 R9 R10 R11 UR46 UR47", "R8 R9 R10 R11"),
    (
        "sm_100",
        "UTCQMMA gdesc[UR12], gdesc[UR14], tmem[UR10], tmem[UR4], idesc[UR5], tmem[UR8], UPT",
        "UR4 UR5 UR8 UR9 UR10 UR12 UR13 UR14 UR15",
        "",
    ),
    ("sm_100", "UTMAPF.L2.2D.GATHER4 [UR32], [UR10]", "UR10 UR11 UR32 UR33 UR34 UR35 UR36", ""),
    ("sm_103", "UTCBAR [UR15], URZ", "UR15", ""),
    ("sm_100", "UREDGR.E.ADD.NA.STRONG.GPU [UR12+0x10], UR6", "UR6 UR12 UR13", ""),
    ("sm_90", "VHMNMX.BF16_V2 R15, R15.H0_H0, R16, |R17|, !PT", "R15 R16 R17", "R15"),
    ("sm_100", "VHMNMX R22, R8.H0_H0, -INF , -INF , R9.H1_H1, !PT", "R8 R9", "R22"),
    ("sm_103", "LDTM.STAT.x4.MAXABS.F32.NAN R9, R4, tmem[UR4]", "R4 R5 R6 R7 R9 UR4", "R4 R5 R6 R7 R9"),
    ("sm_103", "USTGR.E.NA.MMIO.SYS [UR4], UR6", "UR4 UR5 UR6 UR7", ""),
    ("sm_89", "QMMA.16816.F16.E5M2.E4M3 R4, R4.ROW, R0.COL, R2", "R0 R2 R3 R4 R5", "R4 R5"),
    ("sm_89", "CLMAD.HI R2, R2, c[0x0][0x1a0], R4", "R2 R3 R4 R5", "R2 R3"),
    ("sm_120", "CLMAD.LO R2, R2, UR4, R6", "R2 R3 R6 R7 UR4 UR5", "R2 R3"),
    ("sm_120", "VIADD.S8x4.ISAT R7, R0, -R7", "R0 R7", "R7"),
    ("sm_120", "F2FP.SATFINITE.RELU.S2_6.F32.PACK_AB_MERGE_C R5, R5, R0, 3.38953138925153547590e+38", "R0 R5", "R5"),
    ("sm_120", "F2FP.SATFINITE.BF16.S2_6.UNPACK_B R7, R0, R7.H0", "R0 R7", "R7"),
    ("sm_120", "UI2F.BF16.U32 UR4, 0x80", "", "UR4"),
    ("sm_120", "IADD.64 R6, R8, UR4", "R8 R9 UR4 UR5", "R6 R7"),
    ("sm_120", "IMNMX.S64 P0, PT, R14, R2, R4, PT, !PT", "R2 R3 R4 R5", "R14 R15 P0"),
    ("sm_120", "LDCU.128 UR8, c[0x0][0x380]", "", "UR8 UR9 UR10 UR11"),
    ("sm_120", "MOV.SPILL R13, UR7", "UR7", "R13"),
    ("sm_120", "R2UR.FILL UR4, R20", "R20", "UR4"),
    ("sm_120", "UF2FP.SATFINITE.E5M2.F32.PACK_AB_MERGE_C UR7, UR4, UR5, UR6", "UR4 UR5 UR6", "UR7"),
]


@pytest.mark.parametrize(("text", "read", "written"), MAXWELL)
def test_maxwell_reads_and_writes_are_as_listed(text: str, read: str, written: str):
    assert (reads("sm_61", text), writes("sm_61", text)) == (read, written)


@pytest.mark.parametrize(("arch", "text", "read", "written"), LATER)
def test_later_reads_and_writes_are_as_listed(arch: str, text: str, read: str, written: str):
    assert (reads(arch, text), writes(arch, text)) == (read, written)


def test_the_guard_is_apart_from_what_is_read():
    found = facts("sm_61", "@!P3 IADD R0, R1, R2")
    assert (listed(found.guard), listed(found.reads)) == ("P3", "R1 R2")


def test_an_unknown_opcode_has_no_facts():
    assert load("sm_61").facts(instruction("FROB R0, R1")) is None


def test_an_unknown_modifier_has_no_facts():
    assert load("sm_61").facts(instruction("IADD.FROB R0, R1, R2")) is None


def test_a_form_that_no_row_lists_has_no_facts():
    assert load("sm_61").facts(instruction("IADD R0, R1, R2, R3")) is None


def test_an_unknown_suffix_of_an_operand_has_no_facts():
    assert load("sm_61").facts(instruction("IADD R0, R1.FROB, R2")) is None


def test_an_unknown_memory_prefix_has_no_facts():
    assert load("sm_90").facts(instruction("LDG.E R0, frob[UR4][R2.64]")) is None


def test_a_conversion_without_its_types_has_no_facts():
    assert load("sm_61").facts(instruction("F2F.F32 R0, R1")) is None
