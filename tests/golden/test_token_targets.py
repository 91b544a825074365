"""Soundness golden: where SYNC and BRK resume, against the compiler's own table (EIATTR_INDIRECT_BRANCH_TARGETS of the cubin)."""

import pytest

from budget import some
from tests.samples import PRE_VOLTA, explored, golden, names, own_end, program

DEAD = {"_Z7collatzi": ("0x0408",)}
"""Token instructions that nothing reaches: the compiler's table lists one behind an unconditional SYNC of a debug build."""

CASES = [(arch, name) for arch in PRE_VOLTA for name in names(arch)]


@pytest.mark.parametrize(("arch", "name"), some(CASES, of=4))
def test_token_targets_equal_the_compilers_table(arch: str, name: str):
    tables = golden("indirect_targets", arch, name)
    for function in program(arch, name).functions:
        mnemonics = {one.address: one.opcode for one in function.instructions}
        expected = {
            int(address, 16): sorted(_instruction(int(target, 16), mnemonics) for target in targets)
            for address, targets in tables[function.name]["targets"].items()
            if not mnemonics[int(address, 16)].startswith("BRX")
        }
        end = own_end(arch, name, function)
        found = {address: list(targets) for address, targets in explored(function).token_targets if address < end}
        dead = {address: targets for address, targets in expected.items() if f"0x{address:04x}" in DEAD.get(function.name, ())}
        assert found | dead == expected
        assert not found.keys() & dead.keys()


@pytest.mark.parametrize(("arch", "name"), some(CASES, of=4))
def test_exits_are_where_the_compiler_says(arch: str, name: str):
    tables = golden("indirect_targets", arch, name)
    for function in program(arch, name).functions:
        end = own_end(arch, name, function)
        exits = [f"0x{one.address:04x}" for one in function.instructions if one.opcode == "EXIT" and one.address < end]
        assert exits == tables[function.name]["exits"]


def _instruction(address: int, mnemonics: dict[int, str]) -> int:
    """Return the instruction that a table entry means: the table may name the control word in front of it."""
    return address if address in mnemonics else address + 8
