"""Published times beside bounds: how the table is read, and when a bound is below."""

from pathlib import Path

import pytest

from scripted import scripted

published = scripted("published_times")

HEAD = "kernel,file,gpu,block,grid,shared,params,measured,unit,work,overhead,label\n"


def read(tmp_path: Path, *rows: str) -> list[object]:
    path = tmp_path / "times.csv"
    path.write_text(HEAD + "\n".join(rows) + "\n", "utf-8")
    return published.read(path)


@pytest.mark.parametrize(
    ("cells", "us"),
    [
        ("3,us,,", 3),
        ("3,ms,,500", 2500),
        ("100,TFLOPS,137438953472,", 1374.38953472),
        ("1,GFLOPS,1000000,", 1000),
        ("800,GB/s,1600000,", 2),
    ],
)
def test_times_and_rates_are_microseconds_without_the_overhead(tmp_path: Path, cells: str, us: float):
    (one,) = read(tmp_path, f"k,k.cubin,RTX 3080,256,4,,,{cells},x")
    assert one.us == pytest.approx(us)


def test_launches_of_one_label_are_one_measurement(tmp_path: Path):
    (both, other) = read(
        tmp_path,
        "a,k.cubin,RTX 3080,256,4,64,param_0=1;param_1=2,9,us,,,two",
        "b,k.cubin,RTX 3080,256,4,,,9,us,,,two",
        "a,k.cubin,A2,32,1,,,1,us,,,",
    )
    assert (both.label, both.us, [launch.kernel for launch in both.launches]) == ("two", 9, ["a", "b"])
    assert (both.launches[0].shared, both.launches[0].parameters) == (64, ("param_0=1", "param_1=2"))
    assert other.label == "A2: a 1 x 32"


@pytest.mark.parametrize("row", ["k,,RTX 3080,256,4,,,3,us,,,", "k,f,RTX 3080,256,4,,,3,cycles,,,", "k,f,RTX 3080,256,4,,,3,us,,4,"])
def test_a_row_without_a_file_a_unit_or_a_time_is_refused(tmp_path: Path, row: str):
    with pytest.raises(ValueError, match=r"no file|not a unit|-1 us"):
        read(tmp_path, row)


@pytest.mark.parametrize(("bound", "status", "rc"), [(2.9, "BELOW", 1), (3.0, "above", 0), (None, "unbounded-loop", 0)])
def test_a_bound_below_a_time_gives_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str], bound: float | None, status: str, rc: int):
    (one,) = read(tmp_path, "k,k.cubin,RTX 3080,256,4,,,3,us,,,x")
    row = published._row(one, bound, None, "" if bound else "unbounded-loop")
    assert (row.status, published.show(iter([row]), tmp_path / "out.csv")) == (status, rc)
    assert status in capsys.readouterr().out
    assert (tmp_path / "out.csv").read_text("utf-8").count("\n") == 2
