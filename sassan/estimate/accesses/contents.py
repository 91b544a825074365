"""Addresses that depend on the contents of memory: warps and their copies differ by nothing else."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sassan.estimate.warps import Sample
from sassan.estimate.watch import Executions, Key
from sassan.simt.values import Rows

Numbers = npt.NDArray[np.int64]


def differ(seen: Mapping[Key, Sequence[Executions]], every: Mapping[Key, Executions], chosen: Sample) -> Mapping[Key, bool]:
    """Say of each access whether addresses differ where only the contents of memory do."""
    known: dict[tuple[int, ...], tuple[Numbers, Numbers]] = {}
    out: dict[Key, bool] = {}
    for key, some in every.items():
        together = tuple(id(each.warps) for each in seen[key])  # accesses of a group have the same warps
        if together not in known:
            known[together] = _matched(some.warps, chosen)
        first, second = known[together]
        both = some.active[first] & some.active[second]
        out[key] = bool((both & (some.addresses[first] != some.addresses[second])).any())
    return out


def _matched(warps: Rows, chosen: Sample) -> tuple[Numbers, Numbers]:
    """Return the executions of warps, and beside them those of their copies."""
    first, second = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for warp, copy in chosen.pairs:
        some, others = np.flatnonzero(warps == warp), np.flatnonzero(warps == copy)
        count = min(len(some), len(others))
        first.append(some[:count])
        second.append(others[:count])
    return np.concatenate(first), np.concatenate(second)


def near(some: Executions, allocated: int | None) -> bool:
    """Say whether all addresses lie within as many bytes as are allocated."""
    used = some.addresses[some.active]
    return allocated is not None and int(used.max()) - int(used.min()) <= allocated
