"""Loops that count down from a number minus a thread's index: that they end follows from the guard that keeps the index below a number."""

from hypothesis import example, given
from hypothesis import strategies as st

from listing import assemble
from sassan.ipet.loop_bounds import infer
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration

ARCH = "sm_80"
SIZE = 1 << 32
HALF = 1 << 31


def code(threads: int, guarded: int, start: int, factor: int) -> str:
    """Return a loop over start - factor x index, for indices below `guarded`."""
    return f"""
        S2R R0, SR_CTAID.X
        S2R R3, SR_TID.X
        IMAD R0, R0, {threads:#x}, R3
        ISETP.GE.AND P0, PT, R0, {guarded:#x}, PT
        @P0 EXIT
        MOV R5, {start:#x}
        IMAD R4, R0, {-factor % SIZE:#x}, R5
    loop:
        IADD3 R4, R4, -0x1, RZ
        ISETP.NE.AND P0, PT, R4, RZ, PT
        @P0 BRA loop
        EXIT"""


def bound_of(threads: int, blocks: int, guarded: int, start: int, factor: int) -> int | None:
    cfg = assemble(code(threads, guarded, start, factor), ARCH).graph()
    (loop,) = infer(cfg, tables.load(ARCH).facts, LaunchConfiguration((threads, 1, 1), (blocks, 1, 1)))
    return loop.bound


@given(st.integers(2, 1024), st.integers(2, 1 << 20), st.integers(1, 1 << 24), st.integers(1, 1 << 20), st.integers(1, 4))
@example(256, 10_000, 2_559_990, 1, 1)
@example(256, 10, 2500, 1, 2)
@example(64, 2, 1, 1, 1)
def test_a_guard_of_an_index_says_that_a_loop_ends(threads: int, blocks: int, guarded: int, rest: int, factor: int):
    indices = min(guarded, threads * blocks)
    start = factor * (indices - 1) + rest
    bound = bound_of(threads, blocks, guarded, start, factor)
    assert bound == start - 1 if start < HALF else bound is None or bound >= start - 1


@given(st.integers(2, 64), st.integers(2, 8), st.integers(1, 600), st.integers(0, 600), st.integers(-3, 3))
def test_no_bound_is_below_what_a_thread_does(threads: int, blocks: int, guarded: int, start: int, factor: int):
    starts = [(start - factor * index) % SIZE for index in range(min(guarded, threads * blocks))]
    bound = bound_of(threads, blocks, guarded, start, factor)
    assert bound is None or bound >= max((first - 1) % SIZE for first in starts)
