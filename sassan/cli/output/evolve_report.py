"""The report of `evolve`: the default and the front in a table, what was found, what came to nothing, and what the costs rest on."""

from collections.abc import Iterator
from pathlib import Path

from sassan.cli.output import table
from sassan.cli.output.table import Column, Table
from sassan.cli.output.terminal import out, safe
from sassan.evolve import report
from sassan.evolve.answer import Answer, Individual
from sassan.evolve.config import Config
from sassan.evolve.run import Runner

_NONE = "-"
_ROWS = 12
_PERCENT = 100.0
_KNOWN = ("wcet", "registers", "instructions")
"""Numbers that are shown whatever is made small."""


def show(config: Config, found: Answer, runner: Runner, folder: Path) -> None:
    """Print the report."""
    numbers = tuple(dict.fromkeys((*(one.value for one in config.objectives), *_KNOWN)))
    columns = (Column("individual"), *(Column(one, number=True) for one in numbers), Column("loops"), Column("choice"))
    rows = [_row("default", found.default, numbers)]
    rows += [_row("best" if one == found.best else f"front {at}", one, numbers) for at, one in enumerate(found.front[:_ROWS])]
    if len(found.front) > _ROWS:
        rows.append((f"… {len(found.front) - _ROWS} more in result.json", *(("",) * (len(columns) - 1))))
    table.show(Table(columns, tuple(rows)))
    out("loops: back edges per entry, inferred from the code for the one launch\n\n")
    for line in (*_compared(config, found), *_counted(found, runner)):
        out(f"{safe(line)}\n")
    if found.best is not None:
        launch = config.shape.launch(found.best.choice)
        out(f"\n{safe(report.command(config, found.best, str(folder / 'best')))}\nlaunched as: {safe(str(launch))}\n")
    out(f"\nwritten to {safe(str(folder))}: result.json, best.cubin, convergence.svg, convergence.png\n\nassumptions:\n")
    for one in report.assumptions(config, found, runner):
        out(f"  {safe(one)}\n")


def _row(name: str, one: Individual, numbers: tuple[str, ...]) -> tuple[str, ...]:
    known = (one.outcome.numbers.get(key) for key in numbers)
    loops = " ".join(f"{loop.head}:{_NONE if loop.bound is None else loop.bound}" for loop in one.outcome.loops)
    return (name, *(_NONE if value is None else f"{value:g}" for value in known), loops or "none", str(one.choice))


def _compared(config: Config, found: Answer) -> Iterator[str]:
    """Yield how much less each cost of the best individual is than that of the default, and of random search."""
    if found.best is None:
        yield f"nothing is bounded: the default: {found.default.outcome.why}"
        return
    yield f"best against the default: {_changes(config, found.best, found.default)}"
    if found.sampled is not None:
        count = len(found.curves["random search"])
        costs = ", ".join(f"{one.value} {cost:g}" for one, cost in zip(config.objectives, found.sampled.outcome.costs, strict=True))
        yield f"random search, {count} individuals: {costs}"


def _changes(config: Config, best: Individual, default: Individual) -> str:
    if not default.outcome.costs:
        return f"the default has no bound: {default.outcome.why}"
    parts: list[str] = []
    for objective, now, before in zip(config.objectives, best.outcome.costs, default.outcome.costs, strict=True):
        change = f"{_PERCENT * (now - before) / before:+.1f} %" if before else _NONE
        parts.append(f"{objective.value} {before:g} -> {now:g} ({change})")
    return ", ".join(parts)


def _counted(found: Answer, runner: Runner) -> Iterator[str]:
    fates = dict(found.fates)
    total = sum(fates.values())
    compiled = total - fates["failed"] - fates["hung"]
    came = {"failed": "failed", "hung": "hung the compiler", "gap": "with gaps", "refused": "refused", "unequal": "unequal"}
    nothing = ", ".join(f"{fates[fate]} {words}" for fate, words in came.items())
    yield f"{total} individuals in {found.generations} generations: {compiled} compiled; {nothing}"
    yield f"{runner.tools}; {runner.work.cached} of {runner.work.evaluated} evaluations of this run found their compilation in the cache"
