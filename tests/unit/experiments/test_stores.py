"""Bounds of stores of parts of sectors, beside published times (scripts/check_stores has all)."""

import pytest

from scripted import scripted

stores = scripted("stores")
COPY_OF_EVERY_EIGHTH = 408.489
"""us of an RTX 2080 Ti for 16 M floats."""


def test_a_copy_of_every_eighth_float_is_bounded_by_what_it_takes():
    pytest.importorskip("nvidia.cuda_nvrtc", reason="nvidia-cuda-nvrtc-cu12 is not installed")
    some = [each for each in stores.figures(["RTX 2080 Ti"]) if each["us"] == COPY_OF_EVERY_EIGHTH or each["size"] == "16777216 floats"]
    parts, whole = stores.rows(some)
    assert parts.bound_us >= COPY_OF_EVERY_EIGHTH
    assert 0.8 < parts.estimate < 1.2
    # A warp touches 32 sectors in 16 half lines, all in part; one that stores a line leaves none.
    assert (parts.fetched_by_stores, whole.fetched_by_stores) == (16 * 64, 0)


def test_every_figure_has_a_source():
    assert len(stores.figures()) == 31
    assert all(each["us"] > 0 and each["source"] in {"debdeep", "vernier"} for each in stores.figures())
