"""A listing that is cut off gives whole functions or an error, never a part of a function."""

import pytest

from sassan.errors import InputError
from sassan.frontend import read
from sassan.source import Source
from unit.frontend.listings import sample

LISTINGS = [
    ("sm_61", "two_kernels.cuobjdump.sass"),
    ("sm_61", "two_kernels.nvdisasm.sass"),
    ("sm_61", "calls_nested.nvdisasm.sass"),
    ("sm_90", "two_kernels.cuobjdump.sass"),
    ("sm_90", "calls_nested.nvdisasm.sass"),
    ("sm_120", "switch_brx.nvdisasm.sass"),
]


def cuts(text: str) -> list[str]:
    """Return the text cut at every half of a percent, at other places in a line each time."""
    return [text[: len(text) * half // 200] for half in range(1, 200)]


def outcome(text: str) -> InputError | dict[str, str]:
    """Return the error, or the hash of each function."""
    try:
        return {one.name: one.text_hash for one in read(Source("t", text)).functions}
    except InputError as error:
        return error


@pytest.mark.parametrize(("arch", "name"), LISTINGS)
def test_a_cut_listing_gives_whole_functions_or_an_error(arch, name):
    whole = outcome(sample(arch, name))
    for text in cuts(sample(arch, name)):
        seen = outcome(text)
        assert isinstance(seen, InputError) or seen.items() <= whole.items()


@pytest.mark.parametrize(("arch", "name"), LISTINGS)
def test_a_cut_listing_is_no_error_of_syntax(arch, name):
    codes = {seen.code for seen in map(outcome, cuts(sample(arch, name))) if isinstance(seen, InputError)}
    assert codes <= {"truncated", "unknown-input", "no-function"}


@pytest.mark.parametrize(("arch", "name"), LISTINGS)
def test_a_listing_that_ends_between_two_lines_is_no_error_of_syntax(arch, name):
    lines = sample(arch, name).splitlines(keepends=True)
    seen = [outcome("".join(lines[:count])) for count in range(1, len(lines), 7)]
    assert {one.code for one in seen if isinstance(one, InputError)} <= {"truncated", "unknown-input", "no-function", "empty-input"}


def test_the_error_names_the_function_of_a_cuobjdump_listing():
    error = outcome(sample("sm_61", "saxpy.cuobjdump.sass")[:1500])
    assert error.message == "the listing ends inside function 'saxpy'"


def test_the_error_names_the_function_of_an_nvdisasm_listing():
    error = outcome(sample("sm_61", "saxpy.nvdisasm.sass")[:1500])
    assert error.message == "the listing ends inside function 'saxpy'"


def test_a_cut_between_a_kernel_and_its_device_function_is_noticed():
    text = sample("sm_61", "calls_nested.nvdisasm.sass")
    last = text.rindex("\n        .type")
    assert outcome(text[: last + 1]).code == "truncated"


def test_a_listing_without_its_head_is_refused():
    lines = sample("sm_61", "saxpy.cuobjdump.sass").splitlines(keepends=True)
    assert outcome("".join(lines[6:])).code in ("syntax", "unknown-input")


def test_a_last_line_without_an_end_is_noticed():
    assert outcome(sample("sm_90", "saxpy.cuobjdump.sass").rstrip() + "\n\n\tcode fo").code == "truncated"


def test_the_line_end_after_the_last_function_may_be_missing():
    assert not isinstance(outcome(sample("sm_90", "saxpy.cuobjdump.sass").rstrip()), InputError)
