"""The response time of a task: its launches and copies one after the other, with what each leaves to the next.

docs/proofs/response-time.md proves what stands here. Exact: microseconds are fractions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sassan.app.estimating import EstimateResult
from sassan.app.launches import LaunchResult
from sassan.app.task.definition import TaskDefinition
from sassan.errors import Gap
from sassan.ipet.sm.hardware import ALONE_ON_DRAM, dirty
from sassan.launches import Launches, MemoryWrite
from sassan.plurals import count_of
from sassan.products import Product

ISOLATED = "isolated: nothing else is on the GPU from the start of the first launch to the end of the last one"
_IN_TURN = "launches and copies run one after the other, in the order of the recording"
_SUBMITTED = (
    "the host has submitted each launch and copy before the one ahead of it in the stream ends; it takes {us:g} us from that end to the "
    "start of the next, and as long to start the first"
)
_LEFT = (
    "earlier work leaves no more dirty sectors in L2 than its {kib} KiB before the first launch; a kernel leaves no more than the buffers "
    "that its arguments point to, a copy no more than its bytes; L2 writes each back once"
)
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


@dataclass(frozen=True, slots=True)
class TaskStep:
    """The `count` equal launches of one entry of the recording, with what is charged beside each launch, in microseconds.

    `copies` is the time of what is `copied` before a launch, None where a gap says that it is unknown. `dirty` is what earlier work leaves
    to write back: before the first of the launches, and before each other; `left` are the bytes that the last of them leaves.
    """

    launch: LaunchResult
    expected: EstimateResult | None
    between: Fraction
    copies: Fraction | None
    copied: ChargedCopies
    dirty: tuple[Fraction, Fraction]
    left: int
    gaps: tuple[Gap, ...] = ()

    @property
    def count(self) -> int:
        """How many launches there are."""
        return self.launch.launch.count

    @property
    def kernel(self) -> Fraction | None:
        """The bound of one launch in microseconds, None where there is none."""
        result = self.launch.result
        gpu = result.settings.gpu if result is not None else None
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
class TaskResponse:
    """The response time of a task on a GPU; `gaps` are those of the sequence itself."""

    definition: TaskDefinition
    gpu: Product
    recording: Launches
    steps: tuple[TaskStep, ...]
    gaps: tuple[Gap, ...] = ()

    @property
    def bound(self) -> Fraction | None:
        """The bound in microseconds, None where a part is unknown."""
        known = [each.bound for each in self.steps if each.bound is not None]
        return sum(known, Fraction(0)) if len(known) == len(self.steps) and not self.gaps else None

    @property
    def estimate(self) -> float | None:
        """The expected time in microseconds, None where a part is unknown."""
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
        return tuple(dict.fromkeys((*self.gaps, *(gap for each in self.steps for gap in each.every_gap))))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the bound rests on, each once; nothing where there is none."""
        return () if self.bound is None else tuple(dict.fromkeys((*self.own_assumptions, *self._of_launches())))

    @property
    def own_assumptions(self) -> tuple[str, ...]:
        """What the sum rests on beside the bounds of launches."""
        transfers = [write for each in self.steps for write in each.launch.launch.writes]
        rated = (_RATED.format(rate=float(self.definition.copy_rate)),) if self.definition.copy_rate is not None else ()
        outside = (_OUTSIDE,) if self.definition.copies_outside else rated
        copies = outside if any(write.source is None for write in transfers) else ()
        within = (_WITHIN,) if any(write.source is not None for write in transfers) else ()
        alone = (ALONE_ON_DRAM,) if self.gpu.integrated and self.gpu.dram_share == 1 else ()
        left = _LEFT.format(kib=self.gpu.l2_size)
        return (ISOLATED, *alone, _IN_TURN, _SUBMITTED.format(us=self.gpu.between_us), left, *copies, *within, _BACK)

    def of_launch(self, step: TaskStep) -> tuple[str, ...]:
        """What the bound of a launch rests on: earlier dirty sectors are charged here, and are no assumption."""
        makespan = step.launch.result.makespan if step.launch.result is not None else None
        grid = makespan.grid if makespan is not None else None
        texts = grid.assumptions if grid is not None and grid.value is not None else ()
        charged = dirty(self.gpu)
        return tuple(dict.fromkeys(text for text in (*texts, *step.launch.assumptions) if text != charged))

    def _of_launches(self) -> Iterator[str]:
        for each in self.steps:
            yield from self.of_launch(each)

    def ends(self) -> tuple[Fraction | None, ...]:
        """The latest end of each step, from the start of the task; None where it is unknown."""
        end: Fraction | None = Fraction(0)
        out: list[Fraction | None] = []
        for each in self.steps:
            end = None if end is None or each.bound is None else end + each.bound
            out.append(end)
        return tuple(out)


def response(
    definition: TaskDefinition,
    gpu: Product,
    recording: Launches,
    launches: Sequence[LaunchResult],
    estimates: Sequence[EstimateResult | None],
) -> TaskResponse:
    """Return the response time of the launches of a recording, all of them and in its order, each with its estimate."""
    between, steps = Fraction(str(gpu.between_us)), list[TaskStep]()
    l2 = (gpu.l2_size or 0) * _KIB
    every = [_copied(launch.launch.writes, definition) for launch in launches]
    lefts = [min(l2, _left_by(launch, gpu)) for launch in launches]
    charged = dirty_bytes(l2, [(copied.size, left) for copied, left in zip(every, lefts, strict=True)])
    for launch, expected, copied, left, (first, again) in zip(launches, estimates, every, lefts, charged, strict=True):
        copies = _copies(copied, definition, gpu)
        gaps = () if copies is not None else (_unrated(launch, copied),)
        steps.append(TaskStep(launch, expected, between, copies, copied, (_us(first, gpu), _us(again, gpu)), left, gaps))
    return TaskResponse(definition, gpu, recording, tuple(steps), tuple(_gaps(recording, gpu)))


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


def _gaps(recording: Launches, gpu: Product) -> Iterator[Gap]:
    """Yield what forbids a sum."""
    if not recording.launches:
        yield Gap(0, "no-launches", "the recording holds no launch")
    if recording.cut:
        yield Gap(0, "recording-cut", f"the recording was cut off {recording.cut}: later launches are missing")
    streams = {launch.stream for launch in recording.launches}
    if len(streams) > 1:
        yield Gap(0, "several-streams", f"the launches are on {len(streams)} streams, and may overlap: bounded are those of one stream")
    if any(launch.programmatic for launch in recording.launches):
        yield Gap(0, "overlapping-launch", "a launch may begin before the one ahead of it has ended (programmatic dependent launch)")
    if gpu.l2_size is None:
        yield Gap(0, "unknown-l2", f"how much L2 of {gpu.name} may hold dirty is unknown: l2_kib of a GPU file says it")
