"""Shares of public code: which launches belong to which files, and what rows say together."""

from pathlib import Path

import pytest

from sassan.errors import Gap
from scripted import scripted

public, public_page = scripted("public_experiment"), scripted("public_page")


def row(launch: str, estimate: float | None, bound: float | None, gaps: str = "", graph: int = 1):
    return public.Row("kernel", launch, 100, graph, estimate, bound, gaps, "", 1.0)


ROWS = [row("8x1x1 of 64x1x1", 5.0, 10.0), row("9x1x1 of 64x1x1", 5.0, None, "unbounded-loop"), row("", None, None, "too-large", graph=0)]


def test_kernels_without_a_launch_count_in_the_share_of_graphs_alone():
    assert public.share("source", ROWS)[1:] == (3, 2, 2, 2, 1, "too-large:1 unbounded-loop:1")


@pytest.mark.parametrize(
    ("names", "inputs"),
    [
        (("a.cubin", "b.cubin"), [(("a.cubin",), None), (("b.cubin",), None)]),
        (("a.cubin", "a.toml", "b.cubin"), [(("a.cubin",), "a.toml"), (("b.cubin",), None)]),
        (("a.cubin", "b.cubin", "program.toml"), [(("a.cubin", "b.cubin"), "program.toml")]),
    ],
)
def test_launches_are_those_of_the_file_of_their_name_else_of_all(tmp_path: Path, names: tuple[str, ...], inputs: object):
    for name in names:
        (tmp_path / name).touch()
    found = [
        (tuple(Path(file).name for file in files), recording and Path(recording).name) for files, recording in public._inputs(tmp_path)
    ]
    assert found == inputs


def test_what_a_row_needs_says_why_and_no_place_of_its_code():
    waits = "the loop at 0x0{} has no bound (it waits for LDS at 0x90{}: its bound is N; so): pass --bounds or --loop-bound"
    gaps = [*(Gap(0, "unbounded-loop", waits.format(place, place)) for place in (1, 2)), Gap(0, "other", "_Z1kv at 0x10 is new")]
    needs = "other: … is new; unbounded-loop: --loop-bound N (it waits for LDS: its bound is N, so)"
    assert public._texts(gaps) == ("other unbounded-loop", needs)


def test_times_are_written_with_four_digits(tmp_path: Path):
    public.write(ROWS, tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text().splitlines()[1] == "kernel,8x1x1 of 64x1x1,100,1,5,10,,,1"


def test_the_page_shows_shares_of_what_is_launched_and_what_the_others_need(tmp_path: Path):
    bare = public.Row("other", "", 10, 0, None, None, "too-large", "too-large: fewer instructions", 1.0)
    public.write([ROWS[0], ROWS[1], bare], tmp_path / "library.csv")
    lines = public_page.section(tmp_path)
    assert "| library | 3 | 67% | 2 | 100% | 50% | 2.0 |" in lines
    assert lines[-1] == "* library: too-large: fewer instructions (1)"


def test_the_page_says_nothing_of_public_code_that_was_not_measured(tmp_path: Path):
    assert public_page.section(tmp_path) == []
