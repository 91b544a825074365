"""`--launches`: every recorded launch analyzed with its own block, grid and arguments."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused
from cli.test_report_page import head
from sassan.app import launches
from sassan.app.reading import read_program
from sassan.app.sequence import ONE_BY_ONE
from sassan.app.settings import Settings
from sassan.launches import Argument, Launches, ProgramLaunch, text
from sassan.machine.tensor_map import MapKind, TensorMap
from tensor_maps import ELEMENTS, encoded

MANDELBROT = SAMPLES / "sm_61" / "mandelbrot.nvdisasm.sass"
SAXPY = SAMPLES / "sm_61" / "saxpy.nvdisasm.sass"
PTX = SAMPLES / "sm_61" / "mandelbrot.ptx"
OTHER_CODE = f'code = "sha256:{"0" * 64}"\n'


def launch(limit: int, *, grid: int = 4, count: int = 1, kernel: str = "mandelbrot", more: str = "") -> str:
    """Return a launch of the sample, whose loop iterates as often as its parameter at byte 28 says."""
    params = f'[{{offset = 28, size = 4, value = "0x{limit:08x}"}}]'
    return f'[[launch]]\nkernel = "{kernel}"\ngrid = [{grid}, 1, 1]\nblock = [64, 1, 1]\nparams = {params}\ncount = {count}\n{more}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "launches.toml"
    path.write_text(launch(9, count=3) + launch(9, grid=8) + launch(2))
    return path


def test_each_launch_has_the_bounds_of_its_own_arguments(sassan: Sassan, file: Path):
    rows = sassan("analyze", MANDELBROT, "--launches", file, "--json").document["launches"]
    assert [(row["grid"], row["block"], row["count"], row["wcet"]["value"], row["bound"]["cycles"]) for row in rows] == [
        ([4, 1, 1], [64, 1, 1], 3, 157, 468),
        ([8, 1, 1], [64, 1, 1], 1, 157, 824),
        ([4, 1, 1], [64, 1, 1], 1, 66, 218),
    ]
    assert [row["gaps"] for row in rows] == [[], [], []]


def test_a_launch_is_what_the_same_options_say(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "launches.toml"
    path.write_text(launch(9))
    (recorded,) = sassan("analyze", MANDELBROT, "--launches", path, "--sms", "2", "--json").document["launches"]
    options = ("--block-dim", "64", "--grid", "4", "--param", "0x15c:4=9", "--sms", "2", "--shared", "0")
    (told,) = sassan("analyze", MANDELBROT, *options, "--json").document["functions"]
    assert recorded["wcet"] == told["wcet"]
    assert recorded["bound"]["cycles"] == told["grid"]["upper"]


def test_the_report_adds_the_launches_up(sassan: Sassan, file: Path):
    out = sassan("analyze", MANDELBROT, "--launches", file).out
    assert "5 launches, 5 of them bounded; one after the other at most 2446 cycles" in out


def test_a_recording_that_was_cut_off_says_so(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "launches.toml"
    path.write_text('cut = "after 60 s (--time-limit)"\n' + launch(9))
    assert "cut off after 60 s (--time-limit)" in sassan("analyze", MANDELBROT, "--launches", path).out


def test_a_kernel_that_the_inputs_do_not_hold_is_a_gap(sassan: Sassan, file: Path):
    (row, *_) = sassan("analyze", SAXPY, "--launches", file, "--json").document["launches"]
    assert (row["wcet"], row["bound"], [gap["code"] for gap in row["gaps"]]) == (None, None, ["unknown-kernel"])


def test_check_fails_where_a_kernel_is_missing(sassan: Sassan, file: Path):
    result = sassan("check", SAXPY, "--launches", file, "--require-bounded")
    assert (result.status, result.codes) == (3, ["unknown-kernel"])


def test_check_holds_each_launch_to_the_gates(sassan: Sassan, file: Path):
    assert sassan("check", MANDELBROT, "--launches", file, "--max-wcet", "157").status == 0
    assert sassan("check", MANDELBROT, "--launches", file, "--max-wcet", "156").status == 1


@pytest.mark.slow
def test_a_report_has_a_page_of_launches(sassan: Sassan, file: Path, tmp_path: Path):
    assert sassan("report", MANDELBROT, "--launches", file, "-o", tmp_path / "x.html").status == 0
    assert (tmp_path / "x.html").read_text().count("launch as given: block 64 x 1 x 1, grid 8 x 1 x 1") > 0


@pytest.mark.slow
def test_a_report_has_the_sum_of_the_launches_and_the_deadline(sassan: Sassan, file: Path):
    def sequence(*more: object) -> dict[str, Any]:
        return head(sassan("report", MANDELBROT, "--launches", file, "-o", "-", *more).out)["sequence"]

    cycles = sequence()
    assert [(row["function"], row["count"], row["cycles"]) for row in cycles["launches"]] == [(0, 3, 468), (1, 1, 824), (2, 1, 218)]
    assert [cycles[key] for key in ("total", "bounded", "cycles", "us", "deadline_us")] == [5, 5, 2446, None, None]
    timed = sequence("--gpu", "GTX 1080", "--deadline-us", "19.5")
    assert (round(timed["us"], 2), timed["deadline_us"]) == (22.93, 19.5)
    texts = {each["text"]: each["kind"] for each in timed["assumptions"]}
    assert texts[ONE_BY_ONE] == "assumed"
    assert "times in us: all SMs of GTX 1080 run at 1733 MHz" in texts
    assert {"checked", "published", "assumed"} <= set(texts.values())


@pytest.mark.slow
def test_without_a_bound_of_every_launch_there_is_no_sum(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "launches.toml"
    path.write_text(launch(9) + launch(9, kernel="other"))
    shown = head(sassan("report", MANDELBROT, "--launches", path, "--gpu", "GTX 1080", "--deadline-us", "100", "-o", "-").out)["sequence"]
    assert [shown[key] for key in ("total", "bounded", "cycles", "us", "deadline_us", "assumptions")] == [2, 1, None, None, 100, []]
    assert [row["gaps"] for row in shown["launches"]] == [[], ["unknown-kernel"]]


def test_a_deadline_needs_launches_and_a_gpu(sassan: Sassan, file: Path):
    for options in (("--gpu", "GTX 1080"), ("--launches", file)):
        result = sassan("report", MANDELBROT, *options, "--deadline-us", "5", "-o", "-")
        assert_refused(result, 2)
        assert "--deadline-us" in result.err


@pytest.mark.slow
def test_launches_of_one_kernel_are_told_apart_on_a_page(sassan: Sassan, file: Path):
    shown = head(sassan("report", MANDELBROT, "--launches", file, "-o", "-").out)["functions"]
    assert [one["where"] for one in shown] == [
        "launch 1: 4 x 1 x 1 blocks of 64 x 1 x 1",
        "launch 2: 8 x 1 x 1 blocks of 64 x 1 x 1",
        "launch 3: 4 x 1 x 1 blocks of 64 x 1 x 1",
    ]


def test_a_listing_has_no_code_to_compare(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "launches.toml"
    path.write_text(launch(9, more=OTHER_CODE))
    (row,) = sassan("analyze", MANDELBROT, "--launches", path, "--json").document["launches"]
    assert row["bound"]["cycles"] == 468


def test_functions_that_are_not_chosen_are_not_analyzed(sassan: Sassan, file: Path):
    document = sassan("analyze", MANDELBROT, SAXPY, "-f", "saxpy", "--launches", file, "--json").document
    assert document["launches"] == []


def test_a_chosen_function_whose_launch_has_no_bound_ends_with_status_3(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "launches.toml"
    path.write_text(launch(9).replace("offset = 28", "offset = 8"))
    assert sassan("analyze", MANDELBROT, "--launches", path).status == 0
    result = sassan("analyze", MANDELBROT, "-f", "mandelbrot", "--launches", path)
    assert (result.status, result.codes) == (3, ["gaps"])


def test_a_launch_that_no_gpu_of_the_code_can_run_is_a_gap(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "launches.toml"
    path.write_text(launch(9, more="shared = 1000000\n"))
    (row,) = sassan("analyze", MANDELBROT, "--launches", path, "--json").document["launches"]
    assert [gap["code"] for gap in row["gaps"]] == ["impossible-launch"]


def test_arguments_of_ptx_are_those_of_its_parameters_in_order():
    (function,) = read_program(str(PTX)).functions
    arguments = (Argument(28, 4, 9), Argument(0, 8, 1), *(Argument(at, 4, at) for at in (8, 12, 16, 20, 24)))
    recorded = ProgramLaunch("mandelbrot", (1, 1, 1), (64, 1, 1), arguments=arguments)
    told = launches.settings_of(Settings(), function, recorded).launch.parameters
    assert [(one.name, one.value) for one in told] == [(f"param_{index}", value) for index, value in enumerate((1, 8, 12, 16, 20, 24, 9))]


def test_a_structure_is_told_in_pieces_of_eight_bytes():
    (function,) = read_program(str(MANDELBROT)).functions
    recorded = ProgramLaunch("mandelbrot", (1, 1, 1), (64, 1, 1), arguments=(Argument(8, 20, 0x_04_00000000_00000003_00000000_00000002),))
    told = launches.settings_of(Settings(), function, recorded).launch.parameters
    assert [(one.offset, one.size, one.value) for one in told] == [(0x148, 8, 2), (0x150, 8, 3), (0x158, 4, 4)]


@pytest.mark.parametrize("option", [("--block-dim", "32"), ("--grid", "2"), ("--param", "0x15c=9"), ("--shared", "0"), ("-W", "4")])
def test_options_that_each_launch_says_itself_are_refused(sassan: Sassan, file: Path, option: tuple[str, str]):
    result = sassan("analyze", MANDELBROT, "--launches", file, *option)
    assert_refused(result, 2)
    assert f"--launches and {option[0]} exclude each other" in result.err


def test_a_batch_adds_the_launches_of_each_function(sassan: Sassan, file: Path, tmp_path: Path):
    out = tmp_path / "x.jsonl"
    assert sassan("batch", MANDELBROT, SAXPY, "-o", out, "--launches", file, "--executor", "serial").status == 0
    lines = {one["name"]: one for one in map(json.loads, out.read_text().splitlines()) if "name" in one}
    assert [one["bound"]["cycles"] for one in lines["mandelbrot"]["launches"]] == [468, 824, 218]
    assert lines["saxpy"]["launches"] == []


def test_a_comparison_has_a_row_for_each_different_launch(sassan: Sassan, file: Path):
    result = sassan("diff", MANDELBROT, MANDELBROT, "--launches", file, "--json")
    assert [one["launch"]["grid"] for one in result.document["functions"]] == [[4, 1, 1], [8, 1, 1], [4, 1, 1]]


def test_a_damaged_file_is_refused_before_the_inputs_are_read(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "launches.toml"
    path.write_text("[[launch]]\nkernel = 3\n")
    result = sassan("analyze", "nothing.sass", "--launches", path)
    assert_refused(result, 3)
    assert result.codes == ["launches-value"]


def test_the_bytes_of_a_tensor_map_are_no_parameters_and_it_is_named_in_words(sassan: Sassan, tmp_path: Path):
    known = TensorMap(MapKind.TILED, ELEMENTS[6], 0x1000, (4096, 1024), (8192,), (1, 1), (64, 128))
    structure = bytes(range(8)) + encoded(known) + bytes(8)
    argument = Argument(8, len(structure), int.from_bytes(structure, "little"))
    recorded = ProgramLaunch("saxpy", (4, 1, 1), (64, 1, 1), 0, (argument,))
    (function,) = read_program(str(SAXPY)).functions
    given = launches.settings_of(Settings(), function, recorded).launch
    base = launches.parameter_base(function) or 0
    assert given.maps == ((base + 16, known),)
    assert [(setting.offset, setting.size) for setting in given.parameters] == [(base + 8, 8), (base + 8 + 136, 8)]
    assert given.describe(function).endswith(f"parameter 0x{base + 16:x}: {known}")
    path = tmp_path / "launches.toml"
    path.write_text(text(Launches((recorded,))))
    assert f"# params at 16: {known}" in path.read_text()
    (row,) = sassan("analyze", SAXPY, "--launches", path, "--json").document["launches"]
    assert row["tensor_maps"] == [f"16: {known}"]


@pytest.mark.parametrize(("cluster", "gaps"), [("[2, 2, 1]", ["cluster-launch"]), ("[1, 1, 1]", [])])
def test_a_launch_in_clusters_has_no_bound_of_a_grid_whatever_the_code_was_compiled_for(
    sassan: Sassan, tmp_path: Path, cluster: str, gaps: list[str]
):
    path = tmp_path / "launches.toml"
    path.write_text(launch(9, grid=4, more=f"cluster = {cluster}\nprogrammatic = true\n"))
    result = sassan("analyze", MANDELBROT, "--launches", path, "--json")
    (row,) = result.document["launches"]
    assert [gap["code"] for gap in row["gaps"]] == gaps
    assert (row["cluster"], row["programmatic"]) == (json.loads(cluster), True)
    assert "cluster" in sassan("analyze", MANDELBROT, "--launches", path).out.partition("\n")[0]
