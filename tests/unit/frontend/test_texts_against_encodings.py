"""Texts that contradict the encodings beside them: redirected branches, exchanged texts, other operands are noticed."""

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from budget import FULL, some
from sassan import frontend
from sassan.arch import architecture
from sassan.errors import InputError
from sassan.ir import Function, Instruction, Target
from sassan.isa.encodings import Encodings
from sassan.source import Source

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
PART = re.compile(r"(?<=\b[RP])[0-9]+\b|(?<=\bU[RP])[0-9]+\b|(?<=\b0x)[0-9a-f]+\b")
PREDICATE = re.compile(r"(?<=, )!?(?=U?P[0-9T](,|$))")
ARCHES = sorted(path.name for path in SAMPLES.glob("sm_*"))
WORD = re.compile(r"(?<=\.)[A-Z]\w*|(?<=, )SR_\w+")
FLIPS: dict[str, list[tuple[str, int, int, str]]] = {}
for _line in (Path(__file__).parent / "golden" / "flips.txt").read_text("utf-8").splitlines():
    _sm, _text, _word, _bit, _after = _line.split("\t")
    FLIPS.setdefault(_sm, []).append((_text, int(_word, 16), int(_bit), _after))
OPERANDS = 0.9
"""Of the registers and numbers, those whose place in the encoding is known."""
TARGETS = ("calls_nested", "shuffle_diverged")
"""Samples with the most opcodes of which an operand is an address of code."""
NEGATED = 0.9
"""Of the predicates behind the first operand, read or written, those whose `!` is."""


@cache
@cache
def functions(arch: str) -> list[Function]:
    paths = sorted((SAMPLES / arch).glob("*.cuobjdump.sass"))
    return [function for path in some(paths, of=20) for function in frontend.read(frontend.load(str(path))).functions]


@cache
def encodings(arch: str) -> Encodings:
    known = architecture(arch)
    assert known is not None
    return Encodings(known)


def relative(instruction: Instruction) -> bool:
    return bool(instruction.operands) and isinstance(instruction.operands[-1], Target)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_every_redirected_branch_is_noticed(arch: str):
    difference = encodings(arch).difference
    tried = 0
    for function in functions(arch):
        addresses = [instruction.address for instruction in function.instructions]
        addresses = addresses[:: len(addresses) // 20 + 1]
        for instruction in filter(relative, function.instructions):
            for address in addresses:
                redirected = replace(instruction, operands=(*instruction.operands[:-1], Target(address)))
                assert bool(difference(redirected)) == (redirected.operands != instruction.operands)
                tried += 1
    assert tried > 100


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_exchanged_texts_are_noticed(arch: str):
    difference = encodings(arch).difference
    tried = 0
    for function in functions(arch):
        for first, second in pairwise(function.instructions):
            if first.text != second.text:
                exchanged = replace(first, encoding=second.encoding), replace(second, encoding=first.encoding)
                assert any(map(difference, exchanged)), (first.text, second.text)
                tried += 1
    assert tried > 100


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_another_register_or_number_is_noticed(arch: str):
    difference = encodings(arch).difference
    noticed = total = 0
    for function in functions(arch):
        for instruction in filter(lambda each: not relative(each), function.instructions):
            for found in PART.finditer(instruction.text, instruction.text.find(" ", 5) + 1):
                other = "1" if found[0] != "1" else "2"
                text = instruction.text[: found.start()] + other + instruction.text[found.end() :]
                total, noticed = total + 1, noticed + bool(difference(replace(instruction, text=text)))
    assert noticed > OPERANDS * total > 0


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_a_predicate_that_is_negated_or_no_longer_is_noticed(arch: str):
    difference = encodings(arch).difference
    noticed = total = 0
    for function in functions(arch):
        for instruction in function.instructions:
            for found in PREDICATE.finditer(instruction.text):
                text = instruction.text[: found.start()] + ("" if found[0] else "!") + instruction.text[found.end() :]
                total, noticed = total + 1, noticed + bool(difference(replace(instruction, text=text)))
    assert noticed > NEGATED * total > 0


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_a_word_that_no_opcode_and_no_register_has_is_noticed(arch: str):
    difference = encodings(arch).difference
    tried = 0
    for function in functions(arch):
        for instruction in function.instructions:
            for found in WORD.finditer(instruction.text):
                text = f"{instruction.text[: found.end()]}1{instruction.text[found.end() :]}"
                assert difference(replace(instruction, text=text)), text
                tried += 1
    assert tried > 100


@pytest.mark.parametrize("arch", ARCHES)
def test_another_modifier_is_noticed_beside_every_target(arch: str):
    difference = encodings(arch).difference
    paths = sorted((SAMPLES / arch).glob("*.cuobjdump.sass")) if FULL else [SAMPLES / arch / f"{name}.cuobjdump.sass" for name in TARGETS]
    each = {
        one.opcode: one
        for path in paths
        for of in frontend.read(frontend.load(str(path))).functions
        for one in of.instructions
        if relative(one)
    }
    assert each.keys() & {"BRA", "CALL.REL.NOINC", "SSY", "WARPSYNC.COLLECTIVE"}
    for opcode, one in each.items():
        changed = f"{opcode}1" if "." in opcode else f"{opcode}.U1"
        assert difference(replace(one, opcode=changed, text=one.text.replace(opcode, changed, 1))), changed


@pytest.mark.parametrize(
    ("sample", "before", "after", "code"),
    [
        ("sm_70/reduce_shuffle", "LOP3.LUT P0, RZ, R7, 0x1f, RZ, 0xc0, !PT", "LOP3.LUT P0, RZ, R7, 0x1f, RZ, 0xc0, PT", "text-differs"),
        ("sm_52/bitonic_step", "LOP.AND.NZ P0, RZ, R0, c[0x0][0x14c]", "LOP.AND.NZ P0, RZ, ~R0, c[0x0][0x14c]", "text-differs"),
        ("sm_52/bitonic_step", "LOP.AND.NZ P0, RZ, R0, c[0x0][0x14c]", "LOP.AND.NZ P0, RZ, R0, c[0x20][0x14c]", "text-differs"),
        ("sm_100/bitonic_step", "LDCU UR5, c[0x0][0x388]", "LDCU UR5, c[0x0][0x380]", "text-differs"),
        ("sm_52/binary_search", "LDG.E R4, [R2]", "LDG.E R4, []", "syntax"),
        ("sm_61/shuffle_diverged", "S2R R12, SR_TID.X", "S2R R12, SR_TID1.X", "text-differs"),
        ("sm_61/shuffle_diverged", "S2R R12, SR_TID.X", "S2R R12, SR_TID.W", "text-differs"),
        ("sm_90/shuffle_diverged", "S2R R0, SR_TID.X", "S2R R0, SR_LAN", "text-differs"),
        ("sm_52/spin_lock", "ATOM.E.CAS R0, [R2], R8, R9", "ATOM.E.CAS R0, [R2], R8, R7", "text-differs"),
        ("sm_75/saxpy", "c[0x0][0x160]", "c[0x40][0x160]", "text-differs"),
        ("sm_52/trap_guard", "R4, c[0x2][0x0], PT", "R4, c[0x2][0x1], PT", "text-differs"),
        ("sm_80/saxpy", "2.384185791015625e-07", "2.384185791015625e07", "text-differs"),
        ("sm_75/saxpy", "c[0x0][0x160]", "c[0x0][0x10160]", "text-differs"),
        ("sm_52/trap_guard", "R4, c[0x2][0x0], PT", "R4, c[0x2][0x10000], PT", "text-differs"),
        ("sm_52/histogram_atomic", "BAR.SYNC 0x0", "BAR.SYNC 0x100", "text-differs"),
        ("sm_61/switch_loop", "RED.E.MAX.S32 [R2+-0x400]", "RED.E.MAX.S32 [R2+-0x300]", "text-differs"),
        ("sm_100/switch_brx", "BRX R8 -0x1d0", "BRX R9 -0x1d0", "text-differs"),
        ("sm_100/switch_brx", "BRX R8 -0x1d0", "BRX R8 -0x1c0", "text-differs"),
        ("sm_100/calls_nested", "PT, PT, PT, PT, 0x80, 0x8", "PT, PT, PT, PT, 0x2f, 0x8", "text-differs"),
        ("sm_100/continue_from_inner", "MOV R3, UR7", "MOV R3, UR71", "text-differs"),
        ("sm_120/double_math", "MOV.64 R8, 0x3fd8000000000000", "MOV.64 R8, 0x3fd8000000000001", "text-differs"),
        ("sm_75/saxpy", "ISETP.GE.AND P0", "ISETP.GE1.AND P0", "text-differs"),
        ("sm_75/saxpy", "ISETP.GE.AND P0", "FMNMX.GE.AND P0", "text-differs"),
    ],
)
def test_what_the_fuzzer_found_is_refused(sample: str, before: str, after: str, code: str):
    text = (SAMPLES / f"{sample}.cuobjdump.sass").read_text()
    assert before in text
    with pytest.raises(InputError) as caught:
        frontend.read(Source("x.sass", text.replace(before, after, 1)))
    assert caught.value.code == code


@pytest.mark.parametrize("arch", ARCHES)
def test_a_redirected_branch_of_a_listing_is_refused_at_its_line(arch: str):
    text = (SAMPLES / arch / "nested_if.cuobjdump.sass").read_text()
    lines = text.split("\n")
    number, line = next((at, line) for at, line in enumerate(lines) if " BRA 0x" in line)
    target = line.split(" BRA 0x")[1].split()[0]
    lines[number] = line.replace(f" BRA 0x{target}", f" BRA 0x{int(target, 16) - 0x40:x}")
    with pytest.raises(InputError) as caught:
        frontend.read(Source("x.sass", "\n".join(lines)))
    assert (caught.value.code, caught.value.span.line) == ("text-differs", number + 1)
    assert "which has the target 0x" in caught.value.message


def test_a_listing_without_encodings_is_not_held_against_any():
    text = (SAMPLES / "sm_80" / "nested_if.nvdisasm.sass").read_text()
    assert "/* 0x" not in text
    assert frontend.read(Source("x.sass", text)).functions


def test_a_label_that_is_defined_twice_is_refused():
    text = (SAMPLES / "sm_80" / "nested_if.nvdisasm.sass").read_text()
    label = next(line for line in text.split("\n") if line.startswith(".L_x_"))
    other = next(line for line in text.split("\n") if line.startswith(".L_x_") and line != label)
    with pytest.raises(InputError) as caught:
        frontend.read(Source("x.sass", text.replace(f"\n{other}\n", f"\n{label}\n")))
    assert caught.value.code in {"duplicate-label", "undefined-label"}


@pytest.mark.parametrize("sm", FLIPS)
def test_a_flipped_bit_is_noticed_and_the_encoding_itself_passes(sm: str):
    """Recorded by `scripts/flip_encodings --golden`: each flip changes what the disassembler prints."""
    of = encodings(sm.rstrip("a")).of
    said = [(text, bit, after, of(text, word), of(text, word ^ 1 << bit)) for text, word, bit, after in FLIPS[sm]]
    assert [each for each in said if each[3] != "" or not each[4]] == []


@pytest.mark.parametrize(
    ("arch", "text", "word"),
    [
        ("sm_90", "SHFL.DOWN P0, R5, R0, 0x1, 0x1e01", 0x083E010000057F89),
        ("sm_61", "DEPBAR.LE SB5, 0x3f", 0xF0F0000037F70000),
        ("sm_61", "FFMA R4, R2, 3.NEG, R0", 0x3281004040070204),
    ],
)
def test_what_vendors_ship_passes(arch: str, text: str, word: int):
    assert encodings(arch).of(text, word) == ""


@pytest.mark.parametrize("arch", ["sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62"])
def test_the_count_of_a_wait_has_six_bits_until_pascal(arch: str):
    of = encodings(arch).of
    for count in range(64):
        word = 0xF0F0000034070000 | count << 20
        assert of(f"DEPBAR.LE SB5, 0x{count:x}", word) == ""
        assert [bit for bit in range(6) if not of(f"DEPBAR.LE SB5, 0x{count:x}", word ^ 1 << 20 + bit)] == []


@pytest.mark.parametrize(
    ("text", "word", "said"),
    [
        ("EXIT", 0x000FEA0003800000_000000000000794D, ""),
        ("EXIT", 0x000FFA0003800000_000000000000794D, "a control code of no instruction"),
        ("EXIT", 0x000E6A0003800000_000000000000794D, "a barrier for its result"),
        ("EXIT", 0x000DEA0003800000_000000000000794D, "a barrier for its sources"),
        ("NOP", 0x000FC00000000000_0000000000007918, ""),
        ("NOP", 0x080FC00000000000_0000000000007918, "a control code of no instruction"),
        ("IADD3 R8, R8, 0x1, RZ", 0x000FC60007FFE0FF_0000000108087810, ""),
        ("IADD3 R8, R8, 0x1, RZ", 0x100FC60007FFE0FF_0000000108087810, ""),
        ("IADD3 R8, R8.reuse, 0x1, RZ", 0x040FC60007FFE0FF_0000000108087810, "another '.reuse'"),
        ("IADD3 R8, R8.reuse, 0x1, RZ", 0x040FE60007FFE0FF_0000000108087810, ""),
        ("IADD3 R8, R8, 0x1, RZ", 0x040FE60007FFE0FF_0000000108087810, "another '.reuse'"),
        ("IADD3 R8, R8, 0x1, RZ", 0x0C0FE60007FFE0FF_0000000108087810, "another '.reuse'"),
        ("CCTL.IVALL", 0x000FE20002000000_00000000FF00798F, ""),
        ("CCTL.IVALL", 0x000E220002000000_00000000FF00798F, "a barrier for its result"),
        ("CCTL.IVALL", 0x000DE20002000000_00000000FF00798F, "a barrier for its sources"),
    ],
)
def test_a_control_code_is_one_that_the_instruction_can_have(text: str, word: int, said: str):
    """What nvdisasm 12.8 and 13 print of each word, or refuse."""
    one = next(one for function in functions("sm_75") for one in function.instructions if not relative(one))
    assert encodings("sm_75").difference(replace(one, encoding=word, text=text)) == said


@pytest.mark.parametrize("arch", ["sm_50", "sm_52", "sm_60", "sm_61"])
@pytest.mark.parametrize(
    ("text", "word", "control", "said"),
    [
        ("SHR.U32 R7, R16, 0x1e", 0x3828000001E71007, 0x7E6, ""),
        ("SHR.U32 R7, R16, 0x1e", 0x3828000001E71007, 0x706, "a barrier for its result"),
        ("SHR.U32 R7, R16, 0x1e", 0x3828000001E71007, 0x1E6, "a barrier for its sources"),
        ("SHR.U32 R7, R16, 0x1e", 0x3828000001E71007, 0x1007E6, "a control code of no instruction"),
        ("LDG.E R0, [R2]", 0xEED4200000070200, 0x106, ""),
    ],
)
def test_so_it_is_until_pascal(arch: str, text: str, word: int, control: int, said: str):
    """What nvdisasm 12.8 prints of each word, or refuses."""
    one = next(one for function in functions("sm_61") for one in function.instructions if not relative(one))
    assert encodings(arch).difference(replace(one, encoding=word, control=control, text=text)) == said


@pytest.mark.parametrize("arch", [arch for arch in ARCHES if int(arch[3:]) >= 70])
def test_a_flipped_bit_of_stall_and_yield_is_noticed_where_no_instruction_has_the_code(arch: str):
    difference = encodings(arch).difference
    tried = 0
    for function in functions(arch):
        for one in function.instructions:
            for bit in range(105, 110):
                assert one.encoding is not None
                word = one.encoding ^ 1 << bit
                stall, kept = word >> 105 & 15, word >> 109 & 1
                if kept and not 1 <= stall <= 11:
                    assert difference(replace(one, encoding=word)) == "a control code of no instruction"
                    tried += 1
    assert tried > 100


def test_a_flipped_bit_of_a_control_code_is_noticed_where_notes_restate_it():
    difference = encodings("sm_120").difference
    noted = [one for function in functions("sm_120") for one in function.instructions if any(note.startswith("?") for note in one.notes)][
        ::20
    ]
    for one in noted:
        assert not difference(one)
        for bit in range(105, 122):
            assert one.encoding is not None
            assert difference(replace(one, encoding=one.encoding ^ 1 << bit)), (one.text, one.notes, bit)
    assert len(noted) > 10


def test_a_text_that_no_model_covers_is_counted():
    text = (SAMPLES / "sm_80" / "saxpy.cuobjdump.sass").read_text()
    line = next(line for line in text.split("\n") if " S2R " in line)
    strange = line.replace(" S2R ", " FROB ")
    (function,) = frontend.read(Source("x.sass", text.replace(line, strange, 1))).functions
    assert (function.contradiction, function.unchecked) == (None, 1)


@pytest.mark.parametrize("arch", ARCHES)
def test_a_comparison_with_another_relation_is_refused_in_every_form(arch: str):
    difference = encodings(arch).difference
    tried = 0
    for function in functions(arch):
        for one in function.instructions:
            name, *modifiers = one.opcode.split(".")
            if name not in {"ISETP", "UISETP", "FSETP", "DSETP"}:
                continue
            other = "GT" if "LE" in modifiers else "LE"
            changed = ".".join([name, *(other if each in {"LT", "LE", "GT", "GE", "EQ", "NE"} else each for each in modifiers)])
            if changed != one.opcode:
                assert difference(replace(one, opcode=changed, text=one.text.replace(one.opcode, changed))), one.text
                tried += 1
    assert tried > 10


@pytest.mark.parametrize(
    ("arch", "text", "word", "other"),
    [
        ("sm_80", "HFMA2 R3, R5, 1, -2, R7", 0x7_3C00C00005037831, "HFMA2 R3, R5, 1, -3, R7"),
        ("sm_86", "HFMA2 R3, R5, 0.5, 2, R7", 0x7_3800400005037831, "HFMA2 R3, R5, 0.25, 2, R7"),
        ("sm_80", "HFMA2.BF16_V2 R3, R5, 1, 2, R7", 0x200007_3F80400005037831, "HFMA2.BF16_V2 R3, R5, 2, 2, R7"),
        ("sm_90", "HADD2.BF16_V2 R3, R5, 1, 2", 0x200000_3F80400005037430, "HADD2.BF16_V2 R3, R5, 1, 4"),
        ("sm_120", "HADD2.BF16_V2 R3, R5, 100, 1", 0x200000_42C83F8005037430, "HADD2.BF16_V2 R3, R5, 64, 1"),
        ("sm_90", "I2F.F16 R3, 0x2a", 0x200C00_0000002A00037906, "I2F.F16 R3, 0x2b"),
        ("sm_100", "I2F.F16.U32 R3, 0x2a", 0x200800_0000002A00037906, "I2F.F16 R3, 0x2a"),
        ("sm_100", "HFMA2 R22, R22.H1_H1, 1, -0.5, -R15", 0x100C0F_3C00B80016167831, "HFMA2 R22, R22.H1_H1, 1, 0.5, -R15"),
        ("sm_90", "HFMA2.BF16_V2 R22, R22, 1, -0.5, -R15", 0x30000F_3F80BF0016167831, "HFMA2.BF16_V2 R22, R22, 2, -0.5, -R15"),
        ("sm_90", "HFMA2.MMA R22, R22, 1, -0.5, -R15", 0x10000F_3C00B80016167835, "HFMA2.MMA R22, R22, 1, 0.5, -R15"),
        ("sm_86", "HFMA2.MMA R22, R22, 1, -0.5, -R15", 0x10000F_3C00B80016167835, "HFMA2.MMA R22, R22, 1, 0.5, -R15"),
        ("sm_70", "HMUL2 R4, R25.H1_H1, 1, -1", 0xC00_3C00BC0019047832, "HMUL2 R4, R25.H1_H1, 1, -2"),
        ("sm_80", "STS.64 [R5.X4], R8", 0x41E20000000A000000000805007388 | 1 << 78, "STS.64 [R5], R8"),
        ("sm_61", "PSETP.AND.OR P3, PT, P2, P1, P5", 0x509022802007201F, "PSETP.OR.AND P3, PT, P2, P1, P5"),
        ("sm_50", "PSETP.OR.AND P3, PT, P2, P1, P5", 0x509002802107201F, "PSETP.AND.OR P3, PT, P2, P1, P5"),
        ("sm_50", "PSET.AND.XOR R24, P2, P1, !P5", 0x5088468020072018, "PSET.AND.OR R24, P2, P1, !P5"),
    ],
)
def test_numbers_and_operators_are_those_of_the_text(arch: str, text: str, word: int, other: str):
    assert encodings(arch).of(text, word) == ""
    assert encodings(arch).of(other, word)


@pytest.mark.parametrize(
    ("text", "word", "quiet", "infinite"),
    [
        ("FSEL R5, R0, +QNAN , P0", 0x7F80000100057808, 1 << 54, 1 << 32),
        ("HMUL2 R4, R25.H1_H1, 1, -QNAN", 0xC00_3C00FC0119047832, 1 << 41, 1 << 32),
        ("HFMA2.BF16_V2 R22, R22, +QNAN , -0.5, -R15", 0x30000F_7F81BF0016167831, 1 << 54, 1 << 48),
    ],
)
def test_a_signaling_nan_that_cuda_12_prints_as_quiet_is_unchecked(text: str, word: int, quiet: int, infinite: int):
    of = encodings("sm_80").of
    assert [of(text, each) for each in (word, word | quiet)] == [None, ""]
    assert of(text.replace("QNAN", "SNAN"), word) == ""
    assert of(text.replace("QNAN", "SNAN"), word | quiet)
    assert of(text, word ^ infinite)
