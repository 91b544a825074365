"""A cubin that nvlink made of two objects: each has its own copy of a local function, under one name.

golden/sm_75.divisions.linked.cubin is of nvcc and nvlink 13.0 (-rdc=true -arch=sm_75): a kernel that divides doubles and calls a function
of another file, which divides too. The text beside it is what nvdisasm -c prints of it.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from sassan.errors import InputError
from sassan.frontend import read
from sassan.frontend.cubin.elf import Elf
from sassan.frontend.image import Image
from sassan.isa import tables
from sassan.source import Source
from sassan.warpcfg import explore

GOLDEN = Path(__file__).parent / "golden"
CUBIN = (GOLDEN / "sm_75.divisions.linked.cubin").read_bytes()
LISTING = (GOLDEN / "sm_75.divisions.linked.nvdisasm.sass.txt").read_text()
DIVISION = "__cuda_sm20_div_rn_f64_full"


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch):
    """Return the functions of the golden cubin by name; its disassembly is played back."""
    monkeypatch.setattr("sassan.frontend.cubin.read.disassemble", lambda *_, **__: LISTING)
    return {function.name: function for function in read(Image("k.cubin", CUBIN)).functions}


def test_one_copy_stands_for_all(functions):
    assert sorted(functions) == ["_Z6secondd", DIVISION, "divisions"]
    assert LISTING.count(f"`({DIVISION}__") > 0, "nvdisasm numbers the copies"


@pytest.mark.parametrize(("name", "divisions"), [("_Z6secondd", 1), ("divisions", 2)])
def test_calls_of_each_copy_are_followed(functions, name, divisions):
    cfg = explore(functions[name], tables.load("sm_75").facts)
    first = functions[DIVISION].instructions[0].text
    assert not cfg.gaps
    assert sum(node.instructions[0].text == first for node in cfg.nodes) == divisions


def test_a_copy_that_differs_is_refused():
    copies = [section for section in Elf(Image("k.cubin", CUBIN)).sections if section.name == f".text.{DIVISION}"]
    assert len(copies) == 2
    damaged = bytearray(CUBIN)
    damaged[copies[1].offset + 16] ^= 1
    with pytest.raises(InputError, match=r"two sections of different code are called '\.text\.__cuda_sm20_div_rn_f64_full'") as caught:
        read(Image("k.cubin", bytes(damaged)))
    assert caught.value.code == "malformed-elf"


def test_a_copy_with_relocations_is_refused():
    elf = Elf(Image("k.cubin", CUBIN))
    copy = [place for place, section in enumerate(elf.sections) if section.name == f".text.{DIVISION}"][-1]
    elf.sections = tuple(replace(section, info=copy) if section.name == ".rel.text.divisions" else section for section in elf.sections)
    with pytest.raises(InputError, match="and one has relocations"):
        _ = elf.copies


def test_a_listing_alone_does_not_show_that_they_are_copies():
    with pytest.raises(InputError, match=f"two functions are called '{DIVISION}'") as caught:
        read(Source("k.sass", LISTING))
    assert (caught.value.code, caught.value.hint) == (
        "same-name",
        "pass the cubin: if they have the same code, one of them stands for both",
    )
