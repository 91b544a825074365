"""The options that tell the launch, and what they do for loop bounds."""

from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused

REDUCE = SAMPLES / "sm_61" / "reduce_shuffle.cuobjdump.sass"
MANDELBROT = SAMPLES / "sm_61" / "mandelbrot.cuobjdump.sass"
SPMV = SAMPLES / "sm_61" / "spmv_csr.cuobjdump.sass"
LAUNCH = ("--block-dim", "128", "--grid", "30", "--param", "0x150=1000000")


def test_a_launch_bounds_a_strided_loop(sassan: Sassan):
    (function,) = sassan("analyze", REDUCE, *LAUNCH, "--json").document["functions"]
    assert function["gaps"] == []
    assert function["loops"] == [
        {
            "head": "0x0088",
            "context": [],
            "bound": 260,
            "source": "inferred",
            "reason": "R0 from 0 to 3839, plus 3840 a turn, at most 996159",
        },
        {"head": "0x0108", "context": [], "bound": 4, "source": "inferred", "reason": "turned step by step"},
    ]


def test_the_argument_is_printed_as_an_assumption(sassan: Sassan):
    result = sassan("analyze", REDUCE, *LAUNCH)
    text = "inferred: the loop at 0x0088 goes back at most 260 times per entry (R0 from 0 to 3839, plus 3840 a turn, at most 996159)"
    assert text in result.out
    assert "launched as told: block 128 x 1 x 1, grid 30 x 1 x 1, parameter 0x150=1000000" in result.out


def test_a_gap_says_which_parameter_is_missing(sassan: Sassan):
    (function,) = sassan("ipet", MANDELBROT, "--json").document["functions"]
    (gap,) = function["gaps"]
    assert gap["message"] == "the loop at 0x0188 has no bound (give --param 0x15c=N): give one with --bounds or --loop-bound"
    assert [one["source"] for one in function["loops"]] == ["none"]


def test_a_flow_fact_goes_before_what_is_inferred(sassan: Sassan, tmp_path: Path):
    facts = tmp_path / "facts.toml"
    facts.write_text(sassan("ipet", MANDELBROT, "--facts-template").out.replace("# bound = ", "bound = 9"))
    (function,) = sassan("ipet", MANDELBROT, "--bounds", facts, "--param", "0x15c=200", "--json").document["functions"]
    assert [(one["bound"], one["source"]) for one in function["loops"]] == [(9, "fact")]


def test_what_is_inferred_goes_before_the_default(sassan: Sassan):
    (function,) = sassan("ipet", SPMV, "--loop-bound", "7", "--json").document["functions"]
    assert [(one["bound"], one["source"]) for one in function["loops"]] == [(2, "inferred"), (7, "default")]


def test_the_template_lists_what_is_missing_and_why(sassan: Sassan):
    lines = sassan("ipet", SPMV, "--facts-template").out.splitlines()
    assert [line for line in lines if line.startswith("head")] == ['head = "0x0308"']
    assert "# depends on memory, read by LDG at 0x0090, memory, read by LDG at 0x0098" in lines


@pytest.mark.parametrize("command", ["analyze", "cfg", "strings", "ipet"])
def test_every_command_over_bounds_takes_the_launch(command: str, sassan: Sassan):
    assert sassan(command, REDUCE, *LAUNCH).status == 0


def test_a_makespan_takes_the_launch(sassan: Sassan):
    result = sassan("makespan", REDUCE, "-W", "2", "--engine", "bounds", *LAUNCH)
    assert result.status == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--block-dim", "1025"), "launch"),
        (("--block-dim", "32,32,2"), "launch"),
        (("--grid", "0"), "launch"),
        (("--grid", "many"), "launch"),
        (("--param", "n"), "parameter"),
        (("--param", "n=4"), "unknown-parameter"),
        (("--param", "0x20=4"), "unknown-parameter"),
    ],
)
def test_a_launch_that_cannot_be_is_refused(options: tuple[str, str], code: str, sassan: Sassan):
    result = sassan("analyze", MANDELBROT, *options)
    assert_refused(result, 2)
    assert result.codes == [code]


def test_a_launch_means_nothing_to_a_string(sassan: Sassan):
    assert_refused(sassan("makespan", "LCL", "-W", "2", "--block-dim", "32"), 2)
