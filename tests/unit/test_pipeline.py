"""The composition of the stages, as a library sees it."""

from dataclasses import replace
from pathlib import Path

import pytest

from sassan.app.analysis import analyze, flow_fact_template
from sassan.app.reading import read_facts, read_program
from sassan.app.settings import Settings
from sassan.app.views import draw, integer_program
from sassan.errors import InputError
from sassan.ipet.facts.read import read
from sassan.ipet.wcet import Setup

SM_61 = Path(__file__).resolve().parents[2] / "samples" / "sm_61"
BOUNDED = Settings(loop_bound=10)


def function(name: str, arch: str | None = None):
    return read_program(str(SM_61 / f"{name}.cuobjdump.sass"), arch).functions[0]


def test_an_analysis_holds_graph_strings_bound_and_path():
    found = analyze(function("bfs_step"), BOUNDED)
    assert found.function.name == "bfs_step"
    assert [str(one) for one in found.strings] == ["CS2C6", "C3LC5", "C3L2C5", "C4", "C3LC3LC3", "C4L3C", "C4", "C"]
    assert (found.wcet.value, found.wcet.status) == (296, "optimal")
    assert str(found.worst_path) == "CS2C9LC8L2C9(C3L1C3L1C7L3C5)^11C11"
    assert found.gaps == ()
    assert found.makespan is None


def test_the_worst_path_is_as_long_as_the_wcet_says():
    found = analyze(function("nested_divergent_loops"), BOUNDED)
    assert found.worst_path is not None
    assert found.worst_path.length == found.wcet.value


def test_without_a_bound_there_is_a_gap_and_no_number():
    found = analyze(function("bfs_step"), Settings(warps=16))
    assert found.wcet.value is None
    assert found.worst_path is None
    assert [(gap.address, gap.code) for gap in found.gaps] == [(0x158, "unbounded-loop")]
    assert found.makespan is not None
    assert found.makespan.bound.value is None
    assert found.makespan.worst_path is None


def test_the_makespan_of_one_warp_is_its_wcet():
    found = analyze(function("bfs_step"), replace(BOUNDED, warps=1))
    assert found.makespan is not None
    assert found.makespan.bound.value == 296
    assert found.makespan.worst_path == 296


def test_the_bound_over_all_paths_is_not_below_that_of_the_worst_path():
    found = analyze(function("bfs_step"), replace(BOUNDED, warps=16))
    assert found.makespan is not None
    assert found.makespan.bound.value == 2081
    assert found.makespan.worst_path is not None
    assert found.makespan.worst_path <= 2081


def test_warps_overlap_between_block_barriers_and_not_across_them():
    found = analyze(function("matmul_tiled"), replace(BOUNDED, warps=16))
    assert found.makespan is not None
    assert found.wcet.value == 2575
    assert found.makespan.bound.value == 27639


def test_an_experiment_has_no_makespan():
    found = analyze(function("bfs_step"), Settings(setup=Setup(paper=True), warps=16))
    assert not found.wcet.bound
    assert found.makespan is None


def test_an_sm_without_a_table_keeps_the_wcet_and_lists_the_gap():
    found = analyze(function("saxpy", "sm_62"), replace(BOUNDED, warps=16))
    if found.makespan is not None and found.makespan.bound.value is None:
        assert [gap.code for gap in found.gaps] == ["unknown-sm"]
    assert found.wcet.value == 22


def test_a_program_that_is_not_solved_can_be_written():
    found = analyze(function("saxpy"), Settings(solve=False))
    assert found.wcet.status == "unsolved"
    text = integer_program(found, "lp")
    assert text is not None
    assert "Maximize" in text


def test_no_program_is_written_over_a_gap():
    assert integer_program(analyze(function("bfs_step"), Settings()), "lp") is None


@pytest.mark.slow
def test_a_template_that_is_filled_in_bounds_every_loop():
    one = function("nested_divergent_loops")
    text = flow_fact_template((one,), Settings()).replace("# bound = ", "bound = 10")
    facts = read("facts.toml", text)
    with_facts = analyze(one, Settings(facts=facts, check=False))
    assert with_facts.gaps == ()
    assert with_facts.wcet.value == analyze(one, replace(BOUNDED, check=False)).wcet.value


def test_a_file_of_facts_is_read(tmp_path: Path):
    (tmp_path / "facts.toml").write_text('[function."k"]\ntext = "sha256:0"\n')
    assert read_facts(str(tmp_path / "facts.toml")).functions[0][0] == "k"


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_file_of_facts_that_cannot_be_read_is_refused(content: bytes | None, tmp_path: Path):
    if content is not None:
        (tmp_path / "facts.toml").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_facts(str(tmp_path / "facts.toml"))
    assert caught.value.code == ("cannot-read" if content is None else "facts-syntax")


def test_a_drawing_shows_the_worst_path_only_where_it_is_known():
    bounded = draw(analyze(function("bfs_step"), BOUNDED), "dot").data.decode()
    unbounded = draw(analyze(function("bfs_step"), Settings()), "dot").data.decode()
    assert "WCET" in bounded
    assert "296" in bounded
    assert "296" not in unbounded


def test_an_unknown_instruction_leaves_its_block_without_a_string():
    one = function("saxpy")
    odd = replace(one.instructions[3], opcode="FROB.X")
    found = analyze(replace(one, instructions=(*one.instructions[:3], odd, *one.instructions[4:])), BOUNDED)
    assert None in found.strings
    assert "unknown-opcode" in {gap.code for gap in found.gaps}
    assert found.wcet.value is None


def test_the_same_function_gives_the_same_analysis():
    assert analyze(function("bfs_step"), replace(BOUNDED, warps=16)) == analyze(function("bfs_step"), replace(BOUNDED, warps=16))
