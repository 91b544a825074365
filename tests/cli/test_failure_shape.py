"""The shape of an error (docs/developer/README.md, "Errors"), whatever the input held."""

from sassan.cli.output.failure import describe
from sassan.errors import InputError, UsageError
from sassan.source import Source, Span


def test_an_error_shows_code_place_line_carets_and_hint():
    source = Source("k.sass", "header\n   /*0020*/  FROB.X R3, [R4] ;\n")
    error = InputError(
        "unknown-opcode",
        "no entry for 'FROB.X' in the sm_80 table",
        source=source,
        span=Span(2, 14, 6),
        hint="report it",
    )
    assert describe(error) == (
        "error[unknown-opcode]: no entry for 'FROB.X' in the sm_80 table\n"
        "  --> k.sass:2:14\n"
        "        /*0020*/  FROB.X R3, [R4] ;\n"
        "                  ^^^^^^\n"
        "hint: report it\n"
    )


def test_an_error_without_a_place_is_one_line():
    assert describe(UsageError("usage", "no such option: --frob")) == "error[usage]: no such option: --frob\n"


def test_an_error_without_a_source_names_the_file_that_was_read():
    assert describe(InputError("empty", "nothing in it"), "k.sass") == "error[empty]: nothing in it\n  --> k.sass\n"


def test_control_characters_cannot_reach_the_terminal():
    source = Source("a\x1b[2J.sass", "\x1b]0;pwned\x07 FROB\u202e R1\x9b1m\n")
    text = describe(InputError("bad", "kernel '\x1b[31m\r\n'", source=source, span=Span(1, 11, 4)))
    assert [one for one in text if not one.isprintable()] == ["\n"] * 4
    assert "\\x1b[2J" in text


def test_carets_stand_below_a_place_behind_escaped_characters():
    source = Source("k", "\x01\x02 FROB R1")
    assert describe(InputError("bad", "m", source=source, span=Span(1, 4, 4))).splitlines()[2:] == [
        "        \\x01\\x02 FROB R1",
        "                 ^^^^",
    ]


def test_a_line_of_a_million_characters_is_shown_around_the_place():
    source = Source("k", "A" * 500_000 + "FROB" + "B" * 500_000)
    lines = describe(InputError("bad", "m", source=source, span=Span(1, 500_001, 4))).splitlines()
    assert lines[2] == " " * 8 + "A" * 60 + "FROB" + "B" * 46
    assert lines[3] == " " * 68 + "^^^^"


def test_a_place_after_the_end_of_the_text_shows_no_line():
    assert describe(InputError("cut-off", "m", source=Source("k", "one\n"), span=Span(9, 1, 1))) == "error[cut-off]: m\n  --> k:9:1\n"


def test_markup_of_rich_is_text():
    assert describe(InputError("bad", "[bold]x[/bold] [link=x]")) == "error[bad]: [bold]x[/bold] [link=x]\n"
