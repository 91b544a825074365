"""Registers in use against the life ranges of nvdisasm (`-plr`), in functions without calls, of which it assumes its own conventions."""

import re
import subprocess

import pytest

from budget import few, some
from samples import SAMPLES, names, program
from sassan.frontend.cubin.tools import tools
from sassan.ir import Function
from sassan.isa import tables
from sassan.isa.registers import bit, span
from sassan.registers.liveness import liveness

ARCHS = ["sm_75", "sm_80", "sm_90", "sm_120"]
CALLS = ("CALL", "RET", "BRX", "JMX")
ROW = re.compile(r"/\*([0-9a-f]{4,})\*/.*// \|\s*([0-9]*) ")


def life_ranges(path: str) -> dict[str, dict[int, int]]:
    """Return the registers in use by function and address, empty where no nvdisasm can tell."""
    for tool in tools("nvdisasm"):
        done = subprocess.run([tool.path, "-c", "-plr", "-lrm", "narrow", path], capture_output=True, text=True, check=False, timeout=60)
        if done.returncode == 0 and "// |" in done.stdout:
            return _parsed(done.stdout)
    return {}


def _parsed(text: str) -> dict[str, dict[int, int]]:
    out: dict[str, dict[int, int]] = {}
    name = ""
    for line in text.splitlines():
        if section := re.match(r"\s*\.section\s+\.text\.([^,]+),", line):
            name = section[1]
        elif row := ROW.search(line):
            out.setdefault(name, {})[int(row[1], 16)] = int(row[2] or 0)
    return out


def in_use(function: Function) -> dict[int, int]:
    """Return how many general registers are in use, as nvdisasm counts: the stack pointer always, also what is live behind."""
    live = liveness(function, tables.load(function.arch).facts)
    general = span("R", 0, 256)
    return {
        each.address: ((live.in_use(index) | live.after[index]) & general | bit("R", 1)).bit_count()
        for index, each in enumerate(function.instructions)
    }


@pytest.mark.slow
@pytest.mark.parametrize("arch", some(ARCHS))
def test_registers_in_use_are_those_of_nvdisasm(arch: str):
    compared = 0
    for name in few(names(arch)):
        ranges = life_ranges(str(SAMPLES / arch / f"{name}.cubin"))
        if not ranges:
            pytest.skip("no installed nvdisasm prints life ranges of these cubins")
        for function in program(arch, name).functions:
            if function.name in ranges and not any(each.opcode.split(".")[0] in CALLS for each in function.instructions):
                mine = in_use(function)
                theirs = {at: count for at, count in ranges[function.name].items() if at in mine}
                assert {at: mine[at] for at in theirs} == theirs, (name, function.name)
                compared += len(theirs)
    assert compared > 50
