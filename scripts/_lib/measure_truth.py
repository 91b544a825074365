"""Synthetic runs with a known undisturbed time: timer readings with the disturbances that Mazurek describes.

Every time is  truth * (1 + delay effect) + noise + disturbance + warm-up (first run of a group), all but the truth in fixed seconds, since
interrupts, task switches and launches last as long as they last, however long the kernel runs. Nothing here was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sassan.measure.samples import SampleGroup, Samples

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS = 20


@dataclass(frozen=True)
class World:
    """How runs are disturbed. Units: seconds; shares from 0 to 1.

    `noise`: scale of an additive exponential (the launch); `clock`: deviation of a symmetric error of the clock; `tail`: share of runs that
    a heavy tail (Pareto, `tail_index`) of scale `tail_scale` hits; `sticky`: probability that a run is hit because the one before was;
    `warm_up`: what the first run takes longer, at least; `per_second`: and in addition per second of the kernel. `bimodal`: a delay above
    `late` makes this share of runs slower by `slower` (a fraction of the truth); delays up to `early` make runs slower in proportion.
    `resolution`: steps of the clock. `boost`: share of runs that a higher frequency makes faster by `faster` (a fraction of the truth).
    """

    name: str
    noise: float = 4e-6
    clock: float = 0.0
    tail: float = 0.0
    tail_scale: float = 1e-4
    tail_index: float = 1.5
    sticky: float = 0.0
    warm_up: float = 5e-4
    per_second: float = 2e-3
    bimodal: float = 0.0
    slower: float = 0.0
    linear: float = 0.0
    early: float = 2.1
    late: float = 4.3
    resolution: float = 0.0
    boost: float = 0.0
    faster: float = 0.0


QUIET = World("quiet")
TAILS = World("long-tails", tail=0.05)
STICKY = World("dependent-tails", tail=0.05, sticky=0.8)
SYMMETRIC = World("symmetric-clock", noise=0.0, clock=4e-6)
COARSE = World("coarse-clock", resolution=7e-6)
BOOST = World("boost", tail=0.05, boost=0.02, faster=0.05)
WORLDS = (QUIET, TAILS, STICKY, SYMMETRIC, COARSE, BOOST)
"""One thing at a time: only additive noise; 5 % of the runs hit by a heavy tail; hits in bursts; a clock that errs to both sides; one
that counts in steps of 7 us; and a GPU whose frequency is sometimes higher."""
DELAYS = World("bimodal-delays", tail=0.02, bimodal=0.6, slower=0.8, linear=0.15)
ALWAYS = World("always-late", tail=0.02, bimodal=1.0, slower=0.8, linear=0.15)
DELAYED = (DELAYS, ALWAYS)
"""Fig. 7 as its text describes it: linear up to 2.1 s of delay, nothing up to 4.3 s, beyond that 60 % of the runs, or all, far slower."""


@dataclass(frozen=True)
class Shape:
    """How many groups of how many runs, at which delays in seconds."""

    groups: int = 1
    runs: int = RUNS
    delays: tuple[float, ...] = (0.0,)


def group(world: World, truth: float, random: np.random.Generator, *, runs: int = RUNS, delay: float = 0.0) -> tuple[float, ...]:
    """Return the runs of one group, warm-up first."""
    early = world.linear * min(delay, world.early) / world.early if delay <= world.early else 0.0
    late = (random.random(runs) < world.bimodal) * world.slower if delay > world.late else np.zeros(runs)
    quick = (random.random(runs) < world.boost) * world.faster
    times = truth * (1 + early + late - quick)
    times += random.exponential(1.0, runs) * world.noise + random.normal(0.0, 1.0, runs) * world.clock
    times += _hits(world, runs, random) * random.pareto(world.tail_index, runs) * world.tail_scale
    times[0] += world.warm_up * (1 + random.exponential(0.3)) + world.per_second * truth
    if world.resolution:
        times = np.round(times / world.resolution) * world.resolution
    return tuple(float(time) for time in np.maximum(times, world.resolution or 1e-9))


def samples(world: World, seed: int, truths: Sequence[float], shape: Shape) -> Samples:
    """Return groups for every truth and delay; `size` is the truth in seconds where there are several."""
    random = np.random.default_rng(seed)
    made: list[SampleGroup] = []
    for truth in truths:
        for _ in range(shape.groups):
            for delay in shape.delays:
                size = truth if len(truths) > 1 else None
                made.append(SampleGroup(len(made), group(world, truth, random, runs=shape.runs, delay=delay), delay, delay, size))
    known = {"kernel": f"world '{world.name}'", "seed": str(seed), "truth": " ".join(f"{truth:g}" for truth in truths)}
    return Samples(tuple(made), {"device": "none: synthetic", **known})


def _hits(world: World, runs: int, random: np.random.Generator) -> np.ndarray:
    """Return which runs are in the tail: a Markov chain with the stationary share `tail`."""
    if not world.sticky:
        return random.random(runs) < world.tail
    enter = world.tail * (1 - world.sticky) / (1 - world.tail)
    state, hits = bool(random.random() < world.tail), []
    for draw in random.random(runs):
        hits.append(state)
        state = bool(draw < (world.sticky if state else enter))
    return np.array(hits)
