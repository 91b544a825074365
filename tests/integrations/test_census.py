"""A part of the census with a real ptxas: what it accepts of drawn instructions has a graph without gaps."""

from pathlib import Path
from random import Random

import pytest

from budget import FULL, some
from sassan.compilers.ptxas import PTXAS
from sassan.frontend import load, read
from sassan.frontend.cubin.tools import tools
from sassan.isa import tables
from sassan.warpcfg import explore
from scripted import scripted

DRAWN = 60 if FULL else 20
VERSION = "8.8"
LEFT = {"mbarrier.arrive.noComplete.shared.b64 $L, [$s], $r;", "mbarrier.arrive_drop.noComplete.shared.b64 $L, [$s], $r;"}
"""They keep a word in the register of the return address, which is a gap."""


def ptxas() -> str:
    """Return a ptxas that knows the version of the templates, or skip."""
    for tool in tools(PTXAS):
        if tuple(map(int, tool.version.split(".")[:2])) >= (12, 9):
            return tool.path
    pytest.skip("no ptxas of CUDA 12.9 or later is installed")


@pytest.mark.slow
@pytest.mark.skipif(not tools("nvdisasm"), reason="no nvdisasm is installed")
@pytest.mark.parametrize("arch", some(["sm_87", "sm_90a", "sm_120a", "sm_100a"]))
def test_drawn_instructions_are_understood(arch: str, tmp_path: Path):
    assemble, statements = scripted("census.assemble"), scripted("census.statements").statements()
    # No disassembler prints the one-sided fences of SMs before 90.
    known = [each for each in statements if each.text not in LEFT and not (arch == "sm_87" and each.text.startswith("fence."))]
    chosen = list(enumerate(Random(arch).sample(known, DRAWN)))
    part = assemble.assembled(ptxas(), chosen, arch, VERSION, tmp_path / "k.cubin")
    functions = {function.name: function for function in read(load(str(part.cubin))).functions}
    gaps = {
        each.text: explore(functions[f"k{number}"], tables.load(functions[f"k{number}"].arch).facts).gaps for number, each in part.accepted
    }
    assert {text: found for text, found in gaps.items() if found} == {}
    assert len(gaps) + len(part.refused) == DRAWN
