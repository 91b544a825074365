"""The tables of hazards: what they say, and that they are checked."""

import pytest

from sassan.errors import InputError
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


RULES = '[sources]\nx = ""\n[barriers]\nvisible = 2\n'
ROW = 'source = "x"\n[generation.raw.R]\n'


@pytest.mark.parametrize(
    ("rules", "distances", "message"),
    [
        (f'{RULES}[[variable]]\nnames = ["LDG"]\nsource = "y"\n', "", "hazards.toml: variable[0].source: must be one of x"),
        (f'{RULES}[[class]]\nnames = ["LDG"]\nsource = "x"\n', "", "hazards.toml: class[0].name: is missing"),
        (f'{RULES}[[drains]]\nnames = ["BAR"]\nsource = "x"\narchs = [70]\n', "", "drains[0].archs: must be two whole numbers"),
        (f"{RULES}[other]\n", "", "hazards.toml: other: unknown key"),
        (RULES, f"[[generation]]\n{ROW}alu = {{ any = -1 }}\n", "generation[0].raw.R.alu.any: must be a whole number"),
        (RULES, f"[[generation]]\n{ROW}alus = {{ any = 1 }}\n", "generation[0].raw.R.alus: unknown key"),
        (RULES, f"[[generation]]\n{ROW}alu = {{ fpu = 1 }}\n", "generation[0].raw.R.alu.fpu: unknown key"),
        (RULES, "[[generation]]\n", "generation[0].source: is missing"),
        (RULES, '[[generation]]\nsource = "x"\nraw = 1\n', "generation[0].raw: must be a table"),
    ],
)
def test_a_table_that_is_not_well_formed_is_refused(rules: str, distances: str, message: str):
    with pytest.raises(InputError) as caught:
        hazards.read("sm_80", rules, [distances])
    assert caught.value.code == "bad-table"
    assert message in caught.value.message


def test_the_later_table_holds():
    tables = [f"[[generation]]\n{ROW}alu = {{ any = {cycles}, fma = 9 }}\n" for cycles in (4, 5)]
    found = hazards.read("sm_80", RULES, [tables[0], tables[1].replace(", fma = 9", "")])
    assert [found.distance(RAW, "R", "alu", one) for one in ("alu", "fma")] == [5, 9]
