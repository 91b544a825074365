"""What an estimate says: how long, what binds, and why warps wait."""

from collections.abc import Mapping
from dataclasses import dataclass

from sassan.estimate.path import PathSource
from sassan.estimate.program import Stall
from sassan.estimate.timeline import Timeline


@dataclass(frozen=True, slots=True)
class StallShare:
    """Which share of all cycles of warps is spent before the instruction at an address, for one reason."""

    address: int
    reason: Stall
    share: float


@dataclass(frozen=True, slots=True)
class PathRow:
    """The cycles for which one warp on a path keeps each resource, and the resource that many such warps would wait for."""

    cycles: Mapping[str, float]
    bound_by: str


@dataclass(frozen=True, slots=True)
class LaunchEstimate:
    """`cycles` of a launch, from its start to its end, and what they are spent on.

    `shares` of the time: for which each resource is busy (`issue`, units, `memory`: the memory pipeline of an SM, `l2`, `dram`), and which
    goes to `latency`, `barrier`, `tail` (places of an SM without a block at the end), `launch`. `bound_by` is the largest that explains
    the time. `occupancy` is the mean share of the warps of an SM that are resident. `assumed` is the share of the time that rests on
    figures that no source gives. `source`: of the executions.
    `timeline` is that of the SM that was simulated.
    """

    cycles: float
    us: float
    gpu: str
    bound_by: str
    shares: Mapping[str, float]
    occupancy: float
    rows: Mapping[str, PathRow]
    stalls: tuple[StallShare, ...]
    assumed: float
    source: PathSource
    assumptions: tuple[str, ...]
    timeline: Timeline
