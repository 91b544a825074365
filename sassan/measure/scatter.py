"""Predicted over measured times on logarithmic axes: the diagonal, half and twice the measurement, and the area below it."""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from sassan.errors import UsageError
from sassan.files import write
from sassan.measure.figure import FORMATS, MANY_POINTS, Axes, render_figure

if TYPE_CHECKING:
    Points = Sequence[tuple[float, float]]

# Okabe and Ito's colours with a marker each, so that series differ without colour, too.
_STYLES = (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"), ("#a0527c", "v"), ("#333333", "d"), ("#b08900", "P"))
_PAD = 1.25
"""Factor by which the axes extend beyond the points."""
_LEAST_SPAN = 4.0
"""Minimum ratio of the ends of an axis."""
_ALL_TICKS = 50.0
"""An axis that spans less than this factor has ticks at 1, 2, 3, 5 and 7 of each decade, one below `_SOME_TICKS` at 1, 2 and 5."""
_SOME_TICKS = 2e3
_FEW_POINTS = 60
_TWICE = 2.0
_SCALES = ((1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e4, 1e3, " k"))


def scatter(path: Path | str, series: "Mapping[str, Points]", title: str, *, unit: str = "cycles") -> None:
    """Draw each series of (measured, predicted) points into a file, `.svg` or `.png`; the same points give the same bytes.

    Units: both times of a point in `unit`, which the labels of the axes name. Raises UsageError (`bad-picture`) for another extension, for
    no points, and for a time that is not positive and finite; MissingToolError `missing-extra` without matplotlib; OSError.
    """
    form = Path(path).suffix.removeprefix(".")
    if form not in FORMATS:
        raise UsageError("bad-picture", f"cannot draw '{path}': unknown picture format", hint="pass a .svg or .png file")
    write(Path(path), render(form, series, title, unit=unit))


def render(form: str, series: "Mapping[str, Points]", title: str, *, unit: str = "cycles") -> bytes:
    """Return the picture that `scatter` writes. Raises as it does."""
    points = [point for group in series.values() for point in group]
    if not points:
        raise UsageError("bad-picture", "no points to draw", hint="measure or bound at least one launch")
    invalid = next((point for point in points if not all(value > 0 and isfinite(value) for value in point)), None)
    if invalid:
        raise UsageError(
            "bad-picture", f"the times {invalid[0]:g} and {invalid[1]:g} cannot be drawn on logarithmic axes", hint="pass positive times"
        )

    def draw(axes: Axes) -> None:
        _limits(axes, points)
        _lines(axes)
        _draw(axes, series)
        axes.set(xlabel=f"measured ({unit})", ylabel=f"predicted ({unit})")
        axes.set_title(title, fontsize=10, parse_math=False)
        axes.legend(fontsize=8, loc="best", framealpha=0.9, edgecolor="#dddddd")

    return render_figure(form, (7, 6), draw)


def _limits(axes: Axes, points: "Points") -> None:
    """Set the ends and ticks of both axes: the vertical one includes the measured times, so that the diagonal is visible."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    measured = [value for value, _ in points]
    both = [value for point in points for value in point]
    axes.set(xscale="log", yscale="log", xlim=_ends(measured), ylim=_ends(both))
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        span = high / low
        digits = (1, 2, 3, 5, 7) if span < _ALL_TICKS else (1, 2, 5) if span < _SOME_TICKS else (1,)
        axis.set_major_locator(LogLocator(subs=digits, numticks=100 if len(digits) > 1 else 10))
        axis.set_major_formatter(FuncFormatter(_tick))
        axis.set_minor_locator(NullLocator())
    axes.grid(visible=True, color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values) / _PAD, max(values) * _PAD
    more = max(1.0, (_LEAST_SPAN * low / high) ** 0.5)
    return low / more, high * more


def _lines(axes: Axes) -> None:
    ends = axes.get_xlim()
    bottom = axes.get_ylim()[0]
    axes.fill_between(ends, bottom, ends, color="#f7e3e0", linewidth=0, zorder=0, label="below the measurement")
    axes.plot(ends, ends, color="#444444", linewidth=1.0, label="equal")
    axes.plot(ends, [end * _TWICE for end in ends], color="#888888", linewidth=0.9, linestyle="--", label="half, twice")
    axes.plot(ends, [end / _TWICE for end in ends], color="#888888", linewidth=0.9, linestyle="--")


def _draw(axes: Axes, series: "Mapping[str, Points]") -> None:
    for index, (name, points) in enumerate(series.items()):
        colour, marker = _STYLES[index % len(_STYLES)]
        few, many = len(points) <= _FEW_POINTS, len(points) > MANY_POINTS
        axes.scatter(
            [measured for measured, _ in points],
            [predicted for _, predicted in points],
            s=26 if few else 6 if many else 14,
            alpha=0.8 if few else 0.3 if many else 0.55,
            linewidths=0,
            color=colour,
            marker=marker,
            rasterized=many,
            label=_literal(f"{name} (n = {len(points)})"),
        )


def _literal(text: str) -> str:
    """Return the name of a series as a literal label: not parsed as a formula, and shown even if it begins with `_`."""
    shown = text.replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{shown}" if shown.startswith("_") else shown


def _tick(value: float, place: int | None) -> str:
    """Return a tick label: 500, 20 k, 3 M."""
    del place
    return next((f"{value / scale:g}{letter}" for least, scale, letter in _SCALES if value >= least * 0.999), f"{value:g}")
