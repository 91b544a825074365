"""Figures that were measured on a target: what is believed of them, and what becomes of them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sassan import api
from sassan.app.options import AnalysisOptions
from sassan.assumptions import AssumptionStatus, kind_of
from sassan.errors import InputError
from sassan.ipet.sm.gpu import memory_of
from sassan.measure.target.answers import LATENCIES, LATENCY, read
from sassan.measure.target.board import board, rows, source
from sassan.measure.target.program import program
from sassan.products import find, read_file
from sassan.timing.latencies import Latencies
from target_answers import FIGURES, GPU, answers

ORIN = find(GPU)
INF, NAN = float("inf"), float("nan")


def test_the_share_is_what_the_worse_of_bandwidth_and_latency_leaves():
    assert read("a.toml", answers(), ORIN).share == pytest.approx(655 / 1310)
    quick = {**FIGURES, "latency_global_shared": (400, 480, 656)}
    assert read("a.toml", answers(quick), ORIN).share == pytest.approx(120.2 / 163.9)


def test_a_measurement_goes_over_what_is_assumed_and_over_what_is_published_only_where_it_is_worse():
    known = {row.figure: row for row in rows(ORIN, read("a.toml", answers(), ORIN))}
    assert known["dram_efficiency"].assumed
    assert known["dram_efficiency"].after == 0.8002  # assumed: 0.7
    assert (known["launch_us"].after, known["launch_us"].verdict) == (5.21, "refuted")
    assert (known["block_cycles"].after, known["block_cycles"].verdict) == (90, "holds")  # published
    assert (known["latency_global"].after, known["latency_global"].verdict) == (655, "refuted")  # published: 542
    assert (known["latency_shared"].after, known["latency_shared"].verdict) == (31, "holds")  # published
    assert (known["latency_sfu"].after, known["latency_sfu"].verdict) == (24, "holds")  # assumed: 48
    assert (known["l2_bytes_per_cycle"].after, known["l2_bytes_per_cycle"].verdict) == (301, "new")
    assert (known["kept_mhz"].after, known["kept_mhz"].verdict) == (611, "refuted")


def test_the_file_of_a_board_is_a_product_whose_bounds_say_where_they_were_measured():
    known = read("a.toml", answers(), ORIN)
    product = read_file("board.toml", board(ORIN, known, "my board"), find)
    assert (product.name, product.sms, product.l2_size) == ("my board", ORIN.sms, ORIN.l2_size)
    assert (product.launch_us, product.between_us, product.block_cycles, product.kept_clock) == (5.21, 4.4, ORIN.block_cycles, 611)
    assert product.source("launch_us") == source(known)
    assert product.source("sms") == ORIN.source("sms")
    assert dict(product.latency) == {"global": 655, "sfu": 24, "fence": 903}
    memory = memory_of(product)
    assert memory.miss == 655 * 2  # others leave half
    [text] = [text for text in memory.assumptions if kind_of(text) is AssumptionStatus.RECORDED]
    assert "measured on the target: Orin, 2026-11-29, driver 12.6" in text
    assert "launch_us" in text
    assert "block_cycles" not in text


def test_bounds_of_a_board_take_its_latencies_and_its_share_of_dram(tmp_path: Path):
    path = tmp_path / "board.toml"
    path.write_text(board(ORIN, read("a.toml", answers(), ORIN), "my board"), "utf-8")
    settings = AnalysisOptions(gpu=str(path)).settings()
    assert settings.costs.tables is not None
    assert settings.costs.tables.rates("sm_87").latencies.cycles("global") == 1310
    assert settings.costs.tables.rates("sm_87").latencies.cycles("sfu") == 24
    alone = AnalysisOptions(gpu=str(path), dram_share="100%").settings()
    assert alone.costs.tables is not None
    assert alone.costs.tables.rates("sm_87").latencies.cycles("global") == 655


@pytest.mark.parametrize(
    ("change", "value", "key"),
    [
        ("launch_us", None, "figure.launch_us"),
        ("latency_global_shared", None, "figure.latency_global_shared"),
        ("launch_us", (-3, 3, 4), "least"),
        ("launch_us", (0, 3, 4), "median"),
        ("launch_us", (NAN, 3, 4), "least"),
        ("launch_us", (1, NAN, 4), "median"),
        ("launch_us", (1, 2, INF), "most"),
        ("launch_us", (5, 4, 6), "median"),
        ("launch_us", (3, 4, 1e9), "most"),
        ("clock_mhz", (1300, 1300, 1300), "clock_mhz"),
        ("dram_gb_per_s", (163, 240, 250), "dram_gb_per_s"),
        ("launch_ms", (1, 2, 3), "launch_ms"),
    ],
)
def test_what_cannot_be_is_refused_by_name(change: str, value: tuple[float, float, float] | None, key: str):
    figures = {name: each for name, each in FIGURES.items() if name != change} | ({change: value} if value is not None else {})
    with pytest.raises(InputError) as refused:
        read("a.toml", answers(figures), ORIN)
    assert refused.value.code == "bad-answers"
    assert key in refused.value.message


@pytest.mark.parametrize(
    ("head", "key"),
    [
        ({"architecture": '"sm_75"'}, "another GPU"),
        ({"sms": "16"}, "another power mode"),
        ({"sms": "true"}, "sms"),
        ({"schema": "2"}, "schema"),
        ({"device": '"Orin\\u001b[31m"'}, "device"),
        ({"device": '"<script>"'}, "device"),
        ({"date": '"yesterday"'}, "date"),
        ({"owner": '"me"'}, "owner"),
    ],
)
def test_answers_of_another_gpu_and_texts_that_no_program_prints_are_refused(head: dict[str, str], key: str):
    with pytest.raises(InputError, match=key) as refused:
        read("a.toml", answers(**head), ORIN)
    assert refused.value.code == "bad-answers"


def test_answers_that_were_cut_off_are_refused():
    text = answers()
    for size in range(0, len(text) - 2, 7):
        with pytest.raises(InputError):
            read("a.toml", text[:size], ORIN)


def test_a_board_is_based_on_a_product_that_there_is():
    text = '[sources]\na = "b"\n[product."x"]\nbase = "{}"\n'
    assert read_file("x.toml", text.format("Orin NX 16GB"), find).sms == 8
    with pytest.raises(InputError, match="a file that is passed itself"):
        read_file("x.toml", text.format("Orin NX 16GB"))
    with pytest.raises(InputError, match="unknown key"):
        read_file("x.toml", text.format("Orin NX 16GB") + "sms = 4\n", find)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="compiles for the target with nvcc")
@pytest.mark.parametrize("arch", ["sm_75", "sm_87", "sm_110"])
def test_the_program_compiles_and_its_kernels_have_the_instructions_whose_latency_they_measure(arch: str, tmp_path: Path):
    source_file, cubin = tmp_path / "measure.cu", tmp_path / "measure.cubin"
    source_file.write_text(program(ORIN), "utf-8")
    command = ["nvcc", "-O2", f"-arch={arch}", "-cubin", "-o", str(cubin), str(source_file)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    table = Latencies(arch, {})
    found = dict[str, int]()
    for function in api.read(cubin).functions:
        if (name := next((name for name in LATENCIES if f"{LATENCY}{name}" in function.name), None)) is not None:
            opcodes = [kind.name for each in function.instructions if (kind := table.of(each.opcode)) is not None]
            found[name] = opcodes.count(name)
    assert {name for name, count in found.items() if count >= 16} == set(LATENCIES), found
