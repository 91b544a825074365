"""What the commands of an analysis print, and the status they end with."""

import re
from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused

SM_61 = SAMPLES / "sm_61"
SAXPY = SM_61 / "saxpy.cuobjdump.sass"
BFS = SM_61 / "bfs_step.cuobjdump.sass"
MANDELBROT = SM_61 / "mandelbrot.cuobjdump.sass"
TWO = SM_61 / "two_kernels.cuobjdump.sass"
COMMANDS = ["analyze", "cfg", "strings", "ipet"]
FUNCTION_KEYS = {
    "name",
    "arch",
    "file",
    "instructions",
    "blocks",
    "edges",
    "divergent_branches",
    "reactivation_edges",
    "token_targets",
    "strings",
    "wcet",
    "makespan",
    "paths",
    "gaps",
}


def test_analyze_prints_a_table_in_80_columns(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = sassan("analyze", BFS, "--loop-bound", "10")
    assert result.status == 0
    assert result.err == ""
    assert result.out.splitlines()[:5] == [
        "function  arch   instr  blocks  div  reconv.  WCET",
        "bfs_step  sm_61     56       8    5        1   296",
        "",
        "function  worst path, or gaps",
        "bfs_step  CS2C9LC8L2C9(C3L1C3L1C7L3C5)^11C11",
    ]


def test_analyze_prints_the_assumptions_of_its_bounds(sassan: Sassan):
    out = sassan("analyze", BFS, "--loop-bound", "10").out
    assert "  - every instruction takes one cycle (unit cost)\n" in out
    assert "  - --loop-bound: at most 10 back edges per entry (11 iterations of the header) of the loop at 0x0158\n" in out


def test_assumptions_that_something_backs_are_counted_and_listed_on_demand(sassan: Sassan):
    arguments = ["analyze", BFS, "--loop-bound", "10", "-W", "16"]
    figures = "SM of compute capability 6.1: warp instructions per cycle L=1, C=4, S=1, D=1/8, issue 8"
    short, whole = sassan(*arguments).out, sassan(*arguments, "--assumptions").out
    assert "assumptions: 9 (1 published, 8 assumed); --assumptions lists all\n" in short
    assert figures not in short
    assert "assumptions: 9 (1 published, 8 assumed)\n" in whole
    assert f"  - published: {figures}\n" in whole
    assert "  - assumed: every instruction takes one cycle (unit cost)\n" in whole
    makespan = sassan(*arguments, "--json").document["functions"][0]["makespan"]
    assert dict(zip(makespan["assumptions"], makespan["assumption_kinds"], strict=True))[figures] == "published"


def test_inferred_bounds_are_checked_and_those_of_the_user_assumed(sassan: Sassan):
    arguments = ["ipet", SAMPLES / "sm_80" / "barrier_reduce.cuobjdump.sass", "--block-dim", "256", "--json"]
    wcet = sassan(*arguments).document["functions"][0]["wcet"]
    kinds = dict(zip(wcet["assumptions"], wcet["assumption_kinds"], strict=True))
    assert {kind for text, kind in kinds.items() if text.startswith("inferred: ")} == {"checked"}
    assert {kind for text, kind in kinds.items() if text.startswith("launch as given: ")} == {"assumed"}


def test_explain_says_where_the_bound_comes_from(sassan: Sassan):
    arguments = ["analyze", BFS, "--loop-bound", "10", "--explain"]
    lines = sassan(*arguments).out.splitlines()
    first = lines.index("where the bounds of bfs_step come from:")
    assert lines[first + 2 : first + 4] == ["instructions   share  WCET", "         296  100.0%  issue"]
    (function,) = sassan(*arguments, "--json").document["functions"]
    blocks = function["explain"]["blocks"]
    assert sum(block["count"] * block["cost"] for block in blocks) == function["wcet"]["value"] == 296
    assert "explain" not in sassan(*arguments[:-1], "--json").document["functions"][0]
    assert "\ncycles  share  WCET\n" in sassan(*arguments, "--model", "control").out
    assert "where the bounds" not in sassan("analyze", BFS, "--explain").out


def test_a_function_without_a_bound_shows_its_gaps_and_no_number(sassan: Sassan):
    result = sassan("analyze", BFS)
    assert result.status == 0
    assert "bfs_step  sm_61     56       8    5        1     -\n" in result.out
    assert "  bfs_step 0x0158 unbounded-loop: " in result.out
    assert "assumptions" not in result.out


def test_analyze_as_json_has_the_stable_keys(sassan: Sassan):
    document = sassan("analyze", BFS, "--loop-bound", "10", "--json").document
    assert set(document) == {"schema", "tool", "functions"}
    assert document["schema"] == 1
    assert set(document["tool"]) == {"name", "version"}
    function = document["functions"][0]
    assert set(function) >= FUNCTION_KEYS
    assert function["file"] == str(BFS)
    assert function["token_targets"] == {"0x01c8": ["0x0228"], "0x0218": ["0x0228"]}
    assert set(function["wcet"]) >= {"value", "status", "model", "assumptions"}
    assert function["wcet"]["value"] == 296
    assert function["strings"]["worst_path"] == "CS2C9LC8L2C9(C3L1C3L1C7L3C5)^11C11"
    assert function["makespan"] is None
    assert function["gaps"] == []


def test_a_number_that_cannot_be_given_is_null(sassan: Sassan):
    function = sassan("analyze", BFS, "--json", "-W", "16").document["functions"][0]
    assert function["wcet"]["value"] is None
    assert function["strings"]["worst_path"] is None
    assert function["makespan"]["upper"] is None
    assert function["paths"] == []
    assert set(function["gaps"][0]) == {"code", "address", "message"}
    assert function["gaps"][0]["address"] == "0x0158"


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_the_only_thing_on_standard_output(command: str, sassan: Sassan):
    result = sassan(command, TWO, "--json", "--loop-bound", "3")
    assert result.status == 0
    assert result.err == ""
    assert [one["name"] for one in result.document["functions"]] == ["_Z18two_kernels_secondPii", "two_kernels_first"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_input_gives_the_same_bytes(command: str, sassan: Sassan):
    first = sassan(command, TWO, "--loop-bound", "3").out
    assert first
    assert sassan(command, TWO, "--loop-bound", "3").out == first


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("pattern", "names"), [("two_kernels_first", 1), ("*two_kernels*", 2), ("_Z*", 1), ("t?o_kernels_[f]irst", 1)])
def test_a_pattern_chooses_functions(command: str, pattern: str, names: int, sassan: Sassan):
    result = sassan(command, TWO, "-f", pattern, "--json", "--loop-bound", "3")
    assert result.status == 0
    assert len(result.document["functions"]) == names


def test_an_unknown_function_is_a_usage_error_that_names_the_others(sassan: Sassan):
    result = sassan("analyze", TWO, "-f", "two_kernels_frist")
    assert_refused(result, 2)
    assert result.err == (
        "error[unknown-function]: no function matches 'two_kernels_frist'\nhint: functions (2): two_kernels_first, two_kernels_second\n"
    )


def test_standard_input_is_read(sassan: Sassan):
    result = sassan("analyze", "-", "--json", stdin=SAXPY.read_bytes())
    assert [(one["name"], one["file"]) for one in result.document["functions"]] == [("saxpy", "-")]


def test_standard_input_is_read_once(sassan: Sassan):
    assert_refused(sassan("analyze", "-", "-", stdin=SAXPY.read_bytes()), 2)


@pytest.mark.parametrize("arch", ["sm_52", "sm_61", "sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_an_architecture_of_every_generation_has_a_bound(sassan: Sassan, arch: str):
    result = sassan("analyze", "--json", SAMPLES / arch / "saxpy.cuobjdump.sass")
    assert result.status == 0
    (function,) = result.document["functions"]
    assert function["wcet"]["status"] == "optimal"
    assert function["gaps"] == []


@pytest.mark.parametrize("sm", ["5.2", "sm_52", "52"])
def test_sm_overrides_the_architecture(sm: str, sassan: Sassan):
    assert sassan("analyze", SAXPY, "--sm", sm, "--json").document["functions"][0]["arch"] == "sm_52"


def test_cfg_as_json_names_blocks_and_edges(sassan: Sassan):
    function = sassan("cfg", MANDELBROT, "--json").document["functions"][0]
    assert function["entry"] == "n0008"
    first = function["nodes"][0]
    assert {key: first[key] for key in ("id", "start", "end", "instructions", "context")} == {
        "id": "n0008",
        "start": "0x0008",
        "end": "0x0098",
        "instructions": 15,
        "context": [],
    }
    edges = {(one["src"], one["dst"], one["from"], one["to"], one["kind"]) for one in function["edges"]}
    assert ("n0188", "n0188", "0x01f8", "0x0188", "diverge") in edges
    assert ("n0208", "n0208", "0x0208", "0x0208", "reactivate") in edges
    assert ("n0208", "n0210", "0x0208", "0x0210", "reconverge") in edges
    assert ("n0210", None, "0x0230", None, "exit") in edges


def test_a_graph_of_a_thread_neither_diverges_nor_reactivates(sassan: Sassan):
    function = sassan("cfg", MANDELBROT, "--level", "thread", "--json").document["functions"][0]
    assert {one["kind"] for one in function["edges"]} == {"fallthrough", "taken", "reconverge", "exit"}


def test_cfg_without_a_file_lists_blocks(sassan: Sassan):
    assert "n0188  0x01f8     12  C12      diverge n0188, taken n0188, fallthrough n0208\n" in sassan("cfg", MANDELBROT).out


@pytest.mark.parametrize(("form", "magic"), [("dot", b"digraph"), ("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_cfg_draws(form: str, magic: bytes, sassan: Sassan, tmp_path: Path):
    result = sassan("cfg", MANDELBROT, "-o", tmp_path / f"x.{form}")
    assert result.status == 0
    assert result.out == ""
    assert result.err == f"wrote {tmp_path}/x.{form}\n"
    assert magic in (tmp_path / f"x.{form}").read_bytes()[:300]


def test_quiet_leaves_notes_away(sassan: Sassan, tmp_path: Path):
    assert sassan("cfg", MANDELBROT, "-o", tmp_path / "x.dot", "--quiet").err == ""


def test_several_functions_get_a_file_each(sassan: Sassan, tmp_path: Path):
    assert sassan("cfg", TWO, "-o", tmp_path / "{name}.dot").status == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["_Z18two_kernels_secondPii.dot", "two_kernels_first.dot"]


@pytest.mark.parametrize("command", ["cfg", "ipet"])
def test_one_file_for_several_functions_is_a_usage_error(command: str, sassan: Sassan, tmp_path: Path):
    result = sassan(command, TWO, "-o", tmp_path / ("x.dot" if command == "cfg" else "x.lp"))
    assert_refused(result, 2)
    assert result.codes == ["several-functions"]
    assert list(tmp_path.iterdir()) == []


def test_strings_prints_blocks_and_the_worst_path(sassan: Sassan):
    assert sassan("strings", MANDELBROT, "--loop-bound", "10").out == (
        "mandelbrot (sm_61)\n"
        "  n0008  CS4C10\n"
        "  n00a8  CSC5SC7\n"
        "  n0148  C6\n"
        "  n0188  C12\n"
        "  n0208  C\n"
        "  n0210  LC3\n"
        "  worst path  CS4C11SC5SC156LC3\n"
        "\n"
    )


def test_the_letters_of_2013_know_no_special_function(sassan: Sassan):
    out = sassan("strings", MANDELBROT, "--letters", "2013", "--json").document
    assert "S" not in "".join(one["string"] for one in out["functions"][0]["strings"]["blocks"])


@pytest.mark.parametrize("form", ["lp", "mps"])
def test_ipet_writes_the_program(form: str, sassan: Sassan, tmp_path: Path):
    result = sassan("ipet", BFS, "--loop-bound", "10", "-o", tmp_path / f"x.{form}")
    assert result.status == 0
    assert "296" in result.out
    assert {"lp": "Maximize", "mps": "ROWS"}[form] in (tmp_path / f"x.{form}").read_text()


def test_a_program_with_a_loop_without_a_bound_is_not_written(sassan: Sassan, tmp_path: Path):
    result = sassan("ipet", BFS, "-o", tmp_path / "x.lp")
    assert_refused(result, 3, silent=False)
    assert result.codes == ["gaps"]
    assert list(tmp_path.iterdir()) == []


def test_a_program_can_be_written_without_being_solved(sassan: Sassan, tmp_path: Path):
    result = sassan("ipet", BFS, "--loop-bound", "10", "-f", "bfs_step", "-o", tmp_path / "x.lp", "--solve", "none", "--json")
    assert result.status == 0
    assert result.document["functions"][0]["wcet"]["status"] == "unsolved"
    assert (tmp_path / "x.lp").exists()


def test_an_unknown_solver_is_a_usage_error(sassan: Sassan):
    result = sassan("ipet", BFS, "--loop-bound", "10", "--solve", "abacus")
    assert_refused(result, 2)
    assert result.codes == ["unknown-solver"]


def test_ipet_of_a_chosen_function_with_gaps_is_refused(sassan: Sassan):
    assert_refused(sassan("ipet", BFS, "-f", "bfs_step"), 3, silent=False)


def test_the_template_filled_in_gives_the_bound(sassan: Sassan, tmp_path: Path):
    template = sassan("ipet", BFS, "--facts-template")
    assert template.status == 0
    facts = tmp_path / "facts.toml"
    facts.write_text(template.out.replace("# bound = ", "bound = 10"))
    result = sassan("ipet", BFS, "--bounds", facts, "-f", "bfs_step", "--json")
    assert result.status == 0
    wcet = result.document["functions"][0]["wcet"]
    assert wcet["value"] == 296
    assert "flow fact: at most 10 back edges per entry (11 iterations of the header) of the loop at 0x0158" in wcet["assumptions"]


def test_the_template_is_written_to_a_file(sassan: Sassan, tmp_path: Path):
    assert sassan("ipet", TWO, "--facts-template", "-o", tmp_path / "facts.toml").out == ""
    assert '[function."_Z18two_kernels_secondPii"]' in (tmp_path / "facts.toml").read_text()


def test_a_template_for_two_functions_of_one_name_is_refused(sassan: Sassan):
    both = BFS.read_bytes() + (SAMPLES / "sm_52" / "bfs_step.cuobjdump.sass").read_bytes()
    assert len(sassan("analyze", "-", "--json", stdin=both).document["functions"]) == 2
    result = sassan("ipet", "-", "--facts-template", stdin=both)
    assert_refused(result, 2)
    assert result.codes == ["same-name"]


def test_facts_of_another_text_are_refused(sassan: Sassan, tmp_path: Path):
    facts = tmp_path / "facts.toml"
    facts.write_text(
        re.sub("sha256:.{8}", "sha256:00000000", sassan("ipet", BFS, "--facts-template").out.replace("# bound =", "bound = 1"))
    )
    result = sassan("analyze", BFS, "--bounds", facts)
    assert_refused(result, 3)
    assert result.codes == ["facts-text-mismatch"]


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "x = 1",
        "[function]\nk = 1",
        '[function."bfs_step"]',
        '[function."bfs_step"]\ntext = 1',
        '[function."nothing"]\ntext = "sha256:0"',
        "\x00",
        "[[function]]",
        '[function."bfs_step"]\ntext = "sha256:0"\nloop = 1',
        '[function."bfs_step"]\ntext = "sha256:0"\n[[function."bfs_step".loop]]\nhead = "x"\nbound = 1',
        '[function."bfs_step"]\ntext = "sha256:0"\n[[function."bfs_step".loop]]\nhead = "0x0158"\nbound = -1',
        '[function."bfs_step"]\ntext = "sha256:0"\n[[function."bfs_step".loop]]\nhead = "0x0158"\nbound = true',
        '[function."bfs_step"]\ntext = "sha256:0"\n[[function."bfs_step".loop]]\nhead = "0x0158"\nbound = 1e9',
    ],
)
def test_flow_facts_that_are_none_are_refused(text: str, sassan: Sassan, tmp_path: Path):
    (tmp_path / "facts.toml").write_text(text)
    assert_refused(sassan("analyze", BFS, "--bounds", tmp_path / "facts.toml"), 3)


@pytest.mark.parametrize("name", ["missing.toml", "", ".", "x" * 5000])
def test_a_fact_file_that_cannot_be_read_is_refused(name: str, sassan: Sassan, tmp_path: Path):
    assert_refused(sassan("analyze", BFS, "--bounds", tmp_path / name), 3)


def test_a_fact_file_that_is_binary_is_refused(sassan: Sassan, tmp_path: Path):
    (tmp_path / "facts.toml").write_bytes(b"\xff\xfe\x00")
    assert_refused(sassan("analyze", BFS, "--bounds", tmp_path / "facts.toml"), 3)


def test_the_experiment_of_the_paper_is_no_bound(sassan: Sassan):
    wcet = sassan("ipet", BFS, "--paper-experiment", "--json").document["functions"][0]["wcet"]
    assert wcet["value"] is None
    assert wcet["status"] == "experiment"
    assert wcet["experiment"] > 0
    assert any("no bound" in one for one in wcet["assumptions"])


def test_an_ablation_is_printed_as_an_assumption_or_changes_the_graph(sassan: Sassan):
    full = sassan("analyze", BFS, "--json").document["functions"][0]
    ablated = sassan("analyze", BFS, "--json", "--ablate", "no-agreement").document["functions"][0]
    assert ablated["divergent_branches"] >= full["divergent_branches"]


def test_either_order_is_explored(sassan: Sassan):
    taken_first = sassan("analyze", BFS, "--json").document["functions"][0]
    either = sassan("analyze", BFS, "--json", "--order", "either").document["functions"][0]
    assert either["edges"] > taken_first["edges"]


NUMBERED = {"analyze": [], "blocks": [], "ipet": [], "report": ["-o", "page.html"], "makespan": ["-W", "2", "--time-limit", "0.1"]}


@pytest.mark.slow
@pytest.mark.parametrize("command", NUMBERED)
def test_who_names_a_function_asks_for_its_number(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str):
    monkeypatch.chdir(tmp_path)
    arguments = [command, BFS, *NUMBERED[command]]
    whole = sassan(*arguments)
    assert (whole.status, whole.codes) == (0, [])
    for name in ("bfs_step", "*"):
        result = sassan(*arguments, "-f", name)
        assert (result.status, result.codes) == (3, ["gaps"])
    assert sassan(*arguments, "-f", "*", "--loop-bound", "3").status == 0


@pytest.mark.parametrize("command", ["cfg", "strings", "listing"])
def test_commands_without_a_number_end_alike_with_a_name_and_without(sassan: Sassan, command: str):
    assert [sassan(command, BFS, *named).status for named in ([], ["-f", "bfs_step"])] == [0, 0]


def test_a_gate_says_unbounded_alike_with_a_name_and_without(sassan: Sassan):
    assert [sassan("check", BFS, "--require-bounded", *named).status for named in ([], ["-f", "bfs_step"])] == [1, 1]


def test_the_functions_of_a_project_are_named(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sassan.toml").write_text(f'files = ["{BFS}"]\n', "utf-8")
    assert sassan("analyze").status == 0
    (tmp_path / "sassan.toml").write_text(f'files = ["{BFS}"]\nfunction = ["bfs*"]\n', "utf-8")
    assert sassan("analyze").status == 3


def test_gaps_stand_by_cause_and_one_by_one_with_an_option(sassan: Sassan):
    files = [SAMPLES / "sm_61" / f"{name}.cuobjdump.sass" for name in ("bfs_step", "binary_search", "continue_from_inner")]
    count = sum(len(function["gaps"]) for function in sassan("analyze", *files, "--json").document["functions"])
    (section,) = sassan("analyze", *files).out.split("\ngaps:")[1:]
    head, *lines = section.splitlines()
    assert head == f" {count}, of 2 causes; --gaps lists all"
    assert [line.strip() for line in lines if line.startswith("    ")] == [
        "pass --loop-bound N", "run sassan ipet FILE -f NAME --facts-template > facts.toml",
    ]  # fmt: skip
    (every,) = sassan("analyze", *files, "--gaps").out.split("\ngaps:\n")[1:]
    assert len(every.splitlines()) == count
