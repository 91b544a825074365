"""The traps of reading real listings, one test each."""

import time

import pytest

from sassan.errors import InputError
from sassan.frontend import read
from sassan.ir import Register, Symbol, Target
from sassan.source import Source
from unit.frontend.listings import cuobjdump, function, instruction, maxwell, nvdisasm, sample

SECONDS = 60
"""Of the processor: far more than any line takes, far less than a square of its length does."""


def test_a_target_that_is_a_control_word_is_the_next_instruction():
    one = function(maxwell("SSY 0x20 ;", "NOP ;", "NOP ;", "SYNC ;")).instructions[0]
    assert one.operands == (Target(0x28),)


def test_the_next_instruction_follows_the_control_word():
    code = function(maxwell("MOV R1, R2 ;", "MOV R1, R2 ;", "MOV R1, R2 ;", "EXIT ;")).instructions
    assert [(one.address, one.following) for one in code] == [(0x08, 0x10), (0x10, 0x18), (0x18, 0x28), (0x28, 0x30)]


def test_the_next_instruction_of_volta_lies_sixteen_bytes_on():
    code = function(cuobjdump("MOV R1, R2 ;", "EXIT ;")).instructions
    assert [(one.address, one.following) for one in code] == [(0x00, 0x10), (0x10, 0x20)]


DUAL = nvdisasm(
    "                                                              /* 0x001fd800e22007f0 */",
    "        /*0008*/         {         MOV R4, RZ ;               /* 0x5c9807800ff70004 */",
    "        /*0010*/                   S2R R0, SR_CTAID.X         }",
    "                                                              /* 0xf0c8000002570000 */",
    '        /*0018*/                   SYNC                       (*"BRANCH_TARGETS .L_x_0"*);   /* 0xf0f800000007000f */',
    "                                                              /* 0x001ffc00ffe007ed */",
    ".L_x_0:",
    "        /*0028*/         {     @P1 MOV R5, RZ ;               /* 0x5c9807800ff10005 */",
    '        /*0030*/               @P0 SYNC                       (*"BRANCH_TARGETS .L_x_0"*)        }',
    "                                                              /* 0xf0f800000000000f */",
    "        /*0038*/                   EXIT ;                     /* 0xe30000000007000f */",
    sm=61,
)


def test_both_halves_of_a_dual_issue_are_instructions():
    assert [one.text for one in function(DUAL).instructions] == [
        "MOV R4, RZ",
        "S2R R0, SR_CTAID.X",
        "SYNC",
        "@P1 MOV R5, RZ",
        "@P0 SYNC",
        "EXIT",
    ]


def test_the_encoding_of_the_second_half_is_on_a_later_line():
    assert [one.encoding for one in function(DUAL).instructions] == [
        0x5C9807800FF70004,
        0xF0C8000002570000,
        0xF0F800000007000F,
        0x5C9807800FF10005,
        0xF0F800000000000F,
        0xE30000000007000F,
    ]


def test_branch_targets_are_addresses():
    code = function(DUAL).instructions
    assert [one.targets for one in code] == [(), (), (0x28,), (), (0x28,), ()]


def test_a_note_is_kept_as_printed():
    assert function(DUAL).instructions[2].notes == ('(*"BRANCH_TARGETS .L_x_0"*)',)


@pytest.mark.parametrize(
    "halves",
    [
        ("{ MOV R1, R2 ;", "EXIT ;"),
        ("MOV R1, R2 ;", "EXIT }"),
        ("{ MOV R1, R2 ;", "{ EXIT ;"),
        ("MOV R1, R2 ;", "{ EXIT ;"),
    ],
)
def test_braces_that_do_not_pair_up_are_refused(halves):
    with pytest.raises(InputError) as caught:
        function(maxwell(*halves))
    assert caught.value.code == "syntax"


def test_the_second_line_of_encoding_belongs_to_the_instruction_above():
    text = cuobjdump(
        "S2R R0, SR_TID.X ;  /* 0x0000000000007919 */\n   /* 0x000e6e0000002100 */",
        "EXIT ; /* 0x000000000000794d */\n /* 0x000fea0003800000 */",
    )
    assert function(text).instructions[0].encoding == 0x000E6E00000021000000000000007919


def test_a_jump_table_is_what_the_note_lists():
    text = nvdisasm(
        '        /*0000*/  BRX R8 -0x10   (*"BRANCH_TARGETS .L_x_1,.L_x_2,.L_x_1"*);',
        ".L_x_1:",
        "        /*0010*/  EXIT ;",
        ".L_x_2:",
        "        /*0020*/  EXIT ;",
    )
    one = function(text).instructions[0]
    assert (one.targets, [type(operand).__name__ for operand in one.operands]) == ((0x10, 0x20, 0x10), ["Register", "Immediate"])


def test_a_call_to_a_symbol_of_the_section_is_a_target():
    text = nvdisasm(
        "        /*0000*/  CALL.REL.NOINC `($k$f) ;",
        "        /*0010*/  RET.REL.NODEC R20 `(k) ;",
        "        .type           $k$f,@function",
        "        .size           $k$f,(.L_x_99 - $k$f)",
        "$k$f:",
        "        /*0020*/  EXIT ;",
    )
    seen = function(text)
    assert [one.operands for one in seen.instructions] == [(Target(0x20, "$k$f"),), (Register("R", 20), Target(0, "k")), ()]
    assert (seen.entry, seen.symbols) == (0, ((0, "k"), (0x20, "$k$f")))


def test_a_call_out_of_the_section_is_a_symbol():
    assert instruction("JCAL `(vprintf) ;", "sm_61").operands == (Symbol("vprintf"),)


def test_a_label_that_nothing_defines_is_refused():
    with pytest.raises(InputError) as caught:
        function(nvdisasm("        /*0000*/  BRA `(.L_x_7) ;", "        /*0010*/  EXIT ;"))
    assert caught.value.code == "undefined-label"


def test_schedule_notes_are_no_operands():
    one = instruction("LDG.E R2, desc[UR4][R2.64]       &req={1,0} &wr=0x2 ?trans1;", "sm_120")
    assert (len(one.operands), one.notes) == (2, ("&req={1,0}", "&wr=0x2", "?trans1"))


def test_a_semicolon_may_follow_at_once():
    assert instruction("BRA 0x10;").operands == (Target(0x10),)


@pytest.mark.parametrize(
    "body",
    [
        "MOV R1, R2" + " " * 300_000 + "?trans1;",
        " " * 300_000 + "MOV R1, R2 ;",
        "MOV R1," + " " * 300_000 + "R2 ;" + " " * 300_000,
        "MOV R1, " + "R2, " * 30_000 + "R3 ;",
    ],
)
def test_a_wide_line_is_read_in_linear_time(body):
    start = time.process_time()
    assert instruction(body).opcode == "MOV"
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    "body",
    [
        "(" * 100_000,
        "`(" + ") " * 100_000,
        "MOV " + "0x" * 100_000,
        "MOV " + "1" * 200_000 + "x ;",
        "MOV R1, c" + "[0x0]" * 50_000,
        "A." * 100_000,
        "MOV R1, " + "{0," * 50_000,
        '(*"' * 50_000,
        "&a={" * 50_000 + ";",
    ],
)
def test_a_hostile_line_is_refused_in_linear_time(body):
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        instruction(body)
    assert time.process_time() - start < SECONDS
    assert caught.value.code == "syntax"


@pytest.mark.parametrize(
    "text",
    [
        "\tcode for sm_20\n\t\tFunction : k\n\t/*0000*/     /*0x00005de428004404*/ \tMOV R1, c [0x1] [0x100];\n\t\t.....\n",
        '\tcode for sm_35\n\t\tFunction : k\n\t.headerflags    @"EF_CUDA_SM35 EF_CUDA_PTX_SM(EF_CUDA_SM35)"\n\t\t.....\n',
        '\t.headerflags\t@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_SM35 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM35)"\n\t.section\t.text.k,"ax",@progbits\n',
        "\tcode for sm_999\n\t\tFunction : k\n\t\t.....\n",
    ],
)
def test_an_architecture_that_is_not_supported_is_named(text):
    with pytest.raises(InputError) as caught:
        read(Source("t", text))
    assert caught.value.code == "unsupported-architecture"


def test_a_listing_of_a_debug_build_has_comments_between_its_lines():
    text = nvdisasm('\t//## File "/k.cu", line 2', "        /*0000*/  EXIT ;", '\t//## File "/k.cu", line 3 inlined at "/k.cu", line 9')
    assert len(function(text).instructions) == 1


def test_data_sections_are_skipped():
    data = '\t.section\t.nv.info,"",@"SHT_CUDA_INFO"\n\t.align\t4\n.L_0:\n        /*0000*/ \t.byte\t0x04, 0x2f\n\t.zero\t\t2\n\n'
    text = nvdisasm("        /*0000*/  EXIT ;").replace("//-----", data + "//-----", 1)
    assert function(text).instructions[0].opcode == "EXIT"


def test_windows_line_ends_are_line_ends():
    text = sample("sm_61", "saxpy.cuobjdump.sass")
    assert function(text.replace("\n", "\r\n")) == function(text)


def test_a_fatbin_dump_holds_several_architectures():
    frame = "\nFatbin elf code:\n================\narch = sm_{0}\ncode version = [1,7]\nhost = linux\ncompile_size = 64bit\n\n"
    old, new = sample("sm_61", "saxpy.cuobjdump.sass"), sample("sm_90", "saxpy.cuobjdump.sass")
    both = read(Source("t", frame.format(61) + old + frame.format(90) + new)).functions
    assert [(one.name, one.arch) for one in both] == [("saxpy", "sm_61"), ("saxpy", "sm_90")]
    assert both[1].text_hash == function(new).text_hash


def test_encodings_may_be_omitted():
    with_words = function(sample("sm_61", "saxpy.cuobjdump.sass"))
    without = function("\n".join(line.split("/* 0x")[0] for line in sample("sm_61", "saxpy.cuobjdump.sass").split("\n")))
    assert [one.text for one in without.instructions] == [one.text for one in with_words.instructions]
    assert {(one.encoding, one.control) for one in without.instructions} == {(None, None)}


def test_a_missing_instruction_is_noticed():
    text = sample("sm_61", "saxpy.cuobjdump.sass")
    with pytest.raises(InputError) as caught:
        function("\n".join(line for line in text.split("\n") if "/*0030*/" not in line))
    assert caught.value.code == "missing-instructions"


def test_a_missing_control_word_is_noticed():
    lines = sample("sm_61", "saxpy.cuobjdump.sass").split("\n")
    control = next(index for index, line in enumerate(lines) if line.strip().startswith("/* 0x"))
    with pytest.raises(InputError) as caught:
        function("\n".join(lines[:control] + lines[control + 1 :]))
    assert caught.value.code == "missing-encodings"


def test_the_architecture_can_be_overridden():
    assert function(maxwell("EXIT ;", arch="sm_61"), arch="sm_52").arch == "sm_52"


def test_the_suffix_of_an_architecture_is_dropped():
    assert function(cuobjdump("EXIT ;", arch="sm_100a")).arch == "sm_100"


def test_halves_of_a_dual_issue_may_say_which_slot_they_take():
    halves = "{ ISCADD R12, R35, R14, 0x3   SLOT 0;", "TLDS.LZ.T RZ, R14, R14, 0x6b, 1D, RG   SLOT 1   }"
    first, second, _ = function(cuobjdump(*halves, "EXIT ;")).instructions
    assert (first.text, second.text) == ("ISCADD R12, R35, R14, 0x3", "TLDS.LZ.T RZ, R14, R14, 0x6b, 1D, RG")
    assert len(second.operands) == 6
