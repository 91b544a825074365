"""`sassan measure`: what it prints, what it writes, and how it ends. The GPU of these tests is simulated."""

import io
import json
import re
import signal
import sys
from pathlib import Path

import pytest

from cli.shell import ROOT, SAMPLES, Sassan, assert_refused
from sassan.extras import install
from sassan.measure.sampling import gpu
from unit.measure.simulated import Simulated

DELAYS = SAMPLES / "measure" / "synthetic-delays.csv"
DURATIONS = SAMPLES / "measure" / "synthetic-durations.csv"
LONG_TAILS = SAMPLES / "measure" / "synthetic-long-tails.csv"
SAXPY = SAMPLES / "kernels" / "saxpy.cu"
ARGUMENTS = ("--arg", "n=1000", "--arg", "a=2")
SMALL = b"group,seconds\n0,9\n0,1\n0,2\n1,9\n1,1\n1,3\n"
QUICK = ("--resamples", "199")


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Simulated:
    """Put a simulated GPU in the place of the machine's, and a compiler that compiles nothing."""
    made = Simulated()
    monkeypatch.setattr(gpu, "Gpu", lambda _: made)
    monkeypatch.setattr(gpu, "compile_cuda", lambda source, name, arch, macros: f"{arch} {name} {macros} {len(source)}".encode())
    return made


def test_the_report_names_estimates_intervals_doubts_and_the_verdict(sassan: Sassan):
    result = sassan("measure", "-", *QUICK, stdin=SMALL)
    assert result.status == 0
    lines = result.out.splitlines()
    assert lines[0] == "-: 6 runs in 2 groups"
    assert lines[2] == "delay 0 s: 6 runs in 2 groups"
    assert [line.split()[0] for line in lines[4:10]] == ["warm-up", "mean-all", "mean", "min", "median", "max"]
    assert "  min                1 s  1 to 1 s                    endpoint; at most 53 % of runs faster" in lines
    assert "  ! max: measured runs do not bound other runs: a bound needs analysis" in lines
    assert lines[-2] == "  1 s                2       800 %      0 %    17.2 %  68.7 %  0 %  68.7 %  103 %  min"
    assert lines[-1] == "    ! fewer than five groups: the spread is extrapolated to five groups and may be inaccurate"
    assert result.err == ""


def test_long_tails_make_the_minimum_the_choice(sassan: Sassan):
    document = sassan("measure", LONG_TAILS, "--json", *QUICK).document
    (verdict,) = document["samples"][0]["verdicts"]
    assert verdict["choice"] == "min"
    assert verdict["spreads"]["min"]["spread"] < 0.001
    assert verdict["spreads"]["mean"]["spread"] > 10 * verdict["spreads"]["min"]["spread"]
    assert verdict["spreads"]["mean"]["range"] > 0.01


def test_a_single_run_is_enough_for_seconds_and_not_for_milliseconds(sassan: Sassan):
    document = sassan("measure", DURATIONS, "--json", *QUICK).document["samples"][0]
    assert [(verdict["size"], verdict["choice"]) for verdict in document["verdicts"]] == [
        (0.0001, "min"),
        (0.001, "min"),
        (0.01, "min"),
        (0.1, "single run"),
        (1.0, "single run"),
        (3.0, "single run"),
    ]
    assert document["finding"] == "a single run is enough at 100 ms to 3 s; repeated runs are needed at 100.1 µs to 10 ms"


def test_the_minimum_moves_by_fifteen_percent_between_delays_as_in_the_paper(sassan: Sassan):
    result = sassan("measure", DELAYS, "--estimator", "min", *QUICK)
    assert re.search(r"over 22 delays the minimum varies by 15 %, among groups of one delay by 0\.\d+ %", result.out)
    assert result.out.splitlines()[-2].endswith("none is stable")


def test_json_has_the_method_of_an_interval(sassan: Sassan):
    document = sassan("measure", "-", "--json", "--seed", "3", "--confidence", "0.9", *QUICK, stdin=SMALL).document
    assert document["schema"] == 1
    (row,) = document["samples"][0]["estimates"]
    assert row["mean"]["interval"] | {"low": 0, "high": 0} == {
        "low": 0,
        "high": 0,
        "confidence": 0.9,
        "method": "BCa",
        "resamples": 199,
        "share_beyond": None,
        "doubts": ["few-runs", "few-groups"],
    }
    assert row["max"]["interval"]["high"] is None
    assert row["warm-up"] == {"value": 9.0, "interval": None}


def test_the_same_seed_prints_the_same(sassan: Sassan):
    assert sassan("measure", LONG_TAILS, *QUICK).out == sassan("measure", LONG_TAILS, *QUICK).out


def test_only_the_estimator_that_was_asked_for_is_printed(sassan: Sassan):
    out = sassan("measure", "-", "--estimator", "median", stdin=SMALL).out
    assert [line.split()[0] for line in out.split("\n\n")[1].splitlines()[2:]] == ["median", "!", "!"]


def test_columns_stay_apart_whatever_is_in_them(sassan: Sassan):
    text = "group,seconds\n" + "".join(f"{group},{group + 1}e2\n{group},0.3\n{group},0.300000{group}\n" for group in range(5))
    lines = sassan("measure", "-", stdin=text.encode()).out.splitlines()
    row = next(line for line in lines if line.startswith("  300 ms "))
    assert row == "  300 ms             5  1.67e+05 %    400 %     398 %  <0.001 %  0 %  <0.001 %  <0.001 %  min"
    assert len(lines[lines.index(row) - 1].split("  choice")[0]) == len(row.removesuffix("  min"))


def test_a_short_single_group_has_no_verdict_but_a_hint(sassan: Sassan):
    assert "verdict: none; the spread of estimates needs several groups" in sassan("measure", "-", *QUICK, stdin=b"seconds\n2\n1\n1\n").out


def test_a_file_that_is_refused_does_not_hide_the_others(sassan: Sassan, tmp_path: Path):
    bad = tmp_path / "bad.csv"
    bad.write_text("seconds\n-1\n", encoding="utf-8")
    result = sassan("measure", bad, LONG_TAILS, "--json", *QUICK)
    assert (result.status, result.codes) == (3, ["bad-samples"])
    assert [sample["runs"] for sample in result.document["samples"]] == [2000]
    assert result.document["errors"][0]["code"] == "bad-samples"


@pytest.mark.slow
def test_pictures_are_written_as_svg_and_png(sassan: Sassan, tmp_path: Path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra 'plots')")
    result = sassan("measure", "-", "--plots", tmp_path / "new" / "folder", *QUICK, stdin=SMALL)
    assert result.status == 0
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == [
        "histogram.png",
        "histogram.svg",
        "phase.png",
        "phase.svg",
    ]
    assert result.err == f"wrote histogram, phase into {tmp_path / 'new' / 'folder'}\n"


def test_without_matplotlib_the_report_is_printed_and_the_status_is_4(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = sassan("measure", "-", "--plots", tmp_path, *QUICK, stdin=SMALL)
    assert_refused(result, 4, silent=False)
    assert f"hint: {install('plots')}\n" in result.err


@pytest.mark.parametrize(
    "data",
    [b"", b"\0\1\2", b"\xff\xfe", b"seconds\n", b"seconds\nnan\n", b"seconds\n-1\n", b"{", b"[]", b"[1e999]", b"seconds\n1\n"],
    ids=["empty", "nul", "utf-16", "head", "nan", "negative", "cut json", "empty json", "infinite", "warm-up only"],
)
def test_bad_samples_are_refused_with_status_3(data: bytes, sassan: Sassan):
    result = sassan("measure", "-", "--estimator", "min", *QUICK, stdin=data)
    assert_refused(result, 3)


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        ((), 2, "usage"),
        (("missing.csv",), 3, "missing-file"),
        ((LONG_TAILS, "--estimator", "mode"), 2, "usage"),
        ((LONG_TAILS, "--confidence", "1"), 2, "bad-confidence"),
        ((LONG_TAILS, "--confidence", "x"), 2, "usage"),
        ((LONG_TAILS, "--runs", "3"), 2, "usage"),
        ((LONG_TAILS, "--cycles"), 2, "usage"),
        ((LONG_TAILS, "-o", "x.csv"), 2, "usage"),
        ((SAXPY, LONG_TAILS), 2, "usage"),
        ((SAXPY,), 2, "no-argument"),
        ((SAXPY, *ARGUMENTS, "--arg", "m=1"), 2, "no-argument"),
        ((SAXPY, "--arg", "n=x", "--arg", "a=1"), 2, "bad-number"),
        ((SAXPY, *ARGUMENTS, "--delays", "0,,1"), 2, "bad-number"),
        ((SAXPY, *ARGUMENTS, "--delays", "-1"), 2, "bad-plan"),
        ((SAXPY, *ARGUMENTS, "--sweep", "n=1,2", "--delays", "nan"), 2, "bad-number"),
        ((SAXPY, *ARGUMENTS, "--sweep", "m=1"), 2, "bad-plan"),
        ((SAXPY, *ARGUMENTS, "--grid", "0"), 2, "launch"),
        ((SAXPY, *ARGUMENTS, "--block-dim", "1,2,3,4"), 2, "launch"),
        ((SAXPY, *ARGUMENTS, "--kernel", "other"), 3, "no-kernel"),
        ((SAXPY, *ARGUMENTS, "-o", "x.txt"), 2, "output-format"),
        (("missing.cu",), 3, "missing-file"),
    ],
)
@pytest.mark.usefixtures("device")
def test_what_cannot_be_answered_is_refused_with_a_reason(arguments: tuple[str, ...], status: int, code: str, sassan: Sassan):
    result = sassan("measure", *arguments)
    assert_refused(result, status)
    assert result.codes == [code]


def test_without_a_gpu_there_is_one_line_and_status_4(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    result = sassan("measure", SAXPY, *ARGUMENTS)
    assert_refused(result, 4)
    assert result.codes == ["missing-extra"]


def test_a_kernel_is_measured_and_kept(sassan: Sassan, tmp_path: Path, device: Simulated):
    path = tmp_path / "x.csv"
    arguments = (*ARGUMENTS, "--block-dim", "256", "--grid", "4,2", "--runs", "3", "--groups", "2", "-D", "A=1", "-o", path)
    result = sassan("measure", SAXPY, *arguments, *QUICK)
    assert result.status == 0
    assert result.err == f"wrote {path}\n"
    assert "# kernel: saxpy\n# launch: 4x2x1 blocks of 256x1x1\n" in path.read_text("utf-8")
    assert path.read_text("utf-8").endswith(
        "group,run,seconds,delay\n0,0,0.003,0.0\n0,1,0.001,0.0\n0,2,0.002,0.0\n1,0,0.003,0.0\n1,1,0.001,0.0\n1,2,0.002,0.0\n"
    )
    (task,) = device.loaded
    assert [(argument.name, argument.kind, argument.value) for argument in task.arguments] == [
        ("n", "int", 1000.0),
        ("a", "float", 2.0),
        ("x", "pointer", 16777216),
        ("y", "pointer", 16777216),
    ]
    assert task.cubin.startswith(b"sm_90 ")
    assert b"('A=1',)" in task.cubin
    again = sassan("measure", path, *QUICK)
    assert again.out.splitlines()[1:] == result.out.splitlines()[1:]


def test_cycles_come_from_a_clock_around_the_body(sassan: Sassan, tmp_path: Path, device: Simulated):
    device.cycles = 4711
    assert sassan("measure", SAXPY, *ARGUMENTS, "--cycles", "-o", tmp_path / "x.json", *QUICK).status == 0
    assert device.loaded[0].kernel == "saxpy_timed"
    assert json.loads((tmp_path / "x.json").read_text("utf-8"))["groups"][0]["cycles"] == [4711] * 20


def test_sizes_are_swept(sassan: Sassan, device: Simulated):
    document = sassan("measure", SAXPY, "--arg", "a=1", "--sweep", "n=10,1000", "--groups", "2", "--json", *QUICK).document
    assert [row["size"] for row in document["samples"][0]["estimates"]] == [10.0, 1000.0]
    assert [task.arguments[0].value for task in device.loaded] == [10.0, 1000.0]


def test_an_interrupt_keeps_what_was_measured(sassan: Sassan, tmp_path: Path, device: Simulated):
    device.before_run = lambda number: signal.raise_signal(signal.SIGINT) if number == 25 else None
    result = sassan("measure", SAXPY, *ARGUMENTS, "-o", tmp_path / "x.csv", *QUICK)
    assert result.status == 130
    assert "# runs: 26\n" in (tmp_path / "x.csv").read_text("utf-8")
    assert ": 26 runs in 2 groups (saxpy, simulated GPU, " in result.out


def test_an_interrupt_during_a_delay_ends_it(sassan: Sassan, device: Simulated, monkeypatch: pytest.MonkeyPatch):
    import time  # noqa: PLC0415 - what is replaced

    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(time, "sleep", nap)
    assert sassan("measure", SAXPY, *ARGUMENTS, "--pause", "3600").status == 130
    assert (len(naps), device.runs) == (3, 0)


def test_a_failed_launch_keeps_the_groups_before(sassan: Sassan, tmp_path: Path, device: Simulated):
    device.fails_at = 45
    result = sassan("measure", SAXPY, *ARGUMENTS, "-o", tmp_path / "x.csv", *QUICK)
    assert (result.status, result.codes) == (3, ["launch-failed"])
    assert "# runs: 40\n" in (tmp_path / "x.csv").read_text("utf-8")


@pytest.mark.usefixtures("device")
def test_a_terminal_sees_progress_and_the_least_run_so_far(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    assert sassan("measure", SAXPY, *ARGUMENTS, *QUICK).status == 0
    assert "shortest run 1 ms" in terminal.getvalue()


def test_help_teaches_with_examples_and_fits_80_columns(sassan: Sassan):
    result = sassan("measure", "--help")
    assert result.status == 0
    assert len(re.findall(r"^    sassan measure ", result.out, re.MULTILINE)) == 7
    assert "A measurement is not a bound" in result.out
    assert max(len(line) for line in result.out.splitlines()) <= 80


def test_the_files_that_the_help_names_exist():
    text = (ROOT / "sassan/cli/commands/measure.py").read_text("utf-8")
    named = re.findall(r"samples/measure/[\w.-]+", text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_shipped_samples_are_what_their_seed_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    from _lib import measure_experiment  # noqa: PLC0415

    assert measure_experiment.write_samples(tmp_path) == 0
    made = sorted(tmp_path.iterdir())
    assert len(made) == 3
    assert [(SAMPLES / "measure" / path.name).read_bytes() == path.read_bytes() for path in made] == [True] * 3


def test_the_experiment_finds_the_minimum_right_where_disturbances_only_add_and_wrong_where_they_do_not(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    from _lib import measure_experiment, measure_truth  # noqa: PLC0415

    monkeypatch.setattr(measure_experiment, "_LARGE", 2000)

    def bias(world: measure_truth.World, estimator: str, delay: float = 0.0) -> float:
        cells = measure_experiment._cells(world, 1e-3, delay, 20, 60)
        return next(cell.bias for cell in cells if cell.estimator == estimator)

    assert 0 < bias(measure_truth.TAILS, "min") < 0.1 < bias(measure_truth.TAILS, "median") < bias(measure_truth.TAILS, "mean")
    assert bias(measure_truth.SYMMETRIC, "min") < -0.5
    assert bias(measure_truth.ALWAYS, "min", delay=6.0) > 79
    assert bias(measure_truth.DELAYS, "median", delay=6.0) > bias(measure_truth.DELAYS, "mean", delay=6.0) > 40
