"""How many loops of the samples are bounded from the code: figures per architecture, with every miss by name."""

from functools import cache

import pytest

from budget import FULL
from loop_samples import Sample, samples
from samples import EVERY

pytestmark = pytest.mark.slow

ARCHS = EVERY if FULL else ["sm_80"]


@cache
def bounds_of(arch: str) -> list[tuple[Sample, dict[int, int | None]]]:
    """Return the samples of an architecture with the bounds of their loops by head."""
    return [(one, {found.head: found.bound for found in one.infer(one.launch())}) for one in samples(arch)]


@pytest.mark.parametrize("arch", ARCHS)
def test_loops_that_need_no_memory_are_bounded(arch):
    told = missed = 0
    misses = set()
    for one, bounds in bounds_of(arch):
        for place, (head, verdict) in enumerate(one.verdicts.items()):
            told += verdict == "told"
            if verdict == "told" and bounds[head] is None:
                missed += 1
                misses.add((one.name, place))
    print(f"{arch}: {told - missed} of {told} loops; missed: {sorted(misses)}")  # noqa: T201  # the figures: pytest -s
    assert misses == set()
    assert (told - missed) / told >= 0.8


@pytest.mark.parametrize("arch", ARCHS)
def test_loops_that_memory_decides_get_no_bound(arch):
    bounded = {
        (one.name, head)
        for one, bounds in bounds_of(arch)
        for head, bound in bounds.items()
        if one.verdicts.get(head) == "data" and bound is not None
    }
    assert bounded == set()
