"""A table is checked once, when it is read: an error names the file and the key."""

import pytest

from sassan.errors import InputError
from sassan.isa.loading import read_letters, read_table
from sassan.isa.tables import LETTERS, load

HEAD = '[sources]\nbook = "a book"\n'
ROW = '[[op]]\nnames = ["ADD"]\nunit = "alu"\nforms = ["d s s"]\nsource = "book"\n'

BAD = [
    ("base = [", "not TOML"),
    (HEAD + "[frob]\nx = 1\n", "frob"),
    ('base = "other.toml"\n' + HEAD, "base"),
    (HEAD + '[[op]]\nnames = ["ADD"]\nunit = "alu"\nsource = "book"\n', "op[0].forms"),
    (HEAD + '[[op]]\nunit = "alu"\nforms = ["d"]\nsource = "book"\n', "op[0].names"),
    (HEAD + '[[op]]\nnames = "ADD"\nunit = "alu"\nforms = ["d"]\nsource = "book"\n', "op[0].names"),
    (HEAD + '[[op]]\nnames = [1]\nunit = "alu"\nforms = ["d"]\nsource = "book"\n', "op[0].names"),
    (HEAD + '[[op]]\nnames = ["ADD"]\nunit = "alu"\nforms = ["d"]\n', "op[0].source"),
    (HEAD + '[[op]]\nnames = ["ADD"]\nunit = "alu"\nforms = ["d"]\nsource = "hearsay"\n', "op[0].source"),
    (HEAD + '[[op]]\nnames = ["ADD"]\nunit = "alu"\nforms = ["k"]\nsource = "book"\n', "op[0].forms"),
    (HEAD + '[[op]]\nnames = ["ADD"]\nunit = "alu"\nforms = ["d:frob"]\nsource = "book"\n', "op[0].forms"),
    (HEAD + '[[op]]\nnames = ["ADD"]\nforms = ["d"]\nsource = "book"\n', "op[0].unit"),
    (HEAD + '[[op]]\nnames = ["ADD"]\nunit = "frob"\nforms = ["d"]\nsource = "book"\n', "op[0].unit"),
    (HEAD + '[[op]]\nnames = ["ADD"]\nunit = ["alu", "fma"]\nforms = ["d"]\nsource = "book"\n', "op[0].unit"),
    (HEAD + ROW + "lanewise = true\n", "op[0].lanewise"),
    (HEAD + ROW + 'agree = "perhaps"\n', "op[0].agree"),
    (HEAD + ROW + 'flow = "sideways"\n', "op[0].flow"),
    (HEAD + ROW + 'tag = "SYNC"\n', "op[0].tag"),
    (HEAD + ROW + "uniform = 1\n", "op[0].uniform"),
    (HEAD + ROW + 'modifiers = ["@frob"]\n', "op[0].modifiers"),
    (HEAD + "[widths.size]\nspans = { 64 = 2 }\n", "widths.size.absent"),
    (HEAD + "[widths.size]\nspans = { 64 = -2 }\nabsent = 1\n", "widths.size.spans.64"),
    (HEAD + "[widths.size]\nspans = { 64 = true }\nabsent = 1\n", "widths.size.spans.64"),
    (HEAD + '[widths.size]\nspans = { 64 = 2 }\nabsent = 1\nnth = "third"\n', "widths.size.nth"),
    (HEAD + "[widths.size]\ncolumns = { 64x16x8 = 2 }\nabsent = 1\n", "widths.size.columns.64x16x8"),
    (HEAD + '[operands.sets]\nPR = "P"\n', "operands.sets.PR"),
]


@pytest.mark.parametrize(("text", "key"), BAD)
def test_a_bad_table_is_refused_by_file_and_key(text: str, key: str):
    with pytest.raises(InputError) as caught:
        read_table("mine.toml", text, {}.get)
    assert (caught.value.code, caught.value.message.startswith(f"mine.toml: {key}:")) == ("bad-table", True), caught.value.message


def test_a_good_table_is_read():
    assert sorted(read_table("mine.toml", HEAD + ROW, {}.get).rows) == ["ADD"]


def test_rows_of_a_later_table_come_before_those_of_its_base():
    base = read_table("base.toml", HEAD + ROW, {}.get)
    later = read_table("later.toml", 'base = "base.toml"\n' + HEAD + ROW + 'agree = "lanewise"\n', {"base.toml": base}.get)
    assert [one.agree.value for one in later.rows["ADD"]] == ["lanewise", "never"]


def test_a_letter_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match=r"letters.toml: mine.rule\[0\].letter"):
        read_letters("letters.toml", '[mine]\nsource = "x"\n[[mine.rule]]\nletter = "Q"\nnames = ["A"]\n', "mine")


@pytest.mark.parametrize(
    "arch", ["50", "52", "53", "60", "61", "62", "70", "72", "75", "80", "86", "87", "89", "90", "100", "101", "103", "120", "121"]
)
def test_every_architecture_of_the_front_end_has_a_table(arch: str):
    assert load(f"sm_{arch}") is load(f"sm_{arch}")


def test_an_architecture_specific_target_has_the_table_of_its_number():
    assert load("sm_90a").table is load("90").table


def test_an_architecture_without_a_table_is_an_error():
    with pytest.raises(InputError) as caught:
        load("sm_35")
    assert caught.value.code == "unsupported-architecture"


def test_a_mapping_to_letters_that_does_not_exist_is_an_error():
    with pytest.raises(InputError) as caught:
        load("sm_61", "2099")
    assert caught.value.code == "bad-table"


def test_the_mappings_to_letters_are_two():
    assert LETTERS == ("timing", "2013")
