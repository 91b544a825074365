"""`sassan rank`: the order of choices, what a tuner measured, and what is refused."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from budget import FULL, PATIENCE, whole
from cli.shell import Sassan, assert_refused
from evolving import CONFIG, config_file, need_nvrtc

pytestmark = pytest.mark.slow

TUNED = """\
__global__ void tuned(float *x) {
    int first = (blockIdx.x * block_size_x + threadIdx.x) * tile_size_x;
    for (int k = 0; k < tile_size_x; ++k) x[first + k] *= 2;
}
"""
TIMES = {(32, 1, 0): 0.9, (64, 1, 0): 0.5, (64, 1, 1): 0.6, (64, 4, 1): 0.7}
FAIL = '[[gene]]\nmacro = "FAIL"\nvalues = [false, true]\n'
RANKED = ('gpu = "T4"', 'restrictions = ["UNROLL * 2 != 24"]')


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tuner_cache(folder: Path, **more: object) -> Path:
    """Write a cache of Kernel Tuner and its source; the last parameter is not in the code."""
    names = ("block_size_x", "tile_size_x", "unused")
    entries = {",".join(map(str, key)): dict(zip(names, key, strict=True)) | {"time": time, "times": [time]} for key, time in TIMES.items()}
    document = {
        "device_name": "Tesla T4",
        "kernel_name": "tuned",
        "problem_size": [1 << 20],
        "tune_params_keys": names,
        "tune_params": {name: sorted({key[at] for key in TIMES}) for at, name in enumerate(names)},
        "cache": entries,
    }
    path = folder / "tuned.json"
    path.write_text(json.dumps(document | more), "utf-8")
    (folder / "tuned.cu").write_text(TUNED, "utf-8")
    return path


def test_the_choices_of_a_configuration_are_ordered_by_estimate(sassan: Sassan, folder: Path):
    need_nvrtc()
    text = CONFIG.replace('arch = "sm_80"\n', "").replace("grid = [4]", "grid = [4000]\n" + "\n".join(RANKED))
    config = config_file(folder, text.replace(FAIL, ""))
    result = sassan("rank", config, "--executor", "serial", "--json", "-o", "ranked.csv")
    assert result.status == 0, result.err
    rows = result.document["configurations"]
    assert len(rows) == 6  # UNROLL = 12 is not launched
    times = [row["estimate_us"] for row in rows]
    known = [time for time in times if time is not None]
    assert known == sorted(known)
    assert len(known) == 3
    assert times[3:] == [None] * 3
    assert {row["parameters"]["UNROLL"] for row in rows} == {1, 2, 4}
    assert all(row["why"] for row in rows[3:])
    table = list(csv.DictReader((folder / "ranked.csv").read_text("utf-8").splitlines()))
    assert [row["UNROLL"] for row in table[:3]] == [str(row["parameters"]["UNROLL"]) for row in rows[:3]]
    written = (folder / "ranked.csv").read_text("utf-8")
    assert sassan("rank", config, "--executor", "serial", "--csv").out == written
    if FULL:
        quiet = sassan("rank", config, "--executor", "serial", "-o", "again.csv", "-q")
        assert (quiet.out, quiet.err, (folder / "again.csv").read_text("utf-8")) == ("", "", written)


def test_a_tuners_order_is_compared_with_its_times(sassan: Sassan, folder: Path):
    need_nvrtc()
    path = tuner_cache(folder)
    result = sassan("rank", path, "--executor", "serial", "--json")
    assert result.status == 0, result.err
    summary, rows = result.document["summary"], result.document["configurations"]
    assert (summary["configurations"], summary["estimated"], summary["measured"]) == (4, 4, 4)
    assert summary["regret"]["10"] == 1.0
    assert summary["regret"]["1"] == rows[0]["measured_us"] / 500
    assert {tuple(row["parameters"].values()): row["measured_us"] / 1000 for row in rows} == pytest.approx(TIMES)
    same = {row["estimate_us"] for row in rows if list(row["parameters"].values())[:2] == [64, 1]}
    assert len(same) == 1  # a parameter that the code does not mention changes nothing
    table = sassan("rank", path, "--executor", "serial", "--top", "1", "--where", "tile_size_x < 4")
    assert "3 choices on T4, 3 with an estimate" in table.out
    assert table.out.splitlines()[1].split()[0] == "1"
    shown = table.out.splitlines()[1].partition("block_size_x=")[2].rstrip("…")
    assert f"the first: block_size_x={shown}" in table.out  # whole, however narrow the table is
    assert "regret@10 1.000" in table.out


@whole("interrupts of batch and evolve are tested by default")
@pytest.mark.parametrize("how", [("-j", "2"), ("--executor", "serial")], ids=" ".join)
def test_an_interrupt_keeps_what_was_estimated(sassan: Sassan, folder: Path, how: tuple[str, ...]):
    need_nvrtc()
    entries = {
        f"{32 * size},{tile},0": {"block_size_x": 32 * size, "tile_size_x": tile, "unused": 0, "time": 1.0}
        for size in range(1, 33)
        for tile in (1, 2, 4)
    }
    parameters = {"block_size_x": [32 * size for size in range(1, 33)], "tile_size_x": [1, 2, 4], "unused": [0]}
    path = tuner_cache(folder, cache=entries, tune_params=parameters)
    command = [sys.executable, "-m", "sassan", "rank", str(path), *how, "-q", "-o", "ranked.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        while len(list((folder / "cache").rglob("*.cubin"))) < 2:
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, "")
    assert err == "interrupted: what was estimated is in the cache; the same command continues there\n"
    assert not (folder / "ranked.csv").exists()
    kept = {path: path.read_bytes() for path in (folder / "cache").rglob("*.cubin")}
    assert 2 <= len(kept) < len(entries)
    few = sassan("rank", path, "--executor", "serial", "--where", "block_size_x <= 64", "--json").document
    assert few["summary"]["estimated"] == 6
    assert {path: path.read_bytes() for path in kept} == kept


def test_a_cache_without_source_or_gpu_is_refused(sassan: Sassan, folder: Path):
    path = tuner_cache(folder, device_name="Voodoo 2")
    assert sassan("rank", path).codes == ["unknown-gpu"]
    (folder / "tuned.cu").unlink()
    result = sassan("rank", path, "--gpu", "T4")
    assert_refused(result, 2)
    assert result.codes == ["no-source"]


def test_an_estimate_needs_a_gpu(sassan: Sassan, folder: Path):
    result = sassan("rank", config_file(folder, CONFIG))
    assert_refused(result, 2)
    assert "--gpu" in result.err


@pytest.mark.parametrize(
    ("where", "code"), [("tile_size_x > 100", "nothing"), ("tile_size_y > 1", "restriction"), ("1 + 1", "restriction")]
)
def test_restrictions_that_leave_nothing_or_mean_nothing_are_refused(sassan: Sassan, folder: Path, where: str, code: str):
    assert sassan("rank", tuner_cache(folder), "--where", where).codes == [code]


def test_options_of_a_cache_are_refused_with_a_configuration(sassan: Sassan, folder: Path):
    result = sassan("rank", config_file(folder, CONFIG), "--grid", "4")
    assert_refused(result, 2)
    assert "--grid" in result.err
