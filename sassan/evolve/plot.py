"""The convergence plot: the best cost so far over evaluations, relative to the default, for evolution and random search."""

from functools import partial
from math import isfinite

from sassan.evolve.result import SearchResult
from sassan.evolve.space.config import Config
from sassan.measure.figure import Axes
from sassan.measure.pictures import Picture

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a0527c", "#333333", "#777777")
"""Okabe and Ito's; dashes distinguish the searches without colour."""
_STYLES = {"evolution": "-", "random search": "--"}


def convergence(config: Config, result: SearchResult) -> Picture:
    """Return the picture of a search."""
    return Picture("convergence", partial(_draw, config, result))


def _draw(config: Config, result: SearchResult, axes: Axes) -> None:
    scales = _scales(config, result)
    for search, points in result.curves.items():
        for at, objective in enumerate(config.objectives):
            curve = [(number, costs[at] / scales[at]) for number, costs in enumerate(points, 1) if isfinite(costs[at])]
            if curve:
                numbers, values = zip(*curve, strict=True)
                name = f"{objective.value}, {search}: {points[-1][at]:g}"
                axes.step(numbers, values, where="post", linestyle=_STYLES[search], color=_COLOURS[at], label=name)
    relative = result.default.outcome.costs
    if relative:
        axes.axhline(1.0, color="#999999", linewidth=0.8, linestyle=":", label=f"default: {', '.join(f'{cost:g}' for cost in relative)}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("distinct individuals evaluated")
    axes.set_ylabel("best cost so far" + (" / cost of the default" if relative else ""))
    axes.set_title(f"{config.kernel.function}, {config.kernel.arch}, seed {config.plan.seed}")
    if axes.get_legend_handles_labels()[0]:  # empty if nothing is bounded
        axes.legend()


def _scales(config: Config, result: SearchResult) -> tuple[float, ...]:
    """Return the divisor of each cost: the cost of the default, 1 if it has none."""
    known = result.default.outcome.costs
    return tuple(cost or 1.0 for cost in known) if known else (1.0,) * len(config.objectives)
