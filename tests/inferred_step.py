"""One instruction: what is inferred of it held to what the concrete machine computes."""

from random import Random

from integer_step import number, outputs
from sassan.arch import described
from sassan.domains import ranges
from sassan.ipet.loop_bounds.execute import Machine, writers
from sassan.ipet.loop_bounds.launch_environment import LaunchEnvironment
from sassan.ipet.loop_bounds.values import NO, YES, Known, State, Value, constant, unknown
from sassan.ir import Instruction
from sassan.isa.computations import CARRY, ZERO
from sassan.isa.tables import load

WORDS = [0, 1, 2, 3, 5, 31, 32, 255, 65535, 65536, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1, 2**32 - 500]
WORDS += [0x3E124925, 0x3F800000, 0x40E00000, 0x44870000, 0x4EFFFFFF, 0x4F800000, 0x7F800000, 0x7FC00000, 0xC0490FDB]
"""And numbers in single precision: 1/7, 1, 7, 1080, two about 2^31 and 2^32, infinity, none, -pi."""
REGISTERS = ("R2", "R3", "R4", "R5")
"""The sources of an instruction; R6 is behind the last one, and P1 to P3 are its predicates."""


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


def is_computed(random: Random, one: Instruction, around: LaunchEnvironment) -> bool:
    """Check an instruction on contents that are drawn; return whether the machine computes any of its results, and does not draw all."""
    arch = around.function.arch
    facts = load(arch).facts(one)
    assert facts is not None, one.text
    values = {number(name): random.choice((random.choice(WORDS), random.getrandbits(32))) for name in ("R6", *REGISTERS)}
    truths = {number(name): random.getrandbits(1) for name in ("P1", "P2", "P3")}
    flags = random.getrandbits(2)
    held = {name: fact for name, value in values.items() if (fact := known(random, value)) is not None}
    held |= {name: YES if value else NO for name, value in truths.items() if random.random() < 0.6}
    if random.random() < 0.7:
        held |= {CARRY: YES if flags & 1 else NO, ZERO: YES if flags & 2 else NO}
    machine = Machine(around, {0: facts.writes}, 12)
    states = [State(registers=held)]
    states = machine.run(states, machine.plans(writers([one], {0: facts}), -1))
    contents, short = {**values, **truths, CARRY: flags}, described(arch).short_immediates
    found, again = (outputs(one, arch, contents, short=short, time=time) for time in (0, 77))
    sure = frozenset(name for name in found if found[name] == again[name])
    assert any(holds(state, found, sure) for state in states), (one.text, values, truths, flags, found)
    return bool(sure)
