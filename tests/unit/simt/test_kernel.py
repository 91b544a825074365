"""Compiled code executes blocks as the values of a run do one operation after the other."""

from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from budget import part
from samples import EVERY, explored, names, program
from sassan.errors import SassanError
from sassan.estimate.deciding import Deciding
from sassan.ir import Function
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration
from sassan.simt import compiled
from sassan.simt.certain import Certainty
from sassan.simt.code import ExecutableFunction, Operation, lower
from sassan.simt.data import compute
from sassan.simt.decoder import TableDecoder
from sassan.simt.integers import Integers
from sassan.simt.launch_warps import Spot, warps_at
from sassan.simt.machine import new_session
from sassan.simt.slicing import control_slice
from sassan.simt.state import Session, SideOrder
from sassan.simt.values import LANES, PREDICATES, Moment

LAUNCH = LaunchConfiguration((64, 4, 1), (7, 3, 1))
SPOTS = [Spot((6, 2, 0), 7), Spot((0, 0, 0), 0), Spot((3, 1, 0), 4)]
KINDS = ("plain", "separate", "certain", "deciding")


@cache
def codes(arch: str) -> list[tuple[Function, ExecutableFunction]]:
    """Return all functions of the samples of an architecture that are lowered as a whole."""
    out: list[tuple[Function, ExecutableFunction]] = []
    for name in names(arch):
        for function in program(arch, name).functions:
            cfg = explored(function)
            decoder = TableDecoder(tables.load(arch).facts, cfg.calls, stack=True)
            with suppress(SassanError):  # a call that is not resolved has no rule
                out.append((function, lower(function, decoder)))
    return out


def session(function: Function, code: ExecutableFunction, kind: str, random: np.random.Generator) -> Session:
    """Return warps at the entry with registers full of words that are short, long, or near a border."""
    place, active = warps_at(function, LAUNCH, SPOTS, np.random.default_rng(1))
    values = Deciding(place, code, control_slice(code)) if kind == "deciding" else Integers(place, exchanges=True)
    made = new_session(code, values, active, SideOrder.TAKEN_FIRST, called=False)
    registers = made.warps.registers
    words = random.integers(0, 1 << 32, registers.shape, dtype=np.uint32)
    near = np.array([0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x10000], np.uint32)
    words = np.where(words & 1, words, near[words % len(near)])
    # In half of the registers all lanes hold the same.
    words = np.where(random.integers(0, 2, (len(registers), 1, 1)) > 0, words, words[:, :, :1])
    truths = np.array([register in PREDICATES for register in code.registers])
    registers[:] = np.where(truths[:, None, None], words >> 31, words)
    certainty = Certainty(code, len(SPOTS), [], [], values.results) if kind == "certain" else None
    if certainty is not None:
        certainty.words[:] = random.integers(0, 8, registers.shape) > 0
        certainty.entered(0, np.arange(len(SPOTS)), random.integers(0, 4, (len(SPOTS), LANES)) > 0, np.ones((len(SPOTS), LANES), np.bool_))
    return replace(made, certainty=certainty, separate=kind == "separate")


def state(made: Session) -> list[np.ndarray]:
    """Return all that a block may change."""
    out = [made.warps.registers]
    if made.certainty is not None:
        out += [made.certainty.words, np.array(sorted(made.certainty.torn))]
    if isinstance(made.values, Deciding):
        history = made.values.history
        assert history is not None
        out += [history.words, history.moved, history.lanes, history.steady, history.times, made.values.drawn]
        out += [] if made.values.unknown is None else [made.values.unknown]
    return out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arch", EVERY)
def test_a_block_does_the_same_compiled_and_interpreted(arch: str, kind: str):
    several = codes(arch)
    rows = 0
    for index in range(0, len(several), 1 + (len(several) - 1) // part(8 * len(several))):
        function, code = several[index]
        sessions = [session(function, code, kind, np.random.default_rng(index)) for _ in range(2)]
        one, two = sessions
        assert isinstance(two.values, Integers)
        blocks = compiled.of_run(code, two.values, two.warps.registers, two.certainty, separate=two.separate)
        assert blocks is not None
        blocks.compile()
        two = replace(two, compiled=blocks)
        random = np.random.default_rng(arch == "sm_61")
        for number in range(len(code.blocks)):
            rows += sum(len(each.writes) for each in blocks.parts(number) if not isinstance(each, Operation))
            here = np.flatnonzero(random.integers(0, 3, len(SPOTS)) > 0)
            executing = random.integers(0, 4, (len(here), LANES)) > 0
            at = Moment(here, np.full(len(here), number, np.uint32), executing)
            assert (compute(one, number, at) == compute(two, number, at)).all()
            for first, second in zip(state(one), state(two), strict=True):
                assert np.array_equal(first, second), (function.name, hex(code.blocks[number].address))
    assert rows > 100
