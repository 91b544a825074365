"""What cuobjdump and what nvdisasm print of one cubin is one program; what the compiler says of it agrees.

`SASSAN_FULL=1` compares every sample of every architecture; otherwise every one of sm_61 and a fixed part of the others.
"""

import json
import os

import pytest

from budget import some
from samples import SAMPLES, names
from sassan.frontend import load, read
from sassan.ir import Function, Immediate, Operand, Symbol, Target

ARCHS = ["sm_52", "sm_61", "sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]
PART = 1 if os.environ.get("SASSAN_FULL") else 4
RELOCATABLE = ["debug_build", "separate_sections"]
"""nvdisasm prints what the linker will put in (`JCAL `(f)`, `32@lo(x)`), cuobjdump the 0x0 that stands there now."""
PAIRS = [
    (arch, name)
    for arch in ARCHS
    for name in names(arch)[:: 1 if arch == "sm_61" else PART]
    if name in names(arch, "cuobjdump") and name not in RELOCATABLE
]
HEX = [(arch, path.name.split(".")[0]) for arch in ARCHS for path in sorted((SAMPLES / arch).glob("*.nvdisasm-hex.sass"))]


def functions(arch: str, name: str, tool: str) -> dict[str, Function]:
    """Return the functions of a sample as one tool prints them."""
    return {one.name: one for one in read(load(str(SAMPLES / arch / f"{name}.{tool}.sass"))).functions}


def unlabelled(operand: Operand) -> Operand:
    """Return the operand as cuobjdump prints it: without a label; its 0 may be an address that the linker writes."""
    if operand == Symbol("32@(?)"):
        return Immediate(0)
    return Target(operand.address) if isinstance(operand, Target) else operand


def rows(function: Function) -> list[str]:
    """Return what both tools must say; `repr` because a NaN equals nothing."""
    return [
        repr((one.address, one.following, one.opcode, one.guard, one.condition, [unlabelled(operand) for operand in one.operands]))
        for one in function.instructions
    ]


@pytest.mark.parametrize(("arch", "name"), some(PAIRS, of=5))
def test_both_tools_print_one_program(arch, name):
    old, new = functions(arch, name, "cuobjdump"), functions(arch, name, "nvdisasm")
    assert {key: (one.entry, rows(one)) for key, one in old.items()} == {key: (one.entry, rows(one)) for key, one in new.items()}


@pytest.mark.parametrize("name", RELOCATABLE)
@pytest.mark.parametrize("arch", ARCHS)
def test_relocatable_code_is_one_program_up_to_its_relocations(arch, name):
    old, new = functions(arch, name, "cuobjdump"), functions(arch, name, "nvdisasm")
    for key, function in old.items():
        # nvdisasm names the callee, and its code is linked behind the caller's.
        own = new[key].instructions[: len(function.instructions)]
        assert [(one.address, one.opcode, one.guard) for one in own] == [
            (one.address, one.opcode, one.guard) for one in function.instructions
        ]


@pytest.mark.parametrize(("arch", "name"), HEX)
def test_both_tools_print_one_encoding(arch, name):
    old, new = functions(arch, name, "cuobjdump"), functions(arch, name, "nvdisasm-hex")
    assert {key: [(one.encoding, one.control) for one in function.instructions] for key, function in old.items()} == {
        key: [(one.encoding, one.control) for one in function.instructions] for key, function in new.items()
    }


@pytest.mark.parametrize(("arch", "name"), some(PAIRS, of=5))
def test_every_exit_is_where_the_compiler_says(arch, name):
    golden = json.loads((SAMPLES / "golden" / "indirect_targets" / arch / f"{name}.json").read_text(encoding="utf-8"))
    seen = {
        key: sorted(f"0x{one.address:04x}" for one in function.instructions if one.opcode.partition(".")[0] == "EXIT")
        for key, function in functions(arch, name, "nvdisasm").items()
    }
    assert {key: sorted(golden[key]["exits"]) for key in seen if key in golden} == {key: seen[key] for key in seen if key in golden}
