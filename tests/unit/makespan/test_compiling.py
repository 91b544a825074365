"""What is done before the compiled searches are compiled: nothing waits for a compiler that outlasts the deadline."""

import os
import pickle
import runpy
from math import inf
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest

from sassan.jit import clock
from sassan.makespan.all import All
from sassan.makespan.anneal.engine import Anneal
from sassan.makespan.beam import kernel
from sassan.makespan.beam.engine import Beam
from sassan.makespan.bounds.engine import candidates
from sassan.makespan.compiling import ENOUGH, NOTE, compiled, may_begin
from sassan.makespan.engine import Budget, EngineResult
from sassan.makespan.engines import load
from sassan.makespan.exact.engine import Exact
from sassan.makespan.schedule import check
from unit.makespan.cases import case

pytestmark = pytest.mark.slow

CASE_STUDY = case("L5C9L2C9", warps=8, L=1, C=4, issue=4)


def quiet(_: EngineResult) -> None:
    pass


def uncompiled(folder: Path | None) -> SimpleNamespace:
    code = SimpleNamespace(co_firstlineno=7)
    return SimpleNamespace(
        py_func=SimpleNamespace(__code__=code), signatures=[], stats=SimpleNamespace(cache_path=None if folder is None else str(folder))
    )


def test_what_has_run_in_this_process_is_compiled() -> None:
    Beam((1,)).run(CASE_STUDY, Budget(), quiet)
    assert compiled("beam.kernel")


def test_what_numba_keeps_on_disk_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    Beam((1,)).run(CASE_STUDY, Budget(), quiet)
    real = kernel.advance
    monkeypatch.setattr(kernel, "advance", SimpleNamespace(py_func=real.py_func, signatures=[], stats=real.stats))
    assert compiled("beam.kernel")


def test_what_lies_in_the_cache_is_compiled_until_its_module_changes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernel, "advance", uncompiled(tmp_path))
    assert not compiled("beam.kernel")
    index = tmp_path / "kernel.advance-7.py311.nbi"
    index.touch()
    assert compiled("beam.kernel")
    os.utime(index, (0, 0))
    assert not compiled("beam.kernel")


def test_an_index_that_names_a_type_of_another_version_is_compiled_anew(tmp_path: Path) -> None:
    source = tmp_path / "searched.py"
    source.write_text("from sassan.jit.decorators import compiled\n\n\n@compiled\ndef twice(value):\n    return 2 * value\n", "utf-8")
    for _ in range(2):
        module = runpy.run_path(str(source))
        assert module["twice"](21) == 42
        (index,) = (tmp_path / "__pycache__").glob("*.nbi")
        index.write_bytes(pickle.dumps(numba.__version__) + b"csassan.makespan.beam.kernel\nGone\n.")


def test_without_a_cache_nothing_is_compiled_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "advance", uncompiled(None))
    assert not compiled("beam.kernel")
    assert (may_begin("beam.kernel", ENOUGH / 2), may_begin("beam.kernel", ENOUGH), may_begin("beam.kernel", inf)) == (False, True, True)


def test_where_numba_compiles_nothing_everything_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "advance", lambda: None)
    assert compiled("beam.kernel")


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    for engine in ("anneal", "beam", "bounds", "exact"):
        monkeypatch.setattr(f"sassan.makespan.{engine}.engine.may_begin", lambda *_: False)


@pytest.mark.usefixtures("cold")
def test_a_cold_beam_searches_plainly() -> None:
    reported: list[EngineResult] = []
    best = Beam().run(CASE_STUDY, Budget(stop=lambda: len(reported) == 2), reported.append)
    assert best.schedule is not None
    check(CASE_STUDY, best.schedule)
    assert [one.lower for one in reported] == [74, 96]


@pytest.mark.usefixtures("cold")
def test_a_cold_exact_engine_notes_what_it_skipped() -> None:
    reported: list[EngineResult] = []
    result = Exact().run(CASE_STUDY, Budget(stop=lambda: len(reported) == 2), reported.append)
    assert (result.lower, result.upper, result.note) == (96, None, NOTE)


@pytest.mark.usefixtures("cold")
def test_a_cold_table_is_skipped() -> None:
    result = Exact().run(case("L5C9L2C9", warps=4, L=1, C=4, issue=4), Budget(), quiet)
    assert (result.lower, result.upper, result.note) == (None, None, NOTE)


@pytest.mark.usefixtures("cold")
def test_cold_chains_are_plain() -> None:
    result = Anneal().run(CASE_STUDY, Budget(deadline=clock.now() + 0.2), quiet)
    assert result.schedule is not None
    check(CASE_STUDY, result.schedule)


@pytest.mark.usefixtures("cold")
def test_cold_bounds_are_those_of_the_programs() -> None:
    assert [name for name, _ in candidates(CASE_STUDY, lambda: False)] == ["waiting-slots", "overlap-1", "overlap-2"]


@pytest.mark.usefixtures("cold")
def test_the_composition_answers_without_the_compiler() -> None:
    composed = load("all")
    assert isinstance(composed, All)
    result = composed.run(CASE_STUDY, Budget(deadline=clock.now() + 1), quiet)
    assert result.upper in {100, 102, 105}
    assert result.lower is None or result.lower <= 98
