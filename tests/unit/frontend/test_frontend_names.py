"""Names of kernels are untrusted text: whatever they hold, they come out as they went in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassan.errors import InputError
from sassan.ir import Symbol, Target
from unit.frontend.listings import cuobjdump, function, nvdisasm

NAMES = [
    "_ZN7samples3mapIdLi2ELb0EEEvPKT_PS1_i",
    "<script>alert(1)</script>",
    "a&b",
    '"quoted"',
    "back`tick",
    "../../etc/passwd",
    "has ) and ( and `(",
    "a,(b - c)",
    "x,(y - x)",
    'x,"ax",@progbits',
    "ends with:",
    "; EXIT ;",
    '(*"BRANCH_TARGETS .L_x_0"*)',
    "Function : inner",
    "..........",
    "code for sm_90",
    "/*0000*/",
    "naïve\u202eevil",
    "_Z" + "x" * 5000,
]
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029\x85"), min_size=1, max_size=40)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_cuobjdump_listing_is_the_rest_of_its_line(name):
    assert function(cuobjdump("EXIT ;", name=name)).name == name


@pytest.mark.parametrize("name", [name for name in NAMES if name != "/*0000*/"])
def test_a_name_of_an_nvdisasm_listing_survives(name):
    seen = function(nvdisasm("        /*0000*/  EXIT ;", name=name))
    assert (seen.name, seen.symbols) == (name, ((0, name),))


def test_a_label_that_reads_as_a_line_of_code_is_refused():
    with pytest.raises(InputError):
        function(nvdisasm("        /*0000*/  CALL.REL.NOINC `(/*0000*/) ;", "/*0000*/:", "        /*0010*/  EXIT ;"))


def test_a_label_that_reads_as_a_comment_is_no_code_address():
    text = nvdisasm("        /*0000*/  CALL.REL.NOINC `(//x) ;", "//x:", "        /*0010*/  EXIT ;")
    assert function(text).instructions[0].operands == (Symbol("//x"),)


@given(TEXT)
def test_any_name_of_a_cuobjdump_listing_survives(name):
    assert function(cuobjdump("EXIT ;", name=name)).name == name


@given(TEXT.filter(lambda name: name == name.strip() and name[0] != "/"))
def test_any_name_of_an_nvdisasm_listing_survives(name):
    assert function(nvdisasm("        /*0000*/  EXIT ;", name=name)).name == name


@pytest.mark.parametrize(
    "name", ["<script>", "a&b", '"quoted"', "back`tick", "a, b", "{x}", "a; b", "a)b", "(*x*)", "two  blanks", "c[0x0]"]
)
def test_a_call_to_a_hostile_name_finds_it(name):
    text = nvdisasm(f"        /*0000*/  CALL.REL.NOINC `({name}) ;", f"{name}:", "        /*0010*/  EXIT ;")
    assert function(text).instructions[0].operands == (Target(0x10, name),)
