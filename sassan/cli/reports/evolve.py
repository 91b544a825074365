"""The report of `evolve`: the default and the front in a table, comparisons, status counts, and assumptions."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sassan.cli.output import table
from sassan.cli.output.terminal import out, safe
from sassan.cli.reports import assumptions
from sassan.evolve import report
from sassan.evolve.result import Individual, SearchResult
from sassan.evolve.run import Runner
from sassan.evolve.space.config import Config, Objective
from sassan.fields.field import NONE, Declare, Field, Record
from sassan.fields.kinds import FIGURE, STRING, array
from sassan.plurals import count_of
from sassan.timing import models
from sassan.timing.rates import Tables

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
        return NONE
    value = value * _MICRO if number == Objective.MEASURED else value
    return f"{value:.2f}" if number in _TIMES else f"{value:.0f}"


def cost(config: Config, number: str, value: float) -> str:
    """Return a number of an individual with its unit."""
    return f"{spelled(number, value)} {unit(config, number)}".rstrip()


class ShownIndividual(NamedTuple):
    """The default, the best, or another individual of the front (`name`), and its place there."""

    name: str
    individual: Individual
    place: int = 0


_of = Declare[ShownIndividual]()


def shown_of(result: SearchResult) -> tuple[ShownIndividual, ...]:
    """Return the individuals that are shown: the default, then the front."""
    front = (ShownIndividual("best" if each == result.best else "front", each, at) for at, each in enumerate(result.front))
    return (ShownIndividual("default", result.default), *front)


def row_fields(config: Config) -> type[Record[ShownIndividual]]:
    """Return the columns of the table and of CSV; of the numbers, those of the objectives come first."""

    def placed(each: ShownIndividual) -> str:
        return f"front {each.place}" if each.name == "front" else each.name

    def number(key: str) -> Field[ShownIndividual, float | None]:
        kind, title = replace(FIGURE, shown=partial(spelled, key)), f"{key} {unit(config, key)}".rstrip()
        return _of(kind, f"its {key}", lambda each: each.individual.outcome.numbers.get(key), csv=True, head=title)

    def loops(each: ShownIndividual) -> list[str]:
        return [f"{loop.head}:{NONE if loop.bound is None else loop.bound}" for loop in each.individual.outcome.loops]

    columns = {
        "individual": _of(STRING, "which one it is", lambda each: each.name, csv=True, head="individual", shown=placed),
        **{key: number(key) for key in dict.fromkeys((*(objective.value for objective in config.objectives), *_KNOWN))},
        "loops": _of(array(STRING), "their bounds", loops, csv=True, head="loops", shown=lambda each: " ".join(loops(each)) or "none"),
        "choice": _of(STRING, "of values", lambda each: str(each.individual.choice), csv=True, head="choice"),
    }
    return type("IndividualRowFields", (Record,), columns)


def show(config: Config, result: SearchResult, runner: Runner, folder: Path) -> None:
    """Print the report."""
    shown = table.of_fields(row_fields(config), shown_of(result)[: 1 + _ROWS])
    if (more := len(result.front) - _ROWS) > 0:
        shown = replace(shown, rows=(*shown.rows, (f"… {more} more in result.json", *(("",) * (len(shown.columns) - 1)))))
    table.show(shown)
    out("loops: back edges per entry, inferred from the code for the one launch\n\n")
    for line in (*_compared(config, result), *_counted(result, runner)):
        out(f"{safe(line)}\n")
    if result.best is not None:
        launch = config.shape.launch(result.best.choice)
        out(f"\n{safe(report.command(config, result.best, str(folder / 'best')))}\nlaunched as: {safe(str(launch))}\n")
    out(f"\nwritten to {safe(str(folder))}: result.json, best.cubin, convergence.svg, convergence.png\n")
    assumptions.show(report.assumptions(config, result, runner), every=True)


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
        change = f"{_PERCENT * (now - before) / before:+.1f} %" if before else NONE
        parts.append(f"{objective.value} {spelled(objective, before)} -> {cost(config, objective, now)} ({change})")
    return ", ".join(parts)


def _counted(result: SearchResult, runner: Runner) -> Iterator[str]:
    counts = dict(result.status_counts)
    total = sum(counts.values())
    compiled = total - counts["failed"] - counts["hung"]
    labels = {"failed": "failed", "hung": "exceeded the compile time", "gap": "with gaps", "refused": "refused", "unequal": "unequal"}
    failures = ", ".join(f"{counts[status]} {label}" for status, label in labels.items())
    generations = count_of(result.generations, "generation")
    yield f"{total} individuals in {generations}: {compiled} compiled; {failures}"
    yield f"{runner.tools}; {runner.statistics.cached} of {runner.statistics.evaluated} compilations of this run were cached"
