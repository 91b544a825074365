"""Tuning spaces in the experiment: which configurations are chosen, how they are compiled, and what becomes of them."""

import csv
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from budget import FULL, some
from cli.shell import ROOT
from sassan.errors import InputError
from sassan.executor import Serial
from sassan.recorded import TuningConfiguration, TuningSpace
from scripted import scripted
from silicon import silicon

compile_ = scripted("silicon_compile")
experiment = scripted("silicon_experiment")
recipes = scripted("silicon_recipes")
spaces = scripted("silicon_spaces")

SOURCE = """
#include "sizes.h"
extern "C" __global__ void scale(float *out, const float *in) {
    int first = blockIdx.x * block_size_x * tile_size + threadIdx.x;
    #pragma unroll unroll
    for (int i = 0; i < tile_size; i++)
        out[first + i * block_size_x] = factor * in[first + i * block_size_x];
}
#if block_size_x > 64
#error too large
#endif
"""
CACHE: dict[str, Any] = {
    "device_name": "NVIDIA A100-PCIE-40GB",
    "kernel_name": "scale",
    "problem_size": [65536],
    "tune_params_keys": ["block_size_x", "tile_size", "unroll", "silent"],
    "tune_params": {"block_size_x": [32, 64, 96], "tile_size": [4], "unroll": [0, 2], "silent": [0, 1]},
    "cache": {
        "32,4,0,0": {"block_size_x": 32, "tile_size": 4, "unroll": 0, "silent": 0, "time": 0.001},
        "64,4,2,1": {"block_size_x": 64, "tile_size": 4, "unroll": 2, "silent": 1, "time": 0.002},
        "96,4,0,0": {"block_size_x": 96, "tile_size": 4, "unroll": 0, "silent": 0, "time": 0.003},
        "96,4,2,0": {"block_size_x": 96, "tile_size": 4, "unroll": 2, "silent": 0, "time": "CompilationFailedConfig"},
    },
}


def space(*times: float | None) -> TuningSpace:
    configurations = tuple(
        TuningConfiguration((index,), recorded_ms=time, status="ok" if time is not None else "compile", place=f"cache.{index}")
        for index, time in enumerate(times)
    )
    return TuningSpace("x.json", "kernel-tuner", "scale", None, ("block",), configurations)


def chosen(many: TuningSpace, count: int) -> list[float | None]:
    return [configuration.time_ms for configuration in spaces.chosen(many, count)]


HUNDRED = space(*(float(1 + number * 37 % 100) for number in range(100)))


def test_of_each_part_of_the_times_one_is_chosen_and_the_ends_always():
    times = chosen(HUNDRED, 5)
    assert [int(((time or 0) - 1) // 20) for time in times] == [0, 1, 2, 3, 4]
    assert (times[0], times[-1]) == (1.0, 100.0)


def test_the_same_file_always_has_the_same_sample():
    assert spaces.chosen(HUNDRED, 7) == spaces.chosen(HUNDRED, 7)


@pytest.mark.parametrize("count", [0, 3, 9])
def test_all_are_chosen_by_time_where_no_more_are_there(count: int):
    assert chosen(space(3.0, 1.0, 2.0), count) == [1.0, 2.0, 3.0]


def test_configurations_without_a_time_are_not_chosen():
    assert chosen(space(3.0, None, 2.0), 0) == [2.0, 3.0]


def test_one_alone_is_any():
    assert len(chosen(HUNDRED, 1)) == 1


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("#pragma unroll factor", ""),
        ("    #  pragma unroll (factor)  ", ""),
        ("#pragma unroll other", "#pragma unroll other"),
        ("#pragma unroll", "#pragma unroll"),
        ("#pragma unroll 4", "#pragma unroll 4"),
        ("// #pragma unroll factor", "// #pragma unroll factor"),
    ],
)
def test_a_pragma_whose_parameter_is_zero_is_removed(line: str, kept: str):
    assert compile_.prepared(f"a\n{line}\nb", {"factor": 0, "other": 2}) == f"a\n{kept}\nb"


def test_parameters_are_macros():
    assert compile_.macros({"tile": 2}, {"N": "1 << 3"}) == ("-Dtile=2", "-Dkernel_tuner=1", "-DN=1 << 3")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "tuner").mkdir()
    (tmp_path / "tuner" / "scale.A100.json").write_text(json.dumps(CACHE), encoding="utf-8")
    (tmp_path / "tuner" / "scale.cu").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "tuner" / "sizes.h").write_text("#define factor 3.0f\n", encoding="utf-8")
    return tmp_path


def test_a_cache_without_its_source_is_refused(folder: Path):
    (folder / "tuner" / "scale.cu").unlink()
    with pytest.raises(InputError) as refused:
        spaces.load(folder / "tuner" / "scale.A100.json", recipes.read())
    assert refused.value.code == "no-source"


def test_a_cache_of_an_unknown_device_is_refused(folder: Path):
    (folder / "tuner" / "scale.A100.json").write_text(json.dumps(CACHE | {"device_name": "Radeon"}), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        spaces.load(folder / "tuner" / "scale.A100.json", recipes.read())
    assert refused.value.code == "unknown-device"


def test_a_folder_without_recordings_ends_with_the_status_of_a_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert experiment.run(experiment.Plan(tmp_path, None)) == 3
    assert "no recording under" in capsys.readouterr().err


@pytest.mark.slow
def test_configurations_are_compiled_and_bounded(folder: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("nvidia.cuda_nvrtc", reason="nvidia-cuda-nvrtc-cu12 is not installed")
    loaded = spaces.load(folder / "tuner" / "scale.A100.json", recipes.read())
    result = list(spaces.rows(loaded, 0, ("control",), Serial()))
    assert [(row.block, row.grid, row.gaps) for row in result] == [
        ("32x1x1", "512x1x1", ""),
        ("64x1x1", "256x1x1", ""),
        ("", "", "compile-failed"),
    ]
    assert [row.measured_cycles for row in result] == pytest.approx([1410.0, 2820.0, 4230.0])
    assert [row.bound_cycles is not None for row in result] == [True, True, False]
    assert "scale.A100: 1 of 3 configurations do not compile; the first: kernel.cu(" in capsys.readouterr().out


@pytest.mark.slow
def test_what_a_reader_has_to_know_is_noted(folder: Path):
    pytest.importorskip("nvidia.cuda_nvrtc", reason="nvidia-cuda-nvrtc-cu12 is not installed")
    known = recipes.read()
    unknown, silent = spaces.notes(spaces.load(folder / "tuner" / "scale.A100.json", known), known)
    assert unknown.startswith("no recipe for kernel scale: a block covers x: block_size_x * tile_size (source); y: 1 (default);")
    assert silent == "the source never mentions silent, which varies: some configurations may have run other code"


@pytest.mark.slow
def test_the_experiment_writes_its_tables_and_pictures(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("nvidia.cuda_nvrtc", reason="nvidia-cuda-nvrtc-cu12 is not installed")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))  # its processes look for the modules there
    if not FULL:
        monkeypatch.setattr(experiment, "Processes", lambda _: nullcontext(Serial()))
    assert experiment.run(experiment.Plan(folder, folder / "out", models=("table",))) == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "scale.A100.png",
        "scale.A100.svg",
        "silicon.csv",
        "silicon.toml",
        "silicon_predictions.csv",
        "silicon_rows.csv",
    ]
    with (folder / "out" / "silicon.csv").open(encoding="utf-8") as file:
        (summary,) = csv.DictReader(file)
    assert (summary["source"], summary["model"], summary["n"], summary["gaps"]) == ("scale.A100", "table", "3", "compile-failed:1")
    assert "scale.A100" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", some(["dedispersion.A100.json.gz", "convolution.A100.json.gz"]))
def test_recorded_configurations_have_a_bound(name: str):
    path = Path(silicon(f"tuner/{name}"))
    pytest.importorskip("nvidia.cuda_nvrtc", reason="nvidia-cuda-nvrtc-cu12 is not installed")
    result = list(spaces.rows(spaces.load(path, recipes.read()), 1, ("control",), Serial()))
    assert [(row.gaps, row.bound_cycles is not None) for row in result] == [("", True)]
