"""Schedules in cycles of the kernels of samples/launches: below the bound, longer than one warp alone, and why there is none."""

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from budget import some
from samples import SAMPLES
from sassan import api
from sassan.app.makespan.cycles import code_of, with_schedule
from sassan.app.makespan.page import PageSearch, searched
from sassan.app.makespan.search import search
from sassan.app.result import AnalysisResult
from sassan.errors import SelfCheckError
from sassan.ipet.sm.optima import Bound
from sassan.makespan.cycles.schedules import longest
from sassan.makespan.cycles.validator import refusal

ROOT = SAMPLES.parent
LAUNCHES = sorted((SAMPLES / "launches").glob("sm_*/*.cubin"))
SMALL = ("reduce_block", "softmax_warp", "reduce_warps")
SHORT = some([path for path in LAUNCHES if path.stem in SMALL], of=3)


@cache
def launched(cubin: Path, model: api.ModelName = "control", **choices: int) -> AnalysisResult:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from _lib.intervals_experiment import launch  # noqa: PLC0415
    finally:
        sys.path.pop(0)
    source = (cubin.parent.parent / f"{cubin.stem}.cu").read_text()
    text = next(line.removeprefix("// Launch: ") for line in source.splitlines() if line.startswith("// Launch: "))
    (kernel,) = api.analyze(api.read(str(cubin)), launch=launch(text), model=model, **choices)
    return kernel.analysis


@pytest.mark.parametrize("model", ["control", "table"])
@pytest.mark.parametrize("cubin", SHORT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_schedule_takes_longer_than_one_warp_and_no_longer_than_the_bound(cubin: Path, model: api.ModelName) -> None:
    result = launched(cubin, model)
    scheduled, makespan = with_schedule(result).scheduled, result.makespan
    assert scheduled is not None
    assert scheduled.cycles is not None
    assert makespan is not None
    assert makespan.bound.value is not None
    assert result.wcet.value is not None
    assert result.wcet.value < scheduled.cycles <= makespan.bound.value <= 1.8 * scheduled.cycles


@pytest.mark.parametrize("cubin", some(LAUNCHES, of=9), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_one_warp_alone_takes_no_longer_than_its_wcet_and_hardly_less(cubin: Path) -> None:
    result = launched(cubin, warps=1)
    code, why = code_of(result)
    assert code is not None, why
    alone = longest(code)
    assert result.wcet.value is not None
    assert 0.9 * result.wcet.value <= alone.cycles <= result.wcet.value


def test_a_schedule_that_is_changed_is_refused() -> None:
    code, _ = code_of(launched(SAMPLES / "launches" / "sm_80" / "reduce_block.cubin"))
    assert code is not None
    schedule = longest(code)
    for warp, place, by in ((0, 0, 1), (5, 40, -1), (63, 100, 1), (17, len(code.path) - 1, 2)):
        changed = schedule.issued.copy()
        changed[warp, place] += by
        assert refusal(code, changed, schedule.cycles), (warp, place, by)


def test_what_has_no_schedule_says_why() -> None:
    cubin = SAMPLES / "launches" / "sm_80" / "reduce_block.cubin"
    for result, why in (
        (launched(cubin, "unit"), "need --model"),
        (replace(launched(cubin), makespan=None), "no bound"),
    ):
        scheduled = with_schedule(result).scheduled
        assert scheduled is not None
        assert scheduled.cycles is None
        assert why in scheduled.why
    scheduled = with_schedule(launched(cubin), most=100).scheduled
    assert scheduled is not None
    assert "up to 100" in scheduled.why


def test_a_bound_below_a_schedule_is_a_defect() -> None:
    result = launched(SAMPLES / "launches" / "sm_90" / "reduce_warps.cubin")
    assert result.makespan is not None
    with pytest.raises(SelfCheckError, match="a bound of 5"):
        with_schedule(replace(result, makespan=replace(result.makespan, bound=Bound(5))))


def test_a_report_says_how_cycles_and_slots_relate() -> None:
    result = with_schedule(launched(SAMPLES / "launches" / "sm_80" / "reduce_block.cubin"))
    record = searched(result, PageSearch(None, 1.0, 0, search))
    assert record is not None
    assert result.scheduled is not None
    assert f"64 warps on one SM take {result.scheduled.cycles} to " in record["cycles"]
    assert "not comparable" in record["cycles"]
    plain = searched(launched(SAMPLES / "launches" / "sm_80" / "reduce_block.cubin", "unit"), PageSearch(None, 1.0, 0, search))
    assert plain is not None
    assert plain["cycles"] == ""
