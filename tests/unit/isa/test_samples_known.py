"""The tables know every instruction of every sample, and the kept templates change nothing."""

import pytest

from samples import SAMPLES, names, program
from sassan.isa.tables import load

ARCHS = sorted(path.name for path in SAMPLES.glob("sm_*"))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("tool", ["nvdisasm", "cuobjdump"])
def test_every_instruction_of_every_sample_is_known(arch: str, tool: str):
    isa = load(arch)
    found = [function for name in names(arch, tool) for function in program(arch, name, tool).functions]
    assert [one.text for function in found for one in function.instructions if isa.facts(one) is None] == []


@pytest.mark.parametrize("arch", ARCHS)
def test_kept_templates_and_the_plain_way_agree(arch: str):
    isa = load(arch)
    found = [function for name in names(arch) for function in program(arch, name).functions]
    differing = [one.text for function in found for one in function.instructions[:400] if isa.facts(one) != isa.facts_plain(one)]
    assert differing == []


@pytest.mark.parametrize("arch", ARCHS)
def test_there_are_samples_of_the_architecture(arch: str):
    assert len(names(arch)) >= 24
