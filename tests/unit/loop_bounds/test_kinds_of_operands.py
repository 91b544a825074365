"""Code that no compiler takes: predicates where words belong, and the other way round."""

import pytest

from sassan.app.analysis import analyze
from sassan.app.settings import Settings
from sassan.frontend import read
from sassan.source import Source

LOOP = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u32 n) {
    .reg .pred %p<4>;
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [n];
    setp.eq.s32 %p1, %r1, 0;
    mov.u32 %r2, 0;
again:
    add.s32 %r2, STEP, %r2;
    setp.lt.s32 %p2, %r2, 10;
    @%p2 bra again;
    ret;
}
"""


@pytest.mark.parametrize(("step", "bound"), [("1", 9), ("%p1", None), ("%p2", None)])
def test_a_sum_of_predicates_is_not_followed(step: str, bound: int | None):
    (function,) = read(Source("made.ptx", LOOP.replace("STEP", step))).functions
    assert analyze(function, Settings()).bounds.of_loop == (bound,)
