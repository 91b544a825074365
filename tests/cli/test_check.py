"""`sassan check`: what fails, where, and with which status."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import cubins
from cli.shell import SAMPLES, Sassan, assert_refused
from edits import edited
from sarif import assert_valid
from sassan.frontend.cubin.tools import tools

SM_61 = SAMPLES / "sm_61"
BFS = SM_61 / "bfs_step.cuobjdump.sass"
SAXPY = SM_61 / "saxpy.cuobjdump.sass"
TWO = SM_61 / "two_kernels.cuobjdump.sass"
DEBUG = SM_61 / "debug_build.cubin"
LINES = SAMPLES / "sm_80" / "debug_build.cubin"
"""Recorded listings hold no source lines: a test of lines reads a cubin that today's disassemblers know."""
BOUNDED = (BFS, "--loop-bound", "10")


def _reads(sm: int) -> bool:
    return any(sm in tool.reads for tool in tools("nvdisasm"))


needs_lines = pytest.mark.skipif(not _reads(80), reason="no nvdisasm that reads sm_80 is installed")


@pytest.fixture
def disassembler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a disassembler that plays back the recorded listings on PATH: today's no longer read sm_61."""
    folder = cubins.recorder(tmp_path / "tools", "sm_61/saxpy", "sm_61/debug_build")
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def old(sassan: Sassan, tmp_path: Path) -> Path:
    """Return the results of an older build, whose loop ran nine times: its WCET is 272."""
    path = tmp_path / "old.json"
    path.write_text(sassan("analyze", BFS, "--loop-bound", "9", "--json").out, "utf-8")
    return path


def test_parameters_that_no_kernel_has_any_more_are_a_row_of_the_baseline(sassan: Sassan, tmp_path: Path):
    files, given = (SAMPLES / "sm_75" / "matmul_tiled.cubin", SAMPLES / "sm_75" / "saxpy.cubin"), ("--param", "param_3=64")
    old = tmp_path / "old.json"
    old.write_text(sassan("analyze", *files, *given, "--json").out)
    summary, sarif, junit = (tmp_path / name for name in ("summary", "sarif", "junit"))
    gone = ("--param", "renamed=3", "--param", "0x160:1=999")
    outputs = ("--summary", summary, "--sarif", sarif, "--junit", junit)
    result = sassan("check", *files, *given, *gone, "--baseline", old, *outputs)
    assert (result.status, result.codes) == (0, [])
    for text in (result.out, summary.read_text("utf-8"), sarif.read_text("utf-8")):
        assert "parameters changed" in text
        assert "--param renamed=3, --param 0x160:1=999" in text.replace("\n", " ")
    assert junit.read_text("utf-8").count("<testcase") == 2
    assert_refused(sassan("check", *files, *gone, "--max-registers", "255"), 2)


@pytest.mark.parametrize("command", ["check", "diff"])
def test_help_fits_a_terminal_and_teaches_with_examples(command: str, sassan: Sassan):
    out = sassan(command, "--help").out
    assert f"Examples:\n    sassan {command} " in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_a_function_below_its_limits_passes(sassan: Sassan):
    result = sassan("check", *BOUNDED, "--max-wcet", "296", "--require-bounded", "--no-gaps", "--max-divergent", "5")
    assert (result.status, result.out, result.err) == (0, "1 function checked, all pass\n", "")


def test_a_limit_that_is_exceeded_fails_with_its_place(sassan: Sassan):
    result = sassan("check", *BOUNDED, "--max-wcet", "295")
    assert (result.status, result.err) == (1, "")
    assert result.out.splitlines() == [
        f"{BFS}:bfs_step:0x0008: max-wcet: the WCET (unit model) is 296, above the limit 295 of --max-wcet",
        "1 function checked, 1 failed",
    ]


def test_a_number_that_is_not_known_is_below_no_limit(sassan: Sassan):
    result = sassan("check", BFS, "--max-wcet", "1000000")
    assert result.status == 1
    assert (
        ":bfs_step:0x0158: max-wcet: the WCET (unit model) is unknown (unbounded-loop at 0x0158), and unknown is not below " in result.out
    )


@pytest.mark.usefixtures("disassembler")
def test_every_gap_fails_the_gate_of_gaps(sassan: Sassan):
    result = sassan("check", DEBUG, "--no-gaps", "--json")
    assert result.status == 1
    assert [(one["gate"], one["code"], one["address"]) for function in result.document["functions"] for one in function["failures"]] == [
        ("no-gaps", "unbounded-loop", "0x0078"),
        ("no-gaps", "unbounded-loop", "0x1078"),
    ]


def test_a_makespan_is_held_to_its_limit(sassan: Sassan):
    assert sassan("check", SAXPY, "-W", "4", "--max-makespan", "49").status == 0
    result = sassan("check", SAXPY, "-W", "4", "--max-makespan", "48")
    assert result.status == 1
    assert "max-makespan: the makespan of 4 warps (unit model) is 49, above the limit 48" in result.out


@pytest.mark.usefixtures("disassembler")
def test_registers_are_known_from_a_cubin_only(sassan: Sassan):
    assert sassan("check", SM_61 / "saxpy.cubin", "--max-registers", "7").status == 0
    assert "is 7, above the limit 6" in sassan("check", SM_61 / "saxpy.cubin", "--max-registers", "6").out
    result = sassan("check", SAXPY, "--max-registers", "255")
    assert result.status == 1
    assert "the number of registers is unknown (it is known of a cubin only), and unknown is not below" in result.out


@needs_lines
def test_a_failure_names_the_source_line(sassan: Sassan):
    result = sassan("check", LINES, "--max-wcet", "5", "-f", "debug_build")
    assert result.out.splitlines()[0].endswith(" [/debug_build.cu:5]")
    failure = sassan("check", LINES, "--max-wcet", "5", "-f", "debug_build", "--json").document["functions"][0]["failures"][0]
    assert failure["source"] == {"file": "/debug_build.cu", "line": 5}


def test_a_missing_wait_fails_the_gate_of_control_codes(sassan: Sassan, tmp_path: Path):
    source = SAMPLES / "sm_80" / "saxpy.cuobjdump.sass"
    assert sassan("check", source, "--control").status == 0
    path = tmp_path / "saxpy.sass"
    path.write_text(source.read_text("utf-8"), "utf-8")
    # The upper word of the FFMA, without its wait mask.
    edited(path, path, ("0x004fca0000000007", "0x000fca0000000007"))
    result = sassan("check", path, "--control")
    assert result.status == 1
    assert ":saxpy:0x00c0: control: missing-wait: 'FFMA R7, R2, c[0x0][0x164], R7' reads R2 without a wait" in result.out


def test_code_without_control_codes_fails_their_gate(sassan: Sassan):
    result = sassan("check", SM_61 / "saxpy.nvdisasm.sass", "--control")
    assert result.status == 1
    assert "control: not checked: the listing has no encodings" in result.out


def test_growth_over_a_baseline_fails(sassan: Sassan, old: Path):
    result = sassan("check", *BOUNDED, "--baseline", old)
    assert result.status == 1
    assert "growth: the WCET (unit model) grew from 272 to 296 (+8.8%); allowed is 0%" in result.out


@pytest.mark.slow
@pytest.mark.parametrize(("allowed", "status"), [("8.8%", 1), ("8.9%", 0), ("23", 1), ("24", 0)])
def test_growth_is_allowed_in_percent_or_in_cycles(allowed: str, status: int, sassan: Sassan, old: Path):
    assert sassan("check", *BOUNDED, "--baseline", old, "--max-growth", allowed).status == status


def test_a_bound_that_got_lost_fails_against_its_baseline(sassan: Sassan, old: Path):
    result = sassan("check", BFS, "--baseline", old)
    assert result.status == 1
    assert "was 272 and is now unknown (unbounded-loop at 0x0158)" in result.out


def test_a_baseline_may_be_lines_and_may_hold_what_was_refused(sassan: Sassan, old: Path, tmp_path: Path):
    (function,) = json.loads(old.read_text("utf-8"))["functions"]
    path = tmp_path / "old.jsonl"
    path.write_text(json.dumps(function) + "\n" + json.dumps({"file": "x", "error": {"code": "syntax"}}) + "\n", "utf-8")
    assert sassan("check", *BOUNDED, "--baseline", path).status == 1


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, -1])
def test_of_several_baselines_of_one_name_none_is_forgotten(place: int, sassan: Sassan, old: Path):
    document = json.loads(old.read_text("utf-8"))
    (small,) = document["functions"]
    large = {**small, "file": "other.sass", "wcet": {**small["wcet"], "value": 1000}}
    document["functions"] = [large, small] if place else [small, large]
    old.write_text(json.dumps(document), "utf-8")
    result = sassan("check", *BOUNDED, "--baseline", old)
    assert result.status == 1
    assert "grew from 272 to 296" in result.out


def test_nothing_passes_where_nothing_was_read(sassan: Sassan, tmp_path: Path):
    result = sassan("check", tmp_path / "nowhere.sass", "--no-gaps")
    assert (result.status, result.out) == (3, "0 functions checked, 1 refused\n")


def test_json_says_what_the_baseline_holds_to_nothing(sassan: Sassan, old: Path):
    known, lacking = sassan("check", *BOUNDED, SAXPY, "--baseline", old, "--json").document["functions"]
    assert (known["unheld"], lacking["unheld"]) == ([], ["wcet"])
    (alone,) = sassan("check", *BOUNDED, "--no-gaps", "--json").document["functions"]
    assert alone["unheld"] is None


def test_a_baseline_of_another_cost_model_holds_the_code_alone(sassan: Sassan, old: Path):
    result = sassan("check", *BOUNDED, "--model", "table", "--baseline", old)
    assert (result.status, result.err) == (0, "")
    assert "1 function checked, all pass; not held by the baseline: bfs_step: WCET; " in result.out
    assert "--model unit, now table" in result.out
    (function,) = sassan("check", *BOUNDED, "--model", "table", "--baseline", old, "--json").document["functions"]
    assert (function["held_by"], function["unheld"]) == (["growth"], ["wcet"])


def test_a_baseline_of_other_functions_fails_each_and_every_output_is_written(sassan: Sassan, old: Path, tmp_path: Path):
    outputs = [tmp_path / name for name in ("x.sarif", "x.xml", "summary.txt")]
    options = [text for pair in zip(("--sarif", "--junit", "--summary"), outputs, strict=True) for text in pair]
    result = sassan("check", SAXPY, "--baseline", old, *options)
    assert (result.status, all(path.exists() for path in outputs)) == (1, True)
    assert ": growth: the baseline holds none of the functions that are checked" in result.out


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"functions": [1]}',
        '{"functions": [{"name": "bfs_step", "arch": "sm_61", "wcet": {"value": "1"}}]}',
        '{"functions": [{"name": "bfs_step", "arch": "sm_61", "wcet": {"value": -1}}]}',
        '{"functions": [{"arch": "sm_61"}]}',
        '{"functions": [{"name": "bfs_step", "arch": "sm_61", "gaps": [{"code": "x", "address": "there"}]}]}',
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_a_baseline_that_is_none_is_refused(text: str, sassan: Sassan, tmp_path: Path):
    path = tmp_path / "old.json"
    path.write_text(text, "utf-8")
    assert_refused(sassan("check", *BOUNDED, "--baseline", path), 3)


def test_a_baseline_of_another_schema_is_refused(sassan: Sassan, old: Path):
    edited(old, old, ('"schema": 1', '"schema": 2'))
    result = sassan("check", *BOUNDED, "--baseline", old)
    assert_refused(result, 3)
    assert "schema: 2 is not that of this version (1)" in result.err


def test_gates_of_a_file_hold_the_functions_that_they_name(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "gates.toml"
    path.write_text('[function."*_first"]\nmax-wcet = 53\n[function."*"]\nno-gaps = true\n', "utf-8")
    result = sassan("check", TWO, "--loop-bound", "10", "--gates", path)
    assert result.status == 1
    assert result.out.splitlines() == [
        f'{TWO}:two_kernels_first:0x0008: max-wcet: the WCET (unit model) is 54, above the limit 53 of {path}: function."*_first"',
        "2 functions checked, 1 failed",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "max-wcet = 3\n",
        "function = 3\n",
        "[function]\nx = 3\n",
        '[function."*"]\nmax-wcet = "3"\n',
        '[function."*"]\nmax-wcet = true\n',
        '[function."*"]\nmax-wcet = -1\n',
        '[function."*"]\nno-gaps = false\n',
        '[function."*"]\nmaximum = 3\n',
        '[function."nowhere"]\nmax-wcet = 3\n',
        "= 3\n",
    ],
)
def test_a_file_of_gates_that_would_hold_nothing_is_refused(text: str, sassan: Sassan, tmp_path: Path):
    path = tmp_path / "gates.toml"
    path.write_text(text, "utf-8")
    assert_refused(sassan("check", *BOUNDED, "--gates", path), 3, silent="nowhere" not in text)


def test_gates_of_a_project_may_match_nothing_in_a_part_of_it(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "gates.toml"
    path.write_text('[function."nowhere*"]\nmax-wcet = 3\n[function."bfs_*"]\nmax-wcet = 295\n', "utf-8")
    command = ("check", *BOUNDED, "--gates", path)
    assert_refused(sassan(*command), 3, silent=False)  # the others are checked
    result = sassan(*command, "--allow-unmatched")
    assert (result.status, result.err) == (1, f"note: {path}: no function matches 'nowhere*'\n")
    assert sassan(*command, "--allow-unmatched", "--quiet").err == ""


def test_a_baseline_of_a_project_may_know_nothing_of_a_part_of_it(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "old.json"
    path.write_text(sassan("analyze", SAXPY, "--json").out, "utf-8")
    command = ("check", *BOUNDED, "--baseline", path)
    assert sassan(*command).status == 1
    result = sassan(*command, "--allow-unmatched", "--quiet")
    assert (result.status, result.err) == (0, "")
    assert result.out == "1 function checked, all pass; not held by the baseline: bfs_step; only in the baseline: saxpy\n"


def test_flow_facts_of_a_project_may_name_nothing_in_a_part_of_it(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "facts.toml"
    path.write_text(sassan("ipet", BFS, "--facts-template").out.replace("# bound = ", "bound = 10"), "utf-8")
    command = ("check", SAXPY, "--bounds", path, "--require-bounded")
    assert_refused(sassan(*command), 3, silent=False)  # the others are checked
    result = sassan(*command, "--allow-unmatched")
    assert (result.status, result.err) == (0, f"note: {path}: no function that is checked is 'bfs_step'\n")
    edited(path, path, ('text = "sha256:', 'text = "sha256:0'))
    stale = sassan("check", BFS, "--bounds", path, "--require-bounded", "--allow-unmatched")
    assert (stale.status, stale.err) == (1, "")
    assert "; flow facts are of other code and not used: check them, and write the new hash: bfs_step\n" in stale.out


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--max-growth", "5%"),
        ("--max-makespan", "5"),
        ("--baseline", "x.json", "--max-growth", "much"),
        ("--baseline", "x.json", "--max-growth", "1.5"),
        ("--no-gaps", "--json", "--sarif", "-"),
        ("--no-gaps", "--paper-experiment"),
        ("--no-gaps", "--ablate", "no-groups"),
        ("--no-gaps", "-f", "nowhere"),
        ("--no-gaps", "--sarif", "/nowhere/x.sarif"),
    ],
)
def test_options_that_hold_nothing_or_contradict_each_other_are_usage_errors(options: tuple[str, ...], sassan: Sassan):
    assert_refused(sassan("check", SAXPY, *options), 2)


def test_an_input_that_is_refused_outweighs_a_failure(sassan: Sassan, tmp_path: Path):
    result = sassan("check", *BOUNDED, tmp_path / "nowhere.sass", "--max-wcet", "5", "--json")
    assert result.status == 3
    assert result.codes == ["missing-file"]
    assert [len(one["failures"]) for one in result.document["functions"]] == [1]
    assert result.document["errors"][0]["code"] == "missing-file"


def log(sassan: Sassan, *arguments: Any) -> Any:
    return sassan("check", *arguments, "--sarif", "-").document


@pytest.mark.usefixtures("disassembler")
def test_sarif_of_failures_is_valid(sassan: Sassan):
    assert_valid(log(sassan, *BOUNDED, DEBUG, "--max-wcet", "5", "--no-gaps", "--require-bounded"))


def test_sarif_of_nothing_is_valid(sassan: Sassan):
    document = log(sassan, SAXPY, "--no-gaps")
    assert_valid(document)
    assert document["runs"][0]["results"] == []
    assert document["runs"][0]["invocations"] == [{"executionSuccessful": True, "exitCode": 0, "toolExecutionNotifications": []}]


def test_sarif_of_a_refused_input_is_valid_and_not_a_success(sassan: Sassan, tmp_path: Path):
    document = log(sassan, SAXPY, tmp_path / "nowhere.sass", "--no-gaps")
    assert_valid(document)
    (invocation,) = document["runs"][0]["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 3)
    assert invocation["toolExecutionNotifications"][0]["descriptor"] == {"id": "missing-file"}


def test_sarif_points_at_the_line_of_a_listing(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(SAMPLES)
    (run,) = log(sassan, "sm_61/bfs_step.cuobjdump.sass", "--no-gaps")["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "no-gaps"
    (location,) = result["locations"]
    lines = (SAMPLES / "sm_61/bfs_step.cuobjdump.sass").read_text("utf-8").splitlines()
    assert "/*0158*/" in lines[location["physicalLocation"]["region"]["startLine"] - 1]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "sm_61/bfs_step.cuobjdump.sass", "uriBaseId": "%SRCROOT%"}
    assert location["logicalLocations"] == [{"name": "bfs_step", "fullyQualifiedName": "bfs_step+0x0158", "kind": "function"}]


@needs_lines
def test_sarif_points_at_the_source_line_and_at_the_address_in_the_cubin(sassan: Sassan):
    (result,) = log(sassan, LINES, "--no-gaps", "-f", "debug_build")["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "file:///debug_build.cu"},
        "region": {"startLine": 5},
    }
    assert result["relatedLocations"][0]["physicalLocation"]["address"] == {
        "relativeAddress": 0x10B0,
        "kind": "instruction",
        "fullyQualifiedName": "debug_build",
    }


def test_sarif_names_the_blocks_that_cost_the_most(sassan: Sassan):
    (result,) = log(sassan, *BOUNDED, "--max-wcet", "5")["runs"][0]["results"]
    assert [one["message"]["text"] for one in result["relatedLocations"]] == [
        "11 times 11 cycles in this block",
        "11 times 8 cycles in this block",
        "11 times 4 cycles in this block",
    ]


def test_fingerprints_are_the_same_where_code_has_moved(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "bfs.sass"
    path.write_text("\n\n" + BFS.read_text("utf-8"), "utf-8")
    results = [log(sassan, one, "--no-gaps", "--max-wcet", "5")["runs"][0]["results"] for one in (BFS, path)]
    lines = [[one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in some] for some in results]
    prints = [[one["partialFingerprints"]["sassan/v1"] for one in some] for some in results]
    assert lines[0] != lines[1]
    assert prints[0] == prints[1]
    assert len(set(prints[0])) == 2


def test_sarif_is_written_beside_the_text(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "x.sarif"
    result = sassan("check", *BOUNDED, "--max-wcet", "5", "--sarif", path)
    assert (result.status, result.err) == (1, f"wrote {path}\n")
    assert result.out.endswith("1 function checked, 1 failed\n")
    assert json.loads(path.read_text("utf-8"))["version"] == "2.1.0"


def test_the_name_of_a_kernel_steers_nothing(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "evil.sass"
    path.write_text(SAXPY.read_text("utf-8"), "utf-8")
    edited(path, path, ("Function : saxpy", "Function : [x](http{0})\x1b[31m"))
    result = sassan("check", path, "--max-wcet", "5")
    assert result.status == 1
    assert result.out.count("\n") == 2
    assert "\x1b" not in result.out
    document = log(sassan, path, "--max-wcet", "5")
    assert_valid(document)
    assert document["runs"][0]["results"][0]["message"]["text"].startswith("[x] (http{{0}})\\x1b[31m: ")


WASTE = ("check", SAMPLES / "sm_80" / "memory_patterns.nvdisasm.sass", "--block-dim", "32,32", "--param", "0x170=1024")


def test_wasted_transactions_are_held_to_a_limit_and_said_where(sassan: Sassan):
    result = sassan(*WASTE, "-f", "transpose_tile", "--max-waste", "30")
    assert result.status == 1
    head = f"{WASTE[1]}:transpose_tile:"
    assert [line.removeprefix(head) for line in result.out.splitlines() if line.startswith(head)] == [
        "0x0000: max-waste: a warp wastes up to 33 transactions of memory, above the limit 30 of --max-waste",
        "0x0160: bank-conflict: 32-way bank conflict, rows of 32 words: pad them to 33: 32 passes where 1 suffices, once on the worst path",
        "0x00b0: uncoalesced-access: may begin inside a sector: at most 5 sectors where 4 suffice, once on the worst path",
        "0x0170: uncoalesced-access: may begin inside a sector: at most 5 sectors where 4 suffice, once on the worst path",
    ]
    assert sassan(*WASTE, "-f", "transpose_tile", "--max-waste", "33").status == 0


@pytest.mark.slow
def test_waste_that_is_not_known_is_below_no_limit(sassan: Sassan, tmp_path: Path):
    gates = tmp_path / "gates.toml"
    gates.write_text('[function."*"]\nmax-waste = 1000000\n', "utf-8")
    loops = sassan("check", WASTE[1], "-f", "matmul", "--gates", gates)
    assert loops.status == 1
    assert "max-waste: how many transactions of memory a warp wastes is unknown (unbounded-loop at 0x0130), and " in loops.out
    assert f"the limit 1000000 of {gates}: " in loops.out
    source = sassan("check", SM_61 / "saxpy.ptx", "--gates", gates)
    assert source.status == 1
    assert "unknown (values-not-followed at 0x0000)" in source.out


def test_the_sarif_of_waste_has_a_result_per_access(sassan: Sassan):
    document = sassan(*WASTE, "-f", "transpose_*", "--max-waste", "0", "--sarif", "-").document
    assert_valid(document)
    results = document["runs"][0]["results"]
    seen = [(one["ruleId"], one["properties"]["function"], one["properties"].get("value")) for one in results]
    assert ("bank-conflict", "transpose_tile", 31) in seen
    assert ("uncoalesced-access", "transpose_naive", 28) in seen
    assert not any(rule == "bank-conflict" and name == "transpose_pad" for rule, name, _ in seen)
