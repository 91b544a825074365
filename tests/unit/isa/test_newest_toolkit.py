"""What the newest toolkit writes is known: the forms that its versions added, each in a sample, without a gap."""

import re

import pytest

from cli.shell import ROOT, SAMPLES
from sassan.app.reading import read_program
from sassan.isa import tables
from sassan.isa.toolkit import NEWEST
from sassan.warpcfg import explore

FORMS = {
    "sm_89": {"CLMAD.LO", "CLMAD.HI", "QMMA.16816.F16.E4M3.E5M2"},
    "sm_103": {"CLMAD.LO", "CLMAD.HI", "LDTM.STAT.x4.MAXABS.F32"},
    "sm_120": {"CLMAD.LO", "QMMA.16816.F16.E4M3.E5M2", "VIADD.32.ISAT", "VIADD.S16x2.ISAT", "VIADD.U8x4.ISAT", "VIADD.S8x4.ISAT", "IADD.X"},
}


@pytest.mark.parametrize("arch", FORMS)
def test_its_forms_are_read_without_a_gap(arch: str):
    program = read_program(str(SAMPLES / "toolkit" / arch / "forms.nvdisasm.sass"))
    gaps = {function.name: explore(function, tables.load(arch).facts).gaps for function in program.functions}
    assert {name: found for name, found in gaps.items() if found} == {}
    assert {instruction.opcode for function in program.functions for instruction in function.instructions} >= FORMS[arch]


def test_the_sample_and_the_tables_are_of_the_newest_toolkit():
    (version,) = re.findall(r"NVRTC (\d+)\.(\d+)", (ROOT / "samples/toolkit/forms.cu").read_text("utf-8"))
    assert tuple(map(int, version)) == NEWEST
