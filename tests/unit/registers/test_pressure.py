"""Registers in use, what is spilled, and how many to free for one more block."""

import pytest

from samples import names, program
from sassan.isa import tables
from sassan.isa.registers import bit, span
from sassan.machine.multiprocessor import load
from sassan.machine.occupancy import BlockDemand, occupancy
from sassan.registers.liveness import liveness
from sassan.registers.pressure import pressure

SAXPY = program("sm_80", "saxpy").functions[0]
FACTS = tables.load("sm_80").facts


def test_the_registers_of_a_small_kernel_by_hand():
    live = liveness(SAXPY, FACTS)
    last = next(index for index, each in enumerate(SAXPY.instructions) if each.opcode.startswith("STG"))
    store = SAXPY.instructions[last]
    address, value = store.operands[0].base[0].index, store.operands[1].index  # type: ignore[union-attr]  # a store has a memory operand and a register
    assert live.before[last] & span("R", 0, 256) == span("R", address, 2) | bit("R", value)
    assert live.after[last] == 0
    assert live.before[0] == 0


def test_one_more_block_needs_fewer_registers():
    sm = load("sm_80")
    resident = occupancy(sm, BlockDemand(threads=256, registers=66, shared=0))
    known = pressure(SAXPY, liveness(SAXPY, FACTS), resident, sm)
    assert resident.blocks == 3
    assert known.gain is not None
    assert (known.gain.registers, known.gain.blocks, known.gain.addresses) == (64, 4, ())
    assert known.most == max(known.in_use)


def test_no_register_helps_where_threads_limit():
    sm = load("sm_80")
    resident = occupancy(sm, BlockDemand(threads=1024, registers=16, shared=0))
    assert pressure(SAXPY, liveness(SAXPY, FACTS), resident, sm).gain is None


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_no_kernel_uses_more_than_it_was_given(arch: str):
    facts = tables.load(arch).facts
    for name in names(arch)[::7]:
        for function in program(arch, name).functions:
            if function.registers is not None:
                assert pressure(function, liveness(function, facts)).most <= function.registers, name


def test_places_of_the_stack_are_counted():
    function = program("sm_80", "recursion").functions[0]
    known = pressure(function, liveness(function, FACTS))
    stores = [each for each in function.instructions if each.opcode.startswith("STL") and "[R1" in each.text]
    assert known.spills.stores == len(stores) > 0
