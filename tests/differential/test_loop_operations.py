"""The transfer of loop-bound inference against the machine: what an instruction computes is among what is inferred of it."""

from random import Random

import pytest

from assembly import instruction
from budget import part
from integer_step import number, outputs
from listing import assemble
from sassan.domains import ranges
from sassan.ipet.loop_bounds.execute import Machine
from sassan.ipet.loop_bounds.launch_environment import LaunchEnvironment
from sassan.ipet.loop_bounds.values import NO, YES, Known, State, Value, constant, unknown
from sassan.isa.computations import CARRY, ZERO
from sassan.isa.tables import load
from sassan.machine.launch import Launch

WORDS = [0, 1, 2, 3, 5, 31, 32, 255, 65535, 65536, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1, 2**32 - 500]
REGISTERS = ("R2", "R3", "R4", "R5")
COMPARE = ("LT", "LE", "GT", "GE", "EQ", "NE")
COMBINE = ("AND", "OR", "XOR")
CASES = part(12_000)
COMPUTED = 4000
"""Of all cases at least so many in a full run have an outcome that the machine computes, and does not draw."""


def text(random: Random, *, volta: bool) -> str:
    """Return an instruction of the kinds that counters and guards are made of."""

    def pick(*names: str) -> str:
        return random.choice(names)

    def word(signs: str = "", numbers: bool = True) -> str:
        if numbers and random.random() < 0.2:
            return pick("0x0", "0x1", "0x3", "0xff", "-0x1", "-0x5", "0x7ffff", "-0x80000")
        return pick("", "", *signs) + pick(*REGISTERS, "RZ")

    def predicate() -> str:
        return pick("", "!") + pick("P1", "P2", "P3", "PT")

    compare = f"{pick(*COMPARE)}{pick('', '.U32')}.{pick(*COMBINE)}"
    shift = pick("0x0", "0x1", "0x5", "0x10", "0x1f", *REGISTERS)
    table = f"{random.choice((0xC0, 0xFC, 0x3C, 0xF8, 0xEA, 0x0C, 0x30, 0x0F, 0x33, random.randrange(256))):#x}"
    both = [
        f"LOP3.LUT R0, {word(numbers=False)}, {word()}, {word(numbers=False)}, {table}" + (", !PT" if volta else ""),
        f"ISETP.{compare} P0, {pick('PT', 'P4')}, {word(numbers=False)}, {word()}, {predicate()}",
        f"SEL R0, {word(numbers=False)}, {word()}, {predicate()}",
        f"IMNMX{pick('', '.U32')} R0, {word(numbers=False)}, {word()}, {pick('PT', '!PT')}",
        f"IADD3 R0, {word('-', numbers=False)}, {word('-')}, {word('-', numbers=False)}",
    ]
    until_pascal = [
        f"IADD R0{pick('', '.CC')}, {word('-', numbers=False)}, {word('-')}",
        f"IADD.X R0{pick('', '.CC')}, {word(numbers=False)}, {word()}",
        f"IADD32I R0{pick('', '.CC')}, {word(numbers=False)}, {pick('0x80000', '0xfffff', '0x7', '-0x80000', '0x12345678')}",
        f"LOP.{pick(*COMBINE, 'PASS_B')} R0, {word('~', numbers=False)}, {word('~')}",
        f"SHL R0, {word(numbers=False)}, {shift}",
        f"SHR{pick('', '.U32')} R0, {word(numbers=False)}, {shift}",
        f"ISCADD R0, {word('-', numbers=False)}, {word('-')}, {random.randrange(32):#x}",
        f"XMAD{pick('', '.PSL', '.PSL.CBCC', '.MRG')} R0, {pick(*REGISTERS)}{pick('', '.H1')}, R2{pick('', '.H1')}, {word(numbers=False)}",
        f"ICMP.{pick(*COMPARE)}{pick('', '.U32')} R0, {word(numbers=False)}, {word()}, {word(numbers=False)}",
        f"PSETP.{pick(*COMBINE)}.{pick(*COMBINE)} P0, P4, {predicate()}, {predicate()}, {predicate()}",
    ]
    since_volta = [
        f"IADD3 R0, P0, {word('-', numbers=False)}, {word('-')}, {pick('RZ', 'R4', '-R5', '-RZ')}",
        f"IADD3.X R0, P0, {word('~', numbers=False)}, {word('~')}, RZ, {predicate()}, !PT",
        f"IMAD{pick('', '.U32', '.IADD', '.MOV.U32', '.SHL.U32')} R0, {word('-', numbers=False)}, {word('-')}, {word('-', numbers=False)}",
        f"IMAD.HI{pick('', '.U32')} R0, {word(numbers=False)}, {word()}, {pick('RZ', 'R2', 'R4')}",
        f"IMAD.WIDE{pick('', '.U32')} R0, {word(numbers=False)}, {word()}, {pick('RZ', 'R2', 'R4')}",
        f"ISETP.{compare}.EX P0, {pick('PT', 'P4')}, {word(numbers=False)}, {word()}, {predicate()}, {predicate()}",
        f"LOP3.LUT P0, {pick('RZ', 'R0')}, {word(numbers=False)}, {word()}, {word(numbers=False)}, {table}, {pick('!PT', predicate())}",
        f"SHF.L.{pick('U32', 'S32')} R0, {word(numbers=False)}, {shift}, RZ",
        f"SHF.R.{pick('U32', 'S32')}.HI R0, RZ, {shift}, {word(numbers=False)}",
        f"LEA R0, {word('-', numbers=False)}, {word('-')}, {random.randrange(32):#x}",
        f"LEA.HI R0, {word(numbers=False)}, {word('-', numbers=False)}, {word(numbers=False)}, {random.randrange(1, 32):#x}",
        f"PLOP3.LUT P0, P4, {predicate()}, {predicate()}, {predicate()}, {random.randrange(256):#x}, {random.randrange(256):#x}",
    ]
    return pick(*both, *(since_volta if volta else until_pascal))


def known(random: Random, value: int) -> Known | None:
    """Return a true statement about a word: the word, a range around it, or nothing."""
    how = random.random()
    if how < 0.5:
        return constant(value)
    if how < 0.8:
        return unknown(ranges.span(value - random.choice((0, 1, 2, 100)), value + random.choice((0, 1, 5, 1000))))
    return None


def holds(state: State, values: dict[int, int], sure: frozenset[int]) -> bool:
    """Say whether a state allows these words, as far as the machine computed them."""
    for name in sure:
        held = state.registers.get(name)
        if isinstance(held, Value):
            if not state.range_of(held).holds(values[name]):
                return False
        elif held is not None and isinstance(held.what, bool) and held.what != bool(values[name] & 1):
            return False
    zero = state.registers.get(ZERO)
    return CARRY not in sure or zero is None or not isinstance(zero.what, bool) or zero.what == bool(values[CARRY] >> 1 & 1)


@pytest.mark.parametrize("arch", ["sm_61", "sm_80"])
def test_what_an_instruction_computes_is_among_what_is_inferred(arch: str):
    random, volta, computed = Random(f"operations {arch}"), arch != "sm_61", 0
    around = LaunchEnvironment(assemble("EXIT", arch).function, Launch())
    for _ in range(CASES):
        one = instruction(text(random, volta=volta))
        facts = load(arch).facts(one)
        assert facts is not None, one.text
        values = {number(name): random.choice((random.choice(WORDS), random.getrandbits(32))) for name in ("R6", *REGISTERS)}
        truths = {number(name): random.getrandbits(1) for name in ("P1", "P2", "P3")}
        flags = random.getrandbits(2)
        held = {name: fact for name, value in values.items() if (fact := known(random, value)) is not None}
        held |= {name: YES if value else NO for name, value in truths.items() if random.random() < 0.6}
        if random.random() < 0.7:
            held |= {CARRY: YES if flags & 1 else NO, ZERO: YES if flags & 2 else NO}
        machine = Machine(around, {0: facts}, {0: facts.writes}, 12)
        states = machine.run([State(registers=held)], one)
        contents = {**values, **truths, CARRY: flags}
        found, again = (outputs(one, arch, contents, short=not volta, time=time) for time in (0, 77))
        sure = frozenset(name for name in found if found[name] == again[name])
        computed += bool(sure)
        assert any(holds(state, found, sure) for state in states), (one.text, values, truths, flags, found)
    assert computed > COMPUTED * CASES // 12_000
