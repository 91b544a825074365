"""The configuration of a search: the kernel, its launch, genes, objectives, search settings. docs/reference/files.md describes it."""

import hashlib
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice, product
from pathlib import Path

from sassan.arch import known_names, with_code
from sassan.checked import MOST, Fields, Format
from sassan.errors import UsageError
from sassan.evolve.space.choices import EXACT, check_names, read_genes
from sassan.evolve.space.genes import GeneKind, GenomeSpace, GenomeValues
from sassan.evolve.space.includes import Header, IncludeProblem, headers
from sassan.evolve.space.shapes import ShapeProblem, extent, holds, names
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting, setting
from sassan.measure.sampling.device import DATA_BYTES, MeasureArgument
from sassan.products import Product, find
from sassan.system import reading
from sassan.timing import latencies

_HINT = "docs/reference/files.md describes configurations, samples/evolve/ holds some"
_FORMAT = Format("bad-config", _HINT, error=UsageError)
_SHAPES_TRIED = 100_000
_OPTIONS = ("-std=", "--std=", "-D", "-U", "-default-device", "--device-as-default-execution-space", "-diag-suppress=", "--diag-suppress=")
_ARGUMENTS = ("pointer", "floats", "int", "long", "float", "double")
_MEMORY = ("pointer", "floats")
_MODELS = ("unit", "table", "control")


class Objective(StrEnum):
    """An objective to minimize; README.md has the units."""

    WCET = "wcet"
    MAKESPAN = "makespan"
    GRID = "grid"
    INSTRUCTIONS = "instructions"
    REGISTERS = "registers"
    MEASURED = "measured"
    ESTIMATE = "estimate"


_PER_WARP = (Objective.WCET, Objective.MAKESPAN)


@dataclass(frozen=True, slots=True)
class KernelSource:
    """The source to compile: `text` is read from `path`; `options` are always passed."""

    path: str
    text: str
    arch: str
    function: str
    options: tuple[str, ...] = ()
    headers: tuple[Header, ...] = ()
    """Included files in the folder of the source or below."""

    @property
    def ptx(self) -> bool:
        """Return whether the source is PTX, which does not need NVRTC."""
        return self.path.endswith(".ptx")

    @property
    def words(self) -> str:
        """Return all text that may contain macros: source, headers and options."""
        return "\n".join((self.text, *(text for _, text in self.headers), *self.options))


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """The launch: extents are expressions over genes; loops are bounded for the parameters in `settings`.

    Choices for which a restriction does not hold are not launched. `gpu` runs the launch, None: some GPU with `sms` SMs.
    """

    block: tuple[str, ...]
    grid: tuple[str, ...]
    settings: tuple[Setting, ...] = ()
    sms: int = 1
    shared: int = 0
    gpu: Product | None = None
    restrictions: tuple[str, ...] = ()

    def violated(self, choice: GenomeValues) -> str:
        """Return the first restriction that does not hold for a choice, '' where all hold; raises ShapeProblem."""
        return next((text for text in self.restrictions if not holds(text, choice.numbers)), "")

    def launch(self, choice: GenomeValues) -> LaunchConfiguration:
        """Return the launch of a choice; raises ShapeProblem, UsageError `launch`."""
        return LaunchConfiguration(_extents(self.block, choice), _extents(self.grid, choice), self.settings)

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the genes in the extents; raises ShapeProblem."""
        return frozenset(name for extent_text in (*self.block, *self.grid) for name in names(extent_text))


def _extents(texts: tuple[str, ...], choice: GenomeValues) -> tuple[int, int, int]:
    x, y, z = (*(extent(text, choice.numbers) for text in texts), 1, 1)[:3]
    return x, y, z


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """Search settings. `budget` is the number of distinct genomes to evaluate, including the default; `seconds` limits each compilation."""

    population: int = 16
    budget: int = 96
    seed: int = 0
    crossover: float = 0.7
    mutation: float = 0.5
    baseline: bool = True
    seconds: float = 30.0
    largest: int = 20_000
    """Size in instructions; larger functions are not analyzed."""


@dataclass(frozen=True, slots=True)
class Config:
    """All inputs of a search."""

    file: str
    kernel: KernelSource
    shape: LaunchShape
    space: GenomeSpace
    objectives: tuple[Objective, ...]
    model: str = "control"
    latencies: tuple[str, ...] = ()
    warps: int | None = None
    plan: SearchPlan = field(default_factory=SearchPlan)
    allow_inexact: bool = False
    arguments: tuple[MeasureArgument, ...] = ()
    runs: int = 20

    @property
    def fingerprint(self) -> str:
        """Return a hash of everything that determines the result of a search; file locations do not."""
        plain = replace(self, file="", kernel=replace(self.kernel, path=Path(self.kernel.path).name))
        return hashlib.sha256(repr(plain).encode()).hexdigest()

    @property
    def ordered(self) -> bool:
        """Return whether PTX instructions may be reordered, which needs ptxas."""
        return any(gene.kind is GeneKind.ORDER for gene in self.space.genes)


def read(path: str) -> Config:
    """Return the configuration of a file.

    Raises UsageError `bad-config`, `cannot-read`.
    """
    top = _FORMAT.toml(path, _text(path, path))
    top.only("kernel", "launch", "gene", "cost", "search", "measure")
    shape = _shape(top.table("launch", required=True))
    kernel = _kernel(top.table("kernel", required=True), Path(path).parent, shape.gpu)
    search = top.table("search")
    search.only("population", "budget", "seed", "crossover", "mutation", "baseline", "compile_seconds", "largest", "allow_inexact")
    inexact = search.flag("allow_inexact")
    space = read_genes(top, inexact=inexact, ptx=kernel.ptx)
    cost = top.table("cost")
    cost.only("objectives", "model", "warps", "latency")
    measure = top.table("measure")
    config = Config(
        file=path,
        kernel=kernel,
        shape=shape,
        space=space,
        objectives=_objectives(cost),
        model=cost.choice("model", _MODELS, "control"),
        latencies=_latencies(cost.table("latency")),
        warps=cost.whole("warps", most=1024) if "warps" in cost else None,
        plan=_plan(search),
        allow_inexact=inexact,
        arguments=_arguments(measure),
        runs=measure.whole("runs", 20, least=2, most=100_000),
    )
    _check(config, top, cost)
    return config


def _text(path: str, subject: str) -> str:
    try:
        return reading.text(path)
    except UnicodeDecodeError:
        raise UsageError("bad-config", f"{subject}: '{path}' is not UTF-8 text", hint=_HINT) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError("cannot-read", f"{'' if subject == path else f'{subject}: '}cannot read '{path}': {why}", hint=_HINT) from None


def _kernel(table: Fields, folder: Path, gpu: Product | None) -> KernelSource:
    table.only("source", "arch", "function", "options")
    path = folder / table.text("source")
    if path.suffix not in {".cu", ".ptx"}:
        raise table.fail("source", "must be a .cu or .ptx file")
    arch = table.text("arch", gpu.architecture if gpu is not None else None)
    known = with_code(arch)
    if known is None:
        raise table.fail("arch", f"unknown architecture {arch} (known: {known_names()})")
    options = table.texts("options", ())
    for option in options:
        if not option.startswith(_OPTIONS):
            raise table.fail("options", f"'{option}' is not one of {', '.join(_OPTIONS)}; pass other flags as genes")
    return source_of(path, known.name, table.text("function"), options, table)


def source_of(path: Path, arch: str, function: str, options: tuple[str, ...], table: Fields | None = None) -> KernelSource:
    """Return a source with the headers beside it; `table` is that of a configuration which names it, for errors.

    Raises UsageError `bad-config`, `cannot-read`.
    """
    subject = f"{table.name}: {table.where}source" if table is not None else str(path)
    text = _text(str(path), subject)
    try:
        included = () if path.suffix == ".ptx" else headers(text, path.parent, lambda header: _text(str(header), subject))
    except IncludeProblem as problem:
        raise UsageError("bad-config", f"{subject}: '{path}': {problem}", hint=_HINT) from None
    return KernelSource(str(path), text, arch, function, options, included)


def _shape(table: Fields) -> LaunchShape:
    table.only("block", "grid", "param", "sms", "shared", "gpu", "restrictions")
    if "gpu" in table and "sms" in table:
        raise table.fail("sms", "is that of the gpu: omit one of them")
    try:
        gpu = find(table.text("gpu")) if "gpu" in table else None
    except UsageError as error:
        raise table.fail("gpu", f"{error.message}; {error.hint}") from None
    params = table.table("param")
    settings: list[Setting] = []
    for key in params.values:
        try:
            settings.append(setting(f"{key}={params.whole(key, least=-MOST)}"))
        except UsageError as error:
            raise params.fail(key, error.message) from None
    return LaunchShape(
        _expressions(table, "block"),
        _expressions(table, "grid"),
        tuple(settings),
        gpu.sms if gpu is not None else table.whole("sms", 1, most=4096),
        table.whole("shared", 0, least=0, most=2**20),
        gpu,
        table.texts("restrictions"),
    )


def _expressions(table: Fields, key: str) -> tuple[str, ...]:
    """Return one to three extents: numbers, or expressions over genes."""
    extents = table.items(key)
    valid = all(isinstance(extent_value, int | str) and not isinstance(extent_value, bool) for extent_value in extents)
    if not valid or not 1 <= len(extents) <= 3:  # noqa: PLR2004 - x, y, z
        raise table.fail(key, 'must be one to three extents, such as [32, 8] or ["TILE", "TILE"]')
    return tuple(map(str, extents))


def _objectives(table: Fields) -> tuple[Objective, ...]:
    objectives = table.texts("objectives", (Objective.WCET,))
    known = tuple(objective.value for objective in Objective)
    for name in objectives:
        if name not in known:
            raise table.fail("objectives", f"unknown objective '{name}' (known: {', '.join(known)})")
    if not objectives or len(set(objectives)) != len(objectives):
        raise table.fail("objectives", "must have at least one objective, without duplicates")
    return tuple(map(Objective, objectives))


def _latencies(table: Fields) -> tuple[str, ...]:
    assignments = tuple(f"{key}={table.whole(key)}" for key in table.values)
    for key, assignment in zip(table.values, assignments, strict=True):
        try:
            latencies.parse((assignment,))
        except UsageError as error:
            raise table.fail(key, f"{error.message.partition(': ')[2]}; {error.hint}") from None
    return assignments


def _plan(table: Fields) -> SearchPlan:
    default = SearchPlan()
    plan = SearchPlan(
        population=table.whole("population", default.population, least=4, most=4096),
        budget=table.whole("budget", default.budget, most=1_000_000),
        seed=table.whole("seed", default.seed, least=0),
        crossover=table.number("crossover", default.crossover, least=0, most=1),
        mutation=table.number("mutation", default.mutation, least=0, most=1),
        baseline=table.flag("baseline", default=True),
        seconds=table.number("compile_seconds", default.seconds, least=0.1, most=3600),
        largest=table.whole("largest", default.largest),
    )
    if plan.population % 4:
        raise table.fail("population", f"must be a multiple of 4 (NSGA-II pairs tournaments), not {plan.population}")
    return plan


def _arguments(table: Fields) -> tuple[MeasureArgument, ...]:
    table.only("arguments", "runs")
    if "arguments" not in table:
        return ()
    arguments: list[MeasureArgument] = []
    for argument in table.tables("arguments", required=True):
        argument.only("kind", "value")
        kind = argument.choice("kind", _ARGUMENTS)
        least, most = (4, 2**32) if kind in _MEMORY else (-(2**63), 2**63 - 1)
        value = argument.number("value", DATA_BYTES if kind in _MEMORY else 0.0, least=least, most=most)
        arguments.append(MeasureArgument(f"arg_{len(arguments)}", kind, value))
    return tuple(arguments)


def _check(config: Config, top: Fields, cost: Fields) -> None:
    """Check for contradictions: shapes that cannot be launched, objectives that compare different work or lack an input."""
    launch = top.table("launch")
    try:
        varies = config.shape.names
        _launches(config, varies)
    except (ShapeProblem, UsageError) as error:
        raise launch.fail("block, grid", str(error)) from None
    restricted = frozenset(name for text in config.shape.restrictions for name in names(text))
    check_names(top, config.space, used=varies | restricted, file=config.kernel.path, text=config.kernel.words)
    for objective in config.objectives:
        if varies and objective in _PER_WARP:
            why = f"'{objective}' compares single warps, but the launch depends on {', '.join(sorted(varies))}: use the objective 'grid'"
            raise cost.fail("objectives", why)
    if Objective.ESTIMATE in config.objectives and config.shape.gpu is None:
        raise launch.fail("gpu", "is missing: an estimate is that of a GPU")
    if Objective.MAKESPAN in config.objectives and config.warps is None:
        raise cost.fail("warps", "is missing: 'makespan' needs the number of warps on an SM")
    if Objective.MEASURED in config.objectives and not config.arguments:
        raise top.table("measure").fail("arguments", "is missing: 'measured' runs the kernel")
    if any(gene.kind is GeneKind.FLAG and gene.name not in EXACT for gene in config.space.genes) and not config.allow_inexact:
        raise top.table("search").fail("allow_inexact", "must be true for flags that change rounding")


def _launches(config: Config, varies: frozenset[str]) -> None:
    """Check every launch shape that the genes can produce, and that the restrictions allow."""
    restricted = {name for text in config.shape.restrictions for name in names(text)}
    genes = [gene for gene in config.space.genes if gene.name in varies | restricted and gene.kind in {GeneKind.MACRO, GeneKind.LAUNCH}]
    for values in islice(product(*(gene.values for gene in genes)), _SHAPES_TRIED):
        choice = GenomeValues(launch=tuple((gene.name, value) for gene, value in zip(genes, values, strict=True)))
        if not config.shape.violated(choice):
            try:
                config.shape.launch(choice)
            except (ShapeProblem, UsageError) as error:
                raise ShapeProblem(f"{error} (of the choice {choice})" if values else str(error)) from None
