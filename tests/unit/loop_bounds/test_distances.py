"""Loops from the begin of a row to its end: both are known only as a multiple of the block's index, their distance is."""

from hypothesis import example, given
from hypothesis import strategies as st

from listing import assemble
from sassan.ipet.loop_bounds import infer
from sassan.isa import tables
from sassan.machine.launch import LaunchConfiguration

ARCH = "sm_80"
SIZE, HALF = 1 << 32, 1 << 31
BLOCKS, THREADS = 5, 64
MOST = 200
"""Iterations that are followed one by one."""
NEAR = st.sampled_from((0, 0, HALF - 1000, -HALF + 700, SIZE - 500, -300, 1 << 20))
COMPARE = {
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}


def code(row: int, start: int, end: int, step: int, relation: str) -> str:
    return f"""
        S2R R0, SR_CTAID.X
        S2R R3, SR_TID.X
        IMAD R5, R0, {row:#x}, R3
        IADD3 R5, R5, {start % SIZE:#x}, RZ
        MOV R6, {end % SIZE:#x}
        IMAD R2, R0, {row:#x}, R6
    loop:
        IADD3 R5, R5, {step % SIZE:#x}, RZ
        ISETP.{relation}.AND P0, PT, R5, R2, PT
        @P0 BRA loop
        EXIT"""


def number(word: int, is_signed: bool) -> int:
    return (word % SIZE ^ HALF) - HALF if is_signed else word % SIZE


def back_edges(first: int, right: int, step: int, relation: str) -> int:
    """Return how often a thread goes back, MOST at most."""
    name, _, kind = relation.partition(".")
    for count in range(MOST):
        first += step
        if not COMPARE[name](number(first, not kind), number(right, not kind)):
            return count
    return MOST


def bound_of(row: int, start: int, end: int, step: int, relation: str) -> int | None:
    cfg = assemble(code(row, start, end, step, relation), ARCH).graph()
    (loop,) = infer(cfg, tables.load(ARCH).facts, LaunchConfiguration((THREADS, 1, 1), (BLOCKS, 1, 1)))
    return loop.bound


def truth(row: int, start: int, end: int, step: int, relation: str) -> int:
    runs = ((row * block + start + thread, row * block + end) for block in range(BLOCKS) for thread in range(THREADS))
    return max(back_edges(first, right, step, relation) for first, right in runs)


@given(
    st.integers(0, 1 << 24),
    st.tuples(NEAR, st.integers(-3, 4)),
    st.integers(-400, 1500),
    st.sampled_from((1, 7, 64, 256, -1, -3, -128)),
    st.sampled_from(("LT", "LE", "LT.U32", "LE.U32", "GT", "GE", "GT.U32", "GE.U32")),
)
@example(1 << 10, (HALF - 1000, 4), 999, 1, "LE")
@example(1 << 10, (SIZE - 1000, 4), 999, 1, "LE.U32")
def test_no_thread_goes_back_more_often(row: int, place: tuple[int, int], length: int, step: int, relation: str):
    start = place[0] - row * place[1]
    bound = bound_of(row, start, start + length, step, relation)
    assert bound is None or bound >= min(MOST, truth(row, start, start + length, step, relation))


@given(st.integers(1 << 9, 1 << 24), st.integers(0, 1500), st.sampled_from((8, 64, 256)), st.sampled_from(("LT", "LE", "LT.U32", "LE.U32")))
def test_the_first_thread_goes_back_as_often_as_the_bound_says(row: int, length: int, step: int, relation: str):
    assert bound_of(row, 0, length, step, relation) == truth(row, 0, length, step, relation)


@given(st.integers(1 << 9, 1 << 24), st.integers(0, 1000), st.sampled_from((8, 64, 256)), st.sampled_from(("GT", "GE")))
def test_a_counter_that_goes_down(row: int, length: int, step: int, relation: str):
    assert bound_of(row, length, 0, -step, relation) == truth(row, length, 0, -step, relation)
