"""The scatter plot of predicted over measured times: what stands on it, which input it refuses, and that equal points give equal bytes."""

import re
import sys
from pathlib import Path

import pytest

from sassan.errors import MissingToolError, UsageError
from sassan.extras import install
from sassan.measure.scatter import render, scatter

SERIES = {"control": [(1e4, 2e4), (1e6, 1.5e6), (3e6, 2e6)], "table": [(1e4, 9e3)], "none": []}


def texts(svg: str) -> list[str]:
    """Return the texts of a drawing; matplotlib writes each beside its outlines."""
    return [text.strip() for text in re.findall(r"<!-- (.*?) -->", svg, re.DOTALL)]


def drawn(series: dict[str, list[tuple[float, float]]], title: str = "title", unit: str = "cycles") -> list[str]:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra 'plots')")
    return texts(render("svg", series, title, unit=unit).decode())


@pytest.mark.parametrize(("name", "begins"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG")])
def test_the_ending_of_the_file_is_its_format(tmp_path: Path, name: str, begins: bytes):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra 'plots')")
    scatter(tmp_path / name, SERIES, "title")
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_the_legend_names_every_series_with_its_points():
    assert {"control (n = 3)", "table (n = 1)", "none (n = 0)"} <= set(drawn(SERIES))


def test_the_legend_explains_the_lines():
    assert {"below the measurement", "equal", "half, twice"} <= set(drawn(SERIES))


def test_the_axes_name_their_unit():
    assert {"measured (ms)", "predicted (ms)"} <= set(drawn(SERIES, unit="ms"))


def test_large_ticks_have_a_letter():
    assert {"10 k", "1 M"} <= set(drawn(SERIES))


def test_a_narrow_axis_has_ticks():
    assert {"70", "100"} <= set(drawn({"control": [(70.0, 90.0), (75.0, 120.0)]}))


def test_names_are_no_formulas():
    assert {"$a$", "$b$ (n = 1)"} <= set(drawn({"$b$": [(1.0, 2.0)]}, "$a$"))


def test_a_name_that_begins_with_an_underscore_is_in_the_legend():
    assert "\N{ZERO WIDTH SPACE}_Z4axpy (n = 1)" in drawn({"_Z4axpy": [(1.0, 2.0)]})


def test_the_same_points_give_the_same_bytes():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra 'plots')")
    assert render("svg", SERIES, "title") == render("svg", SERIES, "title")


@pytest.mark.parametrize("point", [(0.0, 1.0), (1.0, -1.0), (1.0, float("inf")), (float("nan"), 1.0)])
def test_a_time_without_a_place_is_refused(point: tuple[float, float]):
    with pytest.raises(UsageError) as refused:
        render("svg", {"control": [(1.0, 1.0), point]}, "title")
    assert refused.value.code == "bad-picture"


def test_a_picture_of_no_points_is_refused():
    with pytest.raises(UsageError) as refused:
        render("svg", {"control": []}, "title")
    assert refused.value.code == "bad-picture"


def test_another_ending_is_refused(tmp_path: Path):
    with pytest.raises(UsageError) as refused:
        scatter(tmp_path / "a.pdf", SERIES, "title")
    assert (refused.value.code, refused.value.hint) == ("bad-picture", "pass a .svg or .png file")


def test_without_matplotlib_the_install_command_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingToolError) as refused:
        render("svg", SERIES, "title")
    assert (refused.value.code, refused.value.hint) == ("missing-extra", install("plots"))
