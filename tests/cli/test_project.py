"""`sassan.toml`: what commands take from a project, `sassan init`, and `sassan check` alone."""

import json
import tomllib
from pathlib import Path
from typing import cast

import pytest

from budget import some
from cli.shell import SAMPLES, Result, Sassan, assert_refused
from edits import edited
from sassan.app.builds.gates import Gate, GateRule, PatternGates
from sassan.app.project import Project

SM_61 = SAMPLES / "sm_61"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two listings, which is the current one."""
    for name in ("bfs_step", "mandelbrot"):
        edited(SM_61 / f"{name}.cuobjdump.sass", tmp_path / f"{name}.sass")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def project(folder: Path, text: str) -> Path:
    path = folder / "sassan.toml"
    path.write_text(text, "utf-8")
    return path


def wcet(result: Result) -> dict[str, int]:
    return {one["name"]: one["wcet"]["value"] for one in result.document["functions"]}


def test_init_then_check_alone_passes_and_a_slower_build_fails(sassan: Sassan, folder: Path):
    assert sassan("init", "bfs_step.sass", "--loop-bound", "9").status == 0
    assert tomllib.loads((folder / "sassan.toml").read_text("utf-8"))["check"] == {
        "baseline": "sassan-baseline.json", "max-growth": "5%", "require-bounded": True, "no-gaps": True, "control": True,
    }  # fmt: skip
    assert (sassan("check").out, sassan("check", "--quiet").err) == ("1 function checked, all pass\n", "")
    slower = sassan("check", "--loop-bound", "10")
    assert slower.status == 1
    assert "grew from 272 to 296" in slower.out
    assert "the baseline was made under other conditions: --loop-bound 9, now 10 (bfs_step)" in slower.out


def test_the_deadline_of_all_launches_is_the_least_limit_on_all_functions():
    def held(pattern: str, rule: str, limit: int) -> PatternGates:
        return PatternGates(pattern, (Gate(cast("GateRule", rule), limit, "sassan.toml: check"),))

    demands = (held("*", "max-total-us", 1250), held("*", "max-total-us", 900), held("k*", "max-total-us", 5), held("*", "max-wcet", 7))
    assert Project("sassan.toml", demands=demands).deadline == 900
    assert Project("sassan.toml", demands=demands[2:]).deadline is None


def test_init_writes_what_does_not_pass_as_a_comment_and_replaces_nothing(sassan: Sassan, folder: Path):
    sassan("init", "bfs_step.sass", "mandelbrot.sass")
    text = (folder / "sassan.toml").read_text("utf-8")
    assert "# require-bounded = true   # 2 of 2 functions have no WCET" in text
    assert "# no-gaps = true   # " in text
    assert sassan("check").status == 0
    assert_refused(sassan("init", "bfs_step.sass"), 2)
    assert (folder / "sassan.toml").read_text("utf-8") == text
    assert sassan("init", "bfs_step.sass", "--overwrite").status == 0


def test_update_baseline_accepts_what_is_now(sassan: Sassan, folder: Path):
    project(folder, 'files = ["*.sass"]\nfunction = ["bfs*"]\nloop-bound = 9\n[check]\nbaseline = "b.json"\n')
    missing = sassan("check", "--quiet")
    assert_refused(missing, 3)
    assert "'sassan check --update-baseline' writes it" in missing.err
    assert sassan("check", "--update-baseline").status == 0
    assert sassan("check", "--loop-bound", "10").status == 1
    assert sassan("check", "--loop-bound", "10", "--update-baseline").status == 0
    assert json.loads((folder / "b.json").read_text("utf-8"))["functions"][0]["settings"]["loop-bound"] == "10"
    assert sassan("check", "--loop-bound", "10").status == 0


def test_a_project_is_found_above_the_input_and_the_command_line_goes_first(sassan: Sassan, folder: Path, monkeypatch: pytest.MonkeyPatch):
    project(folder, "loop-bound = 9\n")
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    edited(folder / "bfs_step.sass", inner / "k.sass")
    monkeypatch.chdir("/")
    result = sassan("analyze", inner / "k.sass", "--json")
    assert wcet(result) == {"bfs_step": 272}
    assert result.err.endswith("sassan.toml: --loop-bound 9\n")
    assert wcet(sassan("analyze", inner / "k.sass", "--json", "--loop-bound", "10")) == {"bfs_step": 296}
    assert sassan("analyze", inner / "k.sass", "--json", "--loop-bound", "10").err == ""
    assert wcet(sassan("analyze", inner / "k.sass", "--json", "--project", "none")) == {"bfs_step": None}
    assert wcet(sassan("analyze", "--json", "--project", folder / "sassan.toml", inner / "k.sass")) == {"bfs_step": 272}


def test_launches_stand_in_the_file_each_with_its_parameters(sassan: Sassan, folder: Path):
    launch = '[[launch]]\nkernel = "mandelbrot"\ngrid = [8, 8, 1]\nblock = [16, 16, 1]\n'
    project(folder, f'files = ["mandelbrot.sass"]\n{launch}param = ["0x15c=10"]\n{launch}param = ["0x15c=20"]\n')
    known = sassan("analyze", "--json").document["launches"]
    (few, many) = [one["wcet"]["value"] for one in known]
    alone = sassan(
        "analyze", "mandelbrot.sass", "--project", "none", "--block-dim", "16,16", "--grid", "8,8", "--param", "0x15c=10", "--json"
    )
    assert few == wcet(alone)["mandelbrot"] < many
    # Of options that exclude each other the command line decides.
    assert wcet(sassan("analyze", "--block-dim", "16,16", "--grid", "8,8", "--param", "0x15c=10", "--json")) == {"mandelbrot": few}


def test_gates_of_a_project_hold_all_functions_or_those_of_a_pattern(sassan: Sassan, folder: Path):
    project(folder, 'files = ["bfs_step.sass"]\nloop-bound = 9\n[check]\nmax-wcet = 272\n[gates."bfs*"]\nmax-divergent = 1\n')
    result = sassan("check")
    assert result.status == 1
    assert "max-divergent" in result.out
    assert "max-wcet" not in result.out
    # A file that is named is a part of the project: gates may match nothing in it.
    assert sassan("check", "mandelbrot.sass", "--max-wcet", "1000000").status in (0, 1)


@pytest.mark.parametrize(
    "text",
    [
        "files = 1",
        "loop-bound = '9'",
        "speed = 3",
        "[check]\nmax-speed = 1",
        "files = ['*.cubin']",
        "files = ['/**']",
        "[[launch]]\nkernel = 'k'",
        "launches = 'x'\n[[launch]]\nkernel = 'k'\ngrid = [1,1,1]\nblock = [1,1,1]",
        "[",
    ],
)
def test_a_project_that_is_none_is_refused(text: str, sassan: Sassan, folder: Path):
    project(folder, text)
    result = sassan("analyze", "bfs_step.sass")
    assert_refused(result, 3)
    assert result.codes == ["bad-project"]


def test_without_input_and_project_the_argument_is_missing(sassan: Sassan, folder: Path):
    assert folder.is_dir()
    result = sassan("check", "--no-gaps")
    assert_refused(result, 2)
    assert "missing argument 'FILE...'" in result.err
    assert "'sassan init FILE'" in result.err


@pytest.mark.slow
def test_makespan_of_a_listing_takes_the_project_and_of_a_string_does_not(sassan: Sassan, folder: Path):
    project(folder, "loop-bound = 9\nwarps = 4\n")
    listing = ("makespan", "bfs_step.sass", "--engine", "bounds", "--time-limit", "0.1", "--json")
    result = sassan(*listing)
    assert result.err.endswith("sassan.toml: --loop-bound 9, -W 4\n")
    alone = (*listing, "--project", "none", "--loop-bound", "9")
    assert instances(result) == instances(sassan(*alone, "-W", "4"))
    assert instances(result) != instances(sassan(*alone, "-W", "5"))
    assert instances(sassan(*listing, "-W", "5")) == instances(sassan(*alone, "-W", "5"))
    assert_refused(sassan("makespan", "LCL"), 2)
    # The warps of a file of settings go before those of the project.
    settings = SAMPLES / "makespan" / "figure-2.toml"
    configured = sassan(*listing, "--config", settings)
    assert configured.err.endswith("sassan.toml: --loop-bound 9; not used: -W 4\n")


def instances(result: Result) -> list[object]:
    """Return what was to be solved, which does not depend on the time that there was."""
    told = ("strings", "warps", "capacities", "issue", "blocks")
    return [
        (function["strings"], function["wcet"]["value"], [[path["makespan"][key] for key in told] for path in function["paths"]])
        for function in result.document["functions"]
    ]


RECORDED = "kernel,grid,block,time_us\nbfs_step,60,256,1000\n"


def test_validate_takes_the_project_and_its_files(sassan: Sassan, folder: Path):
    (folder / "times.csv").write_text(RECORDED, "utf-8")
    options = ("--gpu", "GTX 1080", "--loop-bound", "9")
    project(folder, 'files = ["bfs_step.sass"]\ngpu = "GTX 1080"\nloop-bound = 9\nmodel = "unit"\n')
    result = sassan("validate", "times.csv", "--json")
    assert result.err.endswith(
        "sassan.toml: --gpu GTX 1080, --loop-bound 9; not used: --model unit\n"
    )  # a model without latencies is not one to validate
    assert result.document == sassan("validate", "times.csv", "bfs_step.sass", *options, "--project", "none", "--json").document
    assert "unknown-kernel" in sassan("validate", "times.csv", *options, "--project", "none").out
    assert_refused(sassan("validate", "times.csv", "--model", "unit"), 2)


def test_rank_takes_the_gpu_of_the_project_where_the_file_names_none(sassan: Sassan, folder: Path):
    sizes = {"tune_params_keys": ["block_size_x"], "tune_params": {"block_size_x": [32]}}
    project(folder, 'gpu = "no such GPU"\n')
    for device, codes in (({"device_name": "Tesla T4"}, ["no-source"]), ({}, ["unknown-gpu"])):
        (folder / "c.json").write_text(json.dumps({**device, "kernel_name": "k", "problem_size": [64], **sizes, "cache": {}}), "utf-8")
        assert sassan("rank", "c.json").codes == codes


def test_init_suggests_no_number_for_a_pointer_and_says_what_is_not_seen_without_a_launch(sassan: Sassan, folder: Path):
    edited(SM_61 / "saxpy.ptx", folder / "k.ptx")
    result = sassan("init", "k.ptx")
    assert result.status == 0
    assert "note: no launch is given: conflicts and coalescing are held as a usual block makes them (256 x 1 x 1), " in result.err
    text = (folder / "sassan.toml").read_text("utf-8")
    assert '# kernel = "saxpy"\n# grid = [1, 1, 1]\n# block = [256, 1, 1]\n# param = ["param_0=1024", "param_1=1024"]\n#\n' in text


def test_a_project_that_is_replaced_keeps_the_launches_of_kernels_that_are_there(sassan: Sassan, folder: Path):
    launch = '[[launch]]\nkernel = "{}"\ngrid = [8, 8, 1]\nblock = [16, 16, 1]\nparam = ["0x15c=10"]\n'
    project(folder, f'files = ["mandelbrot.sass"]\n{launch.format("mandelbrot")}{launch.format("gone")}')
    assert sassan("init", "mandelbrot.sass", "bfs_step.sass", "--overwrite").status == 0
    written = tomllib.loads((folder / "sassan.toml").read_text("utf-8"))
    assert [(one["kernel"], one["grid"], one["param"]) for one in written["launch"]] == [("mandelbrot", [8, 8, 1], ["0x15c=10"])]
    assert "launches" not in written
    result = sassan("check")
    assert (result.status, result.out) == (0, "2 functions checked, all pass; not held by the baseline: mandelbrot: makespan\n")
    held = {one["name"]: one["held_by"] for one in sassan("check", "--json").document["functions"]}
    assert held == {"mandelbrot": ["no-gaps", "growth", "control"], "bfs_step": ["growth", "control"]}  # of what is not launched, the code


LAUNCHES = """
files = ["mandelbrot.sass"]
gpu = "GTX 1080"
model = "table"
latency = ["special=50"]
partition = true
registers = 20
[[launch]]
kernel = "mandelbrot"
grid = [8, 8, 1]
block = [16, 16, 1]
param = ["0x15c=10"]
[[launch]]
kernel = "mandelbrot"
grid = [8, 8, 1]
block = [16, 16, 1]
param = ["0x15c=20"]
[[launch]]
kernel = "elsewhere"
grid = [1, 1, 1]
block = [32, 1, 1]
"""
OF_FILES = ("blocks", "cfg", "diff", "ipet", "listing", "memory", "strings")


def test_what_a_project_has_beside_the_command_line_is_no_usage_error(sassan: Sassan, folder: Path):
    project(folder, 'param = ["renamed=3"]\n[check]\nmax-divergent = 99\n')
    found = sassan("analyze", "bfs_step.sass", "--json")
    assert (found.status, found.codes) == (0, [])
    assert "not used: --param renamed=3: no kernel has it" in found.err
    assert "parameters changed" in sassan("check", "bfs_step.sass").out
    assert sassan("analyze", "bfs_step.sass", "--param", "renamed=3").codes == ["unknown-parameter"]
    project(folder, LAUNCHES)
    changed = ("estimate", "mandelbrot.sass", "--what-if", "registers=32")
    found = sassan(*changed)
    assert (found.status, found.codes) == (0, [])
    assert "--what-if registers=32 is not used" in found.err
    one = sassan(*changed, "--block-dim", "16,16", "--grid", "8,8", "--param", "0x15c=20", "--json").document["functions"]
    assert [each["change"] for each in one[0]["what_if"]] == ["registers=32"]


@pytest.mark.parametrize("command", some(OF_FILES, of=3))
def test_launches_of_a_project_are_no_usage_error(command: str, sassan: Sassan, folder: Path):
    project(folder, LAUNCHES)
    inputs = ("mandelbrot.sass",) * (2 if command == "diff" else 1)
    result = sassan(command, *inputs, "--json")
    assert (result.status, result.codes) == (0, [])
    assert "--launches sassan.toml" in result.err
    assert "passed over launches of elsewhere" in result.err
    if command not in ("diff", "ipet", "blocks"):
        assert "not used: --gpu GTX 1080, --model table, --latency special=50" in result.err
    assert [one["launch"] for one in result.document["functions"]] == [{"grid": [8, 8, 1], "block": [16, 16, 1]}] * 2
    assert sassan(command, *inputs).status == 0


def test_the_integer_program_of_a_launch_has_the_bounds_of_the_launch(sassan: Sassan, folder: Path):
    project(folder, LAUNCHES)
    rows = sassan("ipet", "mandelbrot.sass", "--json").document["functions"]
    analyzed = sassan("analyze", "--json").document["launches"]
    assert [row["wcet"]["value"] for row in rows] == [row["wcet"]["value"] for row in analyzed[:2]]
    assert rows[0]["wcet"]["value"] < rows[1]["wcet"]["value"]
    assert sassan("ipet", "mandelbrot.sass", "-o", "{name}.lp").status == 0
    assert sorted(path.name for path in folder.glob("*.lp")) == ["mandelbrot-2.lp", "mandelbrot.lp"]


def test_a_function_that_is_not_launched_stays_in_the_listing(sassan: Sassan, folder: Path):
    project(folder, LAUNCHES)
    result = sassan("listing", "bfs_step.sass", "--json")
    assert [(one["name"], "launch" in one) for one in result.document["functions"]] == [("bfs_step", False)]
    assert "no launch of bfs_step" in result.err


def test_options_of_a_project_that_have_no_effect_are_named_and_not_refused(sassan: Sassan, folder: Path):
    project(folder, 'gpu = "GTX 1080"\nregisters = 40\npartition = true\nlatency = ["special=50"]\n')
    result = sassan("analyze", "bfs_step.sass", "--model", "unit", "--loop-bound", "9")
    assert result.status == 0
    assert result.err.endswith("sassan.toml: --gpu GTX 1080; not used: --registers 40, --partition\n")
    assert_refused(sassan("analyze", "bfs_step.sass", "--partition", "--project", "none"), 2)


@pytest.mark.parametrize("command", ["cfg", "listing", "memory", "strings"])
def test_a_gpu_that_changes_nothing_is_named_and_not_refused(command: str, sassan: Sassan, folder: Path):
    result = sassan(command, "mandelbrot.sass", "--gpu", "GTX 1080", "--json")
    assert "note: --gpu GTX 1080 is not used" in result.err
    assert result.document == sassan(command, "mandelbrot.sass", "--json").document
    assert sassan(command, "mandelbrot.sass", "--gpu", "GTX 1080", "--json", "-q").err == ""
    assert folder.is_dir()


def test_builds_are_compared_launch_by_launch(sassan: Sassan, folder: Path):
    project(folder, LAUNCHES)
    text = (folder / "mandelbrot.sass").read_text("utf-8")
    (folder / "old.sass").write_text(text, "utf-8")
    (folder / "other.toml").write_text(LAUNCHES.replace("0x15c=10", "0x15c=11"), "utf-8")
    assert sassan("diff", "old.sass", "mandelbrot.sass", "--fail-on-growth").status == 0
    old = sassan("check", "old.sass", "--no-gaps", "--json").out
    (folder / "old.json").write_text(old, "utf-8")
    same = sassan("diff", "old.json", "mandelbrot.sass", "--json").document
    assert same["summary"] == {"same": 2}
    other = sassan("diff", "old.json", "mandelbrot.sass", "--project", "other.toml", "--json").document
    assert [one["state"] for one in other["functions"]].count("same") == 1


def test_every_launch_is_explained(sassan: Sassan, folder: Path):
    project(folder, LAUNCHES)
    result = sassan("analyze", "--explain", "--schedule")
    heads = [line for line in result.out.splitlines() if line.startswith("where the bounds of mandelbrot")]
    assert [head.endswith(f"parameter 0x15c={limit} come from:") for head, limit in zip(heads, (10, 20), strict=True)] == [True, True]
    assert result.out.count("a schedule takes") == 2
    rows = sassan("analyze", "--explain", "--schedule", "--json").document["launches"]
    for row in rows[:2]:
        assert sum(part["cycles"] for part in row["explain"]["wcet"]) == row["wcet"]["value"]
        assert 0 < row["makespan"]["lower"] <= row["makespan"]["upper"]


def test_limits_in_time_are_held_by_kernel_and_for_the_whole_sequence(sassan: Sassan, folder: Path):
    launch = '[[launch]]\nkernel = "mandelbrot"\ngrid = [8, 8, 1]\nblock = [16, 16, 1]\nparam = ["0x15c=10"]\ncount = 3\n'
    head = 'files = ["mandelbrot.sass"]\ngpu = "GTX 1080"\nregisters = 32\n'
    project(folder, f'{head}{launch}[check]\nmax-total-us = 1000\n[gates."mandel*"]\nmax-us = 500.5\nmax-grid-cycles = 500000\n')
    known = sassan("check", "--json")
    assert (known.status, known.document["functions"][0]["failures"]) == (0, [])
    us = known.document["functions"][0]["grid"]["us"]
    project(folder, f'{head}{launch}[check]\nmax-total-us = {2 * us}\n[gates."mandel*"]\nmax-us = {us / 2}\nmax-grid-cycles = 1\n')
    result = sassan("check", "--json")
    assert result.status == 1
    (function,) = result.document["functions"]
    failures = {one["gate"]: (one["value"], one["limit"]) for one in function["failures"]}
    assert failures == {"max-grid-cycles": (function["grid"]["upper"], 1), "max-us": (us, us / 2), "max-total-us": (3 * us, 2 * us)}
    project(folder, f"{head}{launch}[check]\nmax-total-us = 1\n".replace('gpu = "GTX 1080"\n', ""))
    assert_refused(sassan("check", "--quiet"), 2)
