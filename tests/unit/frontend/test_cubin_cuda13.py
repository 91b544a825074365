"""A cubin of CUDA 13 (EI_OSABI 65 for every architecture), and a listing of its nvdisasm.

golden/sm_75.switch_brx.cuda13.cubin is samples/kernels/switch_brx.cu compiled by NVRTC 13.5.37 with -arch=sm_75, the text beside it is what
nvdisasm 13.5.37 -c prints of it. The samples of sm_100 and sm_120 are of this generation too.
"""

from pathlib import Path

import pytest

from sassan.frontend import read
from sassan.frontend.image import Image
from sassan.ir import Parameter

GOLDEN = Path(__file__).parent / "golden"
TABLES = ((0x1D0, 4), (0x500, 4), (0x6B0, 4), (0x810, 4))


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch):
    """Return the function of the golden cubin; its disassembly is played back."""
    listing = (GOLDEN / "sm_75.switch_brx.cuda13.nvdisasm.sass.txt").read_text()
    monkeypatch.setattr("sassan.frontend.cubin.read.disassemble", lambda *_, **__: listing)
    return read(Image("k.cubin", (GOLDEN / "sm_75.switch_brx.cuda13.cubin").read_bytes())).functions[0]


def test_it_is_read_whole(function):
    assert (function.name, function.arch, len(function.instructions)) == ("switch_brx", "sm_75", 149)
    assert all(one.encoding is not None and one.control is not None for one in function.instructions)


def test_its_attributes_are_read(function):
    compiler = function.compiler
    assert (compiler.registers, compiler.barriers, compiler.parameter_base, compiler.parameter_size) == (16, 0, 0x160, 20)
    assert compiler.parameters == (Parameter(0, 0, 8), Parameter(1, 8, 8), Parameter(2, 16, 4))


def test_its_exits_and_tables_are_those_of_the_code(function):
    compiler = function.compiler
    assert tuple(one.address for one in function.instructions if one.opcode == "EXIT") == compiler.exits
    assert [(address, len(targets)) for address, targets in compiler.indirect_targets] == [*TABLES]
    assert [one.address for one in function.instructions if one.opcode == "BRX"] == [address for address, _ in TABLES]
