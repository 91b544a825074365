"""Every effect of the PTX table against the PTX ISA: see `inferred_ptx.py`."""

from random import Random

import pytest

from budget import part
from inferred_ptx import FILE, OPCODES, REGISTERS, as_number, hold, types
from ptx import only
from sassan.ipet.loop_bounds.execute import SymbolicExecutor, writers
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ipet.loop_bounds.step import conditions
from sassan.ipet.loop_bounds.values import SymbolicState, constant
from sassan.ir import PtxAddress, Variable
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting

DRAWS = part(80, of=40)


@pytest.mark.parametrize("opcode", [opcode for opcode in OPCODES if not opcode.startswith("ld")])
def test_what_an_effect_says_is_what_the_isa_says(opcode: str):
    random = Random(opcode)
    for _ in range(DRAWS):
        hold(random, opcode)


@pytest.mark.parametrize("opcode", [opcode for opcode in OPCODES if opcode.startswith("ld")])
def test_a_load_of_a_parameter_is_what_the_launch_gives(opcode: str):
    random = Random(opcode)
    ((kind, bits),) = types(opcode)
    for _ in range(DRAWS):
        word = random.getrandbits(64)
        given = {64: ("k_0", 8), 32: ("k_1", 4)}[random.choice((32, 64)) if bits < 64 else 64]
        word %= 1 << 8 * given[1]
        offset = random.randrange(given[1] * 8 // bits) * (bits // 8)
        function, isa = only(f"{opcode} %{FILE[bits]}0, [{given[0]}+{offset}];", "ret;", registers=REGISTERS)
        one = function.instructions[0]
        facts = isa.facts(one)
        assert facts is not None
        assert isinstance(one.operands[1], PtxAddress)
        around = LaunchSymbols(function, LaunchConfiguration(parameters=(Setting(given[0], -1, word),)))
        machine = SymbolicExecutor(around, {0: facts.writes}, 12, conditions(function))
        states = [SymbolicState()]
        states = machine.run(states, machine.plans(writers([one], {0: facts}), -1))
        (state,) = states
        value = as_number(kind, bits, word >> 8 * offset)
        to = one.operands[0]
        assert isinstance(to, Variable)
        names = [to.number, to.number + 1] if bits == 64 else [to.number]
        words = [constant(value >> 32 * place & 0xFFFFFFFF) for place in range(len(names))]
        assert [state.registers[name] for name in names] == words
