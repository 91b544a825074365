import pytest

from samples import explored, program
from sassan.errors import InputError
from sassan.timing.measured import MAXIMA, RESTS, read

CFG = explored(program("sm_61", "saxpy").functions[0])
NAME, TEXT = CFG.function.name, CFG.function.text_hash
FIRST, SECOND = (node.start for node in CFG.nodes)


def toml(*blocks: tuple[str, object], text: str = TEXT) -> str:
    rows = "".join(f'[[function."{NAME}".block]]\nstart = "{start}"\ncycles = {cycles}\n' for start, cycles in blocks)
    return f'[function."{NAME}"]\ntext = "{text}"\n{rows}'


def test_a_block_costs_what_was_measured() -> None:
    prices = read("m.toml", toml((hex(FIRST), 40), (hex(SECOND), 500))).block_costs(CFG)
    assert (prices.costs, prices.gaps, prices.assumptions[0], prices.assumptions[2]) == ((40, 500), (), MAXIMA, RESTS)


def test_of_several_measurements_the_largest_counts() -> None:
    text = f"function,text,start,cycles\n{NAME},{TEXT},{FIRST:#x},40\n{NAME},{TEXT},{FIRST:#x},44\n{NAME},{TEXT},{SECOND:#x},500\n"
    assert read("m.csv", text).block_costs(CFG).costs == (44, 500)


def test_a_block_that_was_not_measured_is_a_gap() -> None:
    prices = read("m.toml", toml((hex(FIRST), 40))).block_costs(CFG)
    assert [(gap.address, gap.code) for gap in prices.gaps] == [(SECOND, "not-measured")]


def test_a_function_that_was_not_measured_has_a_gap_per_block() -> None:
    assert [gap.code for gap in read("m.toml", "").block_costs(CFG).gaps] == ["not-measured", "not-measured"]


def test_measurements_of_another_text_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        read("m.toml", toml((hex(FIRST), 40), text="sha256:00")).block_costs(CFG)
    assert caught.value.code == "other-text"


def test_a_place_where_no_block_starts_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        read("m.toml", toml(("0x10", 40))).block_costs(CFG)
    assert (caught.value.code, "no block starts at 0x0010" in caught.value.message) == ("bad-measurements", True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[function", "m.toml: not TOML"),
        ("functions = 3", "m.toml: functions: unknown key"),
        (toml((hex(FIRST), -1)), f"m.toml: function.{NAME}.block[0].cycles: must be a whole number"),
        (toml((hex(FIRST), 1.5)), f"m.toml: function.{NAME}.block[0].cycles: must be a whole number"),
        (toml(("68", 1)), f"m.toml: function.{NAME}.block[0].start: must be an address"),
        (f'[[function."{NAME}".block]]\nstart = "0x8"\ncycles = 1\n', f"m.toml: function.{NAME}.text: is missing"),
    ],
)
def test_a_broken_toml_file_names_the_key(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read("m.toml", text)
    assert (caught.value.code, caught.value.message.startswith(message)) == ("bad-table", True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "m.csv:1: expected the columns function,text,start,cycles"),
        ("a,b\n", "m.csv:1: expected the columns function,text,start,cycles"),
        ("function,text,start,cycles\nf,sha256:00,0x8\n", "m.csv:2: expected a name, a hash, an address and cycles"),
        ("function,text,start,cycles\nf,sha256:00,8,1\n", "m.csv:2: expected a name, a hash, an address and cycles"),
        ("function,text,start,cycles\nf,sha256:00,0x8,-1\n", "m.csv:2: expected a name, a hash, an address and cycles"),
        ("function,text,start,cycles\nf,a,0x8,1\nf,b,0x8,1\n", "m.csv: f: two different texts"),
        ("function,text,start,cycles\n" + "f" * 200_000 + ",a,0x8,1\n", "m.csv: field larger than field limit"),
    ],
)
def test_a_broken_csv_file_names_the_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read("m.csv", text)
    assert (caught.value.code, caught.value.message.startswith(message)) == ("bad-measurements", True)
