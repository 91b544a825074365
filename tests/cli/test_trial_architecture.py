"""An SM that one file describes: every command works with what it inherits, and prints that, or refuses; without the file each refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from architectures import HEIR, describe
from budget import some
from cli.shell import SAMPLES, Sassan
from sassan.cli.group import SUMMARIES

Arguments = Callable[[Path, Path], tuple[str | Path, ...]]
"""The arguments of a command, given the listing of sm_130 and a folder."""

CONFIG = """
[kernel]
source = "{source}"
arch = "sm_130"
function = "fir"
[launch]
block = [32, 1, 1]
grid = [1, 1, 1]
{launch}
[[gene]]
macro = "UNROLL"
values = [1, 2]
[search]
budget = 2
"""


def evolve_config(folder: Path, launch: str = "") -> Path:
    path = folder / "evolve.toml"
    path.write_text(CONFIG.format(source=SAMPLES / "evolve" / "fir.cu", launch=launch), "utf-8")
    return path


def launches(folder: Path) -> Path:
    path = folder / "launches.toml"
    path.write_text('[[launch]]\nkernel = "saxpy"\ngrid = [4, 1, 1]\nblock = [256, 1, 1]\n', "utf-8")
    return path


def times(folder: Path) -> Path:
    path = folder / "times.csv"
    path.write_text("kernel,grid,block,time_us\nsaxpy,1024,256,1\n", "utf-8")
    return path


CASES: dict[str, tuple[str, Arguments]] = {
    "analyze": ("analyze", lambda dump, _: (dump,)),
    "analyze of a launch": ("analyze", lambda dump, _: (dump, "--block-dim", "256", "--grid", "4", "--registers", "16", "--shared", "0")),
    "analyze by control codes": ("analyze", lambda dump, _: (dump, "--model", "control")),
    "analyze by latencies": ("analyze", lambda dump, _: (dump, "--model", "table", "--json")),
    "cfg": ("cfg", lambda dump, _: (dump, "--json")),
    "blocks": ("blocks", lambda dump, _: (dump,)),
    "strings": ("strings", lambda dump, _: (dump,)),
    "listing": ("listing", lambda dump, _: (dump,)),
    "listing --check": ("listing", lambda dump, _: (dump, "--check")),
    "ipet": ("ipet", lambda dump, _: (dump,)),
    "export": ("export", lambda dump, _: (dump,)),
    "makespan of a string": ("makespan", lambda _, __: ("LCL", "-W", "4", "--sm", "13.0")),
    "makespan of a file": ("makespan", lambda dump, _: (dump, "-W", "4")),
    "memory": ("memory", lambda dump, _: (dump, "--block-dim", "256")),
    "report": ("report", lambda dump, folder: (dump, "-o", folder / "page.html")),
    "serve": ("serve", lambda dump, folder: (dump, "--export", folder / "page.html")),
    "init": ("init", lambda dump, folder: (dump, "-o", folder / "sassan.toml")),
    "check": ("check", lambda dump, _: (dump, "--no-gaps")),
    "check --control": ("check", lambda dump, _: (dump, "--control")),
    "diff": ("diff", lambda dump, _: (dump, dump)),
    "batch": ("batch", lambda dump, _: (dump, "-o", "-", "--executor", "serial")),
    "advise": ("advise", lambda dump, _: (dump, "--block-dim", "256", "--grid", "4", "--gpu", "RTX 5090")),
    "estimate": ("estimate", lambda dump, _: (dump, "--block-dim", "256", "--grid", "4", "--gpu", "RTX 5090")),
    "task": ("task", lambda dump, folder: (dump, "--launches", launches(folder), "--gpu", "RTX 5090")),
    "record": ("record", lambda _, __: ("--sm", "13.0", "true")),
    "evolve": ("evolve", lambda _, folder: (evolve_config(folder),)),
    "rank": ("rank", lambda _, folder: (evolve_config(folder, 'gpu = "RTX 5090"'), "--executor", "serial")),
    "validate": ("validate", lambda dump, folder: (times(folder), dump, "--sms", "100", "--clock", "1000")),
}
WITHOUT_CODE = ("measure", "gpus", "doctor", "mcp", "verify-certificate", "warm", "experiment")
"""Commands that read no machine code of the SM by themselves."""
REFUSED = ("record", "evolve", "rank", "estimate", "advise", "task")
"""What needs more than a file: a product of the SM, a compiler for it."""


@pytest.fixture
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = (SAMPLES / "sm_120" / "saxpy.cuobjdump.sass").read_text("utf-8")
    path = tmp_path / "saxpy.sass"
    path.write_text(text.replace("sm_120", "sm_130").replace("EF_CUDA_SM120", "EF_CUDA_SM130"), "utf-8")
    return path


@pytest.fixture
def trial(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Describe sm_130 by a file that takes everything from sm_120; the listing and the folder of the test."""
    describe(monkeypatch, tmp_path / "further", HEIR)
    return dump, tmp_path


def test_every_command_is_tried():
    assert {command for command, _ in CASES.values()} | set(WITHOUT_CODE) == set(SUMMARIES)


@pytest.mark.parametrize("case", CASES)
def test_a_command_refuses_an_sm_that_no_file_describes(case: str, dump: Path, tmp_path: Path, sassan: Sassan):
    command, arguments = CASES[case]
    result = sassan(command, *arguments(dump, tmp_path))
    assert result.status in (2, 3)
    said = result.out + result.err
    assert "sm_130" in said
    assert "sm_90" in said or "9.0" in said, "the known ones are listed"
    assert "0 findings" not in said


@pytest.mark.parametrize("case", some([case for case in CASES if case not in REFUSED], of=4))
def test_what_an_sm_inherits_is_printed(case: str, trial: tuple[Path, Path], sassan: Sassan):
    command, arguments = CASES[case]
    result = sassan(command, *arguments(*trial))
    assert result.status == 0, result.err
    assert "taken from sm_120" in result.out + result.err


@pytest.mark.parametrize("case", some(REFUSED, of=2))
def test_what_needs_more_than_a_file_is_refused(case: str, trial: tuple[Path, Path], sassan: Sassan):
    command, arguments = CASES[case]
    result = sassan(command, *arguments(*trial))
    assert result.status in (2, 3, 4)
    assert "error[" in result.err


@pytest.mark.parametrize(
    ("case", "sections"),
    [
        ("analyze", "code, parameters"),
        ("analyze by control codes", "latencies"),
        ("analyze by control codes", "units"),
        ("analyze of a launch", "sm"),
        ("analyze of a launch", "allocation"),
        ("listing --check", "code, hazards, distances"),
        ("makespan of a string", "sm"),
        ("check --control", "code, hazards, distances"),
    ],
)
def test_each_section_that_is_used_is_named(case: str, sections: str, trial: tuple[Path, Path], sassan: Sassan):
    command, arguments = CASES[case]
    result = sassan(command, *arguments(*trial))
    assert f"sm_130: {sections} taken from sm_120" in result.out + result.err


def test_a_document_holds_what_is_inherited(trial: tuple[Path, Path], sassan: Sassan):
    (function,) = json.loads(sassan("listing", trial[0], "--check", "--json").out)["functions"]
    assert (function["findings"], function["assumptions"]) == ([], ["sm_130: code, hazards, distances taken from sm_120"])


def test_a_batch_is_not_resumed_with_other_architectures(trial: tuple[Path, Path], sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    dump, folder = trial
    run = ("batch", dump, "-o", folder / "r.jsonl", "--executor", "serial", "--resume")
    assert sassan(*run).status == 0
    assert sassan(*run).status == 0
    describe(monkeypatch, folder / "further", HEIR.replace('"hazards", ', ""))
    result = sassan(*run)
    assert (result.status, result.codes) == (2, ["other-settings"])
    assert "architectures was" in result.err


def test_control_codes_without_hazards_are_not_checked(dump: Path, tmp_path: Path, sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    describe(monkeypatch, tmp_path / "further", 'extends = "sm_120"\ninherits = ["code"]\n')
    result = sassan("listing", dump, "--check")
    assert (result.status, result.codes) == (3, ["unsupported-architecture"])
    assert "no architecture file gives the hazards of sm_130" in result.err


def test_an_architecture_of_a_folder_has_the_numbers_of_the_one_that_it_extends(trial: tuple[Path, Path], sassan: Sassan):
    numbers = [
        sassan("analyze", path, "--model", "control", "--json").document["functions"][0]["wcet"]["value"]
        for path in (trial[0], SAMPLES / "sm_120" / "saxpy.cuobjdump.sass")
    ]
    assert numbers[0] == numbers[1] is not None
