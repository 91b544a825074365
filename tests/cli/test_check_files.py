"""What `sassan check` writes for CI systems and for reviewers, and its gates on what a kernel takes of an SM."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused
from edits import edited
from sassan.frontend.cubin.tools import tools

SM_61 = SAMPLES / "sm_61"
BFS, SAXPY = SM_61 / "bfs_step.cuobjdump.sass", SM_61 / "saxpy.cuobjdump.sass"
reads_sm_80 = pytest.mark.skipif(
    not any(80 in tool.reads for tool in tools("nvdisasm")), reason="no nvdisasm that reads sm_80 is installed"
)
LOCAL, TILED = SAMPLES / "sm_80" / "local_array.cubin", SAMPLES / "sm_80" / "matmul_tiled.cubin"


@pytest.fixture
def summary(sassan: Sassan, tmp_path: Path) -> Callable[..., str]:
    """Return a function that checks two functions against a baseline with 9 iterations, and returns the summary."""
    old = tmp_path / "old.json"
    old.write_text(sassan("analyze", BFS, SAXPY, "--loop-bound", "9", "--json").out, "utf-8")

    def call(*options: str | Path) -> str:
        sassan("check", *options, "--baseline", old, "--summary", tmp_path / "s.txt", "-q")
        return (tmp_path / "s.txt").read_text("utf-8")

    return call


@pytest.mark.slow
def test_a_summary_weighs_what_changed(summary: Callable[..., str], tmp_path: Path):
    same = summary(BFS, SAXPY, "--loop-bound", "9")
    assert same == "### sassan: all 2 functions pass\n\n2 without a change.\n"
    grown = summary(BFS, SAXPY, "--loop-bound", "10")
    assert "### sassan: 1 of 2 functions failed" in grown
    assert "**Significant** (fails a gate)" in grown
    assert "| bfs\\_step (sm\\_61) | 272 → 296 (+8.8%) |  |  | growth: " in grown
    assert "**Unclear** (" in grown
    assert "| saxpy (sm\\_61) | 22 |  |  | --loop-bound 9, now 10 |" in grown
    edited(SM_61 / "saxpy.nvdisasm.sass", tmp_path / "saxpy.sass", ("FFMA R0, R4", "FFMA R7, R4"))
    assert "**Benign** (" in summary(BFS, tmp_path / "saxpy.sass", "--loop-bound", "9")


def test_junit_has_a_case_per_function_and_an_error_per_refused_input(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "x.xml"
    result = sassan("check", BFS, SAXPY, tmp_path / "nowhere.sass", "--loop-bound", "10", "--max-wcet", "100", "--junit", path)
    assert result.status == 3
    suites = {suite.get("name"): suite for suite in ET.parse(path).getroot()}  # noqa: S314 - our own file
    assert [(suite.get("tests"), suite.get("failures"), suite.get("errors")) for suite in suites.values()] == [
        ("1", "1", "0"),
        ("1", "0", "0"),
        ("1", "0", "1"),
    ]
    failure = suites[str(BFS)].find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "max-wcet"
    assert "is 296, above the limit 100" in (failure.text or "")


def test_the_name_of_a_kernel_steers_no_file(sassan: Sassan, tmp_path: Path):
    edited(BFS, tmp_path / "k.sass", ("bfs_step", "a|<b>&]]>"))
    sassan("check", tmp_path / "k.sass", "--no-gaps", "--junit", tmp_path / "x.xml", "--summary", tmp_path / "s.txt")
    cases = [case.get("name") for case in ET.parse(tmp_path / "x.xml").getroot().iter("testcase")]  # noqa: S314 - our own file
    assert cases == ["a|<b>&]]> (sm_61)"]
    assert "a\\|\\<b\\>\\&\\]\\]\\>" in (tmp_path / "s.txt").read_text("utf-8")


@reads_sm_80
@pytest.mark.parametrize(
    ("options", "status", "text"),
    [
        ((LOCAL, "--max-local", "0"), 1, "the local memory of a thread in bytes is "),
        ((LOCAL, "--max-local", "100000"), 0, "all pass"),
        ((LOCAL, "--max-spills", "0"), 1, "the number of accesses to places of the stack is "),
        ((TILED, "--max-shared", "1"), 1, "the shared memory of a block in bytes is "),
        ((TILED, "--max-shared", "100000"), 0, "all pass"),
        ((TILED, "--block-dim", "32", "--min-occupancy", "90"), 1, "the occupancy of an SM in percent is "),
        ((TILED, "--block-dim", "256", "--min-occupancy", "90"), 0, "all pass"),
    ],
)
def test_what_a_kernel_takes_of_an_sm_is_held_to_limits(options: tuple[str | Path, ...], status: int, text: str, sassan: Sassan):
    result = sassan("check", *options)
    assert (result.status, text in result.out) == (status, True), result.out


def test_what_is_not_known_is_on_the_wrong_side_of_every_limit(sassan: Sassan):
    out = sassan("check", SAXPY, "--max-local", "9", "--max-shared", "9", "--block-dim", "32", "--min-occupancy", "1").out
    assert out.count("is unknown (") == 3
    assert "unknown is not above the limit 1 of --min-occupancy" in out


def test_occupancy_needs_the_shape_of_a_block(sassan: Sassan):
    assert_refused(sassan("check", SAXPY, "--min-occupancy", "50"), 2)


DOUBLE = SAMPLES / "sm_80" / "double_horner.cuobjdump.sass"


def test_the_share_of_a_letter_is_held_to_percentages(sassan: Sassan):
    doubles = [row["address"] for row in sassan("listing", DOUBLE, "--json").document["functions"][0]["rows"] if row["letter"] == "D"]
    reached = sum(node["instructions"] for node in sassan("cfg", DOUBLE, "--json").document["functions"][0]["nodes"])
    share = 100 * len(doubles) // reached
    assert 0 < share < 100
    assert sassan("check", DOUBLE, "--max-mix", f"D={share + 1}", "--min-mix", f"D={share}").status == 0
    over, under = sassan("check", DOUBLE, "--max-mix", f"D={share}"), sassan("check", DOUBLE, "--min-mix", f"d={share + 1}")
    assert (over.status, under.status) == (1, 1)
    assert f"{DOUBLE}:double_horner:{doubles[0]}: max-mix: {len(doubles)} of {reached} instructions of letter D (" in over.out
    assert f" %), below the limit {share + 1} % of --min-mix" in under.out


def test_shares_stand_in_a_file_of_gates_too(sassan: Sassan, tmp_path: Path):
    file = tmp_path / "gates.toml"
    for text, status in (("max-mix = { D = 0 }", 1), ("max-mix = { S = 9, T = 0 }\nmin-mix = { D = 1 }", 0), ("max-mix = { X = 0 }", 3)):
        file.write_text(f'[function."*"]\n{text}\n', "utf-8")
        assert sassan("check", DOUBLE, "--gates", file).status == status


@pytest.mark.parametrize("text", ["D", "D=101", "X=1", "D=-1", "D=0.5", ""])
def test_what_is_no_share_is_refused(text: str, sassan: Sassan):
    assert_refused(sassan("check", DOUBLE, "--max-mix", text), 2)
