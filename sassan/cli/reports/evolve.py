"""The report of `evolve`: the default and the front in a table, comparisons, status counts, and assumptions."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.evolve import report
from sassan.evolve.result import Individual, SearchResult
from sassan.evolve.run import Runner
from sassan.evolve.space.config import Config, Objective
from sassan.timing import models
from sassan.timing.rates import Tables

_NONE = "-"
_ROWS = 12
_PERCENT, _MICRO = 100.0, 1e6
_BOUNDS = frozenset({Objective.WCET, Objective.MAKESPAN, Objective.GRID})
_TIMES = frozenset({Objective.MEASURED, Objective.ESTIMATE})
_KNOWN = ("wcet", "registers", "instructions")
"""Numbers that are shown for every objective."""


def unit(config: Config, number: str) -> str:
    """Return the unit of a number of an individual; '' where its name says what is counted."""
    if number in _TIMES:
        return "us"
    return models.model(config.model, Tables()).quantity if number in _BOUNDS else ""


def spelled(number: str, value: float | None) -> str:
    """Return how a number of an individual is shown: counts whole, times in microseconds."""
    if value is None:
        return _NONE
    value = value * _MICRO if number == Objective.MEASURED else value
    return f"{value:.2f}" if number in _TIMES else f"{value:.0f}"


def cost(config: Config, number: str, value: float) -> str:
    """Return a number of an individual with its unit."""
    return f"{spelled(number, value)} {unit(config, number)}".rstrip()


def _titled(config: Config, number: str) -> str:
    return f"{number} {unit(config, number)}".rstrip()


def numbers_of(config: Config) -> tuple[str, ...]:
    """Return the numbers that are shown of an individual: those of the objectives first."""
    return tuple(dict.fromkeys((*(objective.value for objective in config.objectives), *_KNOWN)))


def flat(config: Config, result: SearchResult) -> Iterator[Mapping[str, object]]:
    """Yield the rows of CSV: the default, then the front."""
    for at, each in enumerate((result.default, *result.front)):
        name = "default" if at == 0 else "best" if each == result.best else "front"
        known = {key: each.outcome.numbers.get(key) for key in numbers_of(config)}
        loops = [f"{loop.head}:{_NONE if loop.bound is None else loop.bound}" for loop in each.outcome.loops]
        yield {"individual": name, **known, "loops": loops, "choice": str(each.choice)}


def show(config: Config, result: SearchResult, runner: Runner, folder: Path) -> None:
    """Print the report."""
    numbers = numbers_of(config)
    columns = (
        Column("individual"),
        *(Column(_titled(config, number), number=True) for number in numbers),
        Column("loops"),
        Column("choice"),
    )
    rows = [_row("default", result.default, numbers)]
    rows += [
        _row("best" if individual == result.best else f"front {at}", individual, numbers)
        for at, individual in enumerate(result.front[:_ROWS])
    ]
    if len(result.front) > _ROWS:
        rows.append((f"… {len(result.front) - _ROWS} more in result.json", *(("",) * (len(columns) - 1))))
    table.show(Table(columns, tuple(rows)))
    out("loops: back edges per entry, inferred from the code for the one launch\n\n")
    for line in (*_compared(config, result), *_counted(result, runner)):
        out(f"{safe(line)}\n")
    if result.best is not None:
        launch = config.shape.launch(result.best.choice)
        out(f"\n{safe(report.command(config, result.best, str(folder / 'best')))}\nlaunched as: {safe(str(launch))}\n")
    out(f"\nwritten to {safe(str(folder))}: result.json, best.cubin, convergence.svg, convergence.png\n")
    assumptions.show(report.assumptions(config, result, runner), every=True)


def _row(name: str, individual: Individual, numbers: tuple[str, ...]) -> tuple[str, ...]:
    loops = " ".join(f"{loop.head}:{_NONE if loop.bound is None else loop.bound}" for loop in individual.outcome.loops)
    return (name, *(spelled(key, individual.outcome.numbers.get(key)) for key in numbers), loops or "none", str(individual.choice))


def _compared(config: Config, result: SearchResult) -> Iterator[str]:
    """Yield comparisons of the best individual with the default and with random search."""
    if result.best is None:
        yield f"nothing is bounded; the default: {result.default.outcome.why}"
        return
    yield f"best against the default: {_changes(config, result.best, result.default)}"
    if result.sampled is not None:
        count = len(result.curves["random search"])
        costs = ", ".join(
            f"{each.value} {cost(config, each, value)}" for each, value in zip(config.objectives, result.sampled.outcome.costs, strict=True)
        )
        yield f"random search, {count} individuals: {costs}"


def _changes(config: Config, best: Individual, default: Individual) -> str:
    if not default.outcome.costs:
        return f"the default has no bound: {default.outcome.why}"
    parts: list[str] = []
    for objective, now, before in zip(config.objectives, best.outcome.costs, default.outcome.costs, strict=True):
        change = f"{_PERCENT * (now - before) / before:+.1f} %" if before else _NONE
        parts.append(f"{objective.value} {spelled(objective, before)} -> {cost(config, objective, now)} ({change})")
    return ", ".join(parts)


def _counted(result: SearchResult, runner: Runner) -> Iterator[str]:
    counts = dict(result.status_counts)
    total = sum(counts.values())
    compiled = total - counts["failed"] - counts["hung"]
    labels = {"failed": "failed", "hung": "exceeded the compile time", "gap": "with gaps", "refused": "refused", "unequal": "unequal"}
    failures = ", ".join(f"{counts[status]} {label}" for status, label in labels.items())
    generations = f"{result.generations} generation{'' if result.generations == 1 else 's'}"
    yield f"{total} individuals in {generations}: {compiled} compiled; {failures}"
    yield f"{runner.tools}; {runner.statistics.cached} of {runner.statistics.evaluated} compilations of this run were cached"
