"""Which memory an instruction accesses, and how many bytes of each lane: single forms, and every instruction of the samples."""

import pytest

from assembly import instruction
from budget import FULL, some
from samples import EVERY, names, program
from sassan.access.opcodes import MemorySpace, Reference, references
from sassan.ir import Instruction, Memory, Register
from sassan.isa import tables
from sassan.isa.registers import span

GENERAL = span("R", 0, 256)
WITHOUT_LANES = {"CCTL", "CCTLL", "QSPC", "SYNCS", "ARRIVES", "UTMACCTL"}
"""Opcodes with an address that move no data of lanes."""
LOADS = {"LD", "LDG", "LDS", "LDL"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LDG.E R2, [R4]", (MemorySpace.GLOBAL, 4)),
        ("LDG.E.U8 R2, [R4]", (MemorySpace.GLOBAL, 1)),
        ("LDG.E.S8.SYS R2, [R4]", (MemorySpace.GLOBAL, 1)),
        ("LDG.E.U16.CONSTANT R2, desc[UR4][R4.64]", (MemorySpace.GLOBAL, 2)),
        ("LDG.E.64.SYS R2, [R4]", (MemorySpace.GLOBAL, 8)),
        ("LDG.E.LTC128B.128 R4, desc[UR4][R8.64+0x10]", (MemorySpace.GLOBAL, 16)),
        ("LDG.E.ENL2.256 R4, R8, desc[UR4][R2.64]", (MemorySpace.GLOBAL, 32)),
        ("STG.E.128 [R2.64+UR4], R4", (MemorySpace.GLOBAL, 16)),
        ("LDS.U.128 R4, [R2]", (MemorySpace.SHARED, 16)),
        ("STS.U16 [R2+0x4], R4", (MemorySpace.SHARED, 2)),
        ("STAS.64 [R2.64], R4", (MemorySpace.SHARED, 8)),
        ("LDL.LU R4, [R1+0x8]", (MemorySpace.LOCAL, 4)),
        ("LD.E.64 R4, [R2.64]", (MemorySpace.GENERIC, 8)),
        ("ATOMG.E.CAS.64.STRONG.GPU PT, R4, [R2], R6, R8", (MemorySpace.GLOBAL, 8)),
        ("RED.E.ADD.F64.RN.STRONG.GPU [R2.64], R4", (MemorySpace.GLOBAL, 8)),
        ("REDG.E.ADD.F16x2.RN.STRONG.GPU desc[UR4][R2.64], R4", (MemorySpace.GLOBAL, 4)),
        ("REDG.E.ADD.BF16_V2.RN.STRONG.GPU desc[UR4][R2.64], R4", (MemorySpace.GLOBAL, 4)),
        ("REDG.E.ADD.F16x8.RN.STRONG.GPU desc[UR4][R2.64], R4", (MemorySpace.GLOBAL, 16)),
        ("REDG.E.ADD.F32x2.RN.STRONG.GPU desc[UR4][R2.64], R4", (MemorySpace.GLOBAL, 8)),
        ("UREDGR.E.ADD.STRONG.GPU [UR4], UR6", (MemorySpace.GLOBAL, 4)),
        ("REDAS.ADD.64 [R2.64], R4", (MemorySpace.SHARED, 8)),
        ("ATOMS.POPC.INC.32 RZ, [R2+URZ]", (MemorySpace.SHARED, 4)),
        ("ATOM.E.EXCH R0, [R2], R4", (MemorySpace.GENERIC, 4)),
        ("TEX R0, R0, 0x0, 0x0, 2D, 0xf", (MemorySpace.TEXTURE, 0)),
        ("UTMALDG.2D [UR8], [UR6]", (MemorySpace.BULK, 0)),
    ],
)
def test_one_access(text: str, expected: tuple[MemorySpace, int]):
    (reference,) = references(instruction(text))
    assert (reference.space, reference.bytes) == expected
    assert reference.atomic == text.startswith(("ATOM", "RED", "UREDGR"))
    assert reference.lanes == 32


@pytest.mark.parametrize(("suffix", "lanes"), [("", 8), (".2", 16), (".4", 32)])
def test_a_matrix_has_the_addresses_of_eight_rows(suffix: str, lanes: int):
    assert references(instruction(f"LDSM.16.M88{suffix} R4, [R2]")) == (Reference(MemorySpace.SHARED, 16, 1, lanes=lanes),)
    assert references(instruction(f"STSM.16.MT88{suffix} [R2], R4")) == (Reference(MemorySpace.SHARED, 16, 0, lanes=lanes),)


def test_a_copy_accesses_two_memories():
    copy = references(instruction("LDGSTS.E.BYPASS.LTC128B.128 [R2+0x10], desc[UR4][R4.64]"))
    assert copy == (Reference(MemorySpace.SHARED, 16, 0), Reference(MemorySpace.GLOBAL, 16, 1))


def test_a_constant_is_an_access_where_a_register_says_which():
    assert references(instruction("LDC R4, c[0x0][0x160]")) == ()
    assert references(instruction("LDC.64 R4, c[0x3][R2+0x8]")) == (Reference(MemorySpace.CONSTANT, 8, 1),)


@pytest.mark.slow
@pytest.mark.parametrize("arch", EVERY)
def test_every_address_of_the_samples_is_accessed_as_wide_as_its_registers(arch: str):
    isa, widths, seen = tables.load(arch), set[int](), 0
    for name in sorted({*some(names(arch), of=4), "memory_patterns"}):
        for function in program(arch, name).functions:
            for each in function.instructions:
                opcode = each.opcode.split(".")[0]
                found = references(each)
                if opcode in WITHOUT_LANES or not any(isinstance(operand, Memory) for operand in each.operands):
                    assert not found or opcode == "LDC", each.text
                    continue
                (reference,) = found
                assert isinstance(each.operands[reference.place], Memory)
                facts = isa.facts(each)
                if opcode in LOADS and facts is not None and _result(each).index is not None:
                    assert (facts.writes & GENERAL).bit_count() == max(reference.bytes // 4, 1), each.text
                widths.add(reference.bytes)
                seen += 1
    assert {1, 4, 8, 16} <= widths
    assert seen > (300 if FULL else 100)


def _result(load: Instruction) -> Register:
    register = load.operands[0]
    assert isinstance(register, Register)
    return register
