"""The tables know every instruction of every sample, and the kept templates change nothing."""

import re

import pytest

from budget import some
from samples import SAMPLES, names, program
from sassan.isa.registers import span
from sassan.isa.tables import load

REGISTERS = re.compile(r'\.section\s+\.text\.(\S+?),.*?SHI_REGISTERS=(\d+)"', re.DOTALL)
ARCHS = sorted(path.name for path in SAMPLES.glob("sm_*"))


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("tool", ["nvdisasm", "cuobjdump"])
def test_every_instruction_of_every_sample_is_known(arch: str, tool: str):
    isa = load(arch)
    found = [function for name in some(names(arch, tool), of=12) for function in program(arch, name, tool).functions]
    assert [one.text for function in found for one in function.instructions if isa.facts(one) is None] == []


@pytest.mark.slow
@pytest.mark.parametrize("arch", some(ARCHS))
def test_kept_templates_and_the_plain_way_agree(arch: str):
    isa = load(arch)
    found = [function for name in some(names(arch), of=4) for function in program(arch, name).functions]
    differing = [one.text for function in found for one in function.instructions[:400] if isa.facts(one) != isa.facts_plain(one)]
    assert differing == []


@pytest.mark.parametrize("arch", ARCHS)
def test_there_are_samples_of_the_architecture(arch: str):
    assert len(names(arch)) >= 24


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_52", "sm_61", "sm_70", "sm_75", "sm_80"])
def test_no_instruction_touches_a_register_above_the_count_of_its_listing(arch: str):
    isa = load(arch)
    above: list[str] = []
    for name in some(names(arch), of=4):
        counts = dict(REGISTERS.findall((SAMPLES / arch / f"{name}.nvdisasm.sass").read_text()))
        for function in program(arch, name).functions:
            allowed = span("R", 0, int(counts[function.name]))
            for one in function.instructions:
                found = isa.facts(one)
                assert found is not None
                if (found.reads | found.writes) & span("R", 0, 256) & ~allowed:
                    above.append(f"{function.name}: {one.text}")
    assert above == []
