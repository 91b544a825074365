"""What silicon does that no term of a bound says: each phenomenon has a text with the bound, and a row of the reference."""

import re
from pathlib import Path

import pytest

from sassan.assumptions import AssumptionStatus, kind_of
from sassan.ipet.sm.gpu import memory_of
from sassan.ipet.sm.hardware import PHENOMENA
from sassan.products import find, products

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "assumptions.md"
NAMES = [
    "TLB misses",
    "ECC",
    "refresh",
    "constant caches",
    "partitions of L2",
    "throttling",
    "preemption",
    "other work",
    "dirty sectors",
    "page faults",
]


def test_the_phenomena_are_those_that_the_reference_lists():
    rows = re.findall(r"^\| `[^`]+` \| assumed\. ([^:|]+?)(?:: [^|]+)? \| [^|]{4,} \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert rows == list(PHENOMENA) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_bound_for_a_product_says_what_it_takes_for_granted(name: str):
    for product in products():
        text = PHENOMENA[name](product)
        assert text in memory_of(product).assumptions, product.name
        assert kind_of(text) is AssumptionStatus.ASSUMED


def test_dirty_sectors_say_how_long_they_would_take():
    # 5,120 KiB by 87 % of 760 GB/s
    assert "5120 KiB would take DRAM 7.9 us more" in PHENOMENA["dirty sectors"](find("RTX 3080"))
