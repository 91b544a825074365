"""What loads find in L1: a cache of the sectors that were used last, for the warps of each block."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

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
    if _most(loads, chosen) <= kept * chosen.warps:
        return _first(loads, sorted(order), chosen)
    requested, missed = dict.fromkeys(loads, 0), dict.fromkeys(loads, 0)
    caches: dict[int, OrderedDict[int, None]] = {}
    looked = 0
    most = kept * chosen.warps
    for _, key, warp, index in sorted(order):
        some = loads[key]
        sectors = dict.fromkeys((some.addresses[index][some.active[index]] // SECTOR).tolist())
        held = caches.setdefault(chosen.number(warp), OrderedDict())
        refresh, misses = held.move_to_end, 0
        for sector in sectors:
            if sector in held:
                refresh(sector)
            else:
                misses += 1
                held[sector] = None
                if len(held) > most:
                    held.popitem(last=False)
        requested[key] += len(sectors)
        missed[key] += misses
        looked += len(sectors)
        if looked > _TRACED:
            break
    return {key: missed[key] / requested[key] for key in loads if requested[key]}


def _most(loads: Mapping[Key, Executions], chosen: Sample) -> int:
    """Return how many different sectors the warps of a block request at most."""
    numbers = np.array([chosen.number(warp) for warp in range(len(chosen))])
    parts: dict[int, list[npt.NDArray[np.uint32]]] = {}
    for some in loads.values():
        of_some = numbers[some.warps]
        for number in np.unique(of_some).tolist():
            parts.setdefault(number, []).append(np.unique(some.addresses[of_some == number][some.active[of_some == number]] // SECTOR))
    return max((len(np.unique(np.concatenate(several))) for several in parts.values()), default=0)


def _first(loads: Mapping[Key, Executions], order: Sequence[tuple[int, Key, int, int]], chosen: Sample) -> Mapping[Key, float]:
    """Return the same where L1 keeps every sector: a load misses those that its block has not requested before."""
    requested, missed = dict.fromkeys(loads, 0), dict.fromkeys(loads, 0)
    held: dict[int, set[int]] = {}
    looked = 0
    for _, key, warp, index in order:
        some = loads[key]
        sectors = set((some.addresses[index][some.active[index]] // SECTOR).tolist())
        known = held.setdefault(chosen.number(warp), set())
        requested[key] += len(sectors)
        missed[key] += len(sectors - known)
        known |= sectors
        looked += len(sectors)
        if looked > _TRACED:
            break
    return {key: missed[key] / requested[key] for key in loads if requested[key]}
