"""Names of kernel parameters from debug information: what the source calls them, or nothing."""

import pytest

from samples import EVERY, SAMPLES
from sassan.frontend.cubin.elf import Elf, ElfSection
from sassan.frontend.cubin.names import parameter_names
from sassan.frontend.load import load


class Fake:
    """Debug sections and nothing else."""

    def __init__(self, info: bytes, kinds: bytes, texts: bytes = b"") -> None:
        self.data = {".debug_info": info, ".debug_abbrev": kinds, ".debug_str": texts}
        self.by_name = {name: ElfSection(name, 1, 0, 0, len(data), 0, 0) for name, data in self.data.items()}

    def bytes_of(self, section: ElfSection) -> bytes:
        return self.data[section.name]


# Abbreviation 1: a function with children and a name; 2: a parameter with a name.
KINDS = bytes([1, 0x2E, 1, 3, 8, 0, 0, 2, 5, 0, 3, 8, 0, 0, 0])
ENTRIES = b"\x01k\0\x02in\0\x02n\0\0"


def unit(entries: bytes, version: int = 2) -> bytes:
    body = version.to_bytes(2, "little") + bytes(4) + b"\x08" + entries
    return len(body).to_bytes(4, "little") + body


@pytest.mark.parametrize("arch", EVERY)
def test_a_debug_build_names_its_parameters(arch):
    found = parameter_names(Elf(load(str(SAMPLES / arch / "debug_build.cubin"))))
    assert found == {"_Z7collatzi": ("v",), "debug_build": ("in", "out", "n")}


def test_an_optimised_build_names_none():
    assert parameter_names(Elf(load(str(SAMPLES / "sm_61" / "saxpy.cubin")))) == {}


def test_entries_are_read_in_order():
    assert parameter_names(Fake(unit(ENTRIES), KINDS)) == {"k": ("in", "n")}


def test_names_may_stand_in_a_section_of_their_own():
    kinds = bytes([1, 0x2E, 0, 3, 0x0E, 0, 0, 0])
    assert parameter_names(Fake(unit(b"\x01\x02\0\0\0"), kinds, b"a\0kernel\0")) == {"kernel": ()}


def test_parameters_of_what_is_inside_a_function_are_not_its_own():
    assert parameter_names(Fake(unit(b"\x01k\0\x01f\0\x02x\0\0\x02n\0\0"), KINDS)) == {"k": (), "f": ("x",)}


def test_two_functions_of_one_name_have_no_parameter_names():
    assert parameter_names(Fake(unit(ENTRIES + b"\x01k\0\0"), KINDS)) == {}


@pytest.mark.parametrize(
    ("info", "kinds"),
    [
        (unit(ENTRIES, version=5), KINDS),
        (unit(ENTRIES)[:-1], KINDS),
        (unit(b"\x07"), KINDS),
        (unit(b"\x01k"), KINDS),
        (unit(b"\xff" * 12), KINDS),
        (unit(ENTRIES), KINDS[:-3]),
        (unit(ENTRIES), bytes([1, 0x2E, 1, 3, 0x7F, 0, 0, 0])),
        (b"\1\0\0", KINDS),
    ],
    ids=["version", "cut", "kind", "text", "number", "abbreviations", "form", "header"],
)
def test_what_is_no_debug_information_names_none(info, kinds):
    assert parameter_names(Fake(info, kinds)) == {}


@pytest.mark.slow
def test_entries_that_cost_more_than_their_bytes_come_to_an_end():
    empty = bytes([1, 0x34, 0, *([3, 0x19] * 2000), 0, 0, 0])
    assert parameter_names(Fake(unit(b"\x01" * 1_000_000), empty)) == {}
