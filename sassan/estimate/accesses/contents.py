"""Addresses that depend on the contents of memory: warps and their copies differ by nothing else."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sassan.estimate.warps import Sample
from sassan.estimate.watch import Executions, Key
from sassan.simt.values import Rows

Steps = npt.NDArray[np.int64]
_TABLE = 1 << 16
"""Bytes: words that are drawn from all bits lie further apart."""


def differ(seen: Mapping[Key, Sequence[Executions]], every: Mapping[Key, Executions], chosen: Sample, until: Steps) -> Mapping[Key, bool]:
    """Say of each access whether addresses differ where only the contents of memory do.

    The first execution of a lane is compared with the first one of the lane in the copy, and so on: which side of a divergence runs first
    differs between them. `until` is the step of each warp from which on iterations were leapt over: those of its copy may be others.
    """
    known: dict[tuple[int, ...], Sequence[_Matched]] = {}
    out: dict[Key, bool] = {}
    for key, some in every.items():
        # Accesses of a group have the same warps; of some, fewer lanes have addresses.
        together = some.active.shape[1], *(id(each.warps) for each in seen[key])
        if together not in known:
            known[together] = [_matched(some, warp, copy, until) for warp, copy in chosen.pairs]
        out[key] = any((some.addresses[here, lane] != some.addresses[there, lane]).any() for here, there, lane in known[together])
    return out


class _Matched(NamedTuple):
    """Executions of lanes of a warp, and beside them those of its copy."""

    executions: Rows
    others: Rows
    lane: Rows


def _matched(executions: Executions, warp: int, copy: int, until: Steps) -> _Matched:
    some, others = (_by_lane(executions, each, until) for each in (warp, copy))
    lengths = np.minimum(some.counts, others.counts)
    lane = np.repeat(np.arange(len(lengths)), lengths)
    turn = np.arange(len(lane)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return _Matched(some.executions[turn, lane], others.executions[turn, lane], lane)


class _ByLane(NamedTuple):
    """The executions in which each lane accesses memory, in their order: `counts` (32) of the first rows of `executions` (E, 32)."""

    executions: Rows
    counts: Rows


def _by_lane(executions: Executions, warp: int, until: Steps) -> _ByLane:
    executed = np.flatnonzero(executions.warps == warp)
    early = executed[executions.steps[executed] < until[warp]]
    executed = early if len(early) else executed
    active = executions.active[executed]
    return _ByLane(executed[np.argsort(~active, axis=0, kind="stable")], active.sum(axis=0))


def near(some: Executions, allocated: int | None) -> bool:
    """Say whether all addresses lie within as many bytes as are allocated, or within a table that few bits index."""
    return span(some) <= max(_TABLE, allocated or 0)


def span(some: Executions) -> int:
    """Return within how many bytes the addresses lie; 0 where no lane accesses any."""
    used = some.addresses[some.active]
    return int(used.max()) - int(used.min()) if used.size else 0
