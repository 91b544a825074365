"""The vectorised machine against its plain twin: every run takes the same steps."""

from collections import Counter

import pytest

from budget import part
from sassan.simt.code import lower
from sassan.simt.machine import Limits, Machine
from sassan.simt.slicing import control_slice
from sassan.simt.state import Order, RunStatus
from sassan.simt.trace import Outcome
from simt.plain import PlainRun
from simt.uninterpreted import Uninterpreted, draw
from soundness import generator_volta
from soundness.generator import program
from soundness.maxwell import Maxwell
from soundness.volta import Volta

SEEDS = range(0, part(40, of=2), 2)
RUNS, STEPS = 10, 100


def outcome(seed: int, *, sliced: bool) -> Outcome:
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


@pytest.mark.parametrize("seed", range(0, part(36, of=2), 2))
def test_the_plain_machine_takes_the_same_steps_since_volta(seed: int):
    function = generator_volta.program(seed)
    code, runs = lower(function, Volta(function)), draw(seed, RUNS)
    found = Machine(code, Uninterpreted(runs), Order.RANDOM, Limits(steps=STEPS)).run(runs.active)
    for run in range(RUNS):
        plain = PlainRun(code, runs, run, order=Order.RANDOM)
        plain.execute(STEPS)
        counted = {step: int(count) for step, count in zip(found.transitions, found.counts[run], strict=True) if count}
        assert (counted, bool(plain.fault)) == (Counter(plain.path), found.status[run] == RunStatus.FAULT)


@pytest.mark.parametrize("seed", range(0, 36, 4))
def test_the_control_slice_takes_the_same_paths_since_volta(seed: int):
    function = generator_volta.program(seed)
    code, runs = lower(function, Volta(function)), draw(seed, RUNS)
    whole, part = (
        Machine(one, Uninterpreted(runs), Order.RANDOM, Limits(steps=STEPS)).run(runs.active) for one in (code, control_slice(code))
    )
    assert (whole.transitions, whole.counts.tolist()) == (part.transitions, part.counts.tolist())
