"""Checked documents: what is wrong is named with its file and key, whatever the text holds."""

import pytest

from sassan.checked import Fields, Format
from sassan.errors import InputError, UsageError
from sassan.source import Span

FORMAT = Format("bad-thing", "a hint", syntax="thing-syntax")


def refusal(text: str, read: str = "toml") -> InputError:
    with pytest.raises(InputError) as caught:
        getattr(FORMAT, read)("x", text)
    return caught.value


@pytest.mark.parametrize("text", ["[", "x = " + "[" * 10_000, "\x00", "x = 1\nx = 2"])
def test_a_text_that_is_not_toml_is_refused(text: str):
    error = refusal(text)
    assert (error.code, error.hint) == ("thing-syntax", "a hint")
    assert error.message.startswith("x: not TOML: ")


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"x": 1, "x": 2}'])
def test_a_text_that_is_not_json_is_refused(text: str):
    error = refusal(text, "json")
    assert (error.code, error.message.startswith("x: not JSON: ")) == ("thing-syntax", True)


@pytest.mark.parametrize(("read", "text"), [("toml", 'y = "é"\nx = {}'), ("json", '{{"y": "é",\n"x": {}}}')])
def test_a_number_of_thousands_of_digits_is_refused_at_its_place(read: str, text: str):
    error = refusal(text.format("9" * 10_000), read)
    assert error.message == f"x: not {read.upper()} that is read here: a number of 10000 digits"
    assert error.span == Span(2, 5 if read == "toml" else 6, 10_000)


def test_a_json_document_is_an_object():
    assert refusal("[]", "json").message == "x: must be a table"


def fields(text: str) -> Fields:
    return FORMAT.toml("x", text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x: k: is missing"),
        ("k = 0", "x: k: must be a whole number, 1 or more, not 0"),
        ("k = true", "x: k: must be a whole number, 1 or more, not True"),
        ("k = nan", "x: k: must be a whole number, 1 or more, not nan"),
        ("k = 0x" + "f" * 10_000, "x: k: must be a whole number, 1 or more, not a value too large to show"),
        ("k = '" + "y" * 1_000 + "'", "x: k: must be a whole number, 1 or more, not '" + "y" * 56 + "..."),
    ],
)
def test_a_value_is_named_with_its_key(text: str, message: str):
    with pytest.raises(InputError) as caught:
        fields(text).whole("k")
    assert (caught.value.code, caught.value.message) == ("bad-thing", message)


@pytest.mark.parametrize("key", [".".join("k" * 101), " . ".join(["k", '"l"', "'m'"] * 40), "[" + ".".join("k" * 101) + "]"])
def test_a_key_of_more_than_a_hundred_tables_is_refused_at_its_line(key: str):
    with pytest.raises(InputError) as caught:
        fields(f"a = 1\n{key}{'' if key.startswith('[') else ' = 1'}")
    assert (caught.value.code, caught.value.span.line) == ("thing-syntax", 2)


@pytest.mark.parametrize("text", ["k = '" + "k." * 200 + "'", "k = [" + "1.5, " * 200 + "]", ".".join("k" * 90) + " = 1"])
def test_dots_elsewhere_are_no_tables(text: str):
    assert "k" in fields(text)


def test_a_key_is_quoted_as_in_toml():
    table = fields('[t."a.b\\u001b"]\n"c\\n" = 1').table("t").table("a.b\x1b")
    with pytest.raises(InputError) as caught:
        table.only("d")
    assert caught.value.message == 'x: t."a.b\\U0000001b"."c\\U0000000a": unknown key (known: d)'


def test_null_counts_as_absent():
    document = FORMAT.json("x", '{"k": null}')
    assert ("k" in document, document.text("k", "d"), document.table("k").values) == (False, "d", {})


def test_the_class_of_the_errors_belongs_to_the_format():
    with pytest.raises(UsageError):
        Format("bad-thing", error=UsageError).toml("x", "[")
