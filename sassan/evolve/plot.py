"""The convergence plot: the best cost so far against evaluations, as a share of the default's, for evolution and for random search."""

from functools import partial
from math import isfinite
from typing import Any

from sassan.evolve.answer import Answer
from sassan.evolve.config import Config
from sassan.measure.pictures import Picture

Axes = Any
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a0527c", "#333333", "#777777")
"""Okabe and Ito's; dashes tell the searches apart without colour."""
_STYLES = {"evolution": "-", "random search": "--"}


def convergence(config: Config, found: Answer) -> Picture:
    """Return the picture of a search."""
    return Picture("convergence", partial(_draw, config, found))


def _draw(config: Config, found: Answer, axes: Axes) -> None:
    scales = _scales(config, found)
    for search, points in found.curves.items():
        for at, objective in enumerate(config.objectives):
            curve = [(number, one[at] / scales[at]) for number, one in enumerate(points, 1) if isfinite(one[at])]
            if curve:
                numbers, values = zip(*curve, strict=True)
                name = f"{objective.value}, {search}: {points[-1][at]:g}"
                axes.step(numbers, values, where="post", linestyle=_STYLES[search], color=_COLOURS[at], label=name)
    relative = found.default.outcome.costs
    if relative:
        axes.axhline(1.0, color="#999999", linewidth=0.8, linestyle=":", label=f"default: {', '.join(f'{one:g}' for one in relative)}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("different individuals evaluated")
    axes.set_ylabel("best cost so far" + (" / cost of the default" if relative else ""))
    axes.set_title(f"{config.kernel.function}, {config.kernel.arch}, seed {config.plan.seed}")
    if axes.get_legend_handles_labels()[0]:  # nothing has a bound: there is nothing to tell apart
        axes.legend()


def _scales(config: Config, found: Answer) -> tuple[float, ...]:
    """Return what each cost is divided by: the default's, 1 where it has none."""
    known = found.default.outcome.costs
    return tuple(one or 1.0 for one in known) if known else (1.0,) * len(config.objectives)
