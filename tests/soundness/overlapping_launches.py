"""Tasks at random whose launches overlap on a small GPU, in any order of blocks: what their response times are held to.

The hardware is that of `memory_simulator`, with blocks of several kernels on an SM as far as its resources go. Each task releases its runs
with its period or later; a run has streams, with events between them; streams have priorities, or the dispatcher chooses as it likes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random

from sassan.app.task.overlap import OverlappingLaunches, TaskDemand, TaskSet
from sassan.ipet.sm.bounds import block_lifetime
from sassan.ipet.sm.overlap import OverlappingGrid
from soundness.memory_launches import LAUNCH_OVERHEAD, Kernel, claim, kernel
from soundness.memory_simulator import Access, Gpu, Launch, Path, _Block, _nothing, _Sm, _Warp

RESOURCES = ("warps", "registers", "shared")


@dataclass(frozen=True, slots=True)
class SharedKernel:
    """A kernel, and what a block of it takes of each resource of an SM."""

    kernel: Kernel
    needs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RandomTask:
    """A task: the kernels of each stream, pairs of (stream, place) that wait for another such pair, the period in cycles."""

    streams: tuple[tuple[SharedKernel, ...], ...]
    waits: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    period: int
    priorities: tuple[int, ...]

    @property
    def launches(self) -> Iterator[tuple[int, int, SharedKernel]]:
        """Yield each launch with its stream and its place there."""
        for stream, kernels in enumerate(self.streams):
            for place, each in enumerate(kernels):
                yield stream, place, each


@dataclass(frozen=True, slots=True)
class RandomSet:
    """Tasks on one GPU, whose SMs have so much of each resource."""

    gpu: Gpu
    capacity: tuple[int, ...]
    tasks: tuple[RandomTask, ...]


@dataclass(eq=False, slots=True)
class _Instance:
    """One launch of one run of a task."""

    run: _Run
    kernel: SharedKernel
    priority: int
    ahead: list[_Instance]
    waiting: list[_Block]
    blocks: list[_Block] = field(default_factory=list[_Block])
    ready: int | None = None
    """The tick at which its blocks may be given out, None until what it waits for is over."""
    over: bool = False


@dataclass(eq=False, slots=True)
class _Run:
    task: int
    released: int
    instances: list[_Instance] = field(default_factory=list[_Instance])
    ended: int | None = None


class OverlappingRuns(Launch):
    """One execution of the runs of all tasks; `released` says when those of each task start, in ticks."""

    def __init__(  # noqa: PLR0913 - what is drawn of an execution
        self,
        tasks: RandomSet,
        released: Sequence[Sequence[int]],
        random: Random,
        *,
        policy: str,
        victim: bool,
        worst: bool,
        hits: float = 0,
    ) -> None:
        """Take what is drawn of an execution; `policy` is how the dispatcher chooses, `victim`: some blocks always go last."""
        super().__init__(tasks.gpu, (), random, worst=worst, hits=hits)
        self._policy, self._capacity = policy, tasks.capacity
        self.runs, self.left = list[_Run](), 0
        self._needs, last = list[tuple[int, ...]](), dict[tuple[int, int], _Instance]()
        for at, task in enumerate(tasks.tasks):
            for tick in released[at]:
                run = _Run(at, tick)
                self._add(run, task, last, victim=victim and random.random() < 0.5)
                self.runs.append(run)
                self.after(tick, _nothing)

    def _add(self, run: _Run, task: RandomTask, last: dict[tuple[int, int], _Instance], *, victim: bool) -> None:
        placed = dict[tuple[int, int], _Instance]()
        for stream, place, shared in task.launches:
            ahead = [last[run.task, stream]] if (run.task, stream) in last else []
            instance = _Instance(run, shared, task.priorities[stream], ahead, [])
            instance.waiting = [self._block(shared, victim=victim) for _ in range(shared.kernel.blocks)]
            instance.blocks = list(instance.waiting)
            last[run.task, stream] = placed[stream, place] = instance
            run.instances.append(instance)
        for of, on in task.waits:
            placed[of].ahead.append(placed[on])

    def _block(self, shared: SharedKernel, *, victim: bool) -> _Block:
        block, kernel = _Block(len(self._needs)), shared.kernel
        self._needs.append(shared.needs)
        choices = [self._random.choice(kernel.choices(warp)) for warp in range(kernel.warps)]
        block.warps = [_Warp(kernel.paths[path], block, victim) for path in choices]
        return block

    @property
    def _unfinished(self) -> bool:
        return any(run.ended is None for run in self.runs)

    def _dispatch(self) -> None:
        for sm in self._sms:
            sm.blocks = [block for block in sm.blocks if not self._over(block)]
        self._advance()
        while self._may_dispatch <= self.now:
            waiting = [each for run in self.runs for each in run.instances if each.waiting and each.ready is not None]
            waiting = [each for each in waiting if (each.ready or 0) <= self.now]
            chosen = self._choose_instance(waiting)
            if chosen is None:
                return
            instance, sm = chosen
            block, ticks = instance.waiting.pop(0), self._gpu.dispatch * self._gpu.ticks
            for warp in block.warps:
                warp.may_issue = self.now + ticks
            sm.blocks.append(block)
            if ticks:
                self._may_dispatch = self.now + ticks
                self.after(ticks, _nothing)

    def _choose_instance(self, waiting: list[_Instance]) -> tuple[_Instance, _Sm] | None:
        """Return a launch and the SM that gets a block of it; None where one that waits has space nowhere, or none waits."""
        if not waiting:
            return None
        if self._policy == "worst":
            # Whatever fits goes first; then all wait as soon as one has no space.
            if not all(any(self._fits(sm, each) for sm in self._sms) for each in waiting):
                return None
            order = sorted(waiting, key=lambda each: sum(each.kernel.needs))
        elif self._policy == "any":
            order = self._random.sample(waiting, len(waiting))
        elif self._policy == "priority":
            order = sorted(waiting, key=lambda each: (-each.priority, each.ready))
        else:
            order = sorted(waiting, key=lambda each: (each.ready, -each.priority))
        for each in order:
            with_space = [sm for sm in self._sms if self._fits(sm, each)]
            if with_space:
                # Where the victims are, others are worst.
                crowded = [sm for sm in with_space if any(warp.victim for block in sm.blocks for warp in block.warps)]
                return each, self._random.choice(crowded if crowded and self._random.random() < 0.7 else with_space)
            if self._policy == "first":
                return None
        return None

    def _fits(self, sm: _Sm, instance: _Instance) -> bool:
        used = [0] * len(self._capacity)
        for block in sm.blocks:
            for at, need in enumerate(self._needs[block.number]):
                used[at] += need
        return all(taken + need <= most for taken, need, most in zip(used, instance.kernel.needs, self._capacity, strict=True))

    def _advance(self) -> None:
        """Find launches that are over, and those that may begin."""
        there = {id(block) for sm in self._sms for block in sm.blocks}
        for run in self.runs:
            for each in run.instances:
                if not each.over and each.ready is not None and not each.waiting:
                    each.over = all(id(block) not in there and not self._open[block.number] for block in each.blocks)
            if run.ended is None and all(each.over for each in run.instances):
                run.ended = self.now
        for run in self.runs:
            if run.released > self.now:
                continue
            for each in run.instances:
                if each.ready is None and all(other.over for other in each.ahead):
                    late = LAUNCH_OVERHEAD if self._worst else self._random.randint(0, LAUNCH_OVERHEAD)
                    each.ready = self.now + late * self._gpu.ticks
                    self.after(late * self._gpu.ticks, _nothing)
        self.left = max(self.left, self._dram.waiting + 1)

    def responses(self) -> list[tuple[int, Fraction]]:
        """Return the task of each run, and its response time in cycles."""
        self.run()
        return [(run.task, Fraction((run.ended or 0) - run.released, self._gpu.ticks)) for run in self.runs]


def demand(task: RandomTask, capacity: Sequence[int]) -> TaskDemand:
    """Return what is claimed of a task."""
    several = []
    for stream, _, shared in task.launches:
        claimed = claim(shared.kernel)
        memory = replace(claimed.memory, capacity=0)
        terms = replace(claimed, memory=memory).terms
        optima, warps = claimed.optima, shared.kernel.warps
        takes = {name: Fraction(need, most) for name, need, most in zip(RESOURCES, shared.needs, capacity, strict=True) if need}
        places = min(most // need for need, most in zip(shared.needs, capacity, strict=True) if need)
        grid = OverlappingGrid(
            shared.kernel.blocks, places, block_lifetime(optima, warps), optima.stall(warps), terms.memory, terms.launch, takes
        )
        several.append(OverlappingLaunches(grid, 1, len(task.streams[stream]), Fraction(0)))
    return TaskDemand(tuple(several), Fraction(task.period))


def claimed_set(tasks: RandomSet, once: Fraction = Fraction(0)) -> TaskSet:
    """Return what is claimed of tasks; a cycle is a microsecond."""
    return TaskSet([demand(task, tasks.capacity) for task in tasks.tasks], tasks.gpu.sms, 1, once)


def random_set(random: Random) -> RandomSet:
    """Return tasks at random, each with a period that its bound allows."""
    gpu = replace(kernel(random).gpu, early=False)
    capacity = tuple(random.randint(2, 8) for _ in RESOURCES)
    alone = random.random() < 0.3
    tasks = tuple(_task(random, gpu, capacity) for _ in range(1 if alone else random.randint(2, 3)))
    tasks = RandomSet(gpu, capacity, tasks)
    whole = sum(float(claimed_set(replace(tasks, tasks=(task,))).windows()[0].us) for task in tasks.tasks)  # type: ignore[index]
    periods = [int(whole * random.uniform(1.2, 4)) + 1 for _ in tasks.tasks]
    return replace(tasks, tasks=tuple(replace(task, period=period) for task, period in zip(tasks.tasks, periods, strict=True)))


def _task(random: Random, gpu: Gpu, capacity: Sequence[int]) -> RandomTask:
    streams = tuple(
        tuple(_shared(random, gpu, capacity) for _ in range(random.choice((1, 1, 2)))) for _ in range(random.choice((1, 1, 2, 3)))
    )
    launches = [(stream, place) for stream, kernels in enumerate(streams) for place in range(len(kernels))]
    # An event of an earlier stream: never a circle.
    waits = [(of, on) for of in launches for on in launches if on[0] < of[0] and random.random() < 0.2]
    return RandomTask(streams, tuple(waits), 1, tuple(random.randint(0, 2) for _ in streams))


def _shared(random: Random, gpu: Gpu, capacity: Sequence[int]) -> SharedKernel:
    drawn = kernel(random)
    held = -(-(gpu.sector + gpu.piece) // gpu.ticks)

    def fitted(path: Path) -> Path:
        """A path whose latencies hold the time of a sector of this GPU."""
        return tuple(replace(each, latency=each.latency + held) if isinstance(each, Access) else each for each in path)

    drawn = replace(
        drawn,
        gpu=gpu,
        blocks=random.randint(1, 6),
        paths=tuple(map(fitted, drawn.paths)),
        pieces=tuple(tuple(map(fitted, each)) for each in drawn.pieces),
    )
    big = random.random() < 0.3
    needs = tuple(
        random.randint(most // 2, most) if big and random.random() < 0.5 else random.randint(0, max(1, most // 3)) for most in capacity
    )
    return SharedKernel(drawn, (max(1, needs[0]), *needs[1:]))


@dataclass(frozen=True, slots=True)
class SetOutcome:
    """Tasks, the response times of their runs in one execution, and the bound of each, None where there is none."""

    tasks: RandomSet
    responses: tuple[tuple[int, Fraction], ...]
    left: Fraction

    def bounds(self, claimed: TaskSet | None = None) -> tuple[Fraction, ...] | None:
        """Return the bound of each task, that of another claim where one is given."""
        windows = (claimed or claimed_set(self.tasks, self.left)).windows()
        return None if windows is None else tuple(each.us for each in windows)


def execution(tasks: RandomSet, random: Random) -> SetOutcome:
    """Return what one execution of tasks takes."""
    released = []
    for task in tasks.tasks:
        first, ticks = random.choice((0, 0, random.randint(0, 30), random.randint(0, task.period))), tasks.gpu.ticks
        starts = [first]
        for _ in range(random.randint(0, 1) if len(tasks.tasks) > 1 else 0):
            starts.append(starts[-1] + task.period + random.choice((0, random.randint(0, 20))))
        released.append([start * ticks for start in starts])
    runs = OverlappingRuns(
        tasks,
        released,
        random,
        policy=random.choice(("first", "any", "priority", "worst", "worst")),
        victim=random.random() < 0.6,
        worst=random.random() < 0.6,
        hits=random.choice((0.0, 0.0, 0.3)),
    )
    responses = runs.responses()
    several = any(len(each) > 1 for each in released)
    return SetOutcome(tasks, tuple(responses), Fraction(runs.left * tasks.gpu.piece, tasks.gpu.ticks) if several else Fraction(0))


def outcomes(number: int, seed: int) -> Iterator[SetOutcome]:
    """Yield executions of random tasks that have bounds."""
    random, found = Random(seed), 0
    while found < number:
        outcome = execution(random_set(random), random)
        if outcome.bounds() is not None:
            found += 1
            yield outcome


def hold(number: int, seed: int) -> tuple[list[float], list[str]]:
    """Return bound / response time of every run of so many sets of tasks, and what is wrong."""
    ratios, wrong = list[float](), list[str]()
    for outcome in outcomes(number, seed):
        bounds = outcome.bounds()
        assert bounds is not None
        for task, response in outcome.responses:
            ratios.append(float(bounds[task] / response))
            if response > bounds[task]:
                wrong.append(f"{float(response)} cycles, bound {float(bounds[task])}: task {task} of {outcome.tasks}")
    return ratios, wrong
