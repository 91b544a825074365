"""`scripts/experiments record`: programs compiled, recorded, and compared with the launches that a GPU ran."""

import csv
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from budget import whole
from cli.shell import ROOT
from record.programs import needs_compiler
from sassan.frontend.cubin.tools import tools

pytestmark = pytest.mark.slow

MAKEFILE = """ARCH = sm_60
main: main.cu
\tnvcc -std=c++14 -arch=$(ARCH) $< -o $@
run: main
\t./main 3
"""
SOURCE = """
#include <cstdlib>
template <int N> __global__ void fill(int *x) { x[threadIdx.x] = N; }
int main(int, char **arguments) { int *x; cudaMalloc(&x, 4096); fill<7><<<atoi(arguments[1]), 64>>>(x); return 0; }
"""
MEASURED = """program,arguments,kernel,block,grid,launches_recorded,time_ns_min,time_ns_median,time_ns_max
same-cuda,3,"void fill<7>(int *)","64,1,1","3,1,1",1,1.0,1.0,1.0
other-cuda,3,"void fill<7>(int *)","64,1,1","4,1,1",1,1.0,1.0,1.0
broken-cuda,3,"void fill<7>(int *)","64,1,1","3,1,1",1,1.0,1.0,1.0
"""
needs_toolkit = pytest.mark.skipif(
    shutil.which("nvcc") is None or shutil.which("make") is None or not tools("cuobjdump"),
    reason="nvcc, make or cuobjdump is not installed",
)


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    from _lib import record_experiment  # noqa: PLC0415

    return record_experiment


@whole("three programs are compiled")
@needs_compiler
@needs_toolkit
def test_equal_different_and_uncompilable_programs_are_distinguished(
    experiment: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for name in ("same-cuda", "other-cuda", "broken-cuda"):
        folder = tmp_path / "data" / "programs" / name
        folder.mkdir(parents=True)
        (folder / "Makefile").write_text(MAKEFILE)
        (folder / "main.cu").write_text(SOURCE if name != "broken-cuda" else "no program")
    (tmp_path / "data" / "programs" / "measured.csv").write_text(MEASURED)
    assert experiment.run(tmp_path / "data", tmp_path / "x.csv", tmp_path / "work", 30.0, 2) == 0
    with (tmp_path / "x.csv").open() as file:
        rows = [(row["program"], row["built"], row["recorded"], row["agrees"]) for row in csv.DictReader(file)]
    assert rows == [("same-cuda", "1", "1", "1"), ("other-cuda", "1", "1", "0"), ("broken-cuda", "0", "0", "0")]
    said = capsys.readouterr().out
    assert "3 programs: 2 compiled, 2 recorded, 1 make every launch that was measured; rows: 1 of 3" in said
    assert "recorded block (64, 1, 1) grid (3, 1, 1)" in said


def test_a_folder_without_programs_is_refused(experiment: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert experiment.run(tmp_path, None, None, 1.0, 1) == 3
    assert "measured.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("void fill<7>(int *)", "fill"),
        ("accuracy_kernel(int, const float *)", "accuracy_kernel"),
        ("void space::inner<a<b>, c>::kernel<(int)3>(T1 *)", "kernel"),
        ("(anonymous namespace)::kernel(int)", "kernel"),
    ],
)
def test_kernels_are_compared_by_their_short_names(experiment: ModuleType, name: str, expected: str):
    assert experiment.short(name) == expected
