"""The pictures: which there are, what stands on them, and that the same samples give the same bytes."""

import re
import sys

import pytest

from budget import some
from sassan.errors import MissingToolError
from sassan.extras import install
from sassan.measure import SampleGroup, Samples
from sassan.measure.pictures import Picture, pictures

pytestmark = pytest.mark.slow

RUNS = (9e-3, *(2e-3 + number % 7 * 1e-5 for number in range(60)), 8e-3)
ONE = Samples((SampleGroup(0, RUNS),), {"kernel": "$x$ <b>", "device": "none: synthetic"})
SWEPT = Samples(tuple(SampleGroup(number, RUNS, delay=number % 2, size=1 + number // 2) for number in range(4)))


def named(samples: Samples, name: str) -> Picture:
    return next(picture for picture in pictures(samples) if picture.name == name)


def drawn(samples: Samples, name: str) -> str:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra 'plots')")
    return named(samples, name).render("svg").decode()


def comments(svg: str) -> list[str]:
    """Return the texts of a drawing; matplotlib writes each beside its outlines."""
    return [re.sub("&[a-z]+;", "_", comment).strip() for comment in re.findall(r"<!-- (.*?) -->", svg, re.DOTALL)]


def test_one_group_has_a_histogram_and_a_phase_diagram():
    assert [picture.name for picture in pictures(ONE)] == ["histogram", "phase"]


def test_sizes_and_delays_have_their_pictures():
    assert [picture.name for picture in pictures(SWEPT)] == [
        "histogram-1",
        "phase-1",
        "delays-1",
        "histogram-2",
        "phase-2",
        "delays-2",
        "durations",
    ]


def test_a_warm_up_alone_has_no_picture():
    assert pictures(Samples((SampleGroup(0, (1.0,)),))) == ()


def test_the_histogram_gives_the_number_of_hidden_runs():
    assert "61 runs without warm-ups; 1 longer than shown" in comments(drawn(ONE, "histogram"))


@pytest.mark.parametrize("last", some([0.30000000000000004, 0.3, 0.3000000000001], of=3))
def test_runs_that_differ_by_their_last_bit_are_drawn(last: float):
    close = Samples((SampleGroup(0, (0.3, *(0.3, last) * 4)),))
    assert "8 runs without warm-ups" in comments(drawn(close, "histogram"))
    assert drawn(close, "phase")


def test_the_legend_tells_the_estimates():
    assert {"min 2 ms", "median 2.03 ms"} <= set(comments(drawn(ONE, "histogram")))


def test_the_phase_diagram_tells_the_correlation():
    assert any(comment.startswith("60 pairs of runs, rank correlation ") for comment in comments(drawn(ONE, "phase")))


@pytest.mark.parametrize("name", ["durations", "delays-1"])
def test_the_sweeps_name_every_curve(name: str):
    assert {"warm-up", "mean", "min", "median", "max"} <= set(comments(drawn(SWEPT, name)))


def test_names_are_no_formulas():
    assert any(comment.startswith("$x$") for comment in comments(drawn(ONE, "phase")))


@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_samples_give_the_same_bytes(form: str):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra 'plots')")
    assert named(ONE, "histogram").render(form) == named(ONE, "histogram").render(form)


def test_equal_runs_can_be_drawn():
    flat = Samples((SampleGroup(0, (1.0,) * 5), SampleGroup(1, (1.0,) * 5, delay=1.0, size=None)))
    assert all(len(drawn(flat, picture.name)) > 1000 for picture in pictures(flat))


def test_without_matplotlib_the_install_command_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingToolError) as refused:
        named(ONE, "phase").render("svg")
    assert (refused.value.code, refused.value.hint) == ("missing-extra", install("plots"))
