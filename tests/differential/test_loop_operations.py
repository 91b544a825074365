"""The transfer of loop-bound inference against the machine: what an instruction computes is among what is inferred of it."""

from random import Random

import pytest

from assembly import instruction
from budget import part
from inferred_step import REGISTERS, is_computed
from listing import assemble
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.machine.launch import LaunchConfiguration

COMPARE = ("LT", "LE", "GT", "GE", "EQ", "NE")
COMBINE = ("AND", "OR", "XOR")
CASES = part(12_000, of=20)
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


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_61", "sm_80"])
def test_what_an_instruction_computes_is_among_what_is_inferred(arch: str):
    random, volta, computed = Random(f"operations {arch}"), arch != "sm_61", 0
    around = LaunchSymbols(assemble("EXIT", arch).function, LaunchConfiguration())
    for _ in range(CASES):
        computed += is_computed(random, instruction(text(random, volta=volta)), around)
    assert computed > COMPUTED * CASES // 12_000
