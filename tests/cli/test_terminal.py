"""What untrusted text may do to a terminal: nothing."""

import pytest

from sassan.cli.output.table import Column, Table, show
from sassan.cli.output.terminal import cut, middle, safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("naïve ≤ 漢", "naïve ≤ 漢"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\r\nb", "a\\r\\nb"),
        ("\u202eevil", "\\u202eevil"),
        ("\x9b31m", "\\x9b31m"),
        ("\udc80", "\\udc80"),
        ("\u2028", "\\u2028"),
    ],
)
def test_characters_that_steer_are_spelled_out(text: str, shown: str):
    assert safe(text) == shown


def test_a_long_text_ends_in_an_ellipsis():
    assert cut("L2C9(L1C4)^10", 8) == "L2C9(L1…"


@pytest.mark.parametrize(("text", "shown"), [("C5L1234S", "C5L…"), ("us 12.345", "us …"), ("C5L12", "C5L12"), ("12,345,678", "…")])
def test_a_number_is_whole_or_not_there(text: str, shown: str):
    assert cut(text, 6) == shown


def test_a_long_name_keeps_both_ends():
    assert middle("_Z20abcdefghijklmnopqrstPfS_", 13) == "_Z20abcd…PfS_"


def test_a_long_name_has_no_part_of_a_number():
    assert middle("tile_4096_by_8192_of_a_matrix_128", 13) == "tile_…_128"
    assert middle("12345678 aaaaaaaaaaaaaaaaaaaaaaaaa 987654", 13) == "12345678…"


def test_a_table_stands_in_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    columns = (Column("function", widest=24), Column("instr", number=True), Column("worst path"))
    show(Table(columns, (("_Z" + "x" * 100, "7", "LC" * 100), ("k", "12345", "L"))))
    assert capsys.readouterr().out == (
        "function                  instr  worst path\n"
        "_Zxxxxxxxxxxxxxx…xxxxxxx      7  LCLCLCLCLCLCLCLCLCLCLCLCLCLCLCLCLCLCLCLCLCLCLC…\n"
        "k                         12345  L\n"
    )


NARROW = Table(
    (Column("function", names=True, widest=24), Column("WCET", number=True), Column("grid", number=True), Column("us", number=True)),
    (("saxpy", "491318987654", "-", "1234567.89"),),
)


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (
            80,
            "function          WCET  grid          us\nsaxpy     491318987654     -  1234567.89\n",
        ),
        (34, "function          WCET          us\nsaxpy     491318987654  1234567.89\n"),
        (24, "saxpy\n  WCET  491318987654\n  us    1234567.89\n"),
    ],
)
def test_a_narrow_terminal_gets_fewer_columns_or_a_list(
    columns: int, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sassan.cli.output.table.is_terminal", lambda _: True)
    show(NARROW)
    assert capsys.readouterr().out == shown


def test_a_table_without_rows_is_its_head(capsys: pytest.CaptureFixture[str]):
    show(Table((Column("function"), Column("WCET", number=True)), ()))
    assert capsys.readouterr().out == "function  WCET\n"


def test_a_table_on_a_terminal_has_the_same_cells(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sassan.cli.output.table.colourful", lambda _: True)
    show(Table((Column("function"), Column("WCET", number=True)), (("[bold]k[/]", "12"), ("\x1b[2J", "-"))))
    assert capsys.readouterr().out.split() == ["function", "WCET", "[bold]k[/]", "12", "\\x1b[2J", "-"]
