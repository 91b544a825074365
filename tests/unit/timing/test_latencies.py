from pathlib import Path

import pytest

from architectures import describe
from budget import some
from samples import EVERY, names, program
from sassan.errors import InputError, UsageError
from sassan.isa.tables import load
from sassan.timing import latencies
from sassan.timing.control import ControlCostModel
from sassan.timing.latencies import Latencies, parse
from sassan.timing.rates import Tables
from sassan.timing.table import TableCostModel
from sassan.warpcfg import explore
from scheduled import scheduled


def named(arch: str, opcode: str) -> str:
    found = Latencies(arch, {}).of(opcode)
    assert found is not None
    return found.name


@pytest.mark.parametrize(
    ("arch", "opcode", "name"),
    [
        ("sm_61", "XMAD.MRG", "alu"),
        ("sm_61", "ISETP.GE.AND", "compare"),
        ("sm_61", "LDG.E", "global"),
        ("sm_61", "STS", "shared"),
        ("sm_61", "RED.E.ADD", "atomic"),
        ("sm_61", "SYNC", "branch"),
        ("sm_61", "I2F.F32.S32", "sfu"),
        ("sm_80", "IMAD.WIDE", "alu"),
        ("sm_80", "DSETP.GT.AND", "double"),
        ("sm_80", "LDSM.16.M88", "shared"),
        ("sm_80", "LDGDEPBAR", "global"),
        ("sm_80", "ULDC", "uniform"),
        ("sm_80", "BAR.SYNC", "barrier"),
        ("sm_90", "SYNCS.PHASECHK", "mbarrier"),
        ("sm_90", "UTMALDG.2D", "bulkload"),
        ("sm_90", "UBLKCP.S.G", "bulkload"),
        ("sm_90", "UBLKCP.G.S", "bulkstore"),
        ("sm_90", "UTMASTG.2D", "bulkstore"),
        ("sm_90", "UTMAREDG.1D.ADD", "bulkstore"),
        ("sm_90", "HGMMA.64x64x16.F32", "wgmma"),
        ("sm_100", "UTCHMMA", "tcgen05"),
        ("sm_100", "LDTM.x32", "tmem"),
        ("sm_100", "UTCBAR", "mbarrier"),
        ("sm_100", "UTCATOMSWS.AND", "tmemalloc"),
        ("sm_90", "UCGABAR_WAIT", "cluster"),
        ("sm_90", "ACQBULK", "griddependency"),
        ("sm_90", "USETMAXREG.DEALLOC.CTAPOOL", "registers"),
        ("sm_61", "MEMBAR.CTA", "blockfence"),
        ("sm_80", "MEMBAR.SC.CTA", "blockfence"),
        ("sm_80", "MEMBAR.SC.GPU", "fence"),
        ("sm_61", "MEMBAR.GL.IVALLD", "fence"),
        ("sm_80", "NANOSLEEP", "sleep"),
        ("sm_80", "DEPBAR.LE", "issue"),
    ],
)
def test_an_opcode_has_the_latency_of_its_class(arch: str, opcode: str, name: str) -> None:
    assert named(arch, opcode) == name


@pytest.mark.parametrize(
    ("arch", "name", "cycles"),
    [("sm_52", "global", 379), ("sm_61", "store", 168), ("sm_70", "global", 375), ("sm_75", "shared", 30), ("sm_52", "double", 128)],
)
def test_published_figures_stand_in_the_table(arch: str, name: str, cycles: int) -> None:
    assert Latencies(arch, {}).cycles(name) == cycles


@pytest.mark.slow
def test_every_opcode_of_the_samples_has_a_class() -> None:
    for arch in EVERY:
        latencies = Latencies(arch, {})
        opcodes = {
            one.opcode
            for name in some(names(arch, "cuobjdump"), of=9)
            for function in program(arch, name, "cuobjdump").functions
            for one in function.instructions
        }
        assert {opcode for opcode in opcodes if latencies.of(opcode) is None} == set(), arch


CLASS = '[sources]\na = "b"\n[latencies.class.x]\nnames = ["X"]\nsource = "a"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[latencies.cycles.y]\ncycles = 3\nsource = "a"\n', "latencies.cycles.y.cycles: must be of a class: x"),
        ('[latencies.cycles.x]\ncycles = 0\nsource = "a"\n', "latencies.cycles.x.cycles: must be a whole number, 1 or more, not 0"),
        ('[latencies.cycles.x]\ncycle = 3\nsource = "a"\n', "latencies.cycles.x.cycle: unknown key"),
        ('[latencies.class.y]\nsource = "a"\n', "latencies.class.y.names: must name opcodes, or 'units' their functional units"),
        ('[latencies.frob.x]\ncycles = 3\nsource = "a"\n', "latencies.frob.x.cycles: must be of a class: x"),
    ],
)
def test_a_broken_section_names_file_and_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    describe(monkeypatch, tmp_path, CLASS + text)
    with pytest.raises(InputError) as caught:
        latencies.load("sm_130")
    assert caught.value.message.startswith(f"{tmp_path / 'sm_130.toml'}: {message}")


def test_an_opcode_is_of_the_class_that_names_it_before_that_of_its_unit() -> None:
    assert [named("sm_80", opcode) for opcode in ("ISETP.GE.AND", "IADD3", "LDS", "LDG.E")] == ["compare", "alu", "shared", "global"]


def test_what_a_user_says_goes_over_the_table() -> None:
    one = Latencies("sm_61", {"global": 900})
    assert (one.cycles("global"), one.cycles("shared")) == (900, 35)


def test_a_class_without_a_figure_has_none_until_a_user_says_one() -> None:
    assert (Latencies("sm_61", {}).cycles("sleep"), Latencies("sm_61", {"sleep": 5}).cycles("sleep")) == (None, 5)


def test_several_latencies_stand_in_one_option_or_in_several() -> None:
    assert parse(["global=900, shared=60", "alu=7"]) == {"global": 900, "shared": 60, "alu": 7}


@pytest.mark.parametrize("text", ["D=8", "global", "global=", "global=-1", "global=0", "global=1.5", "global=1e3", "", "global=1,global=2"])
def test_a_latency_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse([text])
    assert caught.value.code == "bad-latency"


def test_a_machine_file_may_not_name_a_latency_that_there_is_not() -> None:
    with pytest.raises(InputError) as caught:
        latencies.known(["dram"], "my.toml")
    assert (caught.value.code, caught.value.message) == ("bad-machine", "my.toml: latency.dram: unknown latency")


def test_the_table_model_adds_latencies_and_no_less_than_intervals() -> None:
    function = scheduled("LDG.E R0, [R2.64] | 2 w0\nMUFU.RCP R1, R1 | 2 w1\nIADD3 R1, R0, R0, RZ | 5\nEXIT | 5")
    cfg = explore(function, load("sm_80").facts)
    assert TableCostModel(Tables(given={"global": 100, "sfu": 3, "alu": 6, "branch": 16})).block_costs(cfg).costs == (100 + 8 + 6 + 16,)


def test_the_table_model_needs_no_encodings() -> None:
    function = program("sm_61", "saxpy", "nvdisasm").functions[0]
    assert TableCostModel().block_costs(explore(function, load("sm_61").facts)).gaps == ()


def test_a_unit_that_the_machine_does_not_have_is_a_gap() -> None:
    function = scheduled("HADD2 R0, R0, R0 | 6\nEXIT | 15", "sm_52")
    (gap,) = TableCostModel().block_costs(explore(function, load("sm_52").facts)).gaps
    assert (gap.code, gap.address) == ("no-unit", 8)


@pytest.mark.parametrize("set_to", ["w6", "w0 r6"])
def test_a_barrier_that_a_warp_does_not_have_is_a_gap(set_to: str) -> None:
    function = scheduled(f"LDG.E R0, [R2.64] | 2 {set_to}\nEXIT | 15")
    (gap,) = ControlCostModel().block_costs(explore(function, load("sm_80").facts)).gaps
    assert (gap.code, gap.address) == ("no-barrier", 0)


def test_a_wait_for_another_grid_is_none_where_nothing_says_how_long_it_is() -> None:
    over = "is over when the launch begins"
    assert any(over in text for text in Latencies("sm_90", {}).assumptions(["ACQBULK"]))
    assert not any(over in text for text in Latencies("sm_90", {"griddependency": 5000}).assumptions(["ACQBULK"]))
    assert not any(over in text for text in Latencies("sm_90", {}).assumptions(["UCGABAR_WAIT"]))
    assert (Latencies("sm_90", {}).cycles("griddependency") or 0) >= (Latencies("sm_90", {}).cycles("fence") or 0)


def test_what_sleeps_until_a_barrier_wakes_it_has_no_time_of_its_own() -> None:
    (asleep,) = [each for each in scheduled("NANOSLEEP.SYNCS 0x989680 | 5\nEXIT | 5", "sm_100").instructions if each.opcode[0] == "N"]
    tables = Tables()
    assert tables.rates("sm_100").latency(asleep) == 2 * 1_000_000 * 3
    assert tables.rates("sm_100", idle=frozenset({asleep.address})).latency(asleep) == 0
