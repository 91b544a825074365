"""The estimators of Mazurek on made-up runs whose truth is known: bias, spread and coverage per disturbance, duration and delay.

`measure.csv`: for every world, duration, delay, number of runs and estimator, over many groups: what the estimate lies above the truth on
average (bias), the standard deviation of the estimates and the worst one, in percent of the truth; and how often the 95 % interval holds
what it is about: the undisturbed time for the minimum, the mean and the median of the world for those two. Durations share their random
numbers: from one to the next only the truth changes. `measure_verdicts.csv`: which estimator the verdict over five groups chooses, in
percent of all sets of groups.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from _lib import measure_truth as truth
from _lib.measure_truth import Shape
from _lib.written import written

from sassan.measure import rows
from sassan.measure.confidence import IntervalSettings, interval
from sassan.measure.estimators import Estimator, estimate
from sassan.measure.samples import SampleGroup, Samples
from sassan.measure.verdict import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from _lib.measure_truth import World

DURATIONS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
PAPER = 2.243e-3
"""The shortest run of Fig. 4."""
DELAYS = (0.0, 1.0, 2.1, 3.0, 4.5, 6.0)
RUNS = (20, 200)
SETS = 5
"""Groups that a verdict is over."""
_SEED = 2012
_LARGE = 400_000
"""Number of runs for the mean and the median of a world."""
_RESAMPLES = 499
_SHOWN = (Estimator.WARM_UP, Estimator.MEAN_ALL, Estimator.MEAN, Estimator.MEDIAN, Estimator.MINIMUM, Estimator.MAXIMUM)


@dataclass(frozen=True)
class Cell:
    """One estimator in one place. Units: percent of the truth; `coverage` in percent of the groups, None where there is no interval."""

    world: str
    truth: float
    delay: float
    runs: int
    estimator: str
    groups: int
    bias: float
    spread: float
    worst: float
    coverage: float | None


SAMPLES = {
    "synthetic-long-tails": (replace(truth.TAILS, tail_scale=1.5e-5), (PAPER,), Shape(runs=2000)),
    "synthetic-durations": (truth.TAILS, (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 3.0), Shape(groups=5)),
    "synthetic-delays": (truth.DELAYS, (PAPER,), Shape(groups=3, delays=tuple(tenths / 10 for tenths in range(0, 66, 3)))),
}
"""What `write_samples` makes: worlds like those of Fig. 4 and 5, 6, and 7."""


def write_samples(folder: Path) -> int:
    """Write the samples that the package ships."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (world, truths, shape) in SAMPLES.items():
        (folder / f"{name}.csv").write_text(rows.text(truth.samples(world, _SEED, truths, shape)), encoding="utf-8")
    return 0


def run(output: Path | None, groups: int) -> int:
    """Print the tables, and write them next to `output`."""
    cells = [cell for place in _places() for cell in _cells(*place, groups)]
    chosen = [(world.name, duration, _choices(world, duration, groups)) for world in truth.WORLDS for duration in DURATIONS]
    print(_text(cells))
    print(_verdict_text(chosen))
    if output is not None:
        _write(output, cells)
        _write_verdicts(output.with_name(f"{output.stem}_verdicts.csv"), chosen)
    return 0


def _places() -> Iterator[tuple[World, float, float, int]]:
    for world in truth.WORLDS:
        for duration in DURATIONS:
            for runs in RUNS:
                yield world, duration, 0.0, runs
    for world in truth.DELAYED:
        for delay in DELAYS:
            yield world, PAPER, delay, truth.RUNS


def _cells(world: World, duration: float, delay: float, runs: int, groups: int) -> list[Cell]:
    random = np.random.default_rng(_SEED)
    made = [truth.group(world, duration, random, runs=runs, delay=delay) for _ in range(groups)]
    whole = truth.group(world, duration, np.random.default_rng(_SEED + 1), runs=_LARGE, delay=delay)[1:]
    goals = {Estimator.MINIMUM: duration, Estimator.MEAN: float(np.mean(whole)), Estimator.MEDIAN: float(np.median(whole))}
    return [_cell((world, duration, delay, runs), which, made, goals.get(which)) for which in _SHOWN]


def _cell(place: tuple[World, float, float, int], which: Estimator, made: Sequence[tuple[float, ...]], goal: float | None) -> Cell:
    world, duration, delay, runs = place
    errors = np.array([estimate(seconds, which) for seconds in made]) / duration * 100 - 100
    coverage = None
    if goal is not None:
        held = [_holds(seconds, which, goal, number) for number, seconds in enumerate(made)]
        coverage = 100 * sum(held) / len(held)
    worst = float(errors[np.abs(errors).argmax()])
    return Cell(world.name, duration, delay, runs, which.value, len(made), float(errors.mean()), float(errors.std()), worst, coverage)


def _holds(seconds: tuple[float, ...], which: Estimator, goal: float, seed: int) -> bool:
    estimated = interval(seconds, which, IntervalSettings(seed=seed, resamples=_RESAMPLES))
    return estimated is not None and (estimated.low is None or estimated.low <= goal) and (estimated.high is None or goal <= estimated.high)


def _choices(world: World, duration: float, groups: int) -> dict[str, float]:
    """Return the percentage of verdicts that choose each estimator."""
    random = np.random.default_rng(_SEED)
    sets = max(1, groups // SETS)
    counted: Counter[str] = Counter()
    for _ in range(sets):
        some = tuple(SampleGroup(number, truth.group(world, duration, random)) for number in range(SETS))
        counted[verdicts(Samples(some))[0].choice or "none"] += 1
    return {name: 100 * count / sets for name, count in sorted(counted.items())}


def _text(cells: Sequence[Cell]) -> str:
    head = f"{'world':<17}{'truth':>8}{'delay':>7}{'runs':>6}  " + "".join(f"{which.value:>20}" for which in _SHOWN)
    lines = ["bias and spread of each estimator, percent of the truth", head]
    for at in range(0, len(cells), len(_SHOWN)):
        some = cells[at : at + len(_SHOWN)]
        cells_text = "".join(f"{f'{cell.bias:+.3g} ± {cell.spread:.2g}':>20}" for cell in some)
        lines.append(f"{some[0].world:<17}{some[0].truth:>8.3g}{some[0].delay:>7.2g}{some[0].runs:>6}  {cells_text}")
    return "\n".join(lines)


def _verdict_text(chosen: Sequence[tuple[str, float, dict[str, float]]]) -> str:
    lines = ["", "what the verdict over five groups of 20 runs chooses"]
    lines += [
        f"{world:<17}{at:>8.3g}  {', '.join(f'{name} {share:.0f} %' for name, share in shares.items())}" for world, at, shares in chosen
    ]
    return "\n".join(lines)


def _write(path: Path, cells: Sequence[Cell]) -> None:
    with written(path) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(
            (
                "world",
                "truth_s",
                "delay_s",
                "runs",
                "estimator",
                "groups",
                "bias_percent",
                "spread_percent",
                "worst_percent",
                "coverage_percent",
            )
        )
        for cell in cells:
            numbers = (
                f"{cell.bias:.4g}",
                f"{cell.spread:.4g}",
                f"{cell.worst:.4g}",
                "" if cell.coverage is None else f"{cell.coverage:.4g}",
            )
            writer.writerow((cell.world, f"{cell.truth:g}", f"{cell.delay:g}", cell.runs, cell.estimator, cell.groups, *numbers))


def _write_verdicts(path: Path, chosen: Sequence[tuple[str, float, dict[str, float]]]) -> None:
    with written(path) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("world", "truth_s", "choice", "percent"))
        writer.writerows((world, f"{at:g}", name, f"{share:.4g}") for world, at, shares in chosen for name, share in shares.items())
