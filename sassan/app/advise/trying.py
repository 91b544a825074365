"""Remedies of a launch, each tried by estimating again, and what binds where none helps."""

from collections.abc import Iterator
from dataclasses import dataclass

from sassan.app.advise.accesses import coalesced, conflict_free
from sassan.app.advise.atomic_operations import aggregated
from sassan.app.advise.branches import merged
from sassan.app.advise.clusters import clustered
from sassan.app.advise.launching import occupied, other_blocks, whole_waves
from sassan.app.advise.loops import prefetched, unrolled
from sassan.app.advise.operations import cheaper
from sassan.app.advise.register_tiles import tiled_in_registers
from sassan.app.advise.remedy import Advice, AdviceCode, LaunchedKernel, Remedy, RemedyFamily
from sassan.app.advise.reuse import kept_in_shared_memory
from sassan.app.advise.sharing import copied_directly
from sassan.app.advise.stack import kept_in_registers
from sassan.app.advise.widening import widened
from sassan.app.estimating import EstimateResult
from sassan.app.result import AnalysisResult
from sassan.errors import Gap
from sassan.estimate.launch import WAITS
from sassan.estimate.policy import Policy

THRESHOLD = 0.02
"""The part of the time of a launch that a remedy has to gain; estimates are not finer than that."""
FAMILIES: tuple[RemedyFamily, ...] = (
    coalesced,
    conflict_free,
    widened,
    occupied,
    other_blocks,
    whole_waves,
    kept_in_registers,
    cheaper,
    merged,
    prefetched,
    unrolled,
    aggregated,
    copied_directly,
    kept_in_shared_memory,
    tiled_in_registers,
    clustered,
)


@dataclass(frozen=True, slots=True)
class AdvisedLaunch:
    """The estimate of a launch, with what is advised, best first; its time counts `times` in the `total` us of a program."""

    estimate: EstimateResult
    advice: tuple[Advice, ...] = ()
    times: float = 1.0
    total: float | None = None

    @property
    def analysis(self) -> AnalysisResult:
        """The analysis of the kernel."""
        return self.estimate.analysis

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Why there is no estimate, and so no advice."""
        return self.estimate.gaps


def advised(estimate: EstimateResult, *, policy: Policy = Policy.OLDEST, times: float = 1.0, total: float | None = None) -> AdvisedLaunch:
    """Return what is advised for a launch: every remedy that gains enough, by its gain; `policy`: that of the estimate."""
    if estimate.estimate is None or estimate.prepared is None:
        return AdvisedLaunch(estimate, (), times, total)
    launched = LaunchedKernel(estimate.analysis, estimate.prepared, estimate.estimate, policy)
    best: dict[tuple[AdviceCode, tuple[int, ...]], Advice] = {}
    for tried in _tried(launched):
        key = tried.remedy.code, tried.remedy.places
        if tried.gain >= THRESHOLD * launched.known.us and (key not in best or tried.gain > best[key].gain):
            best[key] = tried
    return AdvisedLaunch(estimate, tuple(sorted(best.values(), key=lambda each: -each.gain)), times, total)


def remedies(launched: LaunchedKernel) -> Iterator[Remedy]:
    """Yield all remedies that there are to try."""
    for family in FAMILIES:
        yield from family(launched)


def _tried(launched: LaunchedKernel) -> Iterator[Advice]:
    for remedy in remedies(launched):
        us = remedy.changed.estimate(policy=launched.policy).us
        yield Advice(remedy, us, launched.known.us - us)


def binding(advised_launch: AdvisedLaunch) -> str | None:
    """Return what binds a launch, as a sentence: `dram is busy for 92 % of the time`; None where there is no estimate."""
    known = advised_launch.estimate.estimate
    if known is None:
        return None
    resource = {"shared": "memory", "l1": "memory"}.get(known.bound_by, known.bound_by)
    share = known.shares[resource]
    says = {
        "latency": "warps wait for results for {} of the time",
        "barrier": "warps wait at barriers for {} of the time",
        "tail": "places of SMs have no block for {} of the time",
        "launch": "the start of a launch takes {} of the time",
    }
    text = says[known.bound_by] if known.bound_by in WAITS else f"{known.bound_by} is busy for {{}} of the time"
    return text.format(f"{100 * min(1.0, share):.0f} %")
