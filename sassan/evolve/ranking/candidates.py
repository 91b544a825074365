"""The choices that are ranked: all of a configuration file, or those that a tuner tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from random import Random

from sassan.errors import UsageError
from sassan.evolve.ranking.grids import AXES, derive
from sassan.evolve.space.choices import words
from sassan.evolve.space.config import Config, LaunchShape, Objective, SearchPlan, source_of
from sassan.evolve.space.genes import Gene, GeneKind, Genome, GenomeSpace, Value
from sassan.evolve.space.shapes import ShapeProblem
from sassan.machine.parameters import Setting
from sassan.products import Product, find
from sassan.recorded.types import TuningSpace
from sassan.recorded.types import Value as Recorded

_MOST = 1_000_000
_NS_PER_MS = 1e3
_SECONDS = 120.0
"""For one compilation."""
_LARGEST = 100_000
"""Instructions; larger functions are not estimated."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One choice: its genome in the space of the configuration, what it is called, and its measured time in microseconds, if any."""

    genome: Genome
    values: Mapping[str, Recorded]
    measured_us: float | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is ranked, and the configuration that says how each candidate is compiled and launched."""

    config: Config
    entries: tuple[Candidate, ...]

    def sample(self, count: int, seed: int) -> "Candidates":
        """Return at most `count` of the candidates, drawn at random, in their order."""
        if count >= len(self.entries):
            return self
        places = sorted(Random(seed).sample(range(len(self.entries)), count))  # noqa: S311 - a sample, no secret
        return replace(self, entries=tuple(self.entries[place] for place in places))

    def where(self, restrictions: Sequence[str]) -> "Candidates":
        """Return the candidates for which the restrictions of the configuration and further ones hold.

        Raises UsageError `restriction`.
        """
        shape = replace(self.config.shape, restrictions=(*self.config.shape.restrictions, *restrictions))
        config = replace(self.config, shape=shape)
        try:
            kept = tuple(each for each in self.entries if not shape.violated(config.space.choice(each.genome)))
        except ShapeProblem as problem:
            raise UsageError("restriction", str(problem), hint="a restriction compares whole parameters: 'TILE * WORK <= 64'") from None
        return Candidates(config, kept)


@dataclass(frozen=True, slots=True)
class TunedLaunch:
    """What a tuner's cache does not say of its launches; empty: what the source and the names of the parameters say.

    `block` and `grid` are expressions over the parameters and problem_x, problem_y, problem_z; `options` are those of NVRTC.
    """

    source: str | None = None
    gpu: Product | None = None
    block: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    shared: int = 0
    options: tuple[str, ...] = field(default=())


def of_config(config: Config, gpu: Product | None) -> Candidates:
    """Return every choice of a configuration, on its GPU or another one, for which the code is compiled then.

    Raises UsageError `usage` without a GPU, `too-many`, `restriction`.
    """
    if gpu is not None:
        config = replace(config, kernel=replace(config.kernel, arch=gpu.architecture), shape=replace(config.shape, gpu=gpu, sms=gpu.sms))
    if config.shape.gpu is None:
        raise UsageError("usage", f"{config.file}: an estimate needs a GPU", hint="pass --gpu NAME, or gpu = in [launch]")
    if config.space.size > _MOST:
        message = f"{config.file} has {config.space.size} choices; at most {_MOST} can be ranked"
        raise UsageError("too-many", message, hint="omit genes, above all 'order'; sassan evolve searches large spaces")
    genomes = product(*(range(size) for size in config.space.sizes))
    entries = tuple(Candidate(genome, _values(config.space, genome)) for genome in genomes)
    return Candidates(replace(config, objectives=(Objective.ESTIMATE,)), entries).where(())


def _values(space: GenomeSpace, genome: Genome) -> Mapping[str, Recorded]:
    choice = space.choice(genome)
    return dict((*choice.macros, *choice.flags, *choice.launch))


def of_cache(space: TuningSpace, given: TunedLaunch) -> Candidates:
    """Return the configurations of a tuner's cache that ran, or that have no time yet; parameters are macros, as for Kernel Tuner.

    Raises UsageError: `no-source`, `unknown-gpu`, `no-block`, `no-grid`, what reading the source raises.
    """
    gpu = given.gpu if given.gpu is not None else _device(space)
    path = Path(given.source) if given.source is not None else _beside(Path(space.path))
    kernel = source_of(path, gpu.architecture, space.kernel, ("-Dkernel_tuner=1", *given.options))
    known = words(kernel.words)
    columns = [tuple(dict.fromkeys(_plain(each.values[at]) for each in space.configurations)) for at in range(len(space.parameters))]
    # What the code does not mention compiles to the same code, once.
    kinds = [GeneKind.MACRO if name in known else GeneKind.LAUNCH for name in space.parameters]
    genes = [Gene(*gene) for gene in zip(kinds, space.parameters, columns, strict=True)]
    sizes = [Gene(GeneKind.LAUNCH, f"problem_{axis}", (_size(space, at),)) for at, axis in enumerate(AXES)]
    places = [{value: at for at, value in enumerate(column)} for column in columns]
    entries = tuple(
        Candidate(
            (*(place[_plain(value)] for place, value in zip(places, each.values, strict=True)), *(0 for _ in sizes)),
            space.values(each),
            each.time_ms * _NS_PER_MS if each.time_ms is not None else None,
        )
        for each in space.configurations
        if each.valid or each.status == "no time"
    )
    block = given.block or _block(space)
    grid = given.grid or _grid(space, kernel.text)
    shape = LaunchShape(block, grid, given.settings, gpu.sms, given.shared, gpu)
    plan = SearchPlan(seconds=_SECONDS, largest=_LARGEST)
    config = Config(space.path, kernel, shape, GenomeSpace((*genes, *sizes)), (Objective.ESTIMATE,), plan=plan)
    return Candidates(config, entries)


def _plain(value: Recorded) -> Value:
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _device(space: TuningSpace) -> Product:
    if space.device is None or not space.device.name:
        raise UsageError("unknown-gpu", f"{space.path} names no GPU", hint="pass --gpu NAME; sassan gpus lists them")
    try:
        return find(space.device.name)
    except UsageError as error:
        raise UsageError(error.code, f"{space.path}: {error.message}", hint="pass --gpu NAME; sassan gpus lists them") from None


def _beside(cache: Path) -> Path:
    path = cache.with_name(f"{cache.name.partition('.')[0]}.cu")
    if not path.is_file():
        raise UsageError("no-source", f"there is no '{path}' beside the cache", hint="pass --source FILE.cu, the code that was tuned")
    return path


def _size(space: TuningSpace, axis: int) -> Value:
    value = space.problem[axis] if axis < len(space.problem) else 1
    return _plain(value)


def _block(space: TuningSpace) -> tuple[str, ...]:
    if not any(name.startswith("block_size_") for name in space.parameters):
        raise UsageError("no-block", f"{space.path} has no parameter block_size_x", hint="pass --block-dim, an expression per axis")
    return tuple(f"block_size_{axis}" if f"block_size_{axis}" in space.parameters else "1" for axis in AXES)


def _grid(space: TuningSpace, text: str) -> tuple[str, ...]:
    if not space.problem:
        raise UsageError("no-grid", f"{space.path} has no problem size", hint="pass --grid, an expression per axis")
    divisors = derive(space.kernel, text, space.parameters).divisors
    return tuple(f"ceil(problem_{axis} / ({' * '.join(some) or '1'}))" for axis, some in zip(AXES, divisors, strict=True))
