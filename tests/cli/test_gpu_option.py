"""`--gpu`: the SM and the number of SMs of a product, times at its clock, and what it excludes."""

import csv
from pathlib import Path

import pytest

import sassan as library
from budget import some
from cli.shell import SAMPLES, Sassan, assert_refused
from sassan.frontend.cubin.tools import tools
from sassan.products import find

SAXPY = SAMPLES / "sm_61" / "saxpy.nvdisasm.sass"
MANDELBROT = SAMPLES / "sm_61" / "mandelbrot.nvdisasm.sass"
HORNER = SAMPLES / "sm_80" / "double_horner.nvdisasm.sass"
GRID = ("--block-dim", "256", "--grid", "100", "--registers", "7", "--shared", "0")
GRID_OF_HORNER = ("--block-dim", "256", "--grid", "1000", "--registers", "16", "--shared", "0", "--loop-bound", "4")
needs_nvdisasm = pytest.mark.skipif(
    not any(80 in tool.reads for tool in tools("nvdisasm")), reason="no nvdisasm that reads sm_80 is installed"
)


def analyzed(sassan: Sassan, *arguments: object) -> dict[str, dict[str, object]]:
    (function,) = sassan("analyze", *arguments, "--json").document["functions"]
    return function


def test_a_product_has_its_sms_and_its_clock(sassan: Sassan):
    grid = analyzed(sassan, SAXPY, *GRID, "--gpu", "gtx 1080", "--model", "table")["grid"]
    assert (grid["gpu"], grid["sms"]) == ("GTX 1080", 20)
    assert grid["us"] == grid["upper"] / 1733
    assert "times in us: all SMs of GTX 1080 run at 1733 MHz" in grid["assumptions"]


def test_the_bound_of_a_grid_has_its_terms(sassan: Sassan):
    known, unknown = (analyzed(sassan, SAXPY, *GRID, "--model", "table", *gpu)["grid"] for gpu in (("--gpu", "GTX 1080"), ("--sms", "20")))
    assert set(known["terms"]) == {"chain", "sm", "drain", "memory", "launch"}
    assert sum(known["terms"].values()) == pytest.approx(known["upper"], abs=1)
    # Two lines of code and two of constants miss all caches, three accesses the TLBs, too; each of 20 SMs gets a block in 90 cycles.
    assert known["terms"]["launch"] == 3466 + 4 * 500 + 3 * 1029 + 100 * 90 / 20
    assert known["terms"]["memory"] > 0
    assert (unknown["terms"]["launch"], unknown["terms"]["memory"]) == (0, 0)
    assert any(text.startswith("unlimited memory bandwidth: ") for text in unknown["assumptions"])


@needs_nvdisasm
@pytest.mark.parametrize(
    ("blocks", "threads"), some([(blocks, threads) for blocks in (132, 1056, 10560, 105600) for threads in (32, 256, 1024)], of=5)
)
def test_no_launch_of_empty_blocks_was_measured_above_its_bound(sassan: Sassan, blocks: int, threads: int):
    """With 132 SMs, each waits for its turn to get a block: 159 cycles, where 90 are sufficient on a small GPU."""
    launch = ("--block-dim", str(threads), "--grid", str(blocks))
    bound = analyzed(sassan, SAMPLES / "engines" / "empty.cubin", *launch, "--gpu", "H100 SXM", "--model", "control")["grid"]
    with (SAMPLES / "engines" / "h100.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["parameter"] == f"{blocks} blocks of {threads}"]
    assert rows
    assert all(float(row["value"]) / 1000 < bound["us"] for row in rows)


def test_the_table_has_microseconds_rounded_up(sassan: Sassan):
    head, row, *_ = sassan("analyze", SAXPY, *GRID, "--gpu", "GTX 1080", "--model", "table").out.splitlines()
    cycles, us = row.split()[-2:]
    assert head.split()[-2:] == ["grid", "us"]
    assert int(cycles) <= float(us) * 1733 < int(cycles) + 17.33


def test_instructions_are_no_time(sassan: Sassan):
    counted = (SAXPY, *GRID, "--gpu", "GTX 1080", "--model", "unit")
    grid = analyzed(sassan, *counted)["grid"]
    assert (grid["upper"], grid["us"], grid["gpu"]) == (382, None, "GTX 1080")
    assert sassan("analyze", *counted).out.splitlines()[0].split()[-1] == "grid"


def test_with_a_product_the_answer_is_a_time(sassan: Sassan):
    coded = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
    for path, model in ((SAXPY, "table"), (coded, "control")):
        plain, named = (analyzed(sassan, path, *GRID, "--gpu", "GTX 1080", *given) for given in ((), ("--model", model)))
        assert (plain["wcet"]["model"], plain["grid"]) == (model, named["grid"])
        assert plain["grid"]["us"] > 0


def test_without_a_product_there_is_no_time(sassan: Sassan):
    grid = analyzed(sassan, SAXPY, *GRID, "--sms", "20", "--model", "table")["grid"]
    assert (grid["us"], grid["gpu"]) == (None, None)


def test_the_sm_is_that_of_the_product_where_it_runs_code_of_another(sassan: Sassan):
    results = {gpu: analyzed(sassan, HORNER, *GRID_OF_HORNER, "--gpu", gpu, "--model", "table") for gpu in ("A100-PCIE-40GB", "RTX 3080")}
    assert [result["occupancy"]["warps"] for result in results.values()] == [64, 48]
    assert results["RTX 3080"]["wcet"]["value"] > results["A100-PCIE-40GB"]["wcet"]["value"]
    runs = [[text for text in result["wcet"]["assumptions"] if "runs code of" in text] for result in results.values()]
    assert runs == [[], ["RTX 3080 (sm_86) runs code of sm_80"]]


def test_a_product_and_its_machine_file_go_together(sassan: Sassan, tmp_path: Path):
    machine = tmp_path / "machine.toml"
    machine.write_text('base = "6.1"\nsource = "a test"\n[sm]\nwarps = 32\n')
    both = analyzed(sassan, SAXPY, *GRID, "--gpu", "GTX 1080", "--machine", machine)
    assert (both["occupancy"]["warps"], both["grid"]["sms"]) == (32, 20)


@pytest.mark.parametrize(
    ("arguments", "status", "code", "words"),
    [
        (("--gpu", "GTX 1080", "--sms", "20"), 2, "usage", "--gpu and --sms exclude each other"),
        (("--gpu", "GTX 1080", "--machine", "sm_60"), 2, "usage", "--machine sm_60 is sm_60, --gpu GTX 1080 is sm_61"),
        (("--gpu", "GTX 1090"), 2, "unknown-gpu", "GTX 1080"),
        (("--gpu", "A100"), 2, "unknown-gpu", "A100-PCIE-40GB"),
        (("--gpu", "none.toml"), 3, "cannot-read", "none.toml"),
        (("--gpu", "RTX 3080"), 3, "other-machine", "--gpu RTX 3080 is compute capability 8.6"),
        (("--gpu", "P100 PCIe"), 3, "other-machine", "does not run this code of sm_61"),
        (("--gpu", "Jetson AGX Thor"), 3, "other-machine", "does not run this code of sm_61"),
    ],
    ids=str,
)
def test_a_product_that_cannot_be_is_refused(arguments: tuple[str, ...], status: int, code: str, words: str, sassan: Sassan):
    result = sassan("analyze", SAXPY, *GRID, *arguments)
    assert_refused(result, status)
    assert result.codes == [code]
    assert words in result.err


def test_every_recorded_launch_has_its_time(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "launches.toml"
    params = '[{offset = 28, size = 4, value = "0x00000009"}]'
    path.write_text(f'[[launch]]\nkernel = "mandelbrot"\ngrid = [4, 1, 1]\nblock = [64, 1, 1]\nparams = {params}\ncount = 3\n')
    arguments = (MANDELBROT, "--launches", path, "--gpu", "P40", "--model", "table")
    (launch,) = sassan("analyze", *arguments, "--json").document["launches"]
    assert launch["bound"]["us"] == launch["bound"]["cycles"] / 1531
    head, *_ = sassan("analyze", *arguments).out.splitlines()
    assert head.split()[-2:] == ["us", "gaps"]


@needs_nvdisasm
def test_validate_takes_sms_and_clock_from_the_product(sassan: Sassan, tmp_path: Path):
    table = tmp_path / "times.csv"
    table.write_text("kernel,grid,block,time_us\nsaxpy,1024,256,1.0\n")
    arguments = ("validate", table, SAMPLES / "sm_80" / "saxpy.cubin", "--json")
    by_name, by_numbers = (
        sassan(*arguments, *gpu).document["launches"][0]
        for gpu in (("--gpu", "A100-PCIE-40GB"), ("--sms", "108", "--clock", "1410", "--machine", "sm_80"))
    )
    assert by_name["measured"] == by_numbers["measured"]
    assert by_name["bound"]["us"] == pytest.approx(by_name["bound"]["cycles"] / 1410)
    result = sassan(*arguments, "--gpu", "A30", "--sms", "3")
    assert_refused(result, 2)
    assert result.codes == ["usage"]


def test_the_library_takes_a_product():
    launch = library.Launch(block=256, grid=100, registers=7, shared=0, gpu="GTX 1080")
    (kernel,) = library.analyze(SAXPY, launch=launch, model="table")
    assert kernel.analysis.settings.gpu == find("GTX 1080")
    assert kernel.grid is not None
    assert kernel.grid_us == kernel.grid / 1733
