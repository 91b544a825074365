"""The tables of hazards: what they say, and that they are checked."""

from pathlib import Path

import pytest

from architectures import describe
from sassan.arch import names as arch_names
from sassan.arch import with_code
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
    ("sm_75", (RAW, GUARD, "alu", "fp16"), 12),  # cuTENSOR keeps a guard of HADD2 12 cycles apart
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
    ("sm_80", (RAW, "R", "fp16", "alu"), 5),
    ("sm_80", (RAW, "R", "fp16", "xu"), 4),  # as cuTENSOR has it behind HADD2.F32
    ("sm_52", (RAW, "R", "fp32", "fp32"), 6),
    ("sm_52", (RAW, "R", "shift", "fp32"), 6),
    ("sm_52", (RAW, GUARD, "compare", "cf"), 13),
    ("sm_52", (RAW, "CC", "fp32", "fp32"), 6),
]


@pytest.mark.parametrize(("arch", "key", "cycles"), PUBLISHED)
def test_distances_are_the_published_ones(arch: str, key: tuple[str, str, str, str], cycles: int):
    assert hazards.load(arch).distance(*key).cycles == cycles


def test_what_no_table_holds_needs_no_distance():
    assert hazards.load("sm_80").distance(RAW, "R", "nothing", "alu").cycles == 0


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


SOURCE = '[sources]\nx = "y"\n'
RULES = f'{SOURCE}[hazards.barriers]\nvisible = 2\nsource = "x"\n'
ROW = '[distances.measured]\nsource = "x"\n[distances.measured.raw.R]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'{RULES}[hazards.variable.loads]\nname = ["LDG"]\nsource = "x"\n', "hazards.variable.loads.name: unknown key"),
        (f'{RULES}[hazards.frob.loads]\nnames = ["LDG"]\nsource = "x"\n', "hazards.frob.loads.names: must be a rule of class, variable"),
        (
            f'{RULES}[hazards.lasts.129]\nnames = ["DMMA"]\nsource = "x"\n',
            "hazards.lasts.129.names: must stand below a number of cycles, 128",
        ),
        (f'{SOURCE}[hazards.barriers]\nvisible = -1\nsource = "x"\n', "hazards.barriers.visible: must be a whole number, 0 or more"),
        (f"{RULES}{ROW}alu = {{ any = -1 }}\n", "distances.measured.raw.R.alu.any: must be a whole number, 0 or more"),
        (f"{RULES}{ROW}alus = {{ any = 1 }}\n", "distances.measured.raw.R.alus: unknown key"),
        (f"{RULES}{ROW}alu = {{ fpu = 1 }}\n", "distances.measured.raw.R.alu.fpu: unknown key"),
        (f'{RULES}[distances.measured]\nsource = "x"\nraw = 1\n', "distances.measured.raw: must be a table"),
    ],
)
def test_a_table_that_is_not_well_formed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str):
    describe(monkeypatch, tmp_path, text if "[distances" in text else f'{text}[distances.measured]\nsource = "x"\n')
    with pytest.raises(InputError) as caught:
        hazards.load("sm_130")
    assert caught.value.code == "bad-table"
    assert message in caught.value.message


def test_what_was_observed_too_rarely_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = 'fma = { cycles = 4, seen = 29 }\nalu = { cycles = 4, seen = 30, producers = ["IADD3"], consumers = ["LOP3"] }\n'
    describe(monkeypatch, tmp_path, f"{RULES}{ROW.replace('raw.R', 'raw.R.alu')}{rows}")
    found = hazards.load("sm_130")
    to_alu = found.distance(RAW, "R", "alu", "alu")
    assert to_alu == hazards.Distance(4, 30, frozenset({"IADD3"}), frozenset({"LOP3"}))
    assert [hazards.is_note(to_alu, *pair) for pair in (("IADD3", "LOP3"), ("LOP3", "LOP3"), ("IADD3", "SEL"))] == [False, True, True]
    assert hazards.is_note(found.distance(RAW, "R", "alu", "fma"), "IADD3", "FADD")


def test_what_is_published_goes_over_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    published = '[distances.a]\nsource = "x"\n[distances.a.raw.R]\nalu = { any = 5 }\n'
    describe(monkeypatch, tmp_path, f"{RULES}{published}{ROW}alu = {{ any = 4, fma = 9 }}\n")
    found = hazards.load("sm_130")
    assert [found.distance(RAW, "R", "alu", one).cycles for one in ("alu", "fma")] == [5, 9]


def test_every_unit_reads_its_guard_as_early_as_the_earliest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = "alu = { cycles = 12, seen = 30 }\nfp16 = { cycles = 16, seen = 69 }\nfma = { cycles = 9, seen = 2 }\n"
    describe(monkeypatch, tmp_path, f"{RULES}{ROW.replace('raw.R', 'raw.guard.alu')}{rows}")
    found = hazards.load("sm_130")
    assert [found.distance(RAW, GUARD, "alu", one).cycles for one in ("alu", "fp16", "fma")] == [12, 12, 9]


@pytest.mark.parametrize("arch", [arch for arch in arch_names() if with_code(arch)])
def test_the_guards_of_an_architecture_are_read_at_one_time(arch: str):
    distances = hazards.load(arch)._distances
    for (dependence, file, producer, _), each in distances.items():
        if file == GUARD and each.seen >= hazards.ENOUGH:
            known = {one.cycles for key, one in distances.items() if key[:3] == (dependence, file, producer) and one.seen >= hazards.ENOUGH}
            assert known == {each.cycles}
