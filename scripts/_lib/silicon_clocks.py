"""At which clock the SMs ran each configuration of a tuning space, where its runs say so.

A GPU that was idle, as while a tuner compiles, may begin at its base clock and reach the boost clock after some 0.1 s of work. Runs of one
configuration then become faster by the ratio of both clocks, at once. Where a recording shows that, what ran for too short a time to speed
up, behind others as short, ran at base clock; of the rest the clock is not known, since a GPU keeps its clock for a second or two.
"""

from __future__ import annotations

from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sassan.products import Product
    from sassan.recorded import TuningSpace

_NEAR = 0.05
"""How far the ratio of times may be from that of clocks."""
_SHOWN = 3
"""Configurations that show a change of the clock at least."""
_BEFORE = 2
"""Configurations that may keep the clock high for the next one."""
_PART = 4
"""Parts of the runs of a configuration, of which the first and the last are compared."""


def clocks(space: TuningSpace, product: Product) -> tuple[int | None, ...]:
    """Return the clock in MHz of each configuration, None where it is not known; the boost clock where nothing says that it changed."""
    runs = [each.times_ms if each.valid else () for each in space.configurations]
    ratio = product.boost_clock / product.base_clock if product.base_clock else 1.0
    changes = [work for some in runs if (work := _until_faster(some, ratio)) is not None]
    if len(changes) < _SHOWN:
        return (product.boost_clock,) * len(runs)
    # Whatever ran for half of the shortest time that a change took did not see one.
    short = min(changes) / 2
    work = [sum(some) for some in runs]
    return tuple(product.base_clock if max(work[max(0, place - _BEFORE) : place + 1]) < short else None for place in range(len(work)))


def _until_faster(runs: Sequence[float], ratio: float) -> float | None:
    """Return the time in ms of all runs before they become faster by a ratio; None where they do not."""
    part = len(runs) // _PART
    if not part or ratio < 1 + 2 * _NEAR:
        return None
    slow, fast = median(runs[:part]), median(runs[-part:])
    if abs(slow / fast / ratio - 1) > _NEAR:
        return None
    return next(work for work, each in zip(accumulate(runs), runs, strict=True) if each < (slow + fast) / 2)
