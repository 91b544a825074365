"""Inferred bounds of random code, most of it irreducible, against concrete execution: no loop turns more often."""

from random import Random

import pytest

from budget import FULL, part
from listing import assemble
from sassan.ipet.loop_bounds import infer
from sassan.ipet.loop_bounds.recheck import Effort, back_edge_counts
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting

ARCH = "sm_80"
SEEDS = range(6 if FULL else 2)
PROGRAMS = part(100, of=6)
EFFORT = Effort(warps=2, steps=600)
REGISTERS = ("R0", "R2", "R3")
PARAMETERS = (0x160, 0x164, 0x168)
ITERATING = 0.7
"""Of the blocks, those that end as loops do that iterate."""
VALUES = (0, 1, 2, 5, 7, 20, 100, -1, -5)


def program(random: Random) -> str:
    """Return blocks that count and test, and branch to any other: the counters begin with constants, parameters or memory."""
    count = random.randint(2, 6)
    first = random.choice(("LDG.E R9, [R4]", "MOV R9, c[0x0][0x164]"))
    lines = ["MOV R0, RZ", f"MOV R2, {random.randrange(5):#x}", "MOV R3, c[0x0][0x160]", first, "ISETP.NE.AND P0, PT, R9, RZ, PT"]
    for number in range(count):
        lines += [f"b{number}x:", *(_counted(random) for _ in range(random.randint(0, 2)))]
        lines += (
            _next(random, f"b{random.randint(0, number)}x") if random.random() < ITERATING else _end(random, f"b{random.randrange(count)}x")
        )
    return "\n".join([*lines, "EXIT"])


def _counted(random: Random) -> str:
    register, other = random.choice(REGISTERS), random.choice(REGISTERS)
    guard = random.choice(("", "", "", "@P1 ", "@!P0 "))
    step = random.choice(("0x1", "0x1", "0x2", "-0x1", "0x3", "-0x2"))
    kinds = (
        f"IADD3 {register}, {register}, {step}, RZ",
        f"MOV {register}, {random.randrange(8):#x}",
        f"IADD3 {register}, {other}, {step}, RZ",
        f"LOP3.LUT {register}, {other}, {random.choice(('0x3', '0x7', 'RZ'))}, RZ, 0xc0, !PT",
        f"SHF.R.U32.HI {register}, RZ, 0x1, {register}",
    )
    (kind,) = random.choices(kinds, (6, 1, 1, 1, 1))
    return guard + kind


def _next(random: Random, before: str) -> list[str]:
    """Return what counts up, and goes back while that is small."""
    register, limit = random.choice(REGISTERS), random.choice(("0x5", "0x9", "0x14", "c[0x0][0x168]"))
    step = random.choice(("0x1", "0x2", "0x3"))
    compare = random.choice(("LT", "LE", "LT.U32"))
    return [f"IADD3 {register}, {register}, {step}, RZ", f"ISETP.{compare}.AND P1, PT, {register}, {limit}, PT", f"@P1 BRA {before}"]


def _end(random: Random, target: str) -> list[str]:
    compare = random.choice(("LT", "LT", "GE", "GT", "NE", "NE", "EQ", "LE")) + random.choice(("", "", ".U32"))
    predicate, right = random.choice(("P1", "P1", "P2", "P0")), random.choice(("0x5", "0x9", "0x14", "RZ", "c[0x0][0x168]", *REGISTERS))
    taken = random.choice((f"BRA {target}", f"BRA {target}", f"BRA {target}", "EXIT"))
    test = [
        f"ISETP.{compare}.AND {predicate}, PT, {random.choice(REGISTERS)}, {right}, PT",
        f"@{random.choice(('', '', '!'))}{predicate} {taken}",
    ]
    (end,) = random.choices((test, [f"BRA {target}"], ["NOP"]), (15, 3, 2))
    return end


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_no_loop_of_random_code_turns_more_often_than_its_bound(seed: int):
    random, reached = Random(f"loops {seed}"), 0
    facts = tables.load(ARCH).facts
    for _ in range(PROGRAMS):
        text = program(random)
        cfg = assemble(text, ARCH).graph()
        told = tuple(Setting("", place, random.choice(VALUES)) for place in PARAMETERS)
        launch = LaunchConfiguration((32, 1, 1), (1, 1, 1), told)
        found = [one for one in infer(cfg, facts, launch) if one.bound is not None]
        seen = back_edge_counts(cfg, facts, [launch], EFFORT) if found else None
        if seen is None:
            continue
        over = [(one.head, one.bound, seen[0][one.loop]) for one in found if seen[0][one.loop] > (one.bound or 0)]
        assert over == [], f"{told}\n{text}"
        reached += sum(seen[0][one.loop] == one.bound > 0 for one in found if one.bound is not None)
    assert reached > PROGRAMS // 20, "runs that iterate so seldom notice no bound that is too low"
