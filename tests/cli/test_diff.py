"""`sassan diff`: what became of each function between two builds."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused

SM_61 = SAMPLES / "sm_61"
BFS = SM_61 / "bfs_step.cuobjdump.sass"
SAXPY = SM_61 / "saxpy.cuobjdump.sass"
TWO = SM_61 / "two_kernels.cuobjdump.sass"


def saved(sassan: Sassan, path: Path, *arguments: str | Path) -> Path:
    path.write_text(sassan("analyze", *arguments, "--json").out, "utf-8")
    return path


@pytest.fixture
def old(sassan: Sassan, tmp_path: Path) -> Path:
    """Return the results of an older build, whose loop ran nine times: its WCET is 272."""
    return saved(sassan, tmp_path / "old.json", BFS, "--loop-bound", "9")


def states(document: Any) -> dict[str, str]:
    return {one["name"]: one["state"] for one in document["functions"]}


def test_a_build_is_the_same_as_itself(sassan: Sassan):
    result = sassan("diff", SAXPY, SAXPY)
    assert (result.status, result.out, result.err) == (0, "1 function: 1 same\n", "")


def test_what_changed_is_a_table_and_lines(sassan: Sassan, old: Path):
    result = sassan("diff", old, BFS, "--loop-bound", "10")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [
        "function  arch   state               WCET",
        "bfs_step  sm_61  changed  272 → 296 +8.8%",
        "",
        "bfs_step (sm_61)",
        "  - string: CS2C9LC8L2C9(C3L1C3L1C7L3C5)^10C10",
        "  + string: CS2C9LC8L2C9(C3L1C3L1C7L3C5)^11C11",
        "  - loops: 0x0158: bound 9 (default)",
        "  + loops: 0x0158: bound 10 (default)",
        "  - assumptions: --loop-bound: at most 9 back edges per entry (10 iterations of the header) of the loop at 0x0158",
        "  + assumptions: --loop-bound: at most 10 back edges per entry (11 iterations of the header) of the loop at 0x0158",
        "",
        "1 function: 1 changed; made under other conditions: --loop-bound 9, now 10 (bfs_step)",
    ]


def test_functions_come_and_go(sassan: Sassan):
    document = sassan("diff", SAXPY, TWO, "--json").document
    assert states(document) == {"_Z18two_kernels_secondPii": "added", "two_kernels_first": "added", "saxpy": "removed"}
    assert document["summary"] == {"added": 2, "removed": 1}


def test_a_function_with_a_new_name_is_found_by_its_instructions(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "renamed.sass"
    path.write_text(SAXPY.read_text("utf-8").replace("Function : saxpy", "Function : axpy"), "utf-8")
    (function,) = sassan("diff", SAXPY, path, "--json").document["functions"]
    assert (function["state"], function["was"], function["name"], function["numbers"]) == ("renamed", "saxpy", "axpy", {})
    assert "axpy (sm_61), was saxpy\n" in sassan("diff", SAXPY, path).out


def test_a_function_of_several_architectures_is_held_to_its_own(sassan: Sassan, tmp_path: Path):
    several = (SM_61 / "saxpy.cuobjdump.sass", SAMPLES / "sm_70" / "saxpy.cuobjdump.sass")
    one, two = (saved(sassan, tmp_path / f"{number}.json", *files) for number, files in enumerate((several, several[::-1])))
    document = sassan("diff", one, two, "--json").document
    assert [(each["arch"], each["state"]) for each in document["functions"]] == [("sm_70", "same"), ("sm_61", "same")]


def test_a_function_that_only_changed_its_architecture_is_one_function(sassan: Sassan):
    (function,) = sassan("diff", SAXPY, SAMPLES / "sm_70" / "saxpy.cuobjdump.sass", "--json").document["functions"]
    assert (function["state"], function["code_changed"]) == ("changed", True)
    assert function["lists"]["architecture"] == {"removed": ["sm_61"], "added": ["sm_70"]}


def test_registers_that_a_listing_does_not_tell_have_not_changed(sassan: Sassan):
    (function,) = sassan("diff", SM_61 / "saxpy.cubin", SAXPY, "--json").document["functions"]
    assert "registers" not in function["numbers"]


def test_a_bound_that_is_found_or_lost_is_a_change(sassan: Sassan, old: Path):
    result = sassan("diff", old, BFS)
    assert "bfs_step  sm_61  changed  272 → -\n" in result.out
    assert "  + gaps: 0x0158 unbounded-loop\n" in result.out


def test_growth_fails_only_where_it_was_asked_for(sassan: Sassan, old: Path):
    command = ("diff", old, BFS, "--loop-bound", "10", "--fail-on-growth")
    assert sassan(*command[:-1]).status == 0
    result = sassan(*command)
    why = "what differs: --loop-bound 9, now 10; bound of the loop at 0x0158 9 → 10\n"
    assert (result.status, result.err) == (1, f"bfs_step (sm_61): the WCET (unit model) grew from 272 to 296 (+8.8%); allowed is 0%; {why}")
    assert sassan(*command, "--max-growth", "9%").status == 0
    assert sassan("diff", old, old, "--fail-on-growth").status == 0


def test_numbers_that_count_different_things_cannot_have_grown(sassan: Sassan, old: Path):
    assert_refused(sassan("diff", old, BFS, "--model", "table", "--fail-on-growth"), 2, silent=False)


def test_lines_of_a_batch_are_a_build(sassan: Sassan, old: Path, tmp_path: Path):
    (function,) = json.loads(old.read_text("utf-8"))["functions"]
    path = tmp_path / "batch.jsonl"
    path.write_text(json.dumps(function) + "\n" + json.dumps(function | {"name": "other"}) + "\n", "utf-8")
    assert states(sassan("diff", old, path, "--json").document) == {"bfs_step": "same", "other": "added"}


def test_lines_end_where_json_ends_them(sassan: Sassan, old: Path, tmp_path: Path):
    (function,) = json.loads(old.read_text("utf-8"))["functions"]
    path = tmp_path / "batch.jsonl"
    named = [function | {"name": name} for name in ("line\u2028separator", "next\x85line")]
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in named), "utf-8")
    assert states(sassan("diff", path, path, "--json").document) == {"line\u2028separator": "same", "next\x85line": "same"}


def test_a_pattern_chooses_on_both_sides(sassan: Sassan):
    assert states(sassan("diff", SAXPY, TWO, "-f", "*saxpy*", "--json").document) == {"saxpy": "removed"}
    assert_refused(sassan("diff", SAXPY, TWO, "-f", "nowhere"), 2)


def test_a_side_that_is_refused_does_not_hide_the_other(sassan: Sassan, tmp_path: Path):
    result = sassan("diff", tmp_path / "nowhere.sass", SAXPY, "--json")
    assert (result.status, result.codes) == (3, ["missing-file"])
    assert states(result.document) == {"saxpy": "added"}
    assert result.document["errors"][0]["code"] == "missing-file"


@pytest.mark.parametrize("options", [("-", "-"), (SAXPY, SAXPY, "--max-growth", "5%"), (SAXPY,)])
def test_options_that_say_nothing_are_usage_errors(options: tuple[str | Path, ...], sassan: Sassan):
    assert_refused(sassan("diff", *options), 2)


def test_one_side_may_come_through_a_pipe(sassan: Sassan):
    assert sassan("diff", SAXPY, "-", stdin=SAXPY.read_bytes()).out == "1 function: 1 same\n"


def test_a_terminal_shows_growth_in_red(sassan: Sassan, old: Path, monkeypatch: pytest.MonkeyPatch):
    for module in ("sassan.cli.output.table", "sassan.cli.reports.diff"):
        monkeypatch.setattr(f"{module}.colourful", lambda _: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = sassan("diff", old, BFS, "--loop-bound", "10").out
    assert "\x1b[31m272 → 296 +8.8%\x1b[0m" in out
    assert "\x1b[32m+ string: " in out


def test_the_name_of_a_kernel_steers_nothing(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "evil.sass"
    path.write_text(SAXPY.read_text("utf-8").replace("Function : saxpy", "Function : s\x1b[31m"), "utf-8")
    assert "\x1b" not in sassan("diff", SAXPY, path).out
