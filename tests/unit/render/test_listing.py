"""The rows of a listing, and their text."""

from dataclasses import replace

from sassan.ir import Function, SourceLine
from sassan.isa.tables import load
from sassan.render.listing import BranchEffect, ListingRow, listing
from sassan.render.listing_text import lines
from sassan.warpcfg import explore
from scheduled import scheduled

CODE = """
    S2R R0, SR_TID.X                       | 1 w0
    MOV R1, RZ                             | 6
    ISETP.NE.AND P0, PT, R0, RZ, PT        | 13 wait0
    ISETP.NE.AND P1, PT, R1, RZ, PT        | 13
    @P0 EXIT                               | 13
    @P1 BRA end                            | 13
    LDG.E R2, [R4]                         | 2 w5 r1
end:
    EXIT                                   | 15
"""


def listed(function: Function) -> list[ListingRow]:
    facts = load(function.arch).facts
    return list(listing(explore(function, facts), facts).rows)


def printed(function: Function, **options: bool) -> list[str]:
    found = lines(listed(function), lambda line: f"text of {line.line}", **options)
    return ["".join(piece.text for piece in line).rstrip() for line in found]


def test_every_instruction_has_its_columns():
    assert printed(scheduled(CODE, "sm_61")) == [
        "address  st y w r waits  reuse unit l instruction",
        "0x0008    1 - 0 - ------  ---- ldst S S2R R0, SR_TID.X",
        "0x0010    6 - - - ------  ---- fp32 C MOV R1, RZ",
        "0x0018   13 - - - 0-----  ---- fp32 C ISETP.NE.AND P0, PT, R0, RZ, PT",
        "0x0028   13 - - - ------  ---- fp32 C ISETP.NE.AND P1, PT, R1, RZ, PT",
        "0x0030   13 - - - ------  ---- cf   C @P0 EXIT  // divergent",
        "0x0038   13 - - - ------  ---- cf   C @P1 BRA 0x50  // uniform",
        "0x0048    2 - 5 1 ------  ---- ldst L LDG.E R2, [R4]",
        "0x0050   15 - - - ------  ---- cf   C EXIT",
    ]


def test_without_encodings_the_control_columns_are_unknown():
    function = scheduled(CODE, "sm_61")
    plain = replace(function, instructions=tuple(replace(one, control=None) for one in function.instructions))
    assert printed(plain)[1] == "0x0008    ? ? ? ? ??????  ???? ldst S S2R R0, SR_TID.X"


def test_reused_slots_and_the_yield_hint_are_shown():
    function = scheduled("IADD R0, R2, R3 | 6\nEXIT | 15", "sm_61")
    code = list(function.instructions)
    code[0] = replace(code[0], control=0b0101_000000_111_111_0_0110)
    assert printed(replace(function, instructions=tuple(code)))[1] == "0x0008    6 Y - - ------  0-2- fp32 C IADD R0, R2, R3"


def test_uniform_registers_are_listed_before_each_block():
    assert [line for line in printed(scheduled(CODE, "sm_61"), agreement=True) if "//" in line and "0x" not in line] == [
        "         // no register is warp-uniform",
        "         // R1 P0 P1 are warp-uniform",
        "         // R1 P0 P1 are warp-uniform",
        "         // R1 P0 P1 are warp-uniform",
    ]


def test_uniform_registers_are_registers_of_the_function():
    (end,) = [row.agreement for row in listed(scheduled(CODE, "sm_61")) if row.instruction.address == 0x48]
    assert end is not None
    assert end == ("R1", "P0", "P1")


def test_an_unknown_opcode_has_no_unit_and_no_letter():
    row = listed(scheduled("FROB R0 | 1\nEXIT | 15", "sm_61"))[0]
    assert (row.unit, row.letter) == (None, None)


def test_a_branch_of_a_function_with_gaps_is_not_classified():
    text = "FROB R0 | 1\n@P0 EXIT | 13\nEXIT | 15"
    assert listed(scheduled(text, "sm_61"))[1].branch is BranchEffect.UNKNOWN


def test_a_branch_on_a_uniform_predicate_is_classified_despite_gaps():
    text = "FROB R0 | 1\nBRA.U UP0, end | 5\nend:\nEXIT | 15"
    assert listed(scheduled(text, "sm_80"))[1].branch is BranchEffect.UNIFORM


def test_a_branch_that_nothing_reaches_is_no_divergence():
    text = "EXIT | 15\n@P0 BRA end | 13\nend:\nEXIT | 15"
    assert listed(scheduled(text, "sm_61"))[1].branch is BranchEffect.UNREACHED


def test_a_source_line_follows_its_first_instruction():
    function = scheduled("MOV R0, RZ | 6\nMOV R1, RZ | 6\nMOV R2, RZ | 6\nEXIT | 15", "sm_61")
    with_lines = replace(function, lines=(SourceLine(0x8, "/a/b/k.cu", 3), SourceLine(0x18, "C:\\a\\k.cu", 4)))
    assert [line[38:] for line in printed(with_lines)[1:]] == [
        "MOV R0, RZ  | k.cu:3  text of 3",
        "MOV R1, RZ",
        "MOV R2, RZ  | k.cu:4  text of 4",
        "EXIT",
    ]
