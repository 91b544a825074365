"""Random launches for `memory_simulator`, and what the product's formulas bound them by.

The maxima over paths come from the paths themselves, by a plain recurrence of a warp that is alone on the GPU, with worst latencies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import chain, count, product
from random import Random

from sassan.access.traffic import Moved
from sassan.ipet.sm.bounds import Optima, Terms, grid_terms
from sassan.ipet.sm.gpu import GpuMemory, demand, dispatched, memory_time
from sassan.ipet.sm.residency import Grid
from sassan.ir import Instruction
from sassan.source import Span
from soundness.memory_simulator import Access, Barrier, Compute, Gpu, Launch, Operation, Path, Wait

SECTOR = 32
LAUNCH_OVERHEAD = 5
LAUNCHES = 5
"""Launches of one kernel."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """Paths that a warp may take, on a GPU, by a grid of `blocks` blocks of `warps` warps that touches `sectors` sectors.

    `pieces` are the alternatives of each piece between two barriers, where all paths wait at the same ones and any piece may follow any.
    `of_warps` are the numbers of the paths that each warp of a block may take, where it may not take all of them.
    """

    gpu: Gpu
    paths: tuple[Path, ...]
    blocks: int
    warps: int
    sectors: int
    pieces: tuple[tuple[Path, ...], ...] = ()
    of_warps: tuple[tuple[int, ...], ...] = ()

    def choices(self, warp: int) -> Sequence[int]:
        """Return the numbers of the paths that a warp of a block may take."""
        return self.of_warps[warp] if self.of_warps else range(len(self.paths))

    @property
    def barriers(self) -> bool:
        return any(isinstance(operation, Barrier) for path in self.paths for operation in path)


@dataclass(frozen=True, slots=True)
class Claim:
    """What the formulas are given: optima over the paths, the grid, what the operations of each path move, and the memory.

    `choices` are the paths of each warp of a block; `blocks` are those whose traffic counts.
    """

    optima: Optima
    grid: Grid
    moved: tuple[tuple[Moved, ...], ...]
    memory: GpuMemory
    choices: tuple[Sequence[int], ...]
    blocks: int

    @property
    def terms(self) -> Terms:
        """The parts of the bound of the grid."""
        # Each path is a node of a graph, and each of its operations an instruction with an address of its own.
        addresses = count()
        code = [[Instruction(next(addresses), 0, "LDG", (), None, Span(1, 1, 1)) for _ in path] for path in self.moved]
        taken = demand(code, dict(enumerate(chain(*self.moved))), self.memory)
        uncached, cached = (self._block(each) for each in (taken.uncached, taken.cached))
        time = memory_time(uncached, cached, self.blocks, self.memory, self.grid.allocated)
        return replace(
            grid_terms(self.optima, self.grid), memory=time, launch=self.memory.launch + dispatched(self.grid.blocks, self.memory)
        )

    @property
    def bound(self) -> int:
        """The bound of the grid."""
        return self.terms.total

    def _block(self, of_paths: Sequence[Fraction]) -> Fraction:
        """Return the sum of what the warps of a block take, each on its worst path."""
        return sum((max(of_paths[path] for path in some) for some in self.choices), Fraction(0))


def claim(kernel: Kernel) -> Claim:
    """Return what is claimed of a kernel."""
    gpu, paths = kernel.gpu, kernel.paths
    stall = share(kernel)
    pieces = [piece for path in paths for piece in _pieces(path)]
    optima = Optima(
        Fraction(max(alone(gpu, path) for path in paths)),
        stall,
        stall,
        kernel.barriers,
        Fraction(max(alone(gpu, piece) for piece in pieces)),
        max(sum(isinstance(operation, Barrier) for operation in path) for path in paths),
        Fraction(sum(max(alone(gpu, piece) for piece in some) for some in kernel.pieces)) if kernel.pieces else None,
        block_share(kernel) if kernel.of_warps else None,
    )
    memory = GpuMemory(
        Fraction(SECTOR * gpu.ticks, gpu.piece),
        Fraction(SECTOR * gpu.ticks, gpu.sector),
        kernel.sectors * SECTOR if gpu.caches else 0,
        LAUNCH_OVERHEAD,
        miss=0,
        dispatch=Fraction(gpu.dispatch),
    )
    grid = Grid(kernel.blocks, kernel.warps, gpu.sms, min(gpu.places, -(-kernel.blocks // gpu.sms)), buffers=(kernel.sectors * SECTOR,))
    choices = tuple(kernel.choices(warp) for warp in range(kernel.warps))
    return Claim(optima, grid, tuple(tuple(_moved(operation, gpu) for operation in path) for path in paths), memory, choices, kernel.blocks)


def _pieces(path: Path) -> Iterator[Path]:
    """Yield what lies between the barriers of a path."""
    piece: list[Operation] = []
    for operation in path:
        if isinstance(operation, Barrier):
            yield tuple(piece)
            piece = []
        else:
            piece.append(operation)
    yield tuple(piece)


def share(kernel: Kernel, *, pipeline: bool = True) -> Fraction:
    """Return the largest share of a path; without `pipeline`, accesses take nothing but their issue slot."""
    return max(_share_of_path(kernel, path, pipeline=pipeline) for path in kernel.paths)


def block_share(kernel: Kernel, *, pipeline: bool = True, worst: Callable[[Iterable[Fraction]], Fraction] = max) -> Fraction:
    """Return the sum over the warps of a block of the largest share of its paths."""
    of_paths = [_share_of_path(kernel, path, pipeline=pipeline) for path in kernel.paths]
    return sum((worst(of_paths[path] for path in kernel.choices(warp)) for warp in range(kernel.warps)), Fraction(0))


def _share_of_path(kernel: Kernel, path: Path, *, pipeline: bool) -> Fraction:
    return sum((_share(kernel.gpu, operation, pipeline=pipeline) for operation in path), Fraction(0))


def _share(gpu: Gpu, operation: Operation, *, pipeline: bool) -> Fraction:
    match operation:
        case Compute(unit, interval):
            return max(Fraction(interval, gpu.units[unit]), Fraction(1, gpu.issue))
        case Access():
            return max(Fraction(operation.cycles if pipeline else 0), Fraction(1, gpu.issue))
        case _:
            return Fraction(0)


def _moved(operation: Operation, gpu: Gpu) -> Moved:
    if not isinstance(operation, Access):
        return Moved()
    sectors = len(operation.sectors)
    atomics = sum(times for _, times in operation.atomics) * operation.operation * gpu.atomic
    moved = sectors * SECTOR
    # What an atomic operation changes is fetched and written back; so is a sector of which a part is stored.
    fetched = moved + operation.spare * SECTOR if atomics or not operation.writes else len(operation.parts) * SECTOR
    return Moved(operation.cycles, sectors, fetched, moved if operation.writes else 0, atomics)


def alone(gpu: Gpu, path: Iterable[Operation]) -> int:
    """Return how many cycles a warp takes that is alone, but for its own time in L2, DRAM and atomic units; a barrier waits for all."""
    now, pipeline, ends = 0, 0, list[int]()
    units = [[0] * count for count in gpu.units]
    for operation in path:
        match operation:
            case Compute(unit, interval, latency):
                copies = units[unit]
                now = max(now, min(copies))
                copies[copies.index(min(copies))] = now + interval
                ends.append(now + max(latency, interval))
                now += 1
            case Access():
                start = max(now, pipeline)
                pipeline = start + operation.cycles
                ends.append(pipeline + operation.latency)
                now = (now if gpu.queued else start) + 1
            case Wait(left):
                now = max([now, *ends[: max(len(ends) - left, 0)]])
            case Barrier():
                now = max([now, *ends])
    return max([now, *ends])


FOCUS = ("any", "compute", "pipeline", "l2", "dram", "atomic", "barriers", "latency")


def kernel(random: Random) -> Kernel:
    """Return a kernel in which often one resource has much to do."""
    focus = random.choice(FOCUS)
    issue, ticks, sectors = random.choice((1, 1, 2, 4)), random.choice((1, 1, 2, 3)), random.randint(4, 40)
    slow = {name: random.randint(2, 8) if focus == name else 1 for name in FOCUS}
    gpu = Gpu(
        sms=random.choice((1, 2, 2, 3)),
        places=random.randint(1, 3),
        issue=issue,
        units=(1, random.randint(1, issue)),
        ticks=ticks,
        sector=random.randint(1, 2 * ticks) * slow["l2"],
        piece=random.randint(1, 3 * ticks) * slow["dram"],
        atomic=random.randint(1, 2) * slow["atomic"],
        slices=random.randint(1, 3),
        queued=random.random() < 0.5,
        drains=random.random() < 0.5,
        early=random.random() < 0.5,
        caches=random.random() < 0.4,
        dispatch=random.choice((0, 0, 0, 0, 2, 20)),
    )
    if gpu.dispatch:
        # A place that is given up before its work is done could let one SM take more than its share of a grid while blocks are given out.
        gpu = replace(gpu, early=False)
    barriers = focus == "barriers" or random.random() < 0.5
    longest = random.choice((1, 4, 8))
    # The latency of an access holds one sector's own time in L2 and DRAM.
    held = -(-(gpu.sector + gpu.piece) // ticks)
    pieces: tuple[tuple[Path, ...], ...] = ()

    def drawn(*, barriers: bool) -> Path:
        return _path(random, focus, random.randint(1, longest), (sectors, held), barriers=barriers)

    if barriers and random.random() < 0.5:
        pieces = tuple(_some(random, 2, lambda: drawn(barriers=False)) for _ in range(random.randint(2, 4)))
        paths = tuple(_joined(every) for every in product(*pieces))
    else:
        paths = _some(random, 4, lambda: drawn(barriers=barriers))
    blocks, warps = random.randint(1, 8), random.choice((1, 1, 2, 3))
    numbers = range(len(paths))
    of_warps = tuple(tuple(random.sample(numbers, random.randint(1, len(paths)))) for _ in range(warps)) if random.random() < 0.5 else ()
    return Kernel(gpu, paths, blocks, warps, sectors, pieces, of_warps)


def _some(random: Random, most: int, draw: Callable[[], Path]) -> tuple[Path, ...]:
    some = {draw() for _ in range(random.randint(1, most))}
    return tuple(sorted(some, key=str))  # a set is iterated in no certain order


def _joined(pieces: Iterable[Path]) -> Path:
    first, *others = pieces
    return reduce(lambda path, piece: (*path, Barrier(), *piece), others, first)


def _path(random: Random, focus: str, length: int, memory: tuple[int, int], *, barriers: bool) -> Path:
    path: list[Operation] = []
    for _ in range(length):
        if random.random() < (0.9 if focus in {"compute", "barriers"} else 0.4 if focus == "any" else 0.1):
            latency = 40 if focus == "barriers" else random.choice((1, 4, 10))
            path.append(Compute(random.randint(0, 1), random.randint(1, 8 if focus == "compute" else 3), latency))
        else:
            path.append(_access(random, focus, *memory))
        if random.random() < (1 if focus == "latency" else 0.5):
            path.append(Wait(random.choice((0, 0, 1, 2))))
        if barriers and random.random() < (0.6 if focus == "barriers" else 0.3):
            path.append(Barrier())
    return tuple(path)


def _access(random: Random, focus: str, sectors: int, held: int) -> Access:
    if focus == "pipeline" or random.random() < 0.2:
        # Shared memory.
        passes = random.randint(1, 10)
        return Access(passes, random.randint(1, passes), (), random.choice((2, 5, 20)))
    size = random.randint(1, 1 if focus == "latency" else min(8, sectors))
    lookup = random.randint(1, 4)
    kind = "atomic" if focus == "atomic" else random.choice(("read", "read", "write", "atomic"))
    addresses = random.sample(range(3), random.randint(1, 2)) if kind == "atomic" else ()
    touched = tuple(random.sample(range(sectors), size))
    return Access(
        lookup,
        random.randint(1, 4),
        touched,
        held + random.choice((2, 5, 20)),
        spare=random.randint(0, 2) if kind == "read" else 0,
        writes=kind != "read",
        atomics=tuple((address, random.randint(1, 6)) for address in addresses),
        operation=random.choice((1, 1, 3)),
        parts=touched[: random.randint(0, size)] if kind == "write" else (),
    )


def simulated(kernel: Kernel, random: Random) -> int:
    """Return how long one launch of a kernel takes."""
    paths = [[kernel.paths[random.choice(kernel.choices(warp))] for warp in range(kernel.warps)] for _ in range(kernel.blocks)]
    victim = random.choice((-1, kernel.blocks - 1, random.randrange(kernel.blocks)))
    return (
        LAUNCH_OVERHEAD
        + Launch(kernel.gpu, paths, random, victim=victim, worst=random.random() < 0.6, hits=random.choice((0.0, 0.0, 0.3))).run()
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is claimed of a kernel, and how many cycles its launches took."""

    kernel: Kernel
    claim: Claim
    cycles: tuple[int, ...]

    def above(self, claim: Claim) -> list[tuple[int, int]]:
        """Return the launches that took longer than a claim allows, each with that bound."""
        bound = claim.bound
        return [(cycles, bound) for cycles in self.cycles if cycles > bound]


def outcomes(launches: int, seed: int, change: Callable[[Gpu], Gpu] = lambda gpu: gpu) -> Iterator[Outcome]:
    """Yield what launches of random kernels do, on changed hardware."""
    random = Random(seed)
    for _ in range(-(-launches // LAUNCHES)):
        drawn = kernel(random)
        drawn = replace(drawn, gpu=change(drawn.gpu))
        yield Outcome(drawn, claim(drawn), tuple(simulated(drawn, random) for _ in range(LAUNCHES)))


def hold(launches: int, seed: int) -> tuple[list[float], list[str]]:
    """Return bound / simulated time of so many launches, and what is wrong."""
    every = list(outcomes(launches, seed))
    wrong = [f"{cycles} cycles, bound {bound}: {one.kernel}" for one in every for cycles, bound in one.above(one.claim)]
    return [one.claim.bound / cycles for one in every for cycles in one.cycles], wrong
