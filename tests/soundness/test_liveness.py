"""A value that is read later is live: concrete warps read no register whose value was said to be dead."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from budget import few, part, some
from samples import EVERY, names, program
from sassan.ir import Function
from sassan.isa import tables
from sassan.isa.registers import names as spelled
from sassan.isa.registers import span
from sassan.registers.liveness import Liveness, liveness
from sassan.simt.code import ALWAYS, Condition, ExecutableBlock, ExecutableFunction, lower
from sassan.simt.machine import Limits, Machine
from sassan.simt.state import Session, SideOrder, lanes
from sassan.simt.values import Rows
from simt.uninterpreted import Uninterpreted, draw
from soundness import generator, generator_volta
from soundness.oracles import decoder_of, since_volta

RUNS = 16
GENERAL = span("R", 0, 256)


@dataclass
class Poison:
    """Marks, per thread, the registers that are said to be dead, until they are surely written; `read` are those that are read marked."""

    code: ExecutableFunction
    live: dict[int, int]
    read: set[tuple[int, str]] = field(default_factory=set)
    dead: np.ndarray | None = None

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        """Follow the visit of a block that is about to happen."""
        slots = {register: index for index, register in enumerate(self.code.registers)}
        if self.dead is None:
            self.dead = np.zeros((len(slots), len(session.warps.active), 32), np.bool_)
        active = lanes(session.warps.active[rows])
        for address, reads, writes, condition in _steps(self.code.blocks[block]):
            for register, slot in slots.items():
                if not self.live[address] >> register & 1:
                    self.dead[slot, rows] |= active
            for register in (*reads, *(test.register for test in condition.tests)):
                if (self.dead[slots[register], rows] & active).any():
                    self.read.add((address, next(spelled(1 << register))))
            if condition == ALWAYS:
                for register in writes:
                    self.dead[slots[register], rows] &= ~active


def _steps(block: ExecutableBlock) -> list[tuple[int, tuple[int, ...], tuple[int, ...], Condition]]:
    steps = [(each.instruction.address, (*each.reads, *each.gathered), each.writes, each.condition) for each in block.operations]
    if block.control is not None:
        steps.append((block.last, block.control.selector, (), block.control.condition))
    return steps


def read_dead(function: Function, live: Liveness, runs: int = RUNS) -> set[tuple[int, str]]:
    """Return the registers that concrete warps read although they are said to be dead."""
    code = lower(function, decoder_of(function))
    drawn = draw(7, runs)
    before = {each.address: known for each, known in zip(function.instructions, live.before, strict=True)}
    watch = Poison(code, before)
    order = SideOrder.RANDOM if since_volta(function.arch) else SideOrder.TAKEN_FIRST
    Machine(code, Uninterpreted(drawn), order, Limits(steps=60)).run(drawn.active, watch)
    return watch.read


def live_of(function: Function) -> Liveness:
    return liveness(function, tables.load(function.arch).facts)


@pytest.mark.slow
@pytest.mark.parametrize("arch", some(EVERY, of=4))
def test_samples_read_nothing_that_is_dead(arch: str):
    for name in few(names(arch)):
        for function in program(arch, name).functions:
            assert read_dead(function, live_of(function)) == set(), (arch, name)


@pytest.mark.parametrize("generate", [generator.program, generator_volta.program], ids=["maxwell", "volta"])
def test_random_programs_read_nothing_that_is_dead(generate):
    for seed in range(part(80)):
        function = generate(seed)
        assert read_dead(function, live_of(function)) == set(), seed


def test_a_register_that_is_missing_is_noticed():
    function = program("sm_80", "saxpy").functions[0]
    live = live_of(function)
    facts = [tables.load("sm_80").facts(each) for each in function.instructions]
    reading = [index for index, known in enumerate(facts) if known is not None and known.reads & GENERAL and known.writes]
    assert len(reading) > 3  # the machine has no use for what stores read
    for index in reading:
        known = facts[index]
        assert known is not None
        read = known.reads & GENERAL
        before = list(live.before)
        before[index] &= ~(read & -read)
        assert read_dead(function, replace(live, before=tuple(before))), index
