"""One instruction: what is inferred of it held to what the concrete machine computes, in many worlds at once."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import numpy as np

from integer_step import all_outputs, number
from sassan.arch import described
from sassan.ipet.loop_bounds.execute import SymbolicExecutor, numbers, writers
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ipet.loop_bounds.step import CONDITION_REGISTERS
from sassan.ipet.loop_bounds.values import Known, SymbolicState, Value
from sassan.ir import Constant, Guard, Instruction, Special
from sassan.isa.computations import CARRY, ZERO
from sassan.isa.tables import load
from sassan.simt.integer_work import WarpInputs
from sassan.simt.values import LANES
from worlds import LAST, Numbers, Worlds

REGISTERS = ("R2", "R3", "R4", "R5")
"""The sources of an instruction; R6 is behind the last one, and P1 to P3 are its predicates."""
_SPECIAL = ("SRZ", "SR_TID.X")
_UNKNOWN = 0.12
"""The share of registers that nothing is known of."""
_GUARDED = 0.1


def is_computed(random: Random, one: Instruction, around: LaunchSymbols, warps: int = 2) -> bool:
    """Check an instruction in a world for each lane of some warps; return whether the machine computes a result, and does not draw all."""
    arch = around.function.arch
    if random.random() < _GUARDED:
        one = replace(one, guard=Guard("P", 1, random.random() < 0.5))  # one of two
    facts = load(arch).facts(one)
    assert facts is not None, one.text
    worlds = Worlds(random, warps * LANES)
    contents, held = _contents(worlds, facts.reads | facts.guard | (facts.writes if one.guard else 0))
    surroundings = _surroundings(worlds, one, around, warps)
    found, again = (all_outputs(one, arch, contents, surroundings, time) for time in (0, 77))
    sure = {name: words for name, words in found.items() if (words == again[name]).all()}
    if one.guard:
        runs = (contents[number("P1")] != 0) != one.guard.negated
        sure = {name: np.where(runs, words, contents[name]) for name, words in sure.items() if name in contents}
    if not sure:
        return False
    machine = SymbolicExecutor(around, {0: facts.writes}, 12)
    states = machine.run([worlds.state(held)], machine.plans(writers([one], {0: facts}), -1))
    allowed = np.zeros(worlds.count, dtype=np.bool_)
    for state in states:
        allowed |= worlds.allows(state, _results(state, sure))
    if not allowed.all():
        lane = int(np.argmin(allowed))
        was = {name: int(words[lane]) for name, words in contents.items()}
        raise AssertionError(one.guard, one.text, was, {name: int(words[lane]) for name, words in sure.items()}, held, states)
    return True


def _contents(worlds: Worlds, registers: int) -> tuple[dict[int, Numbers], dict[int, Known]]:
    """Return what registers hold in each world, and what is known of them."""
    contents: dict[int, Numbers] = {}
    held: dict[int, Known] = {}
    for name in numbers(registers):
        known, contents[name] = worlds.truth() if name in CONDITION_REGISTERS else worlds.word()
        if worlds.random.random() >= _UNKNOWN:
            held[name] = known
    if CARRY in contents:
        contents[CARRY] += contents.pop(ZERO) << 1
    return contents, held


def _surroundings(worlds: Worlds, one: Instruction, around: LaunchSymbols, warps: int) -> WarpInputs:
    """Return what the warps read beside registers: a word of the constant bank is one for each of them."""
    bank: dict[int, Numbers] = {}
    for operand in one.operands:
        if isinstance(operand, Constant) and operand.bank == 0:
            for offset in range(operand.offset & ~3, operand.offset + 8, 4):
                value = around.constant(offset)
                bank[offset] = worlds.members(worlds.state({}).range_of(value)).reshape(warps, LANES)[:, 0]
                _share(worlds, value, np.repeat(bank[offset], LANES))
    special: dict[str, Numbers] = {}
    for name in _SPECIAL if any(isinstance(operand, Special) for operand in one.operands) else ():
        special[name] = worlds.members(worlds.state({}).range_of(around.special(name)))
        _share(worlds, around.special(name), special[name])
    return WarpInputs(
        np.arange(7, 7 + warps, dtype=np.uint32),
        {name: words.astype(np.uint32).reshape(warps, LANES) for name, words in special.items()},
        lambda offset: bank.get(offset, np.full(warps, offset, dtype=np.int64)).astype(np.uint32),
        described(around.function.arch).short_immediates,
    )


def _share(worlds: Worlds, value: Value, words: Numbers) -> None:
    if value.symbol is not None:
        worlds.share(value.symbol, (words - value.range.low) & LAST)


def _results(state: SymbolicState, found: Mapping[int, Numbers]) -> list[tuple[Known, Numbers]]:
    """Return what a state says of registers that the machine has computed, with these words."""
    out: list[tuple[Known, Numbers]] = []
    for name, words in found.items():
        flags = ((CARRY, words & 1), (ZERO, words >> 1 & 1)) if name == CARRY else ((name, words),)
        out += [(known, part) for place, part in flags if (known := state.registers.get(place)) is not None]
    return out
