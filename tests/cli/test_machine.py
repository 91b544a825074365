"""`--machine`, `--latency`, `--model` and `--partition`: what they change, what they print, and what is refused."""

import json
from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused

SAXPY = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
BARE = SAMPLES / "sm_61" / "saxpy.nvdisasm.sass"
SPIN = SAMPLES / "sm_70" / "spin_lock.cuobjdump.sass"
MINE = 'base = "6.1"\nsource = "a test"\n'


def written(folder: Path, text: str, name: str = "my.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def wcet(sassan: Sassan, *arguments: object) -> dict[str, object]:
    (one,) = json.loads(sassan("analyze", *arguments, "--loop-bound", "10", "--json").out)["functions"]
    return one["wcet"]


def test_each_model_gives_a_number_of_its_own(sassan: Sassan):
    found = [wcet(sassan, SAXPY, "--model", model) for model in ("unit", "table", "control")]
    assert [one["model"] for one in found] == ["unit", "table", "control"]
    assert [one["value"] for one in found] == [22, 1330, 775]


def test_a_latency_goes_over_the_tables_and_is_printed(sassan: Sassan):
    out = sassan("analyze", SAXPY, "--model", "table", "--latency", "global=318,store=318").out
    assert "WCET\nsaxpy     sm_61     22       2    1        0  1116\n" in out
    assert "in cycles: alu 6, branch 15, compare 13, global 318, issue 1, special 25, store 318\n" in out


def test_a_latency_of_the_command_line_goes_over_that_of_the_machine_file(sassan: Sassan, tmp_path: Path):
    file = written(tmp_path, MINE + "[latency]\nglobal = 900\nstore = 900\n")
    values = [wcet(sassan, SAXPY, "--model", "table", "--machine", file, *more)["value"] for more in ([], ["--latency", "global=218"])]
    assert values == [766 + 732 + 2 * 682, 766 + 732]


def test_a_machine_file_changes_the_bound_of_the_makespan(sassan: Sassan, tmp_path: Path):
    file = written(tmp_path, MINE + "[sm]\nldst = 16\n")
    assert "SM of compute capability 6.1, changed by " in sassan("analyze", SAXPY, "-W", "8", "--machine", file).out


@pytest.mark.parametrize("name", ["sm_61", "6.1"])
def test_a_machine_may_be_named(name: str, sassan: Sassan):
    assert wcet(sassan, SAXPY, "--model", "control", "--machine", name)["value"] == 775


def test_code_runs_on_a_later_machine_of_its_major_version(sassan: Sassan):
    sm_80 = SAMPLES / "sm_80" / "double_horner.cuobjdump.sass"
    values = [wcet(sassan, sm_80, "--model", "control", "--machine", name)["value"] for name in ("sm_80", "sm_86")]
    assert values[0] < values[1]


def test_a_string_runs_on_a_named_machine(sassan: Sassan):
    result = sassan("makespan", "LCL", "-W", "4", "--machine", "sm_61", "--engine", "bounds", "--assumptions")
    assert "published: SM of compute capability 6.1" in result.out


def test_the_command_of_the_manual_bounds_a_launch_by_the_names_of_its_source(sassan: Sassan, tmp_path: Path):
    file = SAMPLES / "sm_61" / "voronoi.nvdisasm.sass"
    template = sassan("ipet", file, "--facts-template").out
    facts = written(tmp_path, template.partition("\n[[")[0] + '\nparameters = { points = "0x150" }\n', "facts.toml")
    launch = ("--block-dim", "256", "--grid", "120", "--param", "points=4096", "--machine", "sm_61")
    (one,) = json.loads(sassan("analyze", file, "--bounds", facts, *launch, "--json").out)["functions"]
    assert one["wcet"]["status"] == "optimal"
    assert "launch as given: block 256 x 1 x 1, grid 120 x 1 x 1, parameter points=4096 (4 bytes at 0x150)" in one["wcet"]["assumptions"]


def test_a_sleep_takes_twice_what_it_says_or_what_is_given(sassan: Sassan):
    (one,) = json.loads(sassan("analyze", SPIN, "--model", "control", "--loop-bound", "10", "--json").out)["functions"]
    # A sleep of a known length has a time.
    assert (one["wcet"]["value"], one["gaps"]) == (42732, [])
    assert any("a warp sleeps at most twice as long as NANOSLEEP says" in text for text in one["wcet"]["assumptions"])
    given = wcet(sassan, SPIN, "--model", "control", "--latency", "sleep=700")
    assert (given["status"], given["value"]) == ("optimal", 42732 + 3 * 100), "3 sleeps of 100 ns: 600 cycles each, 700 as given"


def test_control_codes_are_needed_and_said_to_be(sassan: Sassan):
    (one,) = json.loads(sassan("analyze", BARE, "--model", "control", "--json").out)["functions"]
    assert [gap["code"] for gap in one["gaps"]] == ["no-control-codes"]


@pytest.mark.parametrize("model", ["table", "control"])
def test_ptx_has_no_latencies_of_its_own(model: str, sassan: Sassan):
    (one,) = json.loads(sassan("analyze", SAMPLES / "sm_61" / "saxpy.ptx", "--model", model, "--json").out)["functions"]
    assert (one["wcet"]["value"], [gap["code"] for gap in one["gaps"]]) == (None, ["no-machine-code"])


def test_measured_blocks_are_added_up_and_called_no_bounds(sassan: Sassan, tmp_path: Path):
    template = sassan("ipet", SAMPLES / "sm_61" / "mandelbrot.cuobjdump.sass", "--facts-template").out
    text = next(line.split('"')[1] for line in template.splitlines() if line.startswith("text"))
    graph = json.loads(sassan("cfg", SAMPLES / "sm_61" / "mandelbrot.cuobjdump.sass", "--json").out)["functions"][0]
    rows = "".join(f"mandelbrot,{text},{node['start']},100\n" for node in graph["nodes"])
    file = written(tmp_path, "function,text,start,cycles\n" + rows, "m.csv")
    found = wcet(sassan, SAMPLES / "sm_61" / "mandelbrot.cuobjdump.sass", "--model", "measured", "--measurements", file)
    assert found["value"] == 2600
    assert "measured maxima are no bounds, unless every input and every state of the hardware was measured" in found["assumptions"]


def test_a_partition_has_its_part_of_warps_and_lanes(sassan: Sassan):
    found = json.loads(sassan("makespan", "C4S", "-W", "16", "--sm", "8.6", "--partition", "--engine", "bounds", "--json").out)
    assert (found["warps"], found["capacities"]["C"], found["capacities"]["S"], found["issue"]) == (4, "1/2", "1/8", 1)


def test_a_partition_says_which_units_it_shares(sassan: Sassan):
    out = sassan("makespan", "LC", "-W", "16", "--sm", "8.6", "--partition").out
    assert "  - units of the whole SM (L, D) serve each partition for an even part of the time\n" in out


def test_a_name_that_is_neither_a_file_nor_an_architecture_says_what_is_wanted(sassan: Sassan):
    assert "hint: name an architecture such as sm_61, or a machine file" in sassan("analyze", SAXPY, "--machine", "pascal").err


def test_a_loop_of_ptx_gets_its_bound_from_a_parameter(sassan: Sassan):
    (one,) = json.loads(sassan("analyze", SAMPLES / "sm_61" / "mandelbrot.ptx", "--param", "param_6=9", "--json").out)["functions"]
    assert one["gaps"] == []


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["analyze", SAXPY, "--model", "table", "--latency", "D=8"], 2, "bad-latency"),
        (["analyze", SAXPY, "--latency", "global=8"], 2, "usage"),
        (["analyze", SAXPY, "--model", "measured"], 2, "usage"),
        (["analyze", SAXPY, "--measurements", "x.csv"], 2, "usage"),
        (["analyze", SAXPY, "--model", "measured", "--measurements", "missing.csv"], 3, "cannot-read"),
        (["analyze", SAXPY, "--machine", "missing.toml"], 3, "cannot-read"),
        (["analyze", SAXPY, "--machine", "sm_70"], 3, "other-machine"),
        (["analyze", SAXPY, "--machine", "sm_60"], 3, "other-machine"),
        (["analyze", SAXPY, "--machine", "sm_67"], 3, "unknown-sm"),
        (["analyze", SAXPY, "--machine", "./sm_61"], 3, "cannot-read"),
        (["analyze", SAXPY, "--param", "n=4096"], 2, "unknown-parameter"),
        (["makespan", "LCL", "-W", "4", "--partition"], 2, "usage"),
        (["makespan", "LCL", "LL", "--sm", "8.6", "--partition"], 2, "usage"),
        (["makespan", "LCL", "-W", "4", "--sm", "3.5", "--partition"], 3, "no-partitions"),
    ],
)
def test_what_means_nothing_is_refused(arguments: list[str], status: int, code: str, sassan: Sassan):
    result = sassan(*arguments)
    assert_refused(result, status)
    assert result.codes == [code]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (MINE + "[sm]\nfp64 = 0\n", "bad-machine"),
        (MINE + "[latency]\ndram = 900\n", "bad-machine"),
        ('base = "8.6"\nsource = "a test"\n', "other-machine"),
    ],
)
def test_a_machine_file_that_is_wrong_or_of_another_gpu_is_refused(text: str, code: str, sassan: Sassan, tmp_path: Path):
    result = sassan("analyze", SAXPY, "--model", "table", "--machine", written(tmp_path, text))
    assert_refused(result, 3)
    assert result.codes == [code]
