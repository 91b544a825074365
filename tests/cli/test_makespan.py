"""`sassan makespan`: what it answers, prints, writes and refuses."""

import json
import os
import re
import signal
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from budget import PATIENCE
from cli.shell import ROOT, SAMPLES, Sassan, assert_refused
from sassan.alphabet import Letter
from sassan.makespan.engine import Budget, EngineResult, Reporter
from sassan.makespan.engines import load
from sassan.makespan.problem import Problem, Processor, problem
from sassan.makespan.schedule import Schedule, check
from sassan.strings.kernel_string import parse

pytestmark = pytest.mark.slow

SAXPY = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
BFS = SAMPLES / "sm_61" / "bfs_step.cuobjdump.sass"
TWO = SAMPLES / "sm_61" / "two_kernels.cuobjdump.sass"
BARRIER = SAMPLES / "sm_61" / "barrier_reduce.cuobjdump.sass"
REDUCE = SAMPLES / "sm_80" / "reduce_shared.cuobjdump.sass"
SUM = SAMPLES / "sm_61" / "reduce_shared.cuobjdump.sass"
CONFIGS = sorted((SAMPLES / "makespan").glob("*.toml"))
KEYS = {"string", "warps", "capacities", "issue", "exact", "lower", "upper", "engines", "schedule"}


def test_the_example_of_the_papers_is_answered_exactly(sassan: Sassan):
    result = sassan("makespan", "LCL", "-W", "4")
    assert result.status == 0
    assert result.err == ""
    assert "longest makespan: 9 slots, exact\n" in result.out
    assert "4 warps, per slot L=1 C=1, no issue limit\n" in result.out


def test_the_schedule_is_drawn_plainly_where_nobody_watches(sassan: Sassan):
    out = sassan("makespan", "LCL", "-W", "4").out
    rows = re.findall(r"^w(\d) (.*)$", out, re.MULTILINE)
    assert [number for number, _ in rows] == ["0", "1", "2", "3"]
    assert max(len(cells) for _, cells in rows) == 9
    assert "".join(cells for _, cells in rows).replace(".", "").replace(" ", "").count("L") == 8
    assert "\x1b" not in out


def test_the_document_has_the_stable_keys_and_its_schedule_passes_the_judge(sassan: Sassan):
    document = sassan("makespan", "LCL", "-W", "4", "--json").document
    assert set(document) >= KEYS
    assert document["string"] == "LCL"
    assert (document["warps"], document["capacities"], document["issue"]) == (4, {"L": 1, "C": 1}, None)
    assert (document["exact"], document["lower"], document["upper"]) == (9, 9, 9)
    assert all(set(one) >= {"name", "value", "proof", "seconds"} for one in document["engines"])
    rows: list[list[int]] = [[] for _ in range(4)]
    for cycle, warp, unit in document["schedule"]:
        assert unit == "LCL"[len(rows[warp])]
        rows[warp].append(cycle - 1)
    one = problem((parse("LCL"),) * 4, Processor({Letter.LOAD: 1, Letter.COMPUTE: 1}, {}))
    check(one, Schedule(tuple(tuple(row) for row in rows)))


def test_with_json_standard_output_is_one_document_and_nothing_else(sassan: Sassan):
    result = sassan("makespan", "LCL", "-W", "4", "--json")
    json.loads(result.out)
    assert result.err == ""


def test_fractions_and_latencies_are_removed_by_repeating_letters(sassan: Sassan):
    half = sassan("makespan", "LC", "-W", "4", "--cap", "L=1/2,C=1", "--json").document
    assert (half["exact"], half["capacities"]) == (9, {"L": "1/2", "C": 1})
    slow = sassan("makespan", "LC", "-W", "4", "--latency", "L=2", "--json").document
    assert slow["exact"] == 9


def test_an_issue_limit_counts(sassan: Sassan):
    free = sassan("makespan", "LC", "-W", "2", "--json").document
    single = sassan("makespan", "LC", "-W", "2", "--issue", "1", "--json").document
    assert (free["exact"], single["exact"]) == (3, 4)


def test_an_sm_gives_capacities_and_the_issue_limit(sassan: Sassan):
    document = sassan("makespan", "LCS", "-W", "2", "--sm", "6.1", "--json").document
    assert document["capacities"] == {"L": 1, "C": 4, "S": 1}
    assert document["issue"] == 8
    assert any("compute capability 6.1" in text for text in document["assumptions"])


def test_several_strings_are_taken_in_turn(sassan: Sassan):
    document = sassan("makespan", "LC", "CL", "--json").document
    assert (document["string"], document["strings"], document["warps"], document["exact"]) == (None, ["LC", "CL"], 2, 2)


@pytest.mark.parametrize("engine", ["exact", "beam", "anneal", "ilp", "all"])
def test_every_engine_answers_a_small_instance(engine: str, sassan: Sassan):
    document = sassan("makespan", "LCL", "-W", "4", "--engine", engine, "--json").document
    assert document["lower"] == 9
    assert document["exact"] == (9 if engine in {"exact", "ilp", "all"} else None)


def test_bounds_alone_show_no_schedule_and_no_lower_bound(sassan: Sassan):
    document = sassan("makespan", "LCL", "-W", "4", "--engine", "bounds", "--time-limit", "0.1", "--json").document
    assert (document["lower"], document["schedule"]) == (None, None)
    assert document["upper"] >= 9


def test_the_estimates_of_the_papers_are_no_bounds_and_say_so(sassan: Sassan):
    out = sassan("makespan", "CC", "-W", "4", "--cap", "C=2").out
    assert "estimates of Berezovskyi et al. 2011, which are no bounds:\n" in out
    assert re.search(r"paper-2011-pessimistic +4 ", out)
    assert "longest makespan: 5 slots, exact\n" in out


def test_both_formulas_are_labelled_where_a_schedule_is_longer(sassan: Sassan):
    found = sassan("makespan", "LCL", "-W", "4", "--json").document["estimates"]
    assert [(one["name"], one["value"], one["bound"]) for one in found] == [
        ("paper-2011-pessimistic", 12, False),
        ("paper-2011-extrapolated", 8, False),
    ]
    assert "the schedule found is longer" not in found[0]["note"]
    assert "the schedule found is longer" in found[1]["note"]


def test_a_time_limit_gives_the_best_result_so_far(sassan: Sassan):
    document = sassan("makespan", "L5C9L2C9", "-W", "16", "--cap", "L=1,C=4", "--issue", "4", "--time-limit", "0.2", "--json").document
    assert document["stopped"] == "time-limit"
    assert document["upper"] is not None
    assert document["exact"] is None


class Interrupted:
    """An engine that finds a schedule and whose user then presses Ctrl-C."""

    name = "anneal"

    def __init__(self, times: int) -> None:
        self.times = times

    def run(self, problem: Problem, budget: Budget, report: Reporter) -> EngineResult:
        found = load("beam").run(problem, budget, report)
        for _ in range(self.times):
            os.kill(os.getpid(), signal.SIGINT)
        assert budget.stop()
        return found


def test_an_interrupt_gives_the_best_result_so_far_and_the_status_says_so(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sassan.cli.commands.makespan.load", lambda name, *_: Interrupted(1) if name == "all" else load(name))
    result = sassan("makespan", "LC", "-W", "2", "--json")
    assert result.status == 130
    assert (result.document["lower"], result.document["stopped"]) == (3, "interrupt")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_ends_the_command(sassan: Sassan, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sassan.cli.commands.makespan.load", lambda *_: Interrupted(2))
    result = sassan("makespan", "LC", "-W", "2", "--json")
    assert (result.status, result.out, result.err) == (130, "", "")


def test_the_same_seed_gives_the_same_answer(sassan: Sassan):
    row = ["makespan", "LLCL", "-W", "4", "--engine", "anneal", "--seed", "3", "--time-limit", str(PATIENCE), "--json"]
    assert sassan(*row).document["schedule"] == sassan(*row).document["schedule"]


@pytest.mark.parametrize("path", CONFIGS, ids=[path.stem for path in CONFIGS])
def test_every_shipped_configuration_is_answered(path: Path, sassan: Sassan):
    document = sassan("makespan", "--config", path, "--engine", "bounds", "--time-limit", "0.1", "--json").document
    assert document["upper"] is not None


def test_the_configuration_of_figure_2_is_the_instance_of_figure_2(sassan: Sassan):
    document = sassan("makespan", "--config", SAMPLES / "makespan" / "figure-2.toml", "--json").document
    assert (document["strings"], document["warps"], document["exact"]) == (["LC"], 4, 9)


def test_options_override_the_configuration(sassan: Sassan):
    document = sassan("makespan", "CL", "--config", SAMPLES / "makespan" / "figure-2.toml", "-W", "2", "--cap", "L=1", "--json").document
    assert (document["strings"], document["warps"], document["capacities"]) == (["CL"], 2, {"L": 1, "C": 1})


def test_a_listing_gives_the_worst_path_of_each_function(sassan: Sassan):
    result = sassan("makespan", TWO, "-W", "4", "--engine", "bounds", "--loop-bound", "3", "--time-limit", "0.1", "--json")
    functions = result.document["functions"]
    assert len(functions) == 2
    for one in functions:
        assert len(one["paths"]) == 1
        assert one["paths"][0]["condition"] == "if every warp takes this path"
        assert one["paths"][0]["string"] == one["strings"]["worst_path"]
        assert one["paths"][0]["makespan"]["upper"] >= one["paths"][0]["cost"]


@pytest.mark.usefixtures("counted_time")
def test_a_listing_in_text_names_the_condition(sassan: Sassan):
    result = sassan("makespan", SAXPY, "-W", "2", "--engine", "beam", "--time-limit", "1")
    assert result.status == 0
    assert "lower, upper: if every warp takes this path\nSM-level: bound of the warps, whatever paths they take\n" in result.out
    assert "schedule of " in result.out


def test_the_bound_over_all_paths_stands_beside_those_of_paths(sassan: Sassan):
    asked = (BFS, "-W", "8", "--loop-bound", "10")
    known = sassan("analyze", *asked, "--json").document["functions"][0]["makespan"]
    (one,) = sassan("makespan", *asked, "--path", "all", "--limit", "2", "--engine", "bounds", "--json").document["functions"]
    assert (one["makespan"], known["upper"]) == (known, 1129)
    assert [path["makespan"]["upper"] < 1129 for path in one["paths"]] == [True, True]


@pytest.mark.parametrize(
    ("path", "upper", "engines"),
    [("worst", 1056, ["bounds"]), ("each", 881, ["bounds"])],
    ids=["equal", "different"],
)
def test_the_bound_over_all_paths_holds_for_each_with_block_barriers_too(path: str, upper: int, engines: list[str], sassan: Sassan):
    (one,) = sassan("makespan", SUM, "-W", "16", "--block-dim", "256", "--path", path, "--engine", "bounds", "--json").document["functions"]
    found = one["paths"][0]["makespan"]
    assert (found["upper"], one["makespan"]["upper"]) == (upper, 1118)
    assert [engine["name"] for engine in found["engines"]] == engines


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-W", "65"), "no SM holds 65 such warps at once"),
        (("-W", "4", "--cap", "C=1"), "not with --cap, --issue, --latency, --interval or --partition"),
        (("-W", "8", "--partition"), "not with --cap, --issue, --latency, --interval or --partition"),
        (("--path", "each"), "the number of warps is missing: pass -W"),
    ],
    ids=str,
)
def test_where_there_is_no_bound_over_all_paths_it_says_why(arguments: tuple[str, ...], why: str, sassan: Sassan):
    asked = ("makespan", SAXPY, *arguments, "--engine", "bounds", "--time-limit", "0.1")
    out = sassan(*asked).out
    assert f"SM-level: bound of the warps, whatever paths they take ({why})\n" in out
    assert sassan(*asked, "--json").document["functions"][0]["makespan"] is None


def test_all_paths_up_to_a_limit(sassan: Sassan):
    paths = sassan(
        "makespan",
        BFS,
        "-W",
        "2",
        "--engine",
        "bounds",
        "--loop-bound",
        "2",
        "--path",
        "all",
        "--limit",
        "3",
        "--time-limit",
        "0.1",
        "--json",
    ).document
    assert len(paths["functions"][0]["paths"]) == 3


def test_one_path_per_warp(sassan: Sassan):
    document = sassan("makespan", SAXPY, "-W", "4", "--engine", "bounds", "--path", "each", "--time-limit", "0.1", "--json").document
    one = document["functions"][0]["paths"][0]
    assert one["condition"] == "if the warps take these paths in turn"
    assert one["makespan"]["strings"] == ["CS2C11LCLCLC3", "CS2C6"]


def test_block_barriers_give_bounds_and_no_schedule(sassan: Sassan):
    document = sassan("makespan", BARRIER, "-W", "2", "--loop-bound", "2", "--json").document
    found = document["functions"][0]["paths"][0]["makespan"]
    assert found["lower"] is None
    assert [engine["proof"] for engine in found["engines"]] == ["one-at-a-time"]  # a barrier with a number of threads
    assert any("block barriers" in text for text in found["assumptions"])


@pytest.mark.usefixtures("counted_time")
def test_a_kernel_with_block_barriers_has_a_schedule(sassan: Sassan):
    asked = (SUM, "-W", "4", "--block-dim", "64", "--loop-bound", "2", "--engine", "beam", "--time-limit", "2", "--json")
    one = sassan("makespan", *asked).document["functions"][0]
    (path,) = one["paths"]
    found = path["makespan"]
    assert path["string"].count("B") == 2
    assert found["blocks"] == [2, 2]
    assert len(found["schedule"]) == 4 * path["cost"]
    assert path["cost"] < found["lower"] <= found["upper"] <= one["makespan"]["upper"]


def test_equal_warps_whose_barriers_open_in_one_order_wait_no_longer_than_without(sassan: Sassan):
    asked = (REDUCE, "-W", "16", "--loop-bound", "2", "--engine", "bounds", "--json")
    path = sassan("makespan", *asked).document["functions"][0]["paths"][0]
    found = path["makespan"]
    assert (found["lower"], found["upper"]) == (None, 1364)
    plain = sassan(
        "makespan", re.sub(r"B1?", "", path["string"]), "-W", "16", "--sm", "8.0", "--engine", "bounds", "--time-limit", "0.1", "--json"
    ).document
    assert plain["upper"] <= 1364


def test_a_function_with_gaps_has_no_path_and_the_status_says_so(sassan: Sassan):
    result = sassan("makespan", BFS, "-W", "2", "-f", "bfs_step", "--json")
    assert result.status == 3
    assert result.document["functions"][0]["paths"] == []
    assert result.document["functions"][0]["gaps"][0]["code"] == "unbounded-loop"


def test_a_chart_is_written_as_svg_and_as_a_page(sassan: Sassan, tmp_path: Path):
    for form in ("svg", "html"):
        result = sassan("makespan", "LCL", "-W", "4", "-o", tmp_path / f"gantt.{form}")
        assert result.status == 0
        assert result.err == f"wrote {tmp_path / f'gantt.{form}'}\n"
    root = ET.fromstring((tmp_path / "gantt.svg").read_text("utf-8"))  # noqa: S314 - our own bytes
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "longest makespan: 9 slots, exact" in (tmp_path / "gantt.html").read_text("utf-8")


@pytest.mark.parametrize("rows", ["short", "long", "counted"])
def test_the_integer_program_is_written(rows: str, sassan: Sassan, tmp_path: Path):
    assert sassan("makespan", "LC", "-W", "2", "--lp", tmp_path / "x.lp", "--rows", rows, "-q").status == 0
    text = (tmp_path / "x.lp").read_text("utf-8")
    assert "Maximize" in text
    assert f"form {rows}" in text


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["LXL", "-W", "4"], 3, "string-syntax"),
        (["L(C", "-W", "4"], 3, "string-syntax"),
        (["", "-W", "4"], 3, "empty-string"),
        (["LCL"], 2, "no-warps"),
        ([], 2, "usage"),
        (["LCL", "-W", "0"], 2, "usage"),
        (["LCL", "-W", "-3"], 2, "usage"),
        (["LCL", "-W", "4", "--cap", "L=0,C=1"], 2, "bad-capacity"),
        (["LCL", "-W", "4", "--cap", "L=1"], 3, "no-unit"),
        (["LCL", "-W", "4", "--cap", "X=1"], 2, "bad-units"),
        (["LCL", "-W", "4", "--latency", "L=0"], 2, "bad-latency"),
        (["LCL", "-W", "4", "--issue", "0"], 2, "usage"),
        (["LCL", "-W", "4", "--sm", "1.0"], 3, "unknown-sm"),
        (["LCL", "-W", "4", "--sm", "x"], 2, "architecture"),
        (["LCL", "-W", "4", "--engine", "magic"], 2, "usage"),
        (["LCL", "-W", "4", "-o", "x.pdf"], 2, "output-format"),
        (["LCL", "-W", "4", "--lp", "x.txt"], 2, "output-format"),
        (["LCL", "-W", "4", "--path", "all"], 2, "usage"),
        (["LCL", "-W", "4", "-f", "x"], 2, "usage"),
        (["LCL", "-W", "4", "-o", "x.svg", "--engine", "bounds"], 2, "no-schedule"),
        (["LCL", "missing.sass", "-W", "4"], 2, "usage"),
        (["missing.sass", "-W", "4"], 3, "cannot-read"),
        (["--config", "missing.toml"], 3, "cannot-read"),
        (["(L1C1)^5000", "-W", "64", "--engine", "exact"], 2, "too-large"),
        (["(L1C1)^5000", "-W", "64", "--engine", "ilp"], 2, "too-large"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_reason(arguments: list[str], status: int, code: str, sassan: Sassan):
    result = sassan("makespan", *arguments)
    if arguments[:1] == ["missing.sass"]:
        assert result.status == status
        assert len(result.codes) == 1
        return
    assert_refused(result, status)
    assert result.codes == [code]


def test_an_unknown_letter_is_marked_in_the_string(sassan: Sassan):
    err = sassan("makespan", "LCXL", "-W", "4").err
    assert "  --> string:1:3\n" in err
    assert "        LCXL\n          ^\n" in err


def test_too_large_says_the_size_and_what_to_use_instead(sassan: Sassan):
    err = sassan("makespan", "L5C9L2C9", "-W", "600", "--engine", "exact").err
    assert re.search(r"error\[too-large\]: the instance has about 10\^\d+ states", err)
    assert "hint: use --engine beam" in err


def test_a_file_that_is_called_like_a_string_is_named_by_its_folder(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "LCL").write_bytes(SAXPY.read_bytes())
    assert sassan("makespan", "LCL", "-W", "4", "--json").document["string"] == "LCL"
    assert (
        sassan("makespan", "./LCL", "-W", "4", "--engine", "bounds", "--time-limit", "0.1", "--json").document["functions"][0]["name"]
        == "saxpy"
    )


def test_a_listing_from_standard_input(sassan: Sassan):
    result = sassan("makespan", "-", "-W", "2", "--engine", "bounds", "--time-limit", "0.1", "--json", stdin=SAXPY.read_bytes())
    assert result.document["functions"][0]["file"] == "-"


def test_a_string_of_100_000_letters_is_bounded_without_writing_it_out(sassan: Sassan):
    document = sassan(
        "makespan", "(L1C4)^20000", "-W", "64", "--engine", "bounds", "--time-limit", "0.1", "--json", "--time-limit", "1"
    ).document
    assert document["upper"] is not None


def test_the_configurations_are_named_in_the_help_that_mentions_them():
    assert [
        one
        for one in re.findall(r"samples/makespan/[a-z0-9-]+\.toml", (ROOT / "sassan/cli/commands/makespan.py").read_text("utf-8"))
        if not (ROOT / one).exists()
    ] == []


def test_chains_of_annealing_may_run_elsewhere(sassan: Sassan):
    common = ("makespan", "LCL", "-W", "4", "--engine", "anneal", "--time-limit", str(PATIENCE), "--json")
    assert sassan(*common, "--executor", "serial").document["lower"] == sassan(*common).document["lower"] == 9


def test_an_executor_without_annealing_is_refused(sassan: Sassan):
    result = sassan("makespan", "LCL", "-W", "4", "--engine", "exact", "-j", "2")
    assert (result.status, result.codes) == (2, ["usage"])


TIMED = ("L2BT4BC", "-W", "4", "--block-warps", "2", "--interval", "T=2", "--latency", "T=6")


def test_barriers_and_intervals_are_searched_and_drawn(sassan: Sassan):
    result = sassan("makespan", *TIMED, "--time-limit", str(PATIENCE))
    assert result.status == 0
    assert "4 warps in 2 blocks, per slot L=1 C=1 T=1, no issue limit, slots on the unit/until the next T:2/6\n" in result.out
    assert re.search(r"longest makespan: \d+ slots, exact\n", result.out)
    assert "~ waits for its result, | waits at a barrier\n" in result.out
    assert "--interval: an instruction of T holds its unit for 2 slots" in result.out


def test_a_schedule_with_barriers_has_its_instructions_and_its_instance_in_json(sassan: Sassan):
    document = json.loads(sassan("makespan", *TIMED, "--engine", "beam", "--json").out)
    assert (document["interval"], document["latency"], document["blocks"]) == ({"T": 2}, {"T": 6}, [2, 2])
    assert len(document["schedule"]) == 4 * 7
    assert document["lower"] == max(cycle for cycle, _, _ in document["schedule"])  # C is the last, and takes one slot


def test_a_block_is_all_warps_unless_its_size_is_given(sassan: Sassan):
    assert json.loads(sassan("makespan", "LBC", "-W", "3", "--json").out)["blocks"] == [3]
    assert json.loads(sassan("makespan", "LC", "-W", "3", "--block-warps", "2", "--json").out)["blocks"] == []


def test_an_engine_that_treats_no_barriers_says_so(sassan: Sassan):
    result = sassan("makespan", "LBC", "-W", "3", "--engine", "ilp")
    assert_refused(result, 2)
    assert result.codes == ["timed-instance"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--interval", "T=0"), "bad-latency"),
        (("--interval", "B=2"), "bad-units"),
        (("--interval", "T=4", "--latency", "T=2"), "bad-latency"),
        (("--sm", "8.0", "--partition"), "usage"),
    ],
)
def test_times_that_mean_nothing_are_refused(sassan: Sassan, options: tuple[str, ...], code: str):
    result = sassan("makespan", "LTB", "-W", "3", *options)
    assert_refused(result, 2)
    assert result.codes == [code]


def test_a_file_of_an_instance_has_intervals_and_blocks(sassan: Sassan, tmp_path: Path):
    file = tmp_path / "timed.toml"
    file.write_text('kernel = "LBTC"\nwarps = 4\n[multiprocessor]\nlatency = { T = 6 }\ninterval = { T = 2 }\nblock_warps = 2\n')
    document = json.loads(sassan("makespan", "--config", str(file), "--json").out)
    assert document["exact"] == json.loads(sassan("makespan", "LBTC", "-W", "4", *TIMED[3:], "--json").out)["exact"]
    assert document["blocks"] == [2, 2]
