"""Blocks whose warps run, ask engines, arrive at barriers and wait for them, on a simulated SM: written apart from `sassan.ipet`.

Time passes in slots. A warp that runs takes an issue slot for each step; a latency passes by itself. An engine serves what it was asked in
order, one job after the other, and a job is over a latency behind its service. Each barrier has one phase, with a number of arrivals, of
warps and of jobs; a wait is over when all have arrived. Who gets the issue slots, the adversary says.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from sassan.ipet.sm.bounds import Optima

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random


class Kind(Enum):
    """What a step of a warp does."""

    RUN = auto()
    LATENCY = auto()
    ASK = auto()
    ARRIVE = auto()
    WAIT = auto()


class Step(NamedTuple):
    """`number` is a count of slots, or a barrier; of what is asked, `number` slots of an engine, and the job arrives at `barrier`."""

    kind: Kind
    number: int
    engine: int = 0
    barrier: int = -1


@dataclass(frozen=True)
class Program:
    """The steps of each warp of a block, arrivals that each barrier expects, and the latency of each engine."""

    warps: tuple[tuple[Step, ...], ...]
    expected: tuple[int, ...]
    latencies: tuple[int, ...]
    issue: int

    def optima(self, *, engines: bool = True, latencies: bool = True, every: bool = True) -> Optima:
        """Return the optima by hand; the switches omit a term, as a wrong proof would."""
        own = [Fraction(sum(map(_own, steps))) for steps in self.warps]
        shares = [Fraction(sum(_share(step, self.issue) for step in steps)) for steps in self.warps]
        asked = sum((_asked(steps, self.latencies if latencies else (0,) * len(self.latencies)) for steps in self.warps), Fraction(0))
        whole = max(
            cost + _asked(steps, self.latencies) + sum(step.number for step in steps if step.kind is Kind.ASK)
            for cost, steps in zip(own, self.warps, strict=True)
        )
        alone = sum(own, Fraction(0)) if every else max(own)
        stall = max(shares)
        # Without the terms of engines, what they do is nobody's.
        return Optima(
            whole if every and engines and latencies else alone / len(own),
            stall,
            stall,
            barriers=True,
            block=sum(shares, Fraction(0)),
            alone=alone,
            engines=asked if engines else Fraction(0),
        )


def _own(step: Step) -> int:
    return step.number if step.kind in {Kind.RUN, Kind.LATENCY} else 1


def _share(step: Step, issue: int) -> Fraction:
    if step.kind is Kind.LATENCY:
        return Fraction(0)
    slots = Fraction(step.number if step.kind is Kind.RUN else 1, issue)
    return slots + (step.number if step.kind is Kind.ASK else 0)


def _asked(steps: Sequence[Step], latencies: Sequence[int]) -> Fraction:
    """Return what engines do for a warp: one latency for all that it asks between two waits."""
    total, batch = 0, 0
    for step in steps:
        if step.kind is Kind.ASK:
            total += step.number
            batch = max(batch, latencies[step.engine])
        elif step.kind is Kind.WAIT:
            total, batch = total + batch, 0
    return Fraction(total + batch)


def program(random: Random) -> Program:
    """Return a random block that does not hang: what is waited for stands earlier in some order of all steps."""
    number, engines = random.randint(1, 4), random.randint(1, 2)
    warps: list[list[Step]] = [[] for _ in range(number)]
    expected: list[int] = []
    for _ in range(random.randint(1, 6)):
        barrier = len(expected)
        arriving = random.sample(range(number), random.randint(0, number))
        jobs = random.randint(0 if arriving else 1, 2)
        for warp in arriving:
            warps[warp] += [*_work(random), Step(Kind.ARRIVE, barrier)]
        for _ in range(jobs):
            asking = random.randrange(number)
            warps[asking] += [*_work(random), Step(Kind.ASK, random.randint(1, 6), random.randrange(engines), barrier)]
        expected.append(len(arriving) + jobs)
        for warp in random.sample(range(number), random.randint(0, number)):
            warps[warp] += [*_work(random), Step(Kind.WAIT, random.randint(0, barrier))]
    for steps in warps:
        steps.extend(_work(random) or [Step(Kind.RUN, 1)])
    latencies = tuple(random.randint(0, 8) for _ in range(engines))
    return Program(tuple(map(tuple, warps)), tuple(expected), latencies, random.choice((1, 1, 2)))


def _work(random: Random) -> list[Step]:
    kinds = (Kind.RUN, Kind.LATENCY)
    return [Step(random.choice(kinds), random.randint(1, 4)) for _ in range(random.choice((0, 0, 1, 1, 2)))]


@dataclass
class _Warp:
    steps: deque[Step]
    block: int
    left: int = 0


@dataclass
class _Job:
    slots: int
    block: int
    barrier: int


class Simulation:
    """Some blocks that start together on an SM."""

    def __init__(self, of: Program, blocks: int, random: Random) -> None:
        """Take a program, and who decides what is served first."""
        self.of, self.random = of, random
        self.warps = [_Warp(deque(steps), block) for block in range(blocks) for steps in of.warps]
        self.queues: list[deque[_Job]] = [deque() for _ in of.latencies]
        self.late: list[tuple[int, int, int]] = []
        self.arrived = Counter[tuple[int, int]]()
        self.order = list(range(len(self.warps)))
        random.shuffle(self.order)
        self.keeps = random.random() < 0.7

    def run(self, most: int = 100_000) -> int:
        """Return the slots until all warps have ended, and what they asked is over."""
        for slot in range(most):
            self._settle(slot)
            if not any(warp.steps for warp in self.warps) and not any(self.queues) and not self.late:
                return slot
            self._slot(slot)
        raise AssertionError("the blocks hang")

    def _settle(self, slot: int) -> None:
        for end, block, barrier in [each for each in self.late if each[0] <= slot]:
            self.arrived[block, barrier] += 1
            self.late.remove((end, block, barrier))

    def _ready(self, warp: _Warp) -> bool:
        step = warp.steps[0]
        if step.kind is Kind.WAIT:
            return self.arrived[warp.block, step.number] >= self.of.expected[step.number]
        return step.kind is not Kind.LATENCY

    def _slot(self, slot: int) -> None:
        for queue, latency in zip(self.queues, self.of.latencies, strict=True):
            if queue:
                queue[0].slots -= 1
                if not queue[0].slots:
                    job = queue.popleft()
                    self.late.append((slot + 1 + latency, job.block, job.barrier))
        passing = [warp for warp in self.warps if warp.steps and warp.steps[0].kind is Kind.LATENCY]
        ready = [index for index in self._preferred() if self.warps[index].steps and self._ready(self.warps[index])]
        for index in ready[: self.of.issue]:
            self._issue(self.warps[index])
        for warp in passing:
            self._count(warp)

    def _preferred(self) -> Iterator[int]:
        if not self.keeps:
            self.random.shuffle(self.order)
        yield from self.order

    def _issue(self, warp: _Warp) -> None:
        step = warp.steps[0]
        if step.kind is Kind.RUN:
            self._count(warp)
            return
        if step.kind is Kind.ASK:
            self.queues[step.engine].append(_Job(step.number, warp.block, step.barrier))
        elif step.kind is Kind.ARRIVE:
            self.arrived[warp.block, step.number] += 1
        warp.steps.popleft()

    def _count(self, warp: _Warp) -> None:
        warp.left = (warp.left or warp.steps[0].number) - 1
        if not warp.left:
            warp.steps.popleft()
