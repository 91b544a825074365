"""The hash of the text of a function: what facts, measurements and baselines are tied to."""

import re

from cli.shell import SAMPLES
from sassan.frontend import read
from sassan.source import Source

LISTING = SAMPLES / "sm_80" / "binary_search.nvdisasm.sass"


def hashed(text: str) -> str:
    (function,) = read(Source("k.sass", text)).functions
    return function.text_hash


def test_labels_count_by_their_address_and_not_by_the_number_that_the_file_gives_them():
    text = LISTING.read_text("utf-8")
    renumbered = re.sub(r"\.L_x_([0-9]+)", lambda match: f".L_x_{int(match[1]) + 40}", text)
    assert renumbered != text
    assert hashed(renumbered) == hashed(text)


def test_a_branch_to_another_place_is_another_text():
    text = LISTING.read_text("utf-8")
    assert "BRA `(.L_x_2)" in text
    assert hashed(text.replace("BRA `(.L_x_2)", "BRA `(.L_x_1)")) != hashed(text)


def test_the_tools_print_one_text():
    assert hashed((SAMPLES / "sm_80" / "binary_search.cuobjdump.sass").read_text("utf-8")) == hashed(LISTING.read_text("utf-8"))
