"""The response time of a task: its launches and copies one after the other, with what each leaves to the next.

docs/proofs/response-time.md proves what stands here, docs/proofs/overlapping-launches.md where launches may overlap. Exact: microseconds
are fractions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sassan.app.estimating import EstimateResult
from sassan.app.launches import LaunchResult
from sassan.app.result import AnalysisResult
from sassan.app.task.definition import TaskDefinition
from sassan.app.task.overlap import (
    OverlappingLaunches,
    TaskDemand,
    TaskSet,
    in_turn,
    not_among_others,
    overlapping_grid,
)
from sassan.errors import Gap
from sassan.ipet.sm.bounds import Terms
from sassan.ipet.sm.hardware import ALONE_ON_DRAM, dirty, others_on
from sassan.launches import Launches, MemoryWrite
from sassan.plurals import count_of
from sassan.products import Product

ISOLATED = "isolated: nothing else is on the GPU from the start of the first launch to the end of the last one"
INTERFERED = "interfered: nothing but the tasks named is on the GPU, and their launches and copies overlap in any order"
_IN_TURN = "launches and copies run one after the other, in the order of the recording"
_STREAMS = "launches and copies of one stream run one after the other; those of other streams, and other tasks, whenever it is worst"
_SUBMITTED = (
    "the host has submitted each launch and copy before the one ahead of it in the stream ends; it takes {us:g} us from that end to the "
    "start of the next, and as long to start the first"
)
_LEFT = (
    "earlier work leaves no more dirty sectors in L2 than its {kib} KiB before the first launch; a kernel leaves no more than the buffers "
    "that its arguments point to, a copy no more than its bytes; L2 writes each back once"
)
_SEPARATE = (
    "no launch writes what another one that may overlap with it reads, each keeps to its SM's caches of constants what it reads again, "
    "and no block is preempted"
)
_PERIODIC = "no run of a task starts earlier than its period after the run before"
_BACK = "copies from the GPU to the host are not recorded, and not in the sum"
_WITHIN = "a copy within device memory reads and writes each byte of DRAM once, at the bandwidth given, and starts as a launch does"
_RATED = "copies from the host reach {rate:g} GB/s at least, and start as launches do"
_OUTSIDE = "copies from the host are no part of the task: they have ended before it starts"
_KIB = 1024


@dataclass(frozen=True, slots=True)
class ChargedCopies:
    """The copies and fills before a launch that belong to the task: how many there are, and their bytes, by the host and within memory."""

    host: int = 0
    host_bytes: int = 0
    within: int = 0
    within_bytes: int = 0

    @property
    def number(self) -> int:
        """How many there are."""
        return self.host + self.within

    @property
    def size(self) -> int:
        """The bytes that they write."""
        return self.host_bytes + self.within_bytes

    @property
    def moved(self) -> int:
        """The bytes that DRAM moves for them."""
        return self.host_bytes + 2 * self.within_bytes


@dataclass(frozen=True, slots=True)
class TaskStep:
    """The `count` equal launches of one entry of the recording, with what is charged beside each launch, in microseconds.

    `copies` is the time of what is `copied` before a launch, None where a gap says that it is unknown. `dirty` is what earlier work leaves
    to write back: before the first of the launches, and before each other; `left` are the bytes that the last of them leaves.
    Where others may overlap, `among` is the result beside them, and `added` what a launch adds to the time in which all end, in cycles.
    """

    launch: LaunchResult
    expected: EstimateResult | None
    between: Fraction
    copies: Fraction | None
    copied: ChargedCopies
    dirty: tuple[Fraction, Fraction]
    left: int
    gaps: tuple[Gap, ...] = ()
    among: AnalysisResult | None = None
    added: Terms | None = None
    interfered: bool = False

    @property
    def count(self) -> int:
        """How many launches there are."""
        return self.launch.launch.count

    @property
    def kernel(self) -> Fraction | None:
        """What one launch takes of the sum in microseconds: its bound, or what it adds; None where there is none."""
        result = self.launch.result
        gpu = result.settings.gpu if result is not None else None
        if self.interfered:
            terms, product = self.added, self.among.settings.gpu if self.among is not None else None
            whole = None if terms is None else terms.chain + terms.sm + terms.drain + terms.memory + terms.launch
            return None if whole is None or product is None else whole / product.boost_clock
        if gpu is None or self.launch.cycles is None or self.launch.us is None:
            return None
        return Fraction(self.launch.cycles, gpu.boost_clock)

    @property
    def bound(self) -> Fraction | None:
        """The bound of all of it, None where a part is unknown."""
        if self.kernel is None or self.copies is None:
            return None
        first, again = self.dirty
        return self.count * (self.kernel + self.between + self.copies) + first + (self.count - 1) * again

    @property
    def estimate(self) -> float | None:
        """The expected time of all of it in microseconds, None where a part is unknown."""
        known = self.expected.estimate if self.expected is not None else None
        if known is None or self.copies is None:
            return None
        return self.count * (known.us + float(self.between + self.copies))

    @property
    def every_gap(self) -> tuple[Gap, ...]:
        """Everything that forbids a bound."""
        known = (*self.launch.gaps, *self.gaps)
        result = self.launch.result
        if known or result is None or self.launch.cycles is not None:
            return known
        why = result.residency.why if result.residency is not None else ""
        return (Gap(result.function.entry, "unknown-occupancy", why or f"no bound of the grid was proved ({result.wcet.status})"),)


@dataclass(frozen=True, slots=True)
class OtherTask:
    """A task that shares the GPU: its launches, and how many `runs` of it may be going on while the task of interest runs."""

    definition: TaskDefinition
    recording: Launches
    steps: tuple[TaskStep, ...]
    runs: int = 0
    response: Fraction | None = None
    """The bound of its own response time in microseconds."""

    @property
    def bound(self) -> Fraction | None:
        """What all its runs add, in microseconds; None where a part is unknown."""
        known = [each.bound for each in self.steps if each.bound is not None]
        return self.runs * sum(known, Fraction(0)) if len(known) == len(self.steps) and self.runs else None


@dataclass(frozen=True, slots=True)
class TaskResponse:
    """The response time of a task on a GPU, alone or with `others`; `gaps` are those of the sequence itself.

    `interfered`: launches may overlap, its own on several streams or those of others.
    """

    definition: TaskDefinition
    gpu: Product
    recording: Launches
    steps: tuple[TaskStep, ...]
    gaps: tuple[Gap, ...] = ()
    others: tuple[OtherTask, ...] = ()
    interfered: bool = False

    @property
    def condition(self) -> str:
        """What else runs, in words."""
        return INTERFERED if self.interfered else ISOLATED

    @property
    def bound(self) -> Fraction | None:
        """The bound in microseconds, None where a part is unknown."""
        parts = [*(each.bound for each in self.steps), *(each.bound for each in self.others)]
        known = [each for each in parts if each is not None]
        return sum(known, Fraction(0)) if len(known) == len(parts) and not self.gaps else None

    @property
    def estimate(self) -> float | None:
        """The expected time in microseconds, where nothing else runs; None where a part is unknown."""
        known = [each.estimate for each in self.steps if each.estimate is not None]
        return sum(known) if known and len(known) == len(self.steps) else None

    @property
    def slack(self) -> Fraction | None:
        """The microseconds from the bound to the deadline, negative where it may be missed; None without one of both."""
        due = self.definition.deadline
        return None if due is None or self.bound is None else due - self.bound

    @property
    def utilisation(self) -> Fraction | None:
        """The part of the period that the bound takes, None without one of both."""
        period = self.definition.period
        return None if period is None or self.bound is None else self.bound / period

    @property
    def missed(self) -> bool:
        """Whether the deadline, or the end of the period, may be missed: there is a bound, and it is later."""
        late = self.utilisation is not None and self.utilisation > 1
        return late or (self.slack is not None and self.slack < 0)

    @property
    def every_gap(self) -> tuple[Gap, ...]:
        """Everything that forbids a bound of the task."""
        steps = (*self.steps, *(step for other in self.others for step in other.steps))
        return tuple(dict.fromkeys((*self.gaps, *(gap for each in steps for gap in each.every_gap))))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the bound rests on, each once; nothing where there is none."""
        return () if self.bound is None else tuple(dict.fromkeys((*self.own_assumptions, *self._of_launches())))

    @property
    def own_assumptions(self) -> tuple[str, ...]:
        """What the sum rests on beside the bounds of launches."""
        tasks = [(self.definition, self.steps), *((other.definition, other.steps) for other in self.others)]
        transfers = [(defined, write) for defined, steps in tasks for step in steps for write in step.launch.launch.writes]
        by_host = dict.fromkeys(defined for defined, write in transfers if write.source is None)
        rated = [_RATED.format(rate=float(defined.copy_rate)) for defined in by_host if defined.copy_rate is not None]
        copies = [*([_OUTSIDE] if any(defined.copies_outside for defined in by_host) else []), *rated]
        within = (_WITHIN,) if any(write.source is not None for _, write in transfers) else ()
        alone = (ALONE_ON_DRAM,) if self.gpu.integrated and self.gpu.dram_share == 1 else ()
        order = (_STREAMS, _SEPARATE, *((_PERIODIC,) if self.others else ())) if self.interfered else (_IN_TURN,)
        left = _LEFT.format(kib=self.gpu.l2_size)
        texts = (self.condition, *alone, *order, _SUBMITTED.format(us=self.gpu.between_us), left, *copies, *within, _BACK)
        return tuple(dict.fromkeys(texts))

    def of_launch(self, step: TaskStep) -> tuple[str, ...]:
        """What the bound of a launch rests on: earlier dirty sectors and other tasks are charged here, and are no assumption."""
        result = step.among if step.interfered else step.launch.result
        makespan = result.makespan if result is not None else None
        grid = makespan.grid if makespan is not None else None
        texts = grid.assumptions if grid is not None and grid.value is not None else ()
        charged = {dirty(self.gpu), dirty(replace(self.gpu, l2_size=None)), *((others_on(self.gpu),) if self.interfered else ())}
        return tuple(dict.fromkeys(text for text in (*texts, *step.launch.assumptions) if text not in charged))

    def _of_launches(self) -> Iterator[str]:
        for each in (*self.steps, *(step for other in self.others for step in other.steps)):
            yield from self.of_launch(each)

    def ends(self) -> tuple[Fraction | None, ...]:
        """The latest end of each step, from the start of the task; None where it is unknown, or where launches overlap."""
        end: Fraction | None = None if self.interfered else Fraction(0)
        out: list[Fraction | None] = []
        for each in self.steps:
            end = None if end is None or each.bound is None else end + each.bound
            out.append(end)
        return tuple(out)


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One run of a task as it was recorded and analyzed: each launch, with its estimate, and with its result among others that overlap."""

    definition: TaskDefinition
    recording: Launches
    launches: Sequence[LaunchResult]
    estimates: Sequence[EstimateResult | None]
    among: Sequence[AnalysisResult | None] = ()


def overlaps(recordings: Sequence[Launches]) -> bool:
    """Return whether launches may overlap: they are of several recordings, or on several streams."""
    return len(recordings) > 1 or any(len({launch.stream for launch in each.launches}) > 1 for each in recordings)


def response(gpu: Product, run: TaskRun, others: Sequence[TaskRun] = ()) -> TaskResponse:
    """Return the response time of a run of a task, on its own or while `others` run again and again.

    Where launches may overlap (`overlaps`), every run has its results among others, and each has a period if there are others.
    """
    recordings = [run.recording, *(other.recording for other in others)]
    gaps = tuple(_gaps(recordings, gpu))
    if not overlaps(recordings):
        return TaskResponse(run.definition, gpu, run.recording, _in_turn(run, gpu), gaps)
    tasks = [_overlapping(each, gpu) for each in (run, *others)]
    steps, windows = tasks, None
    if not gaps and all(step.among is not None and step.copies is not None and not step.every_gap for task in tasks for step in task):
        demands = [_demand(each, task) for each, task in zip((run, *others), tasks, strict=True)]
        known = TaskSet(demands, gpu.sms, gpu.boost_clock, _us((gpu.l2_size or 0) * _KIB, gpu))
        windows = known.windows()
        if windows is not None:
            among = windows[0].launches(demands)
            steps = [
                tuple(replace(step, added=known.added(each, among)) for step, each in zip(task, demand.launches, strict=True))
                for task, demand in zip(tasks, demands, strict=True)
            ]
            first = steps[0][0]
            steps[0] = (replace(first, dirty=(first.dirty[0] + _us((gpu.l2_size or 0) * _KIB, gpu), first.dirty[1])), *steps[0][1:])
        else:
            gaps = (Gap(0, "overload", "a run of one of the tasks may not have ended when the next one of it starts: there is no bound"),)
    seen = [
        OtherTask(
            each.definition,
            each.recording,
            of_task,
            windows[0].runs[at] if windows is not None else 0,
            windows[at].us if windows is not None else None,
        )
        for at, (each, of_task) in enumerate(zip(others, steps[1:], strict=True), 1)
    ]
    return TaskResponse(run.definition, gpu, run.recording, steps[0], gaps, tuple(seen), interfered=True)


def _in_turn(run: TaskRun, gpu: Product) -> tuple[TaskStep, ...]:
    """The steps of a task whose launches run one after the other."""
    between, steps = Fraction(str(gpu.between_us)), list[TaskStep]()
    l2 = (gpu.l2_size or 0) * _KIB
    every = [_copied(launch.launch.writes, run.definition) for launch in run.launches]
    lefts = [min(l2, _left_by(launch, gpu)) for launch in run.launches]
    charged = dirty_bytes(l2, [(copied.size, left) for copied, left in zip(every, lefts, strict=True)])
    for launch, expected, copied, left, (first, again) in zip(run.launches, run.estimates, every, lefts, charged, strict=True):
        copies = _copies(copied, run.definition, gpu)
        gaps = () if copies is not None else (_unrated(launch, copied),)
        steps.append(TaskStep(launch, expected, between, copies, copied, (_us(first, gpu), _us(again, gpu)), left, gaps))
    return tuple(steps)


def _overlapping(run: TaskRun, gpu: Product) -> tuple[TaskStep, ...]:
    """The steps of a task whose launches overlap with others, without what they add."""
    steps, l2 = list[TaskStep](), (gpu.l2_size or 0) * _KIB
    for launch, expected, among in zip(run.launches, run.estimates, run.among, strict=True):
        copied = _copied(launch.launch.writes, run.definition)
        copies = _copies(copied, run.definition, gpu)
        if copies is not None:
            # What DRAM moves for a copy may keep a launch waiting that runs beside it.
            copies += _us(copied.moved, gpu)
        gaps = (
            *(() if copies is not None else (_unrated(launch, copied),)),
            *(not_among_others(launch, among) if among is not None else ()),
        )
        left = min(l2, _left_by(launch, gpu))
        behind = _us(min(l2, left) + copied.size, gpu)
        between = Fraction(str(gpu.between_us))
        steps.append(TaskStep(launch, expected, between, copies, copied, (behind, behind), left, gaps, among, interfered=True))
    return tuple(steps)


def _demand(run: TaskRun, steps: Sequence[TaskStep]) -> TaskDemand:
    """What a run of a task asks of the GPU, all of which is known."""
    several = []
    for step, number in zip(steps, in_turn(run.launches), strict=True):
        grid = overlapping_grid(step.among) if step.among is not None else None
        assert grid is not None, "a launch without gaps has a bound"
        assert step.copies is not None
        several.append(OverlappingLaunches(grid, step.count, number, step.between + step.copies + step.dirty[1]))
    return TaskDemand(tuple(several), run.definition.period)


def dirty_bytes(l2: int, steps: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what each step is charged of dirty bytes: before its first launch, and before each other.

    Of a step, the bytes that are copied before each launch, and those that a launch leaves dirty; `l2` is how many that holds.
    """
    before, out = l2, list[tuple[int, int]]()
    for copied, left in steps:
        out.append((min(l2, before + copied), min(l2, left + copied)))
        before = left
    return out


def _us(size: int, gpu: Product) -> Fraction:
    """The microseconds in which DRAM moves so many bytes."""
    return Fraction(size) / (gpu.dram_rate * 1000)


def _left_by(launch: LaunchResult, gpu: Product) -> int:
    """The bytes that a launch leaves dirty, at most: as many as its buffers hold, where they are known."""
    result = launch.result
    shape = result.shape if result is not None else None
    full = (gpu.l2_size or 0) * _KIB
    if result is None or shape is None or shape.allocated is None:
        return full
    return full if any(moved.apart for moved in result.problem.traffic.moved.values()) else shape.allocated


def _copied(writes: Sequence[MemoryWrite], definition: TaskDefinition) -> ChargedCopies:
    """The copies before a launch that belong to the task."""
    host = [write.size for write in writes if write.source is None and not definition.copies_outside]
    within = [write.size for write in writes if write.source is not None]
    return ChargedCopies(len(host), sum(host), len(within), sum(within))


def _copies(copied: ChargedCopies, definition: TaskDefinition, gpu: Product) -> Fraction | None:
    """The microseconds of copies one after the other, with the time before each; None where what the host reaches is unknown."""
    if copied.host and definition.copy_rate is None:
        return None
    host = copied.host_bytes / (definition.copy_rate * 1000) if definition.copy_rate is not None else Fraction(0)
    starts = copied.number * (Fraction(str(gpu.launch_us)) + Fraction(str(gpu.between_us)))
    return starts + host + 2 * _us(copied.within_bytes, gpu)


def _unrated(launch: LaunchResult, copied: ChargedCopies) -> Gap:
    message = (
        f"how long {count_of(copied.host, 'copy or fill', 'copies or fills')} of {copied.host_bytes} bytes by the host before "
        f"{launch.launch.kernel} takes is unknown: --copies '12 GB/s' says what they surely reach, "
        "--copies outside that they are no part of the task"
    )
    return Gap(0, "copy-time", message)


def _gaps(recordings: Sequence[Launches], gpu: Product) -> Iterator[Gap]:
    """Yield what forbids a sum."""
    for recording in recordings:
        if not recording.launches:
            yield Gap(0, "no-launches", "the recording holds no launch")
        if recording.cut:
            yield Gap(0, "recording-cut", f"the recording was cut off {recording.cut}: later launches are missing")
        if any(launch.programmatic for launch in recording.launches):
            yield Gap(0, "overlapping-launch", "a launch may begin before the one ahead of it has ended (programmatic dependent launch)")
    if gpu.l2_size is None:
        yield Gap(0, "unknown-l2", f"how much L2 of {gpu.name} may hold dirty is unknown: l2_kib of a GPU file says it")
