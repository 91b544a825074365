"""Figures by least squares: what made the measurements is found again, and a program that is held back has no say."""

from math import exp
from random import Random

import pytest

from sassan.checked import Format
from sassan.estimate.figures import calibrated
from scripted import scripted

calibration = scripted("calibration")


def points(change: list[float], count: int = 60):
    dice = Random(5)
    out = []
    for index in range(count):
        slopes = tuple(dice.uniform(0, 1) for _ in change)
        factor = exp(sum(slope * one for slope, one in zip(slopes, change, strict=True)))
        out.append(calibration.Point("programs", f"program {index}", 1e6, 1e6 / factor, slopes))
    return out


def test_the_figures_that_made_the_measurements_are_found_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(calibration, "_PENALTY", 0.5)  # so few launches say little against what is published
    change = [0.2, -0.2, 0.1, 0.5, 0.1]
    found = calibration.fitted(points(change))
    for name, one in zip(calibration.FREE, change, strict=True):
        assert getattr(found, name) == pytest.approx(getattr(calibrated(), name) * exp(one), rel=0.15)
    (fit,) = calibration.fits(points(change))
    assert fit.fitted < fit.now / 3
    assert fit.held_back < fit.now / 3


def test_many_launches_move_figures_from_where_publications_have_them():
    few, many = (calibration.fitted(points([0.2, 0.0, 0.0, 0.0, 0.0], count)).l2 for count in (20, 1000))
    assert calibrated().l2 < few < many < calibrated().l2 * exp(0.2)


def test_a_program_that_is_held_back_has_no_say():
    usual = points([0.0] * len(calibration.FREE), 20)
    strange = [calibration.Point("programs", "strange", 1e6, 3e6, (1.0,) * len(calibration.FREE))] * 50
    assert next(each for each in calibration.fits([*usual, *strange])).held_back == pytest.approx(2 * 50 / 70, rel=0.02)


def test_the_file_of_figures_says_where_a_new_one_comes_from():
    figures = calibration.fitted(points([0.3, 0.0, 0.0, 0.0, 0.0]))
    table = Format("bad", "").toml("figures", calibration.text(figures, "fitted to a test")).table("figures")
    assert table.table("l2").text("source") == "fitted to a test"
    assert table.table("l2").number("value", least=0, most=1e6) == pytest.approx(figures.l2, rel=0.01)
    assert table.table("cache").text("source") != "fitted to a test"
