"""`sassan measure --assumptions`: a program for the target, and its answers as a GPU file that the other commands take."""

from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused
from target_answers import GPU, answers

SAXPY = SAMPLES / "sm_80" / "saxpy.cubin"


def test_a_target_is_measured_and_its_bounds_say_so(sassan: Sassan, tmp_path: Path):
    source, given, board = (tmp_path / name for name in ("measure.cu", "answers.toml", "board.toml"))
    written = sassan("measure", "--assumptions", "--gpu", GPU, "-o", source)
    assert written.status == 0
    assert "nvcc -O2 -Xcompiler -pthread -arch=sm_87 -o measure measure.cu" in written.err
    assert GPU in source.read_text("utf-8")
    assert "@" not in source.read_text("utf-8")
    given.write_text(answers(), "utf-8")
    result = sassan("measure", "--assumptions", given, "--gpu", GPU, "-o", board)
    assert result.status == 0
    assert "worse than was taken for granted: kept_mhz, launch_us, between_us, latency_fence, latency_global" in result.out
    figures = sassan("gpus", board).out
    assert "measured on the target: Orin, 2026-11-29" in figures
    assert "global=655" in figures
    shown = sassan("estimate", SAXPY, "--gpu", board, "--block-dim", "256", "--grid", "64", "--param", "param_0=16384")
    assert shown.status == 0


def test_what_was_measured_is_recorded_in_the_figures_of_a_task(sassan: Sassan, tmp_path: Path):
    given, board, launches = (tmp_path / name for name in ("answers.toml", "board.toml", "launches.toml"))
    given.write_text(answers(), "utf-8")
    assert sassan("measure", "--assumptions", given, "--gpu", GPU, "-o", board, "--quiet").out == ""
    launches.write_text('[[launch]]\nkernel = "saxpy"\ngrid = [64, 1, 1]\nblock = [256, 1, 1]\nparam = ["0x160=4096"]\n', "utf-8")
    of_product, of_board = (sassan("task", SAXPY, "--launches", launches, "--gpu", gpu, "--json").document["task"] for gpu in (GPU, board))
    before, after = ({term["figure"]: term["status"] for term in task["terms"]} for task in (of_product, of_board))
    measured = ("launch overhead", "time between launches", "L2 bandwidth", "DRAM efficiency", "latency global")
    assert [before[figure] for figure in measured] == ["assumed", "assumed", "assumed", "assumed", "published"]
    assert {after[figure] for figure in measured} == {"recorded"}
    assert (before["dispatch of blocks"], after["dispatch of blocks"], after["share of DRAM"]) == ("published", "published", "recorded")
    assert of_board["bound"]["us"] > of_product["bound"]["us"]


def test_figures_as_json_and_csv(sassan: Sassan, tmp_path: Path):
    given = tmp_path / "answers.toml"
    given.write_text(answers(), "utf-8")
    document = sassan("measure", "--assumptions", given, "--gpu", GPU, "--json").document
    launch = next(each for each in document["figures"] if each["figure"] == "launch_us")
    assert (launch["before"], launch["basis"], launch["after"], launch["verdict"]) == (2, "assumed", 5.21, "refuted")
    assert sassan("measure", "--assumptions", given, "--gpu", GPU, "--csv").out.splitlines()[0].startswith("figure,unit,before")


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("--gpu", "T4"), 3, "bad-answers"),
        (("--gpu", "no such"), 2, "unknown-gpu"),
        ((), 2, "usage"),
        (("--gpu", GPU, "--runs", "7"), 2, "usage"),
        (("--gpu", GPU, "-o", "board.txt"), 2, "output-format"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: tuple[str, ...], status: int, code: str, sassan: Sassan, tmp_path: Path):
    given = tmp_path / "answers.toml"
    given.write_text(answers(), "utf-8")
    result = sassan("measure", "--assumptions", given, *arguments)
    assert_refused(result, status)
    assert result.codes == [code]


def test_nothing_to_measure_is_refused(sassan: Sassan):
    assert_refused(sassan("measure"), 2)
    assert_refused(sassan("measure", SAMPLES / "kernels" / "saxpy.cu", "--gpu", "T4"), 2)
