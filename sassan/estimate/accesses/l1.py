"""What loads find in L1: a cache of the sectors that were used last, for the warps of each block."""

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np

from sassan.access.transactions import SECTOR
from sassan.estimate.warps import Sample
from sassan.estimate.watch import Executions, Key

_TRACED = 200_000
"""Sectors that are looked up in a cache, at most."""


def fresh(loads: Mapping[Key, Executions], chosen: Sample, kept: float) -> Mapping[Key, float]:
    """Return which part of its sectors each load does not find in L1: the warps of each block run side by side."""
    order = [
        (int(some.steps[index]), key, int(some.warps[index]), index)
        for key, some in loads.items()
        for index in np.flatnonzero(chosen.inner[some.warps]).tolist()
    ]
    requested, missed = dict.fromkeys(loads, 0), dict.fromkeys(loads, 0)
    caches: dict[int, OrderedDict[int, None]] = {}
    looked = 0
    for _, key, warp, index in sorted(order):
        some = loads[key]
        sectors = dict.fromkeys((some.addresses[index][some.active[index]] // SECTOR).tolist())
        held = caches.setdefault(chosen.number(warp), OrderedDict())
        requested[key] += len(sectors)
        for sector in sectors:
            if sector in held:
                held.move_to_end(sector)
            else:
                missed[key] += 1
                held[sector] = None
                if len(held) > kept * chosen.warps:
                    held.popitem(last=False)
        looked += len(sectors)
        if looked > _TRACED:
            break
    return {key: missed[key] / requested[key] for key in loads if requested[key]}
