"""The four plots of the paper: histogram (Fig. 4), phase diagram (Fig. 5), estimators against duration (Fig. 6) and delay (Fig. 7)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sassan.measure.confidence import correlation
from sassan.measure.estimators import Estimator, estimate
from sassan.measure.figure import MANY_POINTS, Axes, render_figure
from sassan.measure.samples import SampleGroup, Samples
from sassan.measure.verdict import time

if TYPE_CHECKING:
    from collections.abc import Mapping

_STYLES: "Mapping[Estimator, tuple[str, str, str]]" = {
    # Okabe and Ito's colours, darker where they meet white; markers and dashes distinguish them without colour.
    Estimator.WARM_UP: ("#777777", "x", ":"),
    Estimator.MEAN_ALL: ("#a0527c", "v", "-."),
    Estimator.MEAN: ("#d55e00", "s", "--"),
    Estimator.MINIMUM: ("#0072b2", "o", "-"),
    Estimator.MEDIAN: ("#009e73", "^", "-."),
    Estimator.MAXIMUM: ("#333333", "d", ":"),
}
_BULK = 90.0
"""Percentile below which the bulk of the runs lies."""
_REACH = 5.0
"""An axis extends to this multiple of the bulk; the title counts the values beyond."""
_BINS = 80
_LEAST_SPAN = 1e-6
"""Minimum span of an axis, as a share of the largest duration."""
_PERCENT = 100.0


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: a file name without extension, and the function that draws it."""

    name: str
    _draw: Callable[[Axes], None]

    def render(self, form: str) -> bytes:
        """Return the file, `svg` or `png`; the same samples give the same bytes.

        Raises MissingToolError `missing-extra` without matplotlib.
        """
        return render_figure(form, (8, 5), self._draw)


def pictures(samples: Samples) -> tuple[Picture, ...]:
    """Return the pictures for which there are enough samples.

    A histogram and a phase diagram per size; Fig. 6 where there are two sizes, Fig. 7 where there are two delays.
    """
    return tuple(_pictures(samples))


def _pictures(samples: Samples) -> Iterator[Picture]:
    sizes = samples.by_size()
    for size, groups in sizes.items():
        mark = "" if len(sizes) == 1 else "-unsized" if size is None else f"-{size:g}"
        warm = tuple(value for group in groups for value in group.warm)
        if warm:
            yield Picture(f"histogram{mark}", partial(_histogram, warm, _named(samples, size)))
        if any(len(group.warm) > 1 for group in groups):
            yield Picture(f"phase{mark}", partial(_phase, groups, _named(samples, size)))
        usable = [group for group in groups if group.warm]
        if len({group.delay for group in usable}) > 1:
            yield Picture(f"delays{mark}", partial(_delays, usable, _named(samples, size)))
    known = {size: [group for group in groups if group.warm] for size, groups in sizes.items() if size is not None}
    known = {size: groups for size, groups in known.items() if groups}
    if len(known) > 1:
        yield Picture("durations", partial(_durations, list(known.values()), _named(samples, None)))


def _named(samples: Samples, size: float | None) -> str:
    words = [samples.about.get("kernel", ""), "" if size is None else f"size {size:g}", samples.about.get("device", "")]
    return ", ".join(word for word in words if word)


def _histogram(warm: Sequence[float], name: str, axes: Axes) -> None:
    values, (unit, scale) = np.array(warm), _unit(warm)
    edge, beyond = _edge(values)
    shown = values[values <= edge] / scale
    bins = min(_BINS, max(10, int(np.sqrt(len(shown)) * 2)))
    low, high = _widened(float(shown.min()), float(shown.max()))
    axes.hist(shown, bins=bins, range=(low, high), color="#c9dceb", edgecolor="#5b87a8", linewidth=0.4)
    for estimator in (Estimator.MINIMUM, Estimator.MEDIAN, Estimator.MEAN):
        colour, _, dashes = _STYLES[estimator]
        value = estimate((warm[0], *warm), estimator)
        axes.axvline(value / scale, color=colour, linestyle=dashes, linewidth=1.6, label=f"{estimator} {time(value)}")
    axes.set(xlabel=f"execution time ({unit})", ylabel="runs")
    _finish(axes, f"{len(warm)} runs without warm-ups", name, beyond)


def _phase(groups: Sequence[SampleGroup], name: str, axes: Axes) -> None:
    pairs = np.array([pair for group in groups for pair in zip(group.warm[:-1], group.warm[1:], strict=True)])
    unit, scale = _unit(pairs.ravel())
    edge, beyond = _edge(pairs.max(axis=1))
    shown = pairs[pairs.max(axis=1) <= edge] / scale
    low, high = _widened(float(shown.min()), float(shown.max()))
    pad = (high - low) * 0.04
    axes.plot((low - pad, high + pad), (low - pad, high + pad), color="#999999", linewidth=0.8, linestyle="--", label="equal")
    many = len(shown) > MANY_POINTS
    axes.scatter(*shown.T, s=6 if many else 12, alpha=0.25 if many else 0.6, linewidths=0, color="#0072b2", rasterized=many)
    axes.set(xlim=(low - pad, high + pad), ylim=(low - pad, high + pad), aspect="equal")
    axes.set(xlabel=f"run n ({unit})", ylabel=f"run n + 1 ({unit})")
    related = correlation(pairs[:, 0], pairs[:, 1])
    _finish(axes, f"{len(pairs)} pairs of runs, rank correlation {related:.2f}", name, beyond)


def _durations(sizes: Sequence[Sequence[SampleGroup]], name: str, axes: Axes) -> None:
    least = [min(value for group in groups for value in group.seconds) for groups in sizes]
    order = np.argsort(least)
    for estimator, (colour, marker, dashes) in _STYLES.items():
        excess = [_mean(sizes[at], estimator) / least[at] * _PERCENT - _PERCENT for at in order]
        axes.plot(
            [least[at] for at in order],
            excess,
            color=colour,
            marker=marker,
            linestyle=dashes,
            markersize=5,
            linewidth=1.3,
            label=estimator.value,
        )
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:g} %")
    axes.xaxis.set_major_formatter(_tick)
    axes.set(xlabel="shortest run of the size", ylabel="estimate above the shortest run")
    _finish(axes, "estimators against the duration, mean over groups", name, 0)


def _delays(groups: Sequence[SampleGroup], name: str, axes: Axes) -> None:
    unit, scale = _unit([min(group.warm) for group in groups])
    delays = sorted({group.delay for group in groups})
    for estimator, (colour, marker, dashes) in _STYLES.items():
        if estimator is Estimator.MEAN_ALL:
            continue
        means = [_mean([group for group in groups if group.delay == delay], estimator) / scale for delay in delays]
        axes.plot(delays, means, color=colour, marker=marker, linestyle=dashes, markersize=4, linewidth=1.3, label=estimator.value)
    axes.set(xlabel="delay before each run (s)", ylabel=f"execution time ({unit})")
    _finish(axes, "estimators against the delay, mean over groups", name, 0)


def _tick(seconds: float, place: int) -> str:
    del place
    return time(seconds) if seconds > 0 else ""


def _mean(groups: Sequence[SampleGroup], estimator: Estimator) -> float:
    values = [estimate(group.seconds, estimator) for group in groups]
    return sum(values) / len(values)


def _widened(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis, widened where runs are equal or nearly so."""
    least = _LEAST_SPAN * high
    return (low, high) if high - low > least else (low - least, high + least)


def _edge(values: "np.typing.NDArray[np.float64]") -> tuple[float, int]:
    """Return the end of an axis, and the number of values beyond it."""
    least = float(values.min())
    edge = least + _REACH * (float(np.percentile(values, _BULK)) - least)
    if edge in {least, float(values.max())} or values.max() <= edge:
        return float(values.max()), 0
    return edge, int((values > edge).sum())


def _unit(seconds: "Sequence[float] | np.typing.NDArray[np.float64]") -> tuple[str, float]:
    least = min(seconds)
    return next(((unit, size) for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if least >= size), ("ns", 1e-9))


def _finish(axes: Axes, subject: str, name: str, beyond: int) -> None:
    more = f"; {beyond} longer than shown" if beyond else ""
    axes.set_title(f"{name}\n{subject}{more}" if name else f"{subject}{more}", fontsize=10, parse_math=False)
    axes.grid(visible=True, color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, frameon=False, loc="best")
