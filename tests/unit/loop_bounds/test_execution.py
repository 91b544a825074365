"""Inferred bounds against concrete execution: sets of parameters, blocks and grids for each loop, none exceeded.

3 sets on one of two architectures each; with SASSAN_FULL=1 100 sets on all of the samples'. `pytest -s` prints how many loops were run.
"""

from collections.abc import Sequence

import pytest

from budget import FULL, part, some
from loop_samples import entries, sample
from samples import EVERY
from sassan.ipet.loop_bounds import recheck
from sassan.isa import tables

SETS = part(100, of=20)
EFFORT = recheck.Effort(warps=2, steps=160, seed=3)
ARCHS = EVERY if FULL else ("sm_61", "sm_120")
NAMES = [name for name, entry in entries().items() if set(entry["verdicts"]) != {"data"}]
REACHED = ("double_horner", "histogram_atomic", "matmul_tiled", "prefix_sum", "reduce_shuffle", "smith_waterman", "two_kernels", "voronoi")


def runs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return samples and architectures: each sample on all of them in a full run, else on one, in turn."""
    return [(arch, name) for place, name in enumerate(names) for number, arch in enumerate(ARCHS) if FULL or place % len(ARCHS) == number]


@pytest.mark.parametrize(("arch", "name"), runs(NAMES[:: 1 if FULL else 5]))
def test_no_thread_turns_more_often_than_its_bound(arch, name):
    found = sample(arch, name)
    if found is None:
        return
    launches = found.launches(SETS, seed=7)
    seen = recheck.back_edge_counts(found.cfg, tables.load(arch).facts, launches, EFFORT)
    assert seen is not None
    bounds = [[one for one in found.infer(launch) if one.bound is not None] for launch in launches]
    wrong = [
        (f"{one.head:#x}", str(launch), turns[one.loop], one.bound)
        for launch, turns, bounded in zip(launches, seen, bounds, strict=True)
        for one in bounded
        if turns[one.loop] > one.bound
    ]
    loops = {one.head for bounded in bounds for one in bounded}
    print(f"{arch} {name}: {len(loops)} loops with bounds, {SETS} sets, {len(wrong)} wrong")  # noqa: T201  # the figures: pytest -s
    assert wrong == []


@pytest.mark.parametrize(("arch", "name"), runs(some(REACHED, of=2)))
def test_some_thread_reaches_the_bound_of_a_plain_counter(arch, name):
    found = sample(arch, name)
    assert found is not None
    launches = found.launches(20 if FULL else 6, seed=11)
    seen = recheck.back_edge_counts(found.cfg, tables.load(arch).facts, launches, EFFORT)
    assert seen is not None
    assert any(
        turns[one.loop] == one.bound > 0
        for launch, turns in zip(launches, seen, strict=True)
        for one in found.infer(launch)
        if one.bound is not None
    )
