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
    assert [each.method for each in silicon_rows.judgements(ROWS[:1], frozenset())] == [
        "estimate",
        "cross-validated",
        "roofline",
        "bound",
    ]


def test_an_estimate_is_cross_validated_with_the_launches_of_other_programs():
    some = [
        row(100.0, 400, source=f"space {number}")._replace(estimate_cycles=100.0, slopes=(0.5, 0.1, 0.0, 0.2, 0.1)) for number in range(9)
    ]
    odd = some[0]._replace(source="odd", measured_cycles=50.0)
    *others, crossed, without = silicon_rows.crossed([*some, odd, row(80.0, None)])
    assert crossed.held_back_cycles == pytest.approx(100.0)
    assert all(each.held_back_cycles < 100 for each in others)
    assert without.held_back_cycles is None


def test_launches_of_a_program_are_held_back_together():
    assert row(1.0, 1)._replace(name="bfs:kernel<a::b>(int)").program == "bfs"
    assert row(1.0, 1)._replace(name="3 a::b(int)").program == "space"


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
