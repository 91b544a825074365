"""Evolution against random search with the same budget over many seeds, by the first objective alone: final costs, and how soon."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from math import isfinite
from statistics import mean, median
from typing import TYPE_CHECKING

from scipy.stats import mannwhitneyu, wilcoxon

from sassan.errors import InputError
from sassan.evolve.result import search_result
from sassan.evolve.run import Runner, tools_of
from sassan.evolve.search import GenomeSearch
from sassan.evolve.space import config as configurations
from sassan.evolve.space.config import Config, Objective
from sassan.evolve.state import SearchState, initial_state
from sassan.executor import Processes
from sassan.files import write
from sassan.plurals import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

HEADER = ("kernel", "objective", "seed", "budget", "default", "evolution", "random", "evolution_mean", "random_mean")


@dataclass(frozen=True, slots=True)
class Row:
    """One seed: least costs of both searches, and the means of their best-so-far curves, in units of the first objective."""

    kernel: str
    objective: str
    seed: int
    budget: int
    default: float
    evolution: float
    random: float
    evolution_mean: float
    random_mean: float

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        return tuple(f"{value:.10g}" if isinstance(value, float) else str(value) for value in (getattr(self, name) for name in HEADER))


def run(files: Sequence[str], output: Path | None, seeds: int) -> int:
    """Search each configuration with each seed, print the statistics, write the table."""
    rows: list[Row] = []
    with Processes() as workers:
        for file in files:
            config = configurations.read(file)
            config = replace(config, objectives=config.objectives[:1])
            tools = tools_of(config)
            runner = Runner(config, tools, workers)
            table_rows = list(_searched(config, runner, range(seeds)))
            rows += table_rows
            print(_statistics(config.kernel.function, table_rows))
    if output is not None:
        write(output, _csv(rows).encode())
    return 0


def _searched(config: Config, runner: Runner, seeds: Sequence[int]) -> Iterator[Row]:
    known: SearchState | None = None
    for seed in seeds:
        seeded = replace(config, plan=replace(config.plan, seed=seed, baseline=True))
        state = initial_state(seed)
        if known is not None:
            state.known = known.known  # an outcome is a function of its genome: no seed need compile it again
        result = search_result(seeded, GenomeSearch(seeded, runner).run(state))
        known = state
        if result.best is None or result.sampled is None or not result.default.outcome.costs:
            raise InputError("unbounded", f"{config.file}: seed {seed} found nothing that is bounded")
        means = {name: mean(costs[0] for costs in points if isfinite(costs[0])) for name, points in result.curves.items()}
        costs = [float(who.outcome.costs[0]) for who in (result.default, result.best, result.sampled)]
        where = (config.kernel.function, Objective(config.objectives[0]).value, seed, config.plan.budget)
        yield Row(*where, *costs, means["evolution"], means["random search"])


def _statistics(name: str, rows: Sequence[Row]) -> str:
    lines = [
        f"{name}: {rows[0].objective} of the default {rows[0].default:g}, {count_of(len(rows), 'seed')}, {rows[0].budget} individuals each"
    ]
    for measure, pairs in (
        ("least cost", [(row.evolution, row.random) for row in rows]),
        ("mean of the best so far", [(row.evolution_mean, row.random_mean) for row in rows]),
    ):
        ours, theirs = [value for value, _ in pairs], [value for _, value in pairs]
        lines.append(f"  {measure}: median {median(ours):g} against {median(theirs):g}, {chance(ours, theirs)}")
    return "\n".join(lines)


def chance(ours: list[float], theirs: list[float]) -> str:
    """Return two tests and the effect size of Vargha and Delaney: the share of pairs in which evolution costs less, ties counting half."""
    pairs = [(ours_cost, theirs_cost) for ours_cost in ours for theirs_cost in theirs]
    scores = [1.0 if ours_cost < theirs_cost else 0.5 if ours_cost == theirs_cost else 0.0 for ours_cost, theirs_cost in pairs]
    effect = sum(scores) / len(pairs)
    unpaired = mannwhitneyu(ours, theirs, alternative="two-sided").pvalue
    differ = any(ours_cost != theirs_cost for ours_cost, theirs_cost in zip(ours, theirs, strict=True))
    paired = f"{wilcoxon(ours, theirs, zero_method='zsplit').pvalue:.3g}" if differ else "none differ"
    return f"Mann-Whitney p = {unpaired:.3g}, Wilcoxon p = {paired}, A12 = {effect:.2f}"


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(row.cells for row in rows)
    return text.getvalue()
