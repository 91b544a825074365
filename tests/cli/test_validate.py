"""`scripts/validate_on_gpu`: what it says without a GPU, and how it judges. The records here are made up."""

from __future__ import annotations

import ctypes
import runpy
import sys
from pathlib import Path

import pytest

from cli.shell import ROOT
from sassan.measure.sampling.cuda_source import timed

SCRIPT = ROOT / "scripts" / "validate_on_gpu"
HEAD = "device,capability,driver,date,kernel,model,launch,block,blocks,warps,repeats,measured,bound,gaps\n"
SOUND = "made-up GPU,0.0,0,2000-01-01,one,control,warp,32,1,1,20,100,250,\n"
BELOW = "made-up GPU,0.0,0,2000-01-01,two,control,sm,256,16,64,20,300,299,\n"
GAP = "made-up GPU,0.0,0,2000-01-01,three,table,warp,32,1,1,20,100,,no-latency\n"


def script(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    return ended.value.code


def recorded(tmp_path: Path, *rows: str) -> str:
    path = tmp_path / "made_up.csv"
    path.write_text(HEAD + "".join(rows), encoding="utf-8")
    return str(path)


def test_without_a_driver_there_is_one_line_and_status_0(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(name: str) -> ctypes.CDLL:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert script(monkeypatch) == 0
    assert capsys.readouterr().out == "no GPU: libcuda.so.1 (the NVIDIA driver) was not found; nothing was measured\n"


def test_bounds_above_their_measurements_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert script(monkeypatch, "--recorded", recorded(tmp_path, SOUND, GAP)) == 0
    assert capsys.readouterr().out == (
        "kernel  model    launch  warps  measured  bound  bound/measured\n"
        "one     control  warp        1       100    250            2.50\n"
        "three   table    warp        1       100      -    (no-latency)\n"
        "\n"
        "made-up GPU (compute capability 0.0, driver 0), 2000-01-01\n"
        "control, warp: 1 kernels, bound / measured 2.50 to 2.50, median 2.50\n"
        "0 of 2 bounds are below the measurement\n"
    )


def test_a_bound_below_its_measurement_fails_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script(monkeypatch, "--recorded", recorded(tmp_path, SOUND, BELOW)) == 1
    assert "1 of 2 bounds are below the measurement:\n  two (control, sm): bound 299, measured 300\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "row", [SOUND.replace(",100,", ",many,"), SOUND.replace(",100,", ",0,"), "one,two\n"], ids=["text", "zero", "short"]
)
def test_an_invalid_record_is_refused_with_its_line(
    row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script(monkeypatch, "--recorded", recorded(tmp_path, SOUND, row)) == 3
    assert "made_up.csv:3: " in capsys.readouterr().err


def test_every_argument_of_every_measured_sample_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    from _lib import validate_kernels  # noqa: PLC0415

    for sample in validate_kernels.SAMPLES:
        source = (ROOT / "samples" / "kernels" / f"{sample.name}.cu").read_text("utf-8")
        numbers = {parameter.name for parameter in timed(source, sample.name).parameters if parameter.kind != "pointer"}
        assert numbers == set(sample.scalars), sample.name
