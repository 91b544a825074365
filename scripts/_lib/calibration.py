"""Figures of hardware by least squares over recorded launches, and how the estimate does on programs that are held back.

The logarithm of an estimate is taken as linear in the logarithms of the figures: one step of Gauss and Newton from the figures in use.
Residuals are logarithms of estimated over measured cycles; those of a program weigh as much as those of any other, however many launches
it has, and far ones count by their distance (Huber). A penalty keeps figures where publications have them, unless many launches say
otherwise.
"""

from __future__ import annotations

from dataclasses import fields, replace
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sassan.estimate.figures import FILE, Figures, calibrated
from sassan.measure import agreement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sassan.app.estimating import Prepared

FREE = {"l2": (150, 400), "dram": (100, 500), "dispatch": (1, 500), "fetch": (1, 400), "launch": (0.5, 2)}
"""The figures that are fitted, and between which values."""
_STEP = 1.25
"""Factor by which each figure is changed for its slope."""
_HUBER = 0.5
_PENALTY = 10.0
"""Of 0.5, 2, 5, 10, 20 and 50. Below 10, figures leave the published ranges (L2: 400 cycles), and what is held back is worse."""
_ROUNDS = 20


class Point(NamedTuple):
    """A launch: cycles as measured and as estimated, and by which power each free figure changes the estimate."""

    source: str
    program: str
    measured: float
    estimated: float
    slopes: tuple[float, ...]


class Fit(NamedTuple):
    """How the estimate does on a source: MAPE with the figures in use, with those that are fitted, and on programs that are held back."""

    source: str
    n: int
    now: float | None
    fitted: float | None
    held_back: float | None


def slopes(made: Prepared) -> tuple[float, ...]:
    """Return by which power each free figure changes the estimate of a launch."""
    known = calibrated()
    base = made.estimate(known).cycles
    changed = [made.estimate(replace(known, **{name: getattr(known, name) * _STEP})).cycles for name in FREE]
    return tuple(log(each / base) / log(_STEP) for each in changed)


def fitted(points: Sequence[Point]) -> Figures:
    """Return the figures in use, with those that are free fitted to points."""
    known, change = calibrated(), _change(points)
    values = {name: getattr(known, name) * exp(one) for name, one in zip(FREE, change, strict=True)}
    return replace(known, **{name: min(max(value, FREE[name][0]), FREE[name][1]) for name, value in values.items()})


def _change(points: Sequence[Point]) -> list[float]:
    """Return the logarithm of the factor of each free figure; none changes where there is no point."""
    if not points:
        return [0.0] * len(FREE)
    residuals = np.array([log(each.estimated / each.measured) for each in points])
    slopes = np.array([each.slopes for each in points])
    programs = [each.program for each in points]
    weights = np.array([1 / programs.count(each) for each in programs])
    change = np.zeros(len(FREE))
    for _ in range(_ROUNDS):
        left = residuals + slopes @ change
        robust = weights * np.minimum(1.0, _HUBER / np.maximum(np.abs(left), 1e-9))
        normal = slopes.T @ (robust[:, None] * slopes) + _PENALTY * np.eye(len(FREE))
        change = np.linalg.solve(normal, -slopes.T @ (robust * residuals))
    low, high = (np.array([log(FREE[name][side] / getattr(calibrated(), name)) for name in FREE]) for side in (0, 1))
    return [float(each) for each in np.clip(change, low, high)]


def held_back(points: Sequence[Point]) -> list[float]:
    """Return the estimate of each point in cycles, with figures that are fitted to all programs but its own."""
    without = {program: _change([each for each in points if each.program != program]) for program in {each.program for each in points}}
    return [_moved(each, without[each.program]) for each in points]


def fits(points: Sequence[Point]) -> list[Fit]:
    """Return how the estimate does on each source; a program is held back by fitting to all others."""
    every, alone = _change(points), held_back(points)
    out: list[Fit] = []
    for source in dict.fromkeys(each.source for each in points):
        some = [(each, other) for each, other in zip(points, alone, strict=True) if each.source == source]
        out.append(
            Fit(
                source,
                len(some),
                agreement.mape([(each.estimated, each.measured) for each, _ in some]),
                agreement.mape([(_moved(each, every), each.measured) for each, _ in some]),
                agreement.mape([(other, each.measured) for each, other in some]),
            )
        )
    return out


def _moved(each: Point, change: Sequence[float]) -> float:
    return each.estimated * exp(sum(slope * one for slope, one in zip(each.slopes, change, strict=True)))


def text(figures: Figures, provenance: str) -> str:
    """Return the file of figures with other values; a figure that changed has a new source."""
    known, lines = calibrated(), FILE.read_text("utf-8").splitlines()
    for field in fields(Figures):
        value = float(f"{getattr(figures, field.name):.3g}")
        if value != getattr(known, field.name):
            place = next(index for index, line in enumerate(lines) if line.startswith(f"{field.name} = "))
            lines[place] = f'{field.name} = {{ value = {value:g}, source = "{provenance}" }}'
    return "\n".join(lines) + "\n"
