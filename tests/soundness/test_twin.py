"""The vectorised machine against its plain twin: every run takes the same steps."""

from collections import Counter
from random import Random

import pytest

from budget import part, some
from sassan.simt.code import ExecutableFunction, lower
from sassan.simt.machine import Limits, Machine
from sassan.simt.slicing import control_slice, live_slice
from sassan.simt.state import RunStatus, Session, SideOrder, lanes
from sassan.simt.trace import RunOutcome
from sassan.simt.values import Rows
from simt.plain import PlainRun
from simt.uninterpreted import Runs, Uninterpreted, draw
from soundness import generator_volta
from soundness.generator import program
from soundness.maxwell import Maxwell
from soundness.volta import Volta

SEEDS = range(0, part(40, of=4), 2)
RUNS, STEPS = 10, 100


def outcome(seed: int, *, sliced: bool) -> RunOutcome:
    code, runs = lower(program(seed), Maxwell()), draw(seed, RUNS)
    code = control_slice(code) if sliced else code
    return Machine(code, Uninterpreted(runs), limits=Limits(steps=STEPS)).run(runs.active)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plain_machine_takes_the_same_steps(seed: int):
    code, runs, found = lower(program(seed), Maxwell()), draw(seed, RUNS), outcome(seed, sliced=False)
    for run in range(RUNS):
        plain = PlainRun(code, runs, run)
        plain.execute(STEPS)
        counted = {step: int(count) for step, count in zip(found.transitions, found.counts[run], strict=True) if count}
        assert counted == Counter(plain.path)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_control_slice_takes_the_same_paths(seed: int):
    whole, part = outcome(seed, sliced=False), outcome(seed, sliced=True)
    assert (whole.transitions, whole.counts.tolist()) == (part.transitions, part.counts.tolist())


@pytest.mark.parametrize("seed", range(0, part(36, of=4), 2))
def test_the_plain_machine_takes_the_same_steps_since_volta(seed: int):
    function = generator_volta.program(seed)
    code, runs = lower(function, Volta(function)), draw(seed, RUNS)
    found = Machine(code, Uninterpreted(runs), SideOrder.RANDOM, Limits(steps=STEPS)).run(runs.active)
    for run in range(RUNS):
        plain = PlainRun(code, runs, run, order=SideOrder.RANDOM)
        plain.execute(STEPS)
        counted = {step: int(count) for step, count in zip(found.transitions, found.counts[run], strict=True) if count}
        assert (counted, bool(plain.fault)) == (Counter(plain.path), found.status[run] == RunStatus.FAULT)


@pytest.mark.parametrize("seed", range(0, 36, 4))
def test_the_control_slice_takes_the_same_paths_since_volta(seed: int):
    function = generator_volta.program(seed)
    code, runs = lower(function, Volta(function)), draw(seed, RUNS)
    whole, part = (
        Machine(one, Uninterpreted(runs), SideOrder.RANDOM, Limits(steps=STEPS)).run(runs.active) for one in (code, control_slice(code))
    )
    assert (whole.transitions, whole.counts.tolist()) == (part.transitions, part.counts.tolist())


class Reader:
    """Reads some registers of the executing threads whenever warps enter a block."""

    def __init__(self, code: ExecutableFunction, seed: int) -> None:
        dice = Random(seed)
        some = [block.address for block in code.blocks if dice.random() < 0.4]
        self.reads = {address: frozenset(dice.sample(code.registers, min(2, len(code.registers)))) for address in some}
        self.words: list[tuple[int, ...]] = []

    def enter(self, session: Session, block: int, rows: Rows) -> None:
        for register in sorted(self.reads.get(session.code.blocks[block].address, ())):
            words = session.warps.registers[session.slots[register], rows]
            self.words.append(tuple(words[lanes(session.warps.active[rows])].tolist()))


def read_and_left_out(code: ExecutableFunction, runs: Runs, order: SideOrder, seed: int) -> int:
    """Hold what is executed and read of a live slice to that of the control slice; return how many operations it leaves out."""
    kept = Reader(code, seed)
    registers = frozenset(register for some in kept.reads.values() for register in some)
    code = control_slice(code, registers)
    live = live_slice(code, kept.reads)
    seen: list[tuple[object, ...]] = []
    for one in (code, live):
        reader = Reader(code, seed)
        reader.reads = kept.reads
        found = Machine(one, Uninterpreted(runs), order, Limits(steps=STEPS)).run(runs.active, reader)
        seen.append((found.transitions, found.counts.tolist(), found.status.tolist(), reader.words))
    assert seen[0] == seen[1]
    return sum(len(block.operations) for block in code.blocks) - sum(len(block.operations) for block in live.blocks)


@pytest.mark.slow
@pytest.mark.parametrize("first", some(range(4), of=4))
def test_the_live_slice_takes_the_same_paths_and_leaves_the_same_to_read(first: int):
    left = [
        read_and_left_out(lower(program(seed), Maxwell()), draw(seed, RUNS), SideOrder.TAKEN_FIRST, seed)
        for seed in range(first, part(160, of=2), 4)
    ]
    assert sum(left) > 0


@pytest.mark.slow
@pytest.mark.parametrize("first", some(range(4), of=4))
def test_the_live_slice_takes_the_same_paths_and_leaves_the_same_to_read_since_volta(first: int):
    functions = [(seed, generator_volta.program(seed)) for seed in range(first, part(160, of=2), 4)]
    left = [read_and_left_out(lower(each, Volta(each)), draw(seed, RUNS), SideOrder.RANDOM, seed) for seed, each in functions]
    assert sum(left) > 0
