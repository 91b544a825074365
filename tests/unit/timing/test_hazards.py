"""The tables of hazards: what they say, and that they are checked."""

from importlib.resources import files

import pytest

from sassan.errors import InputError
from sassan.isa.toml import Section
from sassan.timing import hazards
from sassan.timing.hazards import GUARD, RAW, WAW

# Mesa NAK, sm75_instr_latencies.rs and sm80_instr_latencies.rs (figures by NVIDIA); maxas, MaxAsGrammar.pm, for sm_52.
PUBLISHED = [
    ("sm_75", (RAW, "R", "alu", "alu"), 4),
    ("sm_75", (RAW, "R", "alu", "fma"), 5),
    ("sm_75", (RAW, "R", "fma", "alu"), 5),
    ("sm_75", (RAW, "R", "fma", "fma"), 4),
    ("sm_75", (RAW, "R", "alu", "fp64"), 6),
    ("sm_75", (RAW, "R", "widehigh", "alu"), 5),
    ("sm_75", (RAW, "R", "wide", "alu"), 3),
    ("sm_75", (RAW, "P", "alu", "alu"), 4),
    ("sm_75", (RAW, GUARD, "alu", "cbu"), 12),
    ("sm_75", (RAW, "UR", "uniform", "uniform"), 4),
    ("sm_75", (RAW, "UR", "uniform", "alu"), 6),
    ("sm_75", (RAW, "UR", "umove", "uniform"), 2),
    ("sm_75", (WAW, "UR", "uniform", "umove"), 7),
    ("sm_80", (RAW, "R", "alu", "alu"), 4),
    ("sm_80", (RAW, "R", "alu", "fma"), 5),
    ("sm_80", (RAW, "R", "fma", "fma"), 4),
    ("sm_80", (RAW, "R", "fma", "fp64"), 6),
    ("sm_80", (RAW, "R", "halfmma", "wide"), 10),
    ("sm_80", (RAW, "R", "halfmma", "halfmma"), 6),
    ("sm_80", (RAW, "R", "tensor", "lsu"), 11),
    ("sm_52", (RAW, "R", "fp32", "fp32"), 6),
    ("sm_52", (RAW, "R", "shift", "fp32"), 6),
    ("sm_52", (RAW, GUARD, "compare", "cf"), 13),
    ("sm_52", (RAW, "CC", "fp32", "fp32"), 6),
]


@pytest.mark.parametrize(("arch", "key", "cycles"), PUBLISHED)
def test_distances_are_the_published_ones(arch: str, key: tuple[str, str, str, str], cycles: int):
    assert hazards.load(arch).distance(*key) == cycles


def test_what_no_table_holds_needs_no_distance():
    assert hazards.load("sm_80").distance(RAW, "R", "nothing", "alu") == 0


@pytest.mark.parametrize(
    ("arch", "opcode", "producer", "variable", "results"),
    [
        ("sm_80", "IMAD.WIDE.U32", "wide", False, ""),
        ("sm_80", "IMAD.MOV.U32", "fma", False, ""),
        ("sm_80", "LDS.U.128", "lsu", True, "shared"),
        ("sm_80", "LDG.E", "lsu", True, ""),
        ("sm_61", "LDG.E", "ldst", True, "memory"),
        ("sm_80", "DFMA", "fp64", True, "fp64"),
        ("sm_90", "DFMA", "fp64", False, "fp64"),
        ("sm_120", "DFMA", "fp64", True, "fp64"),
        ("sm_75", "UMOV", "umove", False, ""),
        ("sm_80", "HFMA2.MMA", "halfmma", False, ""),
    ],
)
def test_the_profile_of_an_opcode(arch: str, opcode: str, producer: str, variable: bool, results: str):
    found = hazards.load(arch).profile(opcode)
    assert (found.producer, found.variable, found.results) == (producer, variable, results)


def test_the_halves_of_a_wide_product_are_two_parts():
    assert hazards.parts("wide", 0b11 << 4) == (("wide", 1 << 4), ("widehigh", 1 << 5))


def test_any_other_result_is_one_part():
    assert hazards.parts("alu", 0b11 << 4) == (("alu", 0b11 << 4),)


@pytest.mark.parametrize("archs", ["[70]", "70", '["70", "75"]'])
def test_a_bound_that_is_no_pair_of_numbers_is_refused(archs: str):
    with pytest.raises(InputError, match=r"table: archs: expected the first and the last compute capability") as caught:
        hazards.bounds(Section.parse("table", f"archs = {archs}"))
    assert caught.value.code == "bad-table"


@pytest.mark.parametrize("name", ["hazards.toml", "distances.toml", "published.toml"])
def test_every_entry_names_its_source(name: str):
    text = files("sassan.timing").joinpath("data", name).read_text("utf-8")
    table = Section.parse(name, text)
    for kind in ("class", "variable", "in_order", "reads_in_order", "drains", "generation"):
        assert all(one.string("source") for one in table.sections(kind))
