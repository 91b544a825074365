"""The fast instruction parser and its plain twin agree, on every sample and on what Hypothesis makes up.

`SASSAN_FULL=1` compares every instruction of every sample; otherwise a fixed part of the distinct ones.
"""

import os
import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import part
from samples import SAMPLES
from sassan.errors import InputError
from sassan.frontend.grammar import SyntaxProblem
from sassan.frontend.instructions import Parser, PlainParser, TemplateParser
from sassan.frontend.reader import read_with
from sassan.source import Source

ARCHS = ["sm_52", "sm_61", "sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]
BODY = re.compile(r"^[ \t]*/\*[0-9a-f]{4,}\*/(.*?)(?:/\* 0x.*)?$", re.MULTILINE)
MUTATED = [
    "sm_61/switch_brx.nvdisasm-hex.sass",
    "sm_61/two_kernels.cuobjdump.sass",
    "sm_120/saxpy.cuobjdump.sass",
    "sm_90/saxpy.nvdisasm.sass",
]
PART = 1 if os.environ.get("SASSAN_FULL") else 67


def seen(parser: Parser, body: str) -> str:
    """Return everything that a parser says of an instruction; `repr` because a NaN equals nothing."""
    try:
        return repr(parser.parse(body))
    except SyntaxProblem as problem:
        return f"{problem.message} at {problem.position}"


@pytest.mark.parametrize("arch", ARCHS)
def test_both_parsers_read_the_samples_alike(arch):
    texts = [path.read_text(encoding="utf-8") for path in sorted((SAMPLES / arch).glob("*.sass"))]
    bodies = sorted({body for text in texts for body in BODY.findall(text)})[::PART]
    fast, plain = TemplateParser(), PlainParser()
    assert [seen(fast, body) for body in bodies] == [seen(plain, body) for body in bodies]


@pytest.mark.parametrize("name", ["sm_61/switch_brx.nvdisasm.sass", "sm_90/calls_nested.cuobjdump.sass", "sm_120/warp_vote.nvdisasm.sass"])
def test_both_parsers_make_the_same_program(name):
    source = Source("t", (SAMPLES / name).read_text(encoding="utf-8"))
    assert read_with(source, TemplateParser) == read_with(source, PlainParser)


@pytest.mark.parametrize("body", ["CCTL..IVALL ;", "CCTL. IVALL ;", "CCTL.IVALL. ;", "@P0 CCTL.IVALL ;", f"IMAD{'.' * 999}WIDE ;"])
def test_both_parsers_read_the_dots_of_an_opcode_alike(body):
    assert seen(TemplateParser(), body) == seen(PlainParser(), body)


@pytest.mark.parametrize("body", ["EXIT &wr=0x0?trans6 ;", "EXIT &wr=0x0 ?trans6&req={1,2} ;", "EXIT &wr=0x0? ;"])
def test_both_parsers_separate_the_notes_of_a_schedule_alike(body):
    assert seen(TemplateParser(), body) == seen(PlainParser(), body)


@pytest.mark.parametrize("offset", ["9" * 400, f"-{'9' * 400}", f"0x{'f' * 400}", "1.5", "1e400"])
def test_both_parsers_read_the_offset_of_a_constant_alike(offset):
    for body in (f"MOV R1, c[0x0][{offset}] ;", f"MOV R1, c[{offset}][0x0] ;", f"LDG R1, [R2+{offset}] ;"):
        assert seen(TemplateParser(), body) == seen(PlainParser(), body)


NUMBER = st.integers(0, 300).map(str)
HEX = st.integers(0, 2**64).map(hex)
REGISTER = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "-", "~", "!"]),
    st.sampled_from(["R", "UR", "P", "UP", "B", "SB"]),
    st.one_of(NUMBER, st.sampled_from(["Z", "T"])),
    st.sampled_from(["", "", ".reuse", ".64", ".H1", ".B1", ".X4.reuse", ".1"]),
)
OFFSET = st.builds("{}{}".format, st.sampled_from(["", "-"]), HEX)
ADDRESS = st.lists(st.one_of(REGISTER, OFFSET), min_size=0, max_size=3).map(lambda parts: f"[{'+'.join(parts)}]")
FLOAT = st.builds("{}{}".format, st.sampled_from(["", "-"]), st.floats(0, allow_infinity=False, allow_nan=False).map(str))
LABEL = st.builds("`({}{})".format, st.sampled_from([".L_x_", ".L_", "$k$f", "a, b", "a)b", "x y"]), NUMBER)
WORDS = st.sampled_from(
    [
        "2D",
        "RGBA",
        "R",
        "SRZ",
        "SR_TID.X",
        "PR",
        "gsb0",
        "{0,1}",
        "{}",
        "+INF ",
        "-QNAN",
        "CC",
        "CC.NEU",
        "32@lo(x1)",
        "1",
        "0x1.H0",
        "1.reuse",
        "SR12",
    ]
)
OPERAND = st.one_of(
    REGISTER,
    OFFSET,
    FLOAT,
    LABEL,
    WORDS,
    ADDRESS,
    st.builds("c{}{}".format, ADDRESS, ADDRESS),
    st.builds("desc{}{}".format, ADDRESS, ADDRESS),
    st.builds("{}|{}|".format, st.sampled_from(["", "-"]), REGISTER),
)
INSTRUCTION = st.builds(
    "{}{}{} {}{}{}{}".format,
    st.sampled_from(["", "{ ", "{"]),
    st.sampled_from(["", "@P0 ", "@!PT ", "@UP3 ", "@P9 "]),
    st.sampled_from(["MOV", "BRA", "EXIT", "LDG.E.64", "HGMMA.64x64x16.F32", "SSY", "mov", "RET.ABS"]),
    st.lists(OPERAND, max_size=4).flatmap(lambda parts: st.sampled_from([", ", ",", "  , ", " "]).map(lambda comma: comma.join(parts))),
    st.sampled_from(["", " &wr=0x1", " &req={1,2} ?trans1", " ?WAIT13_END_GROUP"]),
    st.sampled_from(["", ' (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)', ' (*"INDIRECT_CALL"*)', ' (*"a;b"*)']),
    st.sampled_from([";", " ;", " }", "; }", "", " ; ;"]),
)


@pytest.mark.slow
@settings(max_examples=part(600, of=16))
@given(st.lists(INSTRUCTION, min_size=1, max_size=3))
def test_both_parsers_read_made_up_instructions_alike(bodies):
    fast, plain = TemplateParser(), PlainParser()
    assert [seen(fast, body) for body in bodies] == [seen(plain, body) for body in bodies]


@settings(max_examples=part(300, of=16))
@given(st.text(st.sampled_from('RPU0123456789xabcLMOV@!-~|[]{}(),.;&?`"*+_ \t\x0b\u00a0é²'), max_size=30))
def test_both_parsers_read_noise_alike(body):
    assert seen(TemplateParser(), f"MOV {body}") == seen(PlainParser(), f"MOV {body}")


@settings(max_examples=part(200, of=16))
@given(st.text(max_size=60))
def test_noise_in_a_listing_is_refused_or_read(noise):
    text = f"\tcode for sm_75\n\t\tFunction : k\n        /*0000*/ EXIT ;\n{noise}\n\t\t.....\n"
    with suppress(InputError):
        assert read_with(Source("t", text), TemplateParser).functions


@settings(max_examples=part(150, of=16))
@given(st.sampled_from(MUTATED), st.integers(0, 10**6), st.integers(0, 12), st.text(max_size=4))
def test_a_damaged_listing_is_refused_or_read(name, place, removed, inserted):
    text = (SAMPLES / name).read_text(encoding="utf-8")
    place %= len(text)
    with suppress(InputError):
        assert read_with(Source("t", text[:place] + inserted + text[place + removed :]), TemplateParser).functions
