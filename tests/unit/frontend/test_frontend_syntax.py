"""What an error in an instruction says: code, place, what was expected."""

import lark
import pytest

from sassan.errors import InputError
from sassan.frontend.grammar import grammar_text
from sassan.source import Source, Span
from unit.frontend.listings import cuobjdump, function


@pytest.mark.parametrize(
    ("body", "column"),
    [
        ("MOV R1, ;", 44),
        ("MOV R1 R2 ;", 43),
        ("MOV R1, R2", 46),
        ("mov R1, R2 ;", 36),
        ("@P0 ;", 40),
        ("LDG R1, [R2 ;", 48),
        ("LDG R1, [R2+] ;", 48),
        ("MOV R1, c[0x0] ;", 51),
        ("MOV R1, 0xzz ;", 44),
        ("MOV R1, R2 ; R3 ;", 49),
        ("MOV R1, #2 ;", 44),
        ("BRA `(.L_x_1 ;", 40),
        ("{ MOV R1, R2 ; EXIT }", 51),
    ],
)
def test_a_mistake_is_located_at_its_column(body, column, refusal):
    error = refusal(body)
    assert (error.code, error.span) == ("syntax", Span(3, column, 1))


def test_an_error_lists_what_was_expected(refusal):
    assert refusal("LDG R1, [R2+] ;").message == "unexpected ']'; expected a number, a register"


def test_a_line_of_code_that_is_none_is_located():
    text = cuobjdump("MOV R1, R2 ;", "EXIT ;").replace("/*0010*/", "/*zzzz*/")
    with pytest.raises(InputError) as caught:
        function(text)
    assert (caught.value.code, caught.value.span) == ("syntax", Span(4, 9, 33))


def test_a_line_that_belongs_to_no_listing_is_located():
    text = cuobjdump("MOV R1, R2 ;", "EXIT ;").replace("\t\t....", "what?\n\t\t....")
    with pytest.raises(InputError) as caught:
        function(text)
    assert (caught.value.code, caught.value.span) == ("syntax", Span(5, 1, 5))


def test_the_span_of_an_instruction_is_its_text():
    one = function(cuobjdump("@P0 MOV R1, R2 ;", "EXIT ;")).instructions[0]
    assert one.span == Span(3, 36, 14)


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("sass_instruction", ["instruction", "operands"]),
        ("sass_listing", ["cuobjdump", "nvdisasm"]),
        ("ptx", ["module", "fragment", "instruction", "operand"]),
    ],
)
def test_no_two_terminals_and_no_two_rules_of_a_grammar_collide(name, starts):
    pytest.importorskip("interegular", reason="interegular is not installed: scripts/check runs this test with it")
    assert lark.Lark(grammar_text(f"{name}.lark"), parser="lalr", lexer="contextual", start=starts, strict=True)


def test_an_error_after_a_hostile_name_shows_its_line():
    text = cuobjdump("MOV R1, ;", name="a\u2028b\x0cc")
    with pytest.raises(InputError) as caught:
        function(text)
    assert "MOV R1, ;" in Source("t", text).line(caught.value.span.line)
