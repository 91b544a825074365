"""The value of an architecture: names, properties, addresses."""

import pytest

from sassan.arch import architecture, described, known_names, named
from sassan.errors import InputError


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sm_61", "sm_61"),
        ("61", "sm_61"),
        ("6.1", "sm_61"),
        ("SM120", "sm_120"),
        ("sm_90a", "sm_90"),
        ("10.0", "sm_100"),
        ("120f", "sm_120"),
    ],
)
def test_a_name_has_several_spellings(text: str, name: str):
    assert described(text).name == name


@pytest.mark.parametrize("text", ["", "6", "sm_", "gfx906", "sm61x", "6.1.1", "-61", "sm_1234", "\uff16.\uff11", "sm_61 "])
def test_another_text_is_no_name(text: str):
    assert (named(text), architecture(text)) == (("", ""), None)


def test_the_letter_of_a_specific_target_is_its_variant():
    assert (described("sm_90a").variant, described("sm_120f").variant, described("sm_90").variant) == ("a", "f", "")


def test_an_architecture_that_no_file_describes_is_refused_with_the_known_ones():
    with pytest.raises(InputError) as caught:
        described("sm_130")
    assert (caught.value.code, caught.value.message) == ("unsupported-architecture", "unknown architecture sm_130")
    assert caught.value.hint == f"known: {known_names()}"


def test_the_machine_code_of_before_maxwell_is_not_described():
    assert (described("sm_35").isa, "sm_35" in known_names()) == ("", False)


@pytest.mark.parametrize(("arch", "words"), [("sm_50", True), ("sm_62", True), ("sm_70", False), ("sm_120", False)])
def test_control_words_end_with_pascal(arch: str, words: bool):
    known = described(arch)
    assert (known.control_words, known.convergence_barriers, known.instruction_bytes) == (words, not words, 8 if words else 16)


def test_a_control_word_is_skipped():
    pascal = described("sm_61")
    assert (pascal.first, pascal.normalise(0x20), pascal.following(0x18), described("sm_80").following(0x18)) == (8, 0x28, 0x28, 0x28)


@pytest.mark.parametrize(("arch", "gpu", "runs"), [("sm_80", "sm_86", True), ("sm_89", "sm_86", False), ("sm_75", "sm_86", False)])
def test_a_gpu_runs_code_of_its_major_version_up_to_its_minor_one(arch: str, gpu: str, runs: bool):
    assert described(arch).runs_on(described(gpu)) is runs
