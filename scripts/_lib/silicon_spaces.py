"""Tuning spaces: a sample of the configurations, compiled for the device that was measured, and the bounds of their grids."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from _lib import silicon_clocks, silicon_compile, silicon_grids, silicon_recipes
from _lib.silicon_rows import Row, apart, roofline, shape_text, slopes, terms

from sassan import frontend, recorded
from sassan.app.settings import Settings
from sassan.errors import InputError, SassanError
from sassan.evolve.compilation.compilers import CompileProblem
from sassan.evolve.ranking.grids import derive
from sassan.frontend.image import Image
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting
from sassan.recorded import RecordedLaunch, TuningSpace
from sassan.recorded.names import bare
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.validation.launches import Hardware, LaunchValidation, validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from _lib.silicon_compile import KernelSource
    from _lib.silicon_recipes import Recipe

    from sassan.evolve.ranking.grids import Derivation
    from sassan.executor import Executor
    from sassan.products import Product
    from sassan.recorded.types import TuningConfiguration, Value

_SEED = 2023
_NS_PER_MS = 1e6
_HZ_PER_MHZ = 1e6


@dataclass(frozen=True, slots=True)
class Space:
    """A tuning space with all that its launches follow from; `clocks` (MHz) are those of its configurations, None where unknown."""

    name: str
    space: TuningSpace
    source: KernelSource
    product: Product
    recipe: Recipe
    derivation: Derivation
    clocks: tuple[int | None, ...]

    @property
    def comparable(self) -> dict[TuningConfiguration, int]:
        """Return the configurations that ran the code of the source at a known clock, with that clock."""
        both = zip(self.space.configurations, self.clocks, strict=True)
        return {each: clock for each, clock in both if clock is not None and _same(self, each)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rows of one configuration, one per model; `why` is the compiler error, '' if there was none."""

    rows: tuple[Row, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class ConfigurationTask:
    """A configuration that ran at a `clock` in MHz, to be compiled and bounded by every model; it can be sent to another process."""

    space: str
    kernel: str
    source: KernelSource
    product: Product
    recipe: Recipe
    derivation: Derivation
    problem: tuple[Value, ...]
    values: Mapping[str, Value]
    time_ms: float
    clock: int
    models: tuple[str, ...]


def load(path: Path, recipes: silicon_recipes.Recipes, *, boost: bool = False) -> Space:
    """Return the tuning space of a cache, with the source of the same name beside it; `boost`: all of it ran at the boost clock.

    Raises InputError: what the readers refuse, `no-tuning-space`, `no-source`, `unknown-device`; MissingToolError `no-nvrtc`.
    """
    space = recorded.read(str(path))
    if not isinstance(space, TuningSpace):
        raise InputError("no-tuning-space", f"{path.name} records launches, no tuning space")
    source = path.with_name(f"{path.name.partition('.')[0]}.cu")
    if not source.is_file():
        raise InputError("no-source", f"there is no {source.name} beside {path.name}", hint="put the source of the kernel there")
    device = space.device.name if space.device is not None else path.name
    product = recipes.product(device)
    if product is None:
        raise InputError("unknown-device", f"no product is known for '{device}'", hint="sassan gpus lists those that are known")
    loaded = silicon_compile.load(source)
    recipe = recipes.kernels.get(space.kernel, silicon_recipes.Recipe())
    name = path.name.removesuffix(".gz").removesuffix(".json")
    derivation = derive(space.kernel, loaded.text, space.parameters)
    clocks = (product.boost_clock,) * len(space.configurations) if boost else silicon_clocks.clocks(space, product)
    return Space(name, space, loaded, product, recipe, derivation, clocks)


def notes(space: Space, recipes: silicon_recipes.Recipes) -> Iterator[str]:
    """Yield notes on a tuning space for readers of the figures."""
    yield from space.space.notes
    if space.space.kernel not in recipes.kernels:
        yield f"no recipe for kernel {space.space.kernel}: a block covers {space.derivation}; arguments by value are unknown"
    if only := {name: value for name, value in space.recipe.only.items() if name in space.space.parameters}:
        same = settings_text(only)
        yield f"only with {same} is the source beside the cache the code that was measured: others are not looked at"
    if slow := sorted({clock for clock in space.clocks if clock not in (None, space.product.boost_clock)}):
        known = f"{sum(clock is not None for clock in space.clocks)} of {len(space.clocks)}"
        yield f"runs became faster at once: {known} configurations surely ran at {slow[0]} MHz, others are not looked at"
    text = "\n".join((space.source.text, *(header for _, header in space.source.headers)))
    silent = [name for name in _varying(space.space) if name not in text and name not in space.recipe.only]
    if silent:
        yield f"the source never mentions {', '.join(silent)}, which varies: some configurations may have run other code"


def settings_text(values: Mapping[str, Value]) -> str:
    """Return parameters with their values as text."""
    return " ".join(f"{name}={value}" for name, value in values.items())


def _varying(space: TuningSpace) -> list[str]:
    columns = zip(*(each.values for each in space.configurations), strict=True)
    return [name for name, column in zip(space.parameters, columns, strict=True) if len(set(column)) > 1]


def chosen(space: TuningSpace, count: int) -> tuple[TuningConfiguration, ...]:
    """Return `count` of the configurations with a time, 0: all, ordered by time; the selection is deterministic.

    Of as many groups of neighbours in time, equal in size, one each: the fastest of the first, the slowest of the last, one at random of
    the others.
    """
    valid = sorted((each for each in space.configurations if each.valid), key=lambda each: (each.time_ms or 0.0, each.place))
    if not count or count >= len(valid):
        return tuple(valid)
    draw = random.Random(f"{_SEED} {space.kernel} {len(valid)}")  # noqa: S311 - a sample, no secret
    edges = [index * len(valid) // count for index in range(count + 1)]
    places = [draw.randrange(low, high) for low, high in pairwise(edges)]
    if count > 1:
        places[0], places[-1] = 0, len(valid) - 1
    return tuple(valid[place] for place in places)


def tasks(space: Space, sample: int, names: tuple[str, ...]) -> list[ConfigurationTask]:
    """Return the chosen configurations, of those that ran the code of the source."""
    clocks = space.comparable
    same = replace(space.space, configurations=tuple(clocks))
    return [
        ConfigurationTask(
            space.name,
            space.space.kernel,
            space.source,
            space.product,
            space.recipe,
            space.derivation,
            space.space.problem,
            space.space.values(configuration),
            configuration.time_ms or 0.0,
            clocks[configuration],
            names,
        )
        for configuration in chosen(same, sample)
    ]


def _same(space: Space, configuration: TuningConfiguration) -> bool:
    values = space.space.values(configuration)
    # Where a space has no such parameter, there was no other code.
    return all(values.get(name, value) == value for name, value in space.recipe.only.items())


def rows(space: Space, sample: int, names: tuple[str, ...], executor: Executor) -> Iterator[Row]:
    """Yield a row per chosen configuration and model; prints how many do not compile, and the first complaint."""
    jobs = tasks(space, sample, names)
    complaints: list[str] = []
    for outcome in executor.map(bounded, jobs, lost=_lost):
        complaints += [outcome.why] if outcome.why else []
        yield from outcome.rows
    if complaints:
        print(f"{space.name}: {len(complaints)} of {len(jobs)} configurations do not compile; the first: {complaints[0]}")


def _lost(job: ConfigurationTask, error: SassanError) -> Outcome:
    return _without(job, error.code)


def _without(job: ConfigurationTask, code: str, why: str = "") -> Outcome:
    return Outcome(tuple(_row(job, model, code) for model in job.models), why)


def bounded(job: ConfigurationTask) -> Outcome:
    """Return the outcome of a configuration; reasons for a missing bound are gaps of its rows."""
    rows_made: list[Row] = []
    for model in job.models:
        try:
            validation = validated(job, model)
        except CompileProblem as problem:
            return _without(job, "compile-failed", str(problem))
        except SassanError as error:
            rows_made.append(_row(job, model, error.code))
            continue
        rows_made.append(_row(job, model, " ".join(sorted({gap.code for gap in validation.gaps})), validation))
    return Outcome(tuple(rows_made))


def validated(job: ConfigurationTask, model: str) -> LaunchValidation:
    """Return the measured launch of a configuration with its bound and estimate.

    Raises CompileProblem, SassanError.
    """
    cubin = silicon_compile.compiled(job.source, job.product.architecture, job.values, job.recipe.macros)
    launch = silicon_grids.shapes(job.recipe, job.derivation, job.values, job.problem)
    functions = frontend.read(Image(f"{job.kernel}.cubin", cubin)).functions
    kernels = [function for function in functions if function.kernel and bare(function.name) == job.kernel]
    measured = RecordedLaunch(job.kernel, block=launch.block, grid=launch.grid, shared=launch.shared, time_ns=job.time_ms * _NS_PER_MS)
    given = LaunchConfiguration(parameters=tuple(Setting(name, -1, value) for name, value in launch.parameters))
    settings = Settings(costs=models.model(model, Tables()), launch=given)
    return next(validate([measured], {None: kernels}, settings, Hardware(gpu=job.product, clock_hz=job.clock * _HZ_PER_MHZ)))


def _row(job: ConfigurationTask, model: str, gaps: str, validation: LaunchValidation | None = None) -> Row:
    analysis = validation.analysis if validation is not None else None
    return Row(
        job.space,
        model,
        settings_text(job.values),
        shape_text(validation.launch.block if validation else None),
        shape_text(validation.launch.grid if validation else None),
        analysis.function.registers if analysis is not None else None,
        job.time_ms * 1e3,
        job.time_ms * 1e3 * job.clock,
        validation.bound if validation else None,
        validation.estimated if validation else None,
        roofline(validation) if validation else None,
        gaps,
        group=apart(validation),
        **terms(validation),
        slopes=slopes(validation),
    )
