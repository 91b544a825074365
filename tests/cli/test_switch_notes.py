"""The targets of a switch in a listing are those of a note: what rests on it says so."""

import pytest

from budget import some
from cli.shell import SAMPLES, Sassan
from sassan.ipet.wcet import NOTED


@pytest.mark.parametrize(
    ("file", "noted"),
    some(
        [
            ("sm_80/switch_brx.nvdisasm.sass", True),
            ("sm_61/switch_brx.nvdisasm.sass", True),
            ("sm_80/switch_brx.cubin", False),
            ("sm_61/nested_if.nvdisasm.sass", False),
        ]
    ),
)
def test_bounds_over_the_notes_of_a_listing_assume_that_these_are_complete(file: str, noted: bool, sassan: Sassan):
    (function,) = sassan("analyze", SAMPLES / file, "--loop-bound", "3", "--json").document["functions"]
    assert function["wcet"] is not None
    assert (NOTED in function["wcet"]["assumptions"]) == noted
