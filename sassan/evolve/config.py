"""A configuration as read: the kernel, its launch, what may be chosen, what it costs, how long to search. README.md describes the file."""

import hashlib
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice, product
from pathlib import Path

from sassan.arch import known_names, with_code
from sassan.checked import MOST, Fields, Format
from sassan.errors import UsageError
from sassan.evolve.choices import EXACT, check_names, read_genes
from sassan.evolve.genes import Choice, Kind, Space
from sassan.evolve.includes import Header, IncludeProblem, headers
from sassan.evolve.shapes import ShapeProblem, extent, names
from sassan.machine.launch import Launch
from sassan.machine.parameters import Setting, setting
from sassan.measure.device import DATA_BYTES, Argument
from sassan.timing import latencies

_HINT = "sassan/evolve/README.md describes configurations, samples/evolve/ holds some"
_FORMAT = Format("bad-config", _HINT, error=UsageError)
_SHAPES_TRIED = 100_000
_OPTIONS = ("-std=", "--std=", "-D", "-U", "-default-device", "--device-as-default-execution-space", "-diag-suppress=", "--diag-suppress=")
_ARGUMENTS = ("pointer", "floats", "int", "long", "float", "double")
_MEMORY = ("pointer", "floats")
_MODELS = ("unit", "table", "control")


class Objective(StrEnum):
    """What is made small; `unit` of each in the README."""

    WCET = "wcet"
    MAKESPAN = "makespan"
    GRID = "grid"
    INSTRUCTIONS = "instructions"
    REGISTERS = "registers"
    MEASURED = "measured"


_PER_WARP = (Objective.WCET, Objective.MAKESPAN)


@dataclass(frozen=True, slots=True)
class Kernel:
    """What is compiled: `text` is the source as read from `path`; `options` are always given."""

    path: str
    text: str
    arch: str
    function: str
    options: tuple[str, ...] = ()
    headers: tuple[Header, ...] = ()
    """What it includes from below its folder, as read."""

    @property
    def ptx(self) -> bool:
        """Say whether the source is PTX, which needs no NVRTC."""
        return self.path.endswith(".ptx")

    @property
    def words(self) -> str:
        """Return all that is compiled, in which macros may stand."""
        return "\n".join((self.text, *(text for _, text in self.headers), *self.options))


@dataclass(frozen=True, slots=True)
class Shape:
    """The launch: extents are expressions over genes, `settings` are the one set of parameters for which loops are bounded."""

    block: tuple[str, ...]
    grid: tuple[str, ...]
    settings: tuple[Setting, ...] = ()
    sms: int = 1
    shared: int = 0

    def launch(self, choice: Choice) -> Launch:
        """Return the launch of a choice; raises ShapeProblem, UsageError `launch`."""
        return Launch(_extents(self.block, choice), _extents(self.grid, choice), self.settings)

    @property
    def names(self) -> frozenset[str]:
        """Return the genes on which it depends; raises ShapeProblem."""
        return frozenset(name for one in (*self.block, *self.grid) for name in names(one))


def _extents(texts: tuple[str, ...], choice: Choice) -> tuple[int, int, int]:
    x, y, z = (*(extent(one, choice.numbers) for one in texts), 1, 1)[:3]
    return x, y, z


@dataclass(frozen=True, slots=True)
class Plan:
    """How to search. `budget` is how many different genomes are evaluated, the default included; `seconds` limits each compilation."""

    population: int = 16
    budget: int = 96
    seed: int = 0
    crossover: float = 0.7
    mutation: float = 0.5
    baseline: bool = True
    seconds: float = 30.0
    largest: int = 20_000
    """Instructions; larger functions are not analyzed."""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that a result depends on."""

    file: str
    kernel: Kernel
    shape: Shape
    space: Space
    objectives: tuple[Objective, ...]
    model: str = "control"
    latencies: tuple[str, ...] = ()
    warps: int | None = None
    plan: Plan = field(default_factory=Plan)
    allow_inexact: bool = False
    arguments: tuple[Argument, ...] = ()
    runs: int = 20

    @property
    def fingerprint(self) -> str:
        """Return a hash of all that decides which result a search has: where the files lie does not."""
        plain = replace(self, file="", kernel=replace(self.kernel, path=Path(self.kernel.path).name))
        return hashlib.sha256(repr(plain).encode()).hexdigest()

    @property
    def ordered(self) -> bool:
        """Say whether PTX instructions may change places, for which PTX goes to ptxas."""
        return any(gene.kind is Kind.ORDER for gene in self.space.genes)


def read(path: str) -> Config:
    """Return the configuration of a file.

    Raises UsageError `bad-config`, `cannot-read`.
    """
    top = _FORMAT.toml(path, _text(path, path))
    top.only("kernel", "launch", "gene", "cost", "search", "measure")
    kernel = _kernel(top.table("kernel", required=True), Path(path).parent)
    search = top.table("search")
    search.only("population", "budget", "seed", "crossover", "mutation", "baseline", "compile_seconds", "largest", "allow_inexact")
    inexact = search.flag("allow_inexact")
    space = read_genes(top, inexact=inexact, ptx=kernel.ptx)
    shape = _shape(top.table("launch", required=True))
    cost = top.table("cost")
    cost.only("objectives", "model", "warps", "latency")
    measure = top.table("measure")
    found = Config(
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
    _check(found, top, cost)
    return found


def _text(path: str, what: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageError("bad-config", f"{what}: '{path}' is not UTF-8 text", hint=_HINT) from None
    except (OSError, ValueError) as error:
        raise UsageError("cannot-read", f"{what}: cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None


def _kernel(table: Fields, folder: Path) -> Kernel:
    table.only("source", "arch", "function", "options")
    path = folder / table.text("source")
    if path.suffix not in {".cu", ".ptx"}:
        raise table.fail("source", "must be a .cu or a .ptx file")
    arch = table.text("arch")
    known = with_code(arch)
    if known is None:
        raise table.fail("arch", f"unknown architecture {arch} (known: {known_names()})")
    options = table.texts("options", ())
    for one in options:
        if not one.startswith(_OPTIONS):
            raise table.fail("options", f"'{one}' is none of {', '.join(_OPTIONS)}: other flags are genes")
    what = f"{table.name}: {table.where}source"
    text = _text(str(path), what)
    try:
        included = () if path.suffix == ".ptx" else headers(text, path.parent, lambda one: _text(str(one), what))
    except IncludeProblem as problem:
        raise table.fail("source", f"'{path}': {problem}") from None
    return Kernel(str(path), text, known.name, table.text("function"), options, included)


def _shape(table: Fields) -> Shape:
    table.only("block", "grid", "param", "sms", "shared")
    params = table.table("param")
    settings: list[Setting] = []
    for key in params.values:
        try:
            settings.append(setting(f"{key}={params.whole(key, least=-MOST)}"))
        except UsageError as error:
            raise params.fail(key, error.message) from None
    return Shape(
        _expressions(table, "block"),
        _expressions(table, "grid"),
        tuple(settings),
        table.whole("sms", 1, most=4096),
        table.whole("shared", 0, least=0, most=2**20),
    )


def _expressions(table: Fields, key: str) -> tuple[str, ...]:
    """Return one to three extents: numbers, or texts with genes in them."""
    found = table.items(key)
    if not 1 <= len(found) <= 3 or not all(isinstance(one, int | str) and not isinstance(one, bool) for one in found):  # noqa: PLR2004 - x, y, z
        raise table.fail(key, 'must be one to three extents, such as [32, 8] or ["TILE", "TILE"]')
    return tuple(map(str, found))


def _objectives(table: Fields) -> tuple[Objective, ...]:
    found = table.texts("objectives", (Objective.WCET,))
    known = tuple(one.value for one in Objective)
    for one in found:
        if one not in known:
            raise table.fail("objectives", f"'{one}' is none of {', '.join(known)}")
    if not found or len(set(found)) != len(found):
        raise table.fail("objectives", "must name one or more, each once")
    return tuple(map(Objective, found))


def _latencies(table: Fields) -> tuple[str, ...]:
    found = tuple(f"{key}={table.whole(key)}" for key in table.values)
    for key, one in zip(table.values, found, strict=True):
        try:
            latencies.parse((one,))
        except UsageError as error:
            raise table.fail(key, f"{error.message.partition(': ')[2]}; {error.hint}") from None
    return found


def _plan(table: Fields) -> Plan:
    plain = Plan()
    found = Plan(
        population=table.whole("population", plain.population, least=4, most=4096),
        budget=table.whole("budget", plain.budget, most=1_000_000),
        seed=table.whole("seed", plain.seed, least=0),
        crossover=table.number("crossover", plain.crossover, least=0, most=1),
        mutation=table.number("mutation", plain.mutation, least=0, most=1),
        baseline=table.flag("baseline", default=True),
        seconds=table.number("compile_seconds", plain.seconds, least=0.1, most=3600),
        largest=table.whole("largest", plain.largest),
    )
    if found.population % 4:
        raise table.fail("population", f"must be a multiple of 4 (NSGA-II pairs tournaments), not {found.population}")
    return found


def _arguments(table: Fields) -> tuple[Argument, ...]:
    table.only("arguments", "runs")
    if "arguments" not in table:
        return ()
    found: list[Argument] = []
    for one in table.tables("arguments", required=True):
        one.only("kind", "value")
        kind = one.choice("kind", _ARGUMENTS)
        least, most = (4, 2**32) if kind in _MEMORY else (-(2**63), 2**63 - 1)
        value = one.number("value", DATA_BYTES if kind in _MEMORY else 0.0, least=least, most=most)
        found.append(Argument(f"arg_{len(found)}", kind, value))
    return tuple(found)


def _check(config: Config, top: Fields, cost: Fields) -> None:
    """Refuse what contradicts itself: shapes that cannot be launched, costs that compare different work, costs that lack something."""
    launch = top.table("launch")
    try:
        varies = config.shape.names
        _launches(config, varies)
    except (ShapeProblem, UsageError) as error:
        raise launch.fail("block, grid", str(error)) from None
    check_names(top, config.space, used=varies, file=config.kernel.path, words=config.kernel.words)
    for one in config.objectives:
        if varies and one in _PER_WARP:
            why = f"'{one}' compares single warps, and the launch changes with {', '.join(sorted(varies))}: compare whole launches, 'grid'"
            raise cost.fail("objectives", why)
    if Objective.MAKESPAN in config.objectives and config.warps is None:
        raise cost.fail("warps", "is missing: 'makespan' is that of so many warps on one SM")
    if Objective.MEASURED in config.objectives and not config.arguments:
        raise top.table("measure").fail("arguments", "is missing: 'measured' runs the kernel")
    if any(one.kind is Kind.FLAG and one.name not in EXACT for one in config.space.genes) and not config.allow_inexact:
        raise top.table("search").fail("allow_inexact", "must be true for flags that change rounding")


def _launches(config: Config, varies: frozenset[str]) -> None:
    """Look at every shape that the genes can make."""
    if not varies:
        config.shape.launch(Choice())
        return
    genes = [one for one in config.space.genes if one.name in varies and one.kind in {Kind.MACRO, Kind.LAUNCH}]
    for values in islice(product(*(one.values for one in genes)), _SHAPES_TRIED):
        config.shape.launch(Choice(launch=tuple((gene.name, value) for gene, value in zip(genes, values, strict=True))))
