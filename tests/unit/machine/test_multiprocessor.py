from fractions import Fraction
from pathlib import Path

import pytest

from architectures import describe
from sassan.alphabet import UNITS, Letter
from sassan.arch import described, names
from sassan.errors import InputError
from sassan.isa.tables import units
from sassan.machine import load
from sassan.machine.memory_pipeline import memory_pipeline
from sassan.machine.pipes import pipes_of

GOOD = {
    "fp32": 128, "int32": 64, "fp64": 4, "sfu": 16, "ldst": 32, "tex": 4, "conv64": 4, "warps": 64, "blocks": 32, "registers": 65536,
    "issue": [4, 1], "shared": [64, 48], "unsure": [], "source": ["a"],
}  # fmt: skip


def written(change: dict[str, object]) -> str:
    values = {**GOOD, **change}
    rows = "\n".join(f"{key} = {value!r}".replace("'", '"') for key, value in values.items() if value is not None)
    return f'[sources]\na = "a test"\n[sm]\n{rows}\n'


def test_a_consumer_pascal_starts_a_double_every_eight_cycles() -> None:
    assert load("sm_61").capacity(Letter.DOUBLE) == Fraction(1, 8)


def test_compute_has_the_narrower_of_the_integer_and_the_float_path() -> None:
    assert load("sm_86").capacity(Letter.COMPUTE) == 2


def test_issue_counts_every_dispatch_unit_of_every_scheduler() -> None:
    assert (load("sm_61").issue, load("sm_70").issue) == (8, 4)


def test_three_digits_name_a_capability_of_two_parts() -> None:
    assert load("sm_120").capability == "12.0"


def test_an_architecture_specific_suffix_does_not_matter() -> None:
    assert load("sm_90a").capability == "9.0"


def test_an_entry_that_no_source_confirms_is_said() -> None:
    assert "no source confirms 'ldst' of compute capability 10.0" in load("sm_100").assumptions


@pytest.mark.parametrize("arch", ["sm_99", "sm_", "volta", ""])
def test_an_unknown_multiprocessor_is_refused(arch: str) -> None:
    with pytest.raises(InputError) as caught:
        load(arch)
    assert caught.value.code == "unknown-sm"


def test_the_numbers_of_the_refusals_are_right_but_for_the_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    describe(monkeypatch, tmp_path, written({}))
    assert load("sm_130").fp32 == 128


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fp32": 0}, "sm.fp32: must be a whole number, 1 or more, not 0"),
        ({"fp32": 1.5}, "sm.fp32: must be a whole number, 1 or more, not 1.5"),
        ({"fp32": "many"}, "sm.fp32: must be a whole number, 1 or more, not 'many'"),
        ({"fp32": None}, "sm.fp32: is missing"),
        ({"fp33": 1}, "sm.fp33: unknown key"),
        ({"issue": [4]}, "sm.issue: must be two whole numbers, 1 or more, not [4]"),
        ({"issue": 4}, "sm.issue: must be two whole numbers, 1 or more, not 4"),
        ({"issue": [4, 3]}, "sm.issue: no scheduler has more than two dispatch units"),
        ({"fp32": 256}, "sm.fp32: 256 results per clock are more than 4 warp instructions per clock"),
        ({"sfu": 18}, "sm.sfu: 18 lanes cannot be divided among 4 schedulers"),
        ({"shared": [64, 96]}, "sm.shared: a block of 96 KB does not fit into the 64 KB of the SM"),
        ({"warps": 63}, "sm.warps: 63 warps cannot be divided among 4 schedulers"),
        ({"blocks": 65}, "sm.blocks: 65 blocks need more than the 64 warps of the SM"),
        ({"registers": 64}, "sm.registers: less than one register per thread"),
        ({"unsure": ["speed"]}, "sm.unsure: must name keys of the table"),
    ],
)
def test_a_broken_section_names_file_and_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], message: str
) -> None:
    describe(monkeypatch, tmp_path, written(change))
    with pytest.raises(InputError) as caught:
        load("sm_130")
    assert caught.value.code == "bad-table"
    assert caught.value.message.startswith(f"{tmp_path / 'sm_130.toml'}: {message}")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('[units.alu]\nscope = "sm"\nsource = "a"\n', "units.alu.lanes: a unit has either lanes or cycles"),
        ('[units.alu]\nlanes = "frob"\nscope = "sm"\nsource = "a"\n', "units.alu.lanes: must be one of fp32"),
        ('[units.alu]\ncycles = 2\nscope = "gpu"\nsource = "a"\n', "units.alu.scope: must be one of partition, sm"),
        ('[units.alu]\ncycles = 2\nscope = "sm"\nspeed = 3\nsource = "a"\n', "units.alu.speed: unknown key"),
    ],
)
def test_a_broken_unit_names_file_and_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str, message: str) -> None:
    describe(monkeypatch, tmp_path, written({}) + row)
    with pytest.raises(InputError) as caught:
        load("sm_130")
    assert caught.value.message.startswith(f"{tmp_path / 'sm_130.toml'}: {message}")


# FP32, INT32, FP64, SFU, LD/ST; schedulers, dispatch units of each; warps, blocks, registers; shared memory of SM and block in KB.
@pytest.mark.parametrize(
    ("capability", "figures"),
    [
        ("2.0", (32, 32, 16, 4, 16, 2, 1, 48, 8, 32768, (48, 48))),
        ("3.0", (192, 160, 8, 32, 32, 4, 2, 64, 16, 65536, (48, 48))),
        ("3.5", (192, 160, 64, 32, 32, 4, 2, 64, 16, 65536, (48, 48))),
        ("5.0", (128, 128, 4, 32, 32, 4, 2, 64, 32, 65536, (64, 48))),
        ("5.2", (128, 128, 4, 32, 32, 4, 2, 64, 32, 65536, (96, 48))),
        ("5.3", (128, 128, 4, 32, 32, 4, 2, 64, 32, 65536, (64, 48))),
        ("6.0", (64, 64, 32, 16, 16, 2, 2, 64, 32, 65536, (64, 48))),
        ("6.1", (128, 128, 4, 32, 32, 4, 2, 64, 32, 65536, (96, 48))),
        ("7.0", (64, 64, 32, 16, 32, 4, 1, 64, 32, 65536, (96, 96))),
        ("7.5", (64, 64, 2, 16, 16, 4, 1, 32, 16, 65536, (64, 64))),
        ("8.0", (64, 64, 32, 16, 32, 4, 1, 64, 32, 65536, (164, 163))),
        ("8.6", (128, 64, 2, 16, 16, 4, 1, 48, 16, 65536, (100, 99))),
        ("8.9", (128, 64, 2, 16, 16, 4, 1, 48, 24, 65536, (100, 99))),
        ("9.0", (128, 64, 64, 16, 32, 4, 1, 64, 32, 65536, (228, 227))),
        ("10.0", (128, 64, 64, 16, 32, 4, 1, 64, 32, 65536, (228, 227))),
        ("12.0", (128, 128, 2, 16, 16, 4, 1, 48, 24, 65536, (100, 99))),
    ],
)
def test_the_figures_are_those_of_the_publications(capability: str, figures: tuple[object, ...]) -> None:
    sm = load(capability)
    lanes = (sm.fp32, sm.int32, sm.fp64, sm.sfu, sm.ldst)
    assert (*lanes, sm.schedulers, sm.dispatch, sm.warps, sm.blocks, sm.registers, sm.shared) == figures


def test_the_unit_map_and_the_opcodes_name_the_same_units() -> None:
    assert {pipe.unit for name in names() for pipe in pipes_of(name)} == set(units())


# What one warp may issue: FFMA, IADD3 or IADD, IMAD, DFMA, MUFU, LDG, F2F.F64.F32.
@pytest.mark.parametrize(
    ("arch", "rates"),
    [
        ("sm_61", (1, 1, 8, 8, 4, 1, 8)),
        ("sm_60", (1, 1, 8, 2, 4, 2, 4)),
        ("sm_70", (2, 2, 2, 4, 8, 1, 8)),
        ("sm_75", (2, 2, 2, 16, 8, 2, 16)),
        ("sm_80", (2, 2, 2, 4, 8, 1, 8)),
        ("sm_86", (1, 2, 2, 16, 8, 2, 16)),
        ("sm_90", (1, 2, 2, 2, 8, 1, 8)),
        ("sm_120", (1, 2, 2, 16, 8, 2, 16)),
    ],
)
def test_a_warp_waits_for_the_lanes_that_it_has(arch: str, rates: tuple[int, ...]) -> None:
    sm = load(arch)
    volta = described(arch).convergence_barriers
    units_of = ("fma", "alu", "fma", "fp64", "xu", "lsu", "xu") if volta else ("fp32", "fp32", "fp32", "fp64", "sfu", "ldst", "sfu")
    opcodes = ("FFMA", "IADD3", "IMAD", "DFMA", "MUFU.RCP", "LDG.E", "F2F.F64.F32")
    assert tuple(sm.interval(unit, opcode) for unit, opcode in zip(units_of, opcodes, strict=True)) == rates


def test_comparisons_of_maxwell_pass_the_lanes_twice() -> None:
    assert (load("sm_52").interval("fp32", "ISETP.GE.AND"), load("sm_52").interval("fp32", "IADD")) == (2, 1)


def test_half_precision_of_a_consumer_pascal_has_one_lane() -> None:
    assert load("sm_61").interval("fp16", "HFMA2") == 32


@pytest.mark.parametrize("arch", ["sm_53", "sm_60", "sm_62"])
def test_pairs_of_half_precision_have_the_lanes_of_single_precision_in_every_partition(arch: str) -> None:
    pipe = load(arch).pipe("fp16", "HFMA2")
    assert pipe is not None
    assert (pipe.scope, load(arch).interval("fp16", "HFMA2")) == ("partition", 1)


def test_shared_memory_of_turing_has_half_of_the_bandwidth() -> None:
    assert [memory_pipeline(arch).shared for arch in ("sm_70", "sm_75", "sm_80")] == [1, 2, 1]


def test_products_of_a_warp_on_hopper_usually_take_less_than_the_most() -> None:
    usual = {
        name: pipe.usual
        for name in ("HMMA.16816.F32", "IMMA.16832.S8.S8", "HGMMA.64x256x16.F32")
        if (pipe := load("sm_90").pipe("tensor", name))
    }
    assert usual == {"HMMA.16816.F32": 0.795, "IMMA.16832.S8.S8": 0.795, "HGMMA.64x256x16.F32": 1.0}


def test_a_unit_that_is_not_there_has_no_rate() -> None:
    assert load("sm_52").interval("fp16", "HFMA2") is None


def test_a_partition_has_its_share_of_the_lanes() -> None:
    sm = load("sm_75")
    assert [sm.partition_capacity(one) for one in UNITS] == [
        Fraction(1, 2),
        Fraction(1, 2),
        Fraction(1, 8),
        Fraction(1, 16),
        Fraction(1, 16),
    ]


def test_loads_and_the_doubles_of_consumer_parts_are_shared_by_the_whole_sm() -> None:
    assert [[one.value for one in UNITS if load(arch).is_shared(one)] for arch in ("sm_61", "sm_60", "sm_80", "sm_86")] == [
        ["L", "D"],
        ["L"],
        ["L"],
        ["L", "D"],
    ]


def test_a_kepler_has_no_partitions() -> None:
    with pytest.raises(InputError) as caught:
        load("sm_35").partition_capacity(Letter.COMPUTE)
    assert caught.value.code == "no-partitions"
