"""`sassan check` and `sassan diff` where something is not known: nothing passes in silence."""

import json
from pathlib import Path
from typing import Any

import pytest

from budget import some
from cli.shell import SAMPLES, Sassan, assert_refused
from edits import edited
from sarif import assert_valid

pytestmark = pytest.mark.slow

SM_61 = SAMPLES / "sm_61"
BFS = SM_61 / "bfs_step.cuobjdump.sass"
SAXPY = SM_61 / "saxpy.cuobjdump.sass"
TWO = SM_61 / "two_kernels.cuobjdump.sass"
BOUNDED = (BFS, "--loop-bound", "9")
LAUNCHED = (SAXPY, "--block-dim", "128", "--registers", "32", "--shared", "0", "--grid", "100")


@pytest.fixture
def saved(sassan: Sassan, tmp_path: Path) -> Any:
    """Return a function that writes the results of `analyze` with some options."""

    def call(*arguments: str | Path, name: str = "old.json") -> Path:
        (tmp_path / name).write_text(sassan("analyze", *arguments, "--json").out, "utf-8")
        return tmp_path / name

    return call


def verdict(result: Any) -> str:
    return str(result.out.splitlines()[-1])


def warnings(sassan: Sassan, *arguments: str | Path) -> list[tuple[str, str]]:
    document = sassan("check", *arguments, "--sarif", "-").document
    assert_valid(document)
    (invocation,) = document["runs"][0]["invocations"]
    assert invocation["executionSuccessful"]
    return [
        (one["descriptor"]["id"], one["message"]["text"]) for one in invocation["toolExecutionNotifications"] if one["level"] == "warning"
    ]


def test_a_renamed_kernel_is_named_on_both_sides_also_where_notes_are_not_wanted(sassan: Sassan, saved: Any, tmp_path: Path):
    old = saved(TWO, "--loop-bound", "5")
    new = edited(TWO, tmp_path / "new.sass", ("two_kernels_first", "other_kernel"))
    command = ("check", new, "--loop-bound", "5", "--baseline", old)
    result = sassan(*command, "--quiet")
    assert (result.status, result.err) == (0, "")
    assert result.out == (
        "2 functions checked, all pass; not held by the baseline: other_kernel; only in the baseline: two_kernels_first\n"
    )
    document = sassan(*command, "--json").document
    assert document["missing"] == ["two_kernels_first"]
    assert {one["name"]: one["held_by"] for one in document["functions"]} == {"_Z18two_kernels_secondPii": ["growth"], "other_kernel": []}
    assert warnings(sassan, *command[1:]) == [
        ("not-in-baseline", "not held by the baseline: other_kernel"),
        ("only-in-baseline", "only in the baseline: two_kernels_first"),
    ]


def test_a_baseline_without_a_bound_is_named(sassan: Sassan, saved: Any):
    old = saved(BFS)
    assert verdict(sassan("check", *BOUNDED, "--baseline", old, "-q")).startswith(
        "1 function checked, all pass; not held by the baseline: bfs_step: WCET"
    )
    assert "not held by the baseline: bfs_step: WCET, makespan" in verdict(sassan("check", *BOUNDED, "-W", "16", "--baseline", old))


def test_a_verdict_names_a_few_functions_only(sassan: Sassan, saved: Any):
    old = saved(SAXPY)
    document = json.loads(old.read_text("utf-8"))
    document["functions"] += [document["functions"][0] | {"name": f"k{number}"} for number in range(5)]
    old.write_text(json.dumps(document), "utf-8")
    result = sassan("check", SAXPY, "--baseline", old)
    assert result.out == "1 function checked, all pass; only in the baseline: k0, k1, k2 and 2 more\n"
    assert sassan("check", SAXPY, "--baseline", old, "-f", "saxpy").out == "1 function checked, all pass\n"


@pytest.mark.parametrize("text", ["", "[function]\n", '[function."*"]\n'])
def test_a_file_without_a_gate_is_no_gate(text: str, sassan: Sassan, tmp_path: Path):
    path = tmp_path / "gates.toml"
    path.write_text(text, "utf-8")
    assert_refused(sassan("check", SAXPY, "--gates", path), 2)


def test_a_function_that_no_gate_holds_is_named(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "gates.toml"
    path.write_text('[function."bfs_*"]\nmax-wcet = 1000\n', "utf-8")
    command = (*BOUNDED, SAXPY, "--gates", path)
    assert sassan("check", *command, "--quiet").out == "2 functions checked, all pass; held by no gate: saxpy\n"
    assert [one["held_by"] for one in sassan("check", *command, "--json").document["functions"]] == [["max-wcet"], []]
    assert warnings(sassan, *command) == [("no-gate", "held by no gate: saxpy")]


OTHER = "the baseline was made under other conditions: "


CONDITIONS = (
    ("--loop-bound 100", "--loop-bound 5", "--loop-bound 100, now 5"),
    (
        "--loop-bound 9 --order either",
        "--loop-bound 9",
        "--order either, now arch",
    ),
    (
        "--loop-bound 9 --model table --latency global=900",
        "--loop-bound 9 --model table --latency global=900 --latency store=300",
        "--latency global=900, now global=900, store=300",
    ),
    ("--loop-bound 9 -W 16", "--loop-bound 9", "-W 16, now not given"),
)


@pytest.mark.parametrize("case", some(CONDITIONS))
@pytest.mark.parametrize("changed", some([True, False]))
def test_a_baseline_under_other_options_is_said(case: tuple[str, str, str], changed: bool, sassan: Sassan, saved: Any):
    before, after, text = case
    old = saved(BFS, *before.split())
    if changed:
        hashed = json.loads(old.read_text("utf-8"))["functions"][0]["text"]
        edited(old, old, (hashed, "sha256:0"))
    command = (BFS, *after.split(), "--baseline", old, "--max-growth", "50%")
    assert verdict(sassan("check", *command, "-q")) == f"1 function checked, all pass; {OTHER}{text} (bfs_step)"
    (function,) = sassan("check", *command, "--json").document["functions"]
    assert function["conditions"] == [text]
    assert warnings(sassan, *command) == [("other-conditions", f"{OTHER}{text} (bfs_step)")]


def test_another_version_is_another_condition(sassan: Sassan, saved: Any):
    old = saved(SAXPY)
    edited(old, old, ('"version": "', '"version": "9.'))
    assert f"{OTHER}version 9." in verdict(sassan("check", SAXPY, "--baseline", old))


def test_code_that_moved_under_the_same_options_is_no_other_condition(sassan: Sassan, saved: Any):
    old = saved(TWO, "--loop-bound", "5")
    edited(old, old, ("0x00f8", "0x0f80"), ("sha256:ea0e", "sha256:0000"), ("R0 from 1 to 3", "R9 from 1 to 3"))
    assert sassan("check", TWO, "--loop-bound", "5", "--baseline", old).out == "2 functions checked, all pass\n"


@pytest.mark.parametrize("option", [("--ablate", "no-groups"), ("--paper-experiment",)])
def test_what_is_no_bound_holds_nothing(option: tuple[str, ...], sassan: Sassan, saved: Any):
    old, new = saved(*BOUNDED, *option), saved(*BOUNDED, name="new.json")
    assert_refused(sassan("check", *BOUNDED, "--baseline", old), 2)
    assert_refused(sassan("diff", old, new, "--fail-on-growth"), 2)
    assert_refused(sassan("diff", new, BFS, "--loop-bound", "9", *option, "--fail-on-growth"), 2)
    assert sassan("diff", old, new).status == 0


def test_the_bound_of_a_grid_is_held_whatever_the_launch_is(sassan: Sassan, saved: Any):
    old = saved(*LAUNCHED)
    document = json.loads(old.read_text("utf-8"))
    upper = document["functions"][0]["grid"]["upper"]
    assert sassan("check", *LAUNCHED, "--baseline", old).out == "1 function checked, all pass\n"
    document["functions"][0]["grid"]["upper"] = upper - 1
    old.write_text(json.dumps(document), "utf-8")
    result = sassan("check", *LAUNCHED, "--baseline", old)
    assert result.status == 1
    assert f"the bound of a grid of 100 blocks (unit model) grew from {upper - 1} to {upper}" in result.out
    result = sassan("check", *LAUNCHED[:-1], "90", "--baseline", old)
    assert (result.status, result.out) == (0, f"1 function checked, all pass; {OTHER}--grid 100,1,1, now 90,1,1 (saxpy)\n")
    result = sassan("check", *LAUNCHED[:-1], "10000", "--baseline", old)
    assert result.status == 1
    assert f"the bound of a grid of 10000 blocks (unit model) grew from {upper - 1} to " in result.out
    assert "; what differs: --grid 100,1,1, now 10000,1,1\n" in result.out


def test_files_with_one_kernel_name_are_held_to_their_own_file(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    edited(SAXPY, Path("a.sass"))
    edited(TWO, Path("b.sass"), ("two_kernels_first", "saxpy"))
    Path("old.json").write_text(sassan("analyze", "a.sass", "b.sass", "-f", "saxpy", "--json").out, "utf-8")
    result = sassan("check", "b.sass", "a.sass", "-f", "saxpy", "--baseline", "old.json")
    assert (result.status, result.out) == (0, "2 functions checked, all pass\n")


def test_sarif_replaces_nothing_that_is_read(sassan: Sassan, saved: Any, tmp_path: Path):
    old, copy = saved(SAXPY), edited(SAXPY, tmp_path / "k.sass")
    gates = tmp_path / "gates.toml"
    gates.write_text('[function."*"]\nno-gaps = true\n', "utf-8")
    for path in (old, copy, gates):
        text = path.read_bytes()
        assert_refused(sassan("check", copy, "--baseline", old, "--gates", gates, "--sarif", path), 2)
        assert path.read_bytes() == text


def test_the_folder_of_sarif_is_looked_for_before_the_work(sassan: Sassan, tmp_path: Path):
    result = sassan("check", tmp_path / "nowhere.sass", "--no-gaps", "--sarif", tmp_path / "none" / "x.sarif")
    assert_refused(result, 2)
    assert result.codes == ["unwritable-output"]


def test_what_saved_results_say_was_refused_is_refused(sassan: Sassan, tmp_path: Path):
    bad = tmp_path / "bad.sass"
    bad.write_text("nothing\n", "utf-8")
    old = tmp_path / "old.json"
    old.write_text(sassan("analyze", SAXPY, bad, "--json").out, "utf-8")
    result = sassan("diff", old, SAXPY, "--json")
    assert result.status == 3
    assert [one["file"] for one in result.document["errors"]] == [str(bad)]
    assert len(result.codes) == 1
    (function,) = json.loads(old.read_text("utf-8"))["functions"]
    lines = tmp_path / "old.jsonl"
    lines.write_text(json.dumps(function) + "\n" + json.dumps({"file": "x", "error": {"code": "syntax", "message": "no"}}) + "\n", "utf-8")
    assert sassan("diff", SAXPY, lines).codes == ["syntax"]


@pytest.mark.parametrize("text", ["{}", '{"error": {"code": "syntax"}}', '{"schema": 1, "tool": {"name": "sassan"}}'])
def test_a_document_without_functions_is_no_result(text: str, sassan: Sassan, tmp_path: Path):
    path = tmp_path / "old.json"
    path.write_text(text, "utf-8")
    assert_refused(sassan("diff", path, SAXPY), 3)
    assert_refused(sassan("check", SAXPY, "--baseline", path), 3)


def test_growth_that_is_not_known_is_said(sassan: Sassan, saved: Any):
    assert sassan("diff", BFS, BFS, "--fail-on-growth").out == "1 function: 1 same; growth is not known: bfs_step\n"
    assert sassan("diff", BFS, BFS, "--json").document["unknown"] == {"growth-not-known": ["bfs_step"]}
    result = sassan("diff", SAXPY, TWO, "--loop-bound", "5", "--fail-on-growth")
    assert verdict(result) == (
        "3 functions: 2 added, 1 removed; growth does not hold what was added: two_kernels_second(int*, int), two_kernels_first; "
        "growth does not hold what was removed: saxpy"
    )
    assert sassan("diff", saved(*BOUNDED), BFS, "--fail-on-growth").status == 1


def test_saved_results_may_come_through_a_pipe(sassan: Sassan):
    document = sassan("analyze", SAXPY, "--json").out.encode()
    assert sassan("diff", "-", SAXPY, stdin=document).out == "1 function: 1 same\n"
    assert sassan("check", SAXPY, "--baseline", "-", stdin=document).out == "1 function checked, all pass\n"
    assert_refused(sassan("check", "-", "--baseline", "-", stdin=document), 2)
