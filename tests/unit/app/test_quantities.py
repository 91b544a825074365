"""Durations, bandwidths and shares as users write them."""

from fractions import Fraction

import pytest

from sassan.app import quantities
from sassan.errors import UsageError


@pytest.mark.parametrize(("text", "us"), [("5ms", 5000), ("800us", 800), ("0.01s", 10_000), ("250 ns", Fraction(1, 4)), (" 1 s ", 10**6)])
def test_a_duration_has_a_unit(text: str, us: Fraction):
    assert quantities.duration(text, "--deadline") == us


@pytest.mark.parametrize("text", ["", "5", "ms", "-5ms", "0ms", "5 min", "1e3us", "5ms5", "nan s", "\u0665ms", "9" * 5000 + "s"])
def test_what_is_no_duration_is_refused_with_the_option(text: str):
    with pytest.raises(UsageError, match="--deadline must be a time such as") as refused:
        quantities.duration(text, "--deadline")
    assert len(refused.value.message) < 200


def test_bandwidths_are_in_gigabytes_of_ten_to_the_nine():
    assert [quantities.bandwidth(text, "-") for text in ("20 GB/s", "800MB/s", "1 TB/s")] == [20, Fraction(4, 5), 1000]
    for text in ("20", "20 GiB/s", "0 GB/s"):
        with pytest.raises(UsageError):
            quantities.bandwidth(text, "-")


def test_a_share_is_a_part_of_all():
    assert [quantities.share(text, "-") for text in ("60%", "0.6", "100%", "1")] == [Fraction(3, 5), Fraction(3, 5), 1, 1]
    for text in ("0%", "101%", "1.1", "-1", "60 percent"):
        with pytest.raises(UsageError):
            quantities.share(text, "-")
