"""Paths one by one: each obeys the rows, none costs more than the bound of the execution time, and all are there where they are few."""

from itertools import islice, pairwise

import pytest

from budget import FULL, some
from cli.shell import SAMPLES
from sassan.app.analysis import analyze
from sassan.app.paths import listed_paths
from sassan.app.reading import read_program
from sassan.app.result import AnalysisResult
from sassan.app.settings import Settings
from sassan.ipet.paths import paths

SM_61 = SAMPLES / "sm_61"


def analysed(name: str, bound: int = 3) -> AnalysisResult:
    function = read_program(str(SM_61 / f"{name}.cuobjdump.sass")).functions[0]
    return analyze(function, Settings(loop_bound=bound))


@pytest.mark.slow
@pytest.mark.parametrize("name", some(["bfs_step", "early_return", "mandelbrot", "binary_search", "calls_nested", "nested_if"]))
def test_no_path_costs_more_than_the_bound(name: str):
    found = analysed(name)
    assert found.wcet.value is not None
    listed = listed_paths(found, 200 if FULL else 50)
    assert len(listed) > 10
    assert listed[0].cost == found.wcet.value
    assert max(one.cost for one in listed) == found.wcet.value


def test_a_guarded_kernel_has_its_two_paths():
    assert [(str(one.string), one.cost) for one in listed_paths(analysed("saxpy"), 10)] == [("CS2C11LCLCLC3", 22), ("CS2C6", 9)]


def test_the_limit_is_kept_and_no_string_comes_twice():
    listed = listed_paths(analysed("bfs_step"), 7)
    assert len(listed) == 7
    assert len({tuple(one.string.expand()) for one in listed}) == 7


def test_a_function_with_gaps_has_no_paths():
    function = read_program(str(SM_61 / "bfs_step.cuobjdump.sass")).functions[0]
    assert listed_paths(analyze(function, Settings()), 5) == ()


def test_every_path_ends_and_hangs_together():
    found = analysed("mandelbrot")
    bounds = [bound for bound in found.bounds.of_loop if bound is not None]
    for path in islice(paths(found.cfg, bounds), 50):
        edges = [found.cfg.edges[index] for index in path]
        assert edges[0].src == found.cfg.entry
        assert edges[-1].dst is None
        assert all(one.dst == after.src for one, after in pairwise(edges))
