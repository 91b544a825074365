from fractions import Fraction

import pytest

from sassan.alphabet import Letter
from sassan.errors import InputError, SelfCheckError
from sassan.machine import load
from sassan.machine.multiprocessor import _entry


def test_a_consumer_pascal_starts_a_double_every_eight_cycles() -> None:
    assert load("sm_61").capacity(Letter.DOUBLE) == Fraction(1, 8)


def test_compute_has_the_narrower_of_the_integer_and_the_float_path() -> None:
    assert load("sm_86").capacity(Letter.COMPUTE) == 2


def test_issue_counts_every_dispatch_unit_of_every_scheduler() -> None:
    assert (load("sm_61").issue, load("sm_70").issue) == (8, 4)


def test_three_digits_name_a_capability_of_two_parts() -> None:
    assert load("sm_120").capability == "12.0"


def test_an_architecture_specific_suffix_does_not_matter() -> None:
    assert load("sm_90a").capability == "9.0"


def test_an_entry_that_no_source_confirms_is_said() -> None:
    assert "no source confirms 'ldst' of compute capability 10.0" in load("sm_100").assumptions


@pytest.mark.parametrize("arch", ["sm_99", "sm_", "volta", ""])
def test_an_unknown_multiprocessor_is_refused(arch: str) -> None:
    with pytest.raises(InputError) as caught:
        load(arch)
    assert caught.value.code == "unknown-sm"


@pytest.mark.parametrize("change", [{"fp32": 0}, {"fp32": "many"}, {"issue": [4]}, {"issue": 4}, {"unsure": None}, {"source": None}])
def test_a_broken_table_is_a_defect(change: dict[str, object]) -> None:
    numbers = dict.fromkeys(("fp32", "int32", "fp64", "sfu", "ldst", "warps", "blocks", "registers"), 32)
    with pytest.raises(SelfCheckError) as caught:
        _entry("0.0", {**numbers, "issue": [4, 1], "shared": [64, 48], "unsure": [], "source": "a test", **change})
    assert caught.value.code == "sm-table"
