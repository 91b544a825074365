"""What an instruction leaves open is what it leaves of what was open before, joined with what it opens itself."""

from random import Random

import pytest

from sassan.domains.residuals import Residual
from sassan.isa.control import BARRIERS
from sassan.timing.control_ops import TimedOp
from sassan.timing.control_residuals import DOMAIN, NOTHING, _opened, after

UNITS = ("alu", "fma", "lsu")


def passed(residual: Residual, op: TimedOp) -> Residual:
    if op.drains:
        return NOTHING
    barriers = tuple(0 if op.clears >> barrier & 1 else max(left - op.least, 0) for barrier, left in enumerate(residual.barriers))
    units = {unit: left - op.least for unit, left in residual.units.items() if left > op.least}
    return Residual(barriers, units, max(residual.all - op.least, 0))


@pytest.mark.parametrize("seed", range(10))
def test_one_step_is_what_is_left_joined_with_what_is_opened(seed: int):
    dice, residual = Random(seed), NOTHING
    for _ in range(300):
        sets = tuple((dice.randrange(BARRIERS), dice.randrange(40)) for _ in range(dice.randrange(3)))
        least, bits = dice.randrange(16), dice.randrange(1 << BARRIERS)
        op = TimedOp(least, least, bits, bits, sets, dice.random() < 0.05, dice.randrange(40), dice.choice(UNITS), dice.randrange(12))
        expected = DOMAIN.join(passed(residual, op), _opened(op, op.least))
        residual = after(residual, (op,))
        assert residual == expected
