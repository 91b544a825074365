"""Malformed PTX is refused with a code, a place and what was expected; never with a traceback."""

import contextlib
import random
import re

import pytest

from budget import some, whole
from ptx import FILES, HEAD, REGISTERS, kernel
from sassan.errors import InputError
from sassan.frontend import read
from sassan.frontend.ptx.read import read_ptx
from sassan.source import Source

SMALL = [path for path in FILES if path.stat().st_size < 20_000]
SEEDED = 300


def refused(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read(Source("t.ptx", text))
    return caught.value


BY_HAND = [
    # instructions
    (kernel("mov.u32 %r1 2;", "ret;"), "syntax", "',', ';'"),
    (kernel("mov.u32 %r1, ;", "ret;"), "syntax", "a number"),
    (kernel("mov.u32 , %r1;", "ret;"), "syntax", "';'"),
    (kernel("mov.u32 %r1, %r2", "ret;"), "syntax", "';'"),
    (kernel("mov.u32 %r1, %r2;;", "ret;"), "syntax", "an opcode"),
    (kernel("MOV.u32 %r1, %r2;", "ret;"), "syntax", "an opcode"),
    (kernel("mov..u32 %r1, %r2;", "ret;"), "syntax", "an opcode"),
    (kernel("mov.u32. %r1, %r2;", "ret;"), "syntax", "an opcode"),
    (kernel("%r1 = %r2;", "ret;"), "syntax", "an opcode"),
    (kernel("@ mov.u32 %r1, %r2;", "ret;"), "syntax", "an opcode"),
    (kernel("@%p1;", "ret;"), "syntax", "an opcode"),
    (kernel("@%p1 @%p2 ret;"), "syntax", "an opcode"),
    (kernel("@%p1 L: ret;"), "syntax", "an opcode"),
    (kernel("mov.u32 %r1, 0x;", "ret;"), "syntax", "a number"),
    (kernel("mov.u32 %r1, 0xG;", "ret;"), "syntax", "a number"),
    (kernel("mov.u32 %r1, 12abc;", "ret;"), "syntax", "a number"),
    (kernel("mov.f32 %f1, 0f3F80;", "ret;"), "syntax", "a number"),
    (kernel("mov.f64 %rd1, 0d3F800000;", "ret;"), "syntax", "a number"),
    (kernel("mov.u32 %r1, --1;", "ret;"), "syntax", "a number"),
    (kernel("mov.u32 %r1, 0b12;", "ret;"), "syntax", "a number"),
    (kernel("mov.u32 %r1, 089;", "ret;"), "bad-number", "number"),
    (kernel("ld.global.u32 %r1, [%rd1+089];", "ret;"), "bad-number", "bytes"),
    (kernel("ld.global.u32 %r1, [%rd1;", "ret;"), "syntax", "']'"),
    (kernel("ld.global.u32 %r1, %rd1];", "ret;"), "syntax", "';'"),
    (kernel("ld.global.u32 %r1, [];", "ret;"), "syntax", "a name"),
    (kernel("ld.global.u32 %r1, [%rd1+];", "ret;"), "syntax", "a number"),
    (kernel("ld.global.u32 %r1, [%rd1+%r2];", "ret;"), "syntax", "a number"),
    (kernel("ld.global.u32 %r1, [[%rd1]];", "ret;"), "syntax", "a name"),
    (kernel("ld.global.u32 %r1, [%rd1 4];", "ret;"), "syntax", "']'"),
    (kernel("ld.global.v2.u32 {%r1, %r2, [%rd1];", "ret;"), "syntax", "'}'"),
    (kernel("ld.global.v2.u32 %r1, %r2}, [%rd1];", "ret;"), "syntax", "';'"),
    (kernel("ld.global.v2.u32 {%r1 %r2}, [%rd1];", "ret;"), "syntax", "'}'"),
    (kernel("setp.lt.s32 %p1|, %r1, %r2;", "ret;"), "syntax", "a name"),
    (kernel("setp.lt.s32 %p1|%p2|%p3, %r1, %r2;", "ret;"), "syntax", "';'"),
    (kernel("setp.lt.s32 %p1, %r1, %r2, !;", "ret;"), "syntax", "a name"),
    (kernel("setp.lt.s32 %p1, %r1, %r2, !!%p3;", "ret;"), "syntax", "a name"),
    (kernel("call.uni (%r1, f;", "ret;"), "syntax", "')'"),
    (kernel("call.uni %r1), f;", "ret;"), "syntax", "';'"),
    (kernel('mov.u32 %r1, "text";', "ret;"), "syntax", "a number"),
    (kernel("mov.u32 %r1, #2;", "ret;"), "syntax", "a number"),
    (kernel("mov.u32 %r1, $;", "ret;"), "syntax", "a number"),
    # names
    (kernel("mov.u32 %r1, %r9;", "ret;"), "undeclared-name", "declared"),
    (kernel("mov.u32 %r9, %r1;", "ret;"), "undeclared-name", "declared"),
    (kernel("mov.u32 %x, %r1;", "ret;"), "undeclared-name", "declared"),
    (kernel("mov.u32 r1, %r1;", "ret;"), "undeclared-name", "declared"),
    (kernel("mov.u32 %r01, %r1;", "ret;"), "undeclared-name", "declared"),
    (kernel("mov.u32 %r1, %tids.x;", "ret;"), "undeclared-name", "declared"),
    (kernel("ld.global.u32 %r1, [%rd99];", "ret;"), "undeclared-name", "declared"),
    (kernel("ld.param.u32 %r1, [k_9];", "ret;"), "undeclared-name", "declared"),
    (kernel("@%p9 ret;", "ret;"), "undeclared-name", "predicate"),
    (kernel("@!%q1 ret;", "ret;"), "undeclared-name", "predicate"),
    (kernel("mov.pred %p1, !%q1;", "ret;"), "undeclared-name", "predicate"),
    (kernel("{ .reg .b32 %x; }", "mov.u32 %x, %r1;", "ret;"), "undeclared-name", "declared"),
    (kernel("mov.u32 %x, %r1;", ".reg .b32 %x;", "ret;"), "undeclared-name", "declared"),
    (kernel("call.uni nobody;", "ret;"), "undeclared-name", "function"),
    (kernel("call.uni (%r1);", "ret;"), "undeclared-name", "function"),
    (kernel("brx.idx %r1, nothing;", "ret;"), "undeclared-name", ".branchtargets"),
    (kernel("brx.idx %r1;", "ret;"), "undeclared-name", ".branchtargets"),
    (kernel("bra 8;", "ret;"), "undeclared-name", "label"),
    (kernel("bra nowhere;", "ret;"), "undefined-label", "label"),
    (kernel("bra inner;", "{", "inner: ret;", "}", "ret;"), "undefined-label", "label"),
    (kernel("ts: .branchtargets L;", "brx.idx %r1, ts;", "ret;"), "undefined-label", "label"),
    (kernel("L: mov.u32 %r1, 1;", "L: ret;"), "duplicate-label", "scope"),
    (kernel(".reg .b32 %r<3>;", "ret;"), "duplicate-name", "scope"),
    (kernel(".reg .b32 x, x;", "ret;"), "duplicate-name", "scope"),
    (kernel("ret;") + kernel("ret;", head=""), "duplicate-name", "two functions"),
    # declarations
    (kernel(".reg .b33 x;", "ret;"), "bad-declaration", "type"),
    (kernel(".reg x;", "ret;"), "bad-declaration", "expected one"),
    (kernel(".reg .b32 .b64 x;", "ret;"), "bad-declaration", "expected one"),
    (kernel(".shared .align 3 .b8 x[4];", "ret;"), "bad-declaration", "power of two"),
    (kernel(".shared .align 0 .b8 x[4];", "ret;"), "bad-declaration", "power of two"),
    (kernel(".shared .align .b8 x[4];", "ret;"), "syntax", "a number"),
    (kernel(".reg .b32 %x<;", "ret;"), "syntax", "a number"),
    (kernel(".reg .b32 %x<4;", "ret;"), "syntax", "'>'"),
    (kernel(".reg .b32 %x4>;", "ret;"), "syntax", "';'"),
    (kernel(".reg .b32 ;", "ret;"), "syntax", "a name"),
    (kernel(".reg .b32 %x", "ret;"), "syntax", "';'"),
    (kernel(".reg .b32 %x,, %y;", "ret;"), "syntax", "a name"),
    (kernel(".shared .b8 x[;", "ret;"), "syntax", "']'"),
    (kernel(".shared .b8 x[4;", "ret;"), "syntax", "']'"),
    (kernel(".shared .b8 x4];", "ret;"), "syntax", "';'"),
    (kernel(".frob .b32 x;", "ret;"), "syntax", "an opcode"),
    (HEAD + ".global .b32 x = ;\n" + kernel("ret;", head=""), "syntax", "a number"),
    (HEAD + ".global .b32 x[2] = {1, ;\n" + kernel("ret;", head=""), "syntax", "a number"),
    (HEAD + ".global .b32 x[2] = {1, 2;\n" + kernel("ret;", head=""), "syntax", "'}'"),
    (HEAD + ".global .b32 x[2] = 1, 2};\n" + kernel("ret;", head=""), "syntax", "';'"),
    (HEAD + ".reg .b32 %r;\n" + kernel("ret;", head=""), "syntax", ".global"),
    # functions
    (HEAD + f".entry k(\n{{\n{REGISTERS}ret;\n}}\n", "syntax", "')'"),
    (HEAD + f".entry k)\n{{\n{REGISTERS}ret;\n}}\n", "syntax", "'('"),
    (HEAD + ".entry (.param .b32 x)\n{\nret;\n}\n", "syntax", "a name"),
    (HEAD + ".entry k(.param x)\n{\nret;\n}\n", "bad-declaration", "type"),
    (HEAD + ".entry k(.b32 x)\n{\nret;\n}\n", "syntax", "a state space"),
    (HEAD + ".entry k(.param .b32 x,)\n{\nret;\n}\n", "syntax", "a state space"),
    (HEAD + ".entry k(.param .b32 x .param .b32 y)\n{\nret;\n}\n", "syntax", "')'"),
    (HEAD + ".entry k .maxtid 4\n{\nret;\n}\n", "bad-declaration", ".maxntid"),
    (HEAD + ".entry k .maxntid 4,\n{\nret;\n}\n", "syntax", "a number"),
    (HEAD + ".entry k\nret;\n", "syntax", "'{'"),
    (HEAD + ".entry k\n{\nret;\n}\n}\n", "syntax", ".entry"),
    (HEAD + ".entry k\n{\n{\nret;\n}\n", "truncated", "'}'"),
    (HEAD + ".entry k\n{\nret;\n", "truncated", "'}'"),
    (HEAD + ".func (.param .b32 r f\n{\nret;\n}\n", "syntax", "')'"),
    (HEAD + "entry k\n{\nret;\n}\n", "syntax", ".entry"),
    (HEAD + ".visible k\n{\nret;\n}\n", "syntax", ".entry"),
    (HEAD + "ret;\n", "syntax", ".entry"),
    # modules
    (".version 8\n.target\n" + kernel("ret;", head=""), "syntax", "a name"),
    (".version\n.target sm_61\n" + kernel("ret;", head=""), "syntax", "a number"),
    (".version x.y\n.target sm_61\n" + kernel("ret;", head=""), "syntax", "a number"),
    (".version 8.8\n.target sm_61,\n" + kernel("ret;", head=""), "syntax", "a name"),
    (".version 8.8\n.address_size 64\n" + kernel("ret;", head=""), "no-architecture", ".target"),
    (".version 8.8\n.target debug\n" + kernel("ret;", head=""), "no-architecture", "sm_NN"),
    (".version 8.8\n.target sm_61\n.address_size\n" + kernel("ret;", head=""), "syntax", "a number"),
    (HEAD, "no-function", ".entry"),
    (HEAD + ".entry k;\n", "no-function", ".entry"),
    (HEAD + ".extern .func f;\n", "no-function", ".entry"),
    (HEAD + ".pragma nounroll;\n" + kernel("ret;", head=""), "syntax", "a string"),
    (HEAD + '.pragma "nounroll"\n' + kernel("ret;", head=""), "syntax", "';'"),
    (HEAD + ".file x\n" + kernel("ret;", head=""), "syntax", ".entry"),
    (HEAD + ".loc 1 2\n" + kernel("ret;", head=""), "syntax", ".entry"),
    (HEAD + ".section .debug_info {\n.b8 0\n" + kernel("ret;", head="").replace("{", "").replace("}", ""), "syntax", ".entry"),
    (HEAD + "/* " + kernel("ret;", head=""), "syntax", ".entry"),
]


@pytest.mark.parametrize(("text", "code", "expected"), BY_HAND, ids=range(len(BY_HAND)))
def test_a_mistake_has_a_code_a_place_and_an_expectation(text, code, expected):
    error = refused(text)
    assert (error.code, error.span is not None, expected in error.message) == (code, True, True), error.message


def test_the_place_is_that_of_the_mistake():
    error = refused(kernel("mov.u32 %r1, %r2;", "mov.u32 %r1, 0xG;", "ret;"))
    assert (error.span.line, error.span.column) == (11, 15)


def test_an_undeclared_name_is_pointed_at():
    error = refused(kernel("mov.u32 %r1, %r77;", "ret;"))
    assert (error.span.line, error.span.column, error.span.width) == (10, 15, 4)


def without(text: str, at: int) -> str:
    """Return a text without the character at a place."""
    return text[:at] + text[at + 1 :]


def code_only(text: str) -> list[int]:
    """Return the places that are neither in a comment, nor in a string, nor in debug data."""
    hidden = [found.span() for found in re.finditer(r'//[^\n]*|"[^"\n]*"|\.section[^{]*\{[^}]*\}', text)]
    return [at for at in range(text.index(".version"), len(text)) if not any(begin <= at < end for begin, end in hidden)]


def damaged(seed: int) -> str:
    """Return a sample with one seeded damage that no PTX survives."""
    chosen = random.Random(seed)
    text = chosen.choice(SMALL).read_text("utf-8")
    places = code_only(text)
    kind = chosen.choice([*";{}()[]", "cut", "stray", "register", "label"])
    if kind == "cut":
        inside = [at for at in places if "{" in text[:at] and "}" in text[at:]]
        return text[: chosen.choice(inside[len(inside) // 2 : -1])].rstrip("}\n\t ")
    if kind == "stray":
        at = chosen.choice(places)
        return text[:at] + chosen.choice("?#^~`\\") + text[at:]
    if kind == "register":
        return re.sub(r"%r[0-9]+(?=[,;])", "%nobody", text, count=1) if re.search(r"%r[0-9]+(?=[,;])", text) else text + "}"
    if kind == "label":
        return re.sub(r"\bbra(\.uni)?[ \t]+\S+;", "bra nowhere;", text, count=1) if " \t$L" in text else text + "{"
    found = [at for at in places if text[at] == kind]
    return without(text, chosen.choice(found)) if found else text + "}"


@pytest.mark.parametrize("seed", some(range(SEEDED), of=5))
def test_a_damaged_sample_is_refused(seed):
    error = refused(damaged(seed))
    assert error.span is not None
    assert "expected" in error.message or "no label" in error.message


@whole("every damage is made")
@pytest.mark.slow
def test_the_seeded_damages_and_those_by_hand_are_more_than_two_hundred():
    assert len({damaged(seed) for seed in range(SEEDED)} | {text for text, _, _ in BY_HAND}) >= 200


@pytest.mark.parametrize("seed", range(100))
def test_scrambled_text_never_ends_in_a_traceback(seed):
    chosen = random.Random(seed)
    text = list(chosen.choice(SMALL).read_text("utf-8"))
    for _ in range(chosen.randrange(1, 12)):
        at = chosen.randrange(len(text))
        text[at] = chosen.choice('\t\n ;,{}[]()<>=+-|!@%$._:"/*0x9aZé\u2028\x00')
    with contextlib.suppress(InputError):
        assert read_ptx(Source("t.ptx", "".join(text)))


@pytest.mark.parametrize(
    "line",
    ["{" * 5000 + "}" * 5000, "mov.u32 " + "{" * 5000 + "%r1" + "}" * 5000 + ", %r1;", "tex.1d.v4.f32.f32 {%f1}, [k_0, " * 3000],
)
def test_brackets_without_end_are_refused(line):
    assert refused(kernel(line, "ret;")).code in {"syntax", "truncated"}


def test_an_initial_value_without_end_is_refused():
    assert refused(HEAD + f".global .b32 x[1] = {'{' * 5000}1{'}' * 5000};\n").code == "syntax"
