"""What rows say together, and how they are written."""

import csv
from pathlib import Path

import pytest

from scripted import scripted

silicon_rows = scripted("silicon_rows")


def row(measured: float | None, bound: int | None, gaps: str = "", group: str = "", source: str = "space"):
    return silicon_rows.Row(
        source,
        "control",
        "a=1",
        "32x1x1",
        "8x1x1",
        16,
        1.0,
        measured,
        bound,
        estimate_cycles=None,
        roofline_cycles=None,
        gaps=gaps,
        group=group,
    )


ROWS = [row(100.0, 400), row(200.0, 100, group="a=1"), row(50.0, None, "no-latency unbounded-loop"), row(80.0, None, "no-latency")]


def test_a_summary_counts_bounds_gaps_and_what_is_below():
    result = silicon_rows.summaries(ROWS)[0]
    assert (result.n, result.bounded_share, result.gaps, result.below) == (4, 0.5, "no-latency:2 unbounded-loop:1", 1)
    assert (result.ratio_min, result.ratio_median, result.ratio_max) == (0.5, 2.25, 4.0)


def judged(tuned: frozenset[str]):
    return next(each for each in silicon_rows.judgements(ROWS, tuned) if (each.source, each.method) == ("space", "bound"))


def test_regrets_are_of_tuning_spaces_alone():
    assert (judged(frozenset()).tau, judged(frozenset()).regret_1) == (-1.0, None)
    space = judged(frozenset({"space"}))
    assert (space.n, space.tau, space.regret_1, space.regret_10) == (2, -1.0, 2.0, 1.0)


def test_every_way_of_predicting_stands_in_one_table():
    assert [each.method for each in silicon_rows.judgements(ROWS[:1], frozenset())] == ["estimate", "roofline", "bound"]


def test_all_of_it_is_printed(capsys: pytest.CaptureFixture[str]):
    silicon_rows.show(silicon_rows.summaries(ROWS), silicon_rows.judgements(ROWS, frozenset({"space"})))
    assert {"estimate", "roofline", "bound"} <= set(capsys.readouterr().out.split())


def test_a_group_is_also_summed_up_alone():
    assert [(summary.source, summary.n) for summary in silicon_rows.summaries(ROWS)] == [("space", 4), ("space, a=1", 1)]


def test_nothing_is_known_where_nothing_is_bounded():
    result = silicon_rows.summaries([row(50.0, None, "no-latency")])[0]
    assert (result.ratio_median, result.below) == (None, 0)


def test_a_row_of_csv_has_an_empty_cell_where_nothing_is_known(tmp_path: Path):
    silicon_rows.write([row(123456.789, None)], tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8") as file:
        (cells,) = csv.DictReader(file)
    assert (cells["measured_cycles"], cells["bound_cycles"], cells["grid"]) == ("123457", "", "8x1x1")
