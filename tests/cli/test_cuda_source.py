"""CUDA source as an input: compiled by nvcc, else by NVRTC, and kept."""

import importlib.util
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from budget import FULL, some
from cli.shell import Sassan, assert_refused
from sassan.compilers.source import compiled, user_file
from sassan.errors import UsageError
from sassan.frontend.cubin.tools import tools

DEVICE = """#include "factor.h"
template <class T, int N> __global__ void scale(T* x) { x[threadIdx.x] = x[threadIdx.x] * T(FACTOR) + N; }
template __global__ void scale<float, 3>(float*);
template __global__ void scale<double, 5>(double*);
"""
HOST = '#include <cstdio>\nint main() { scale<float, 3><<<1, 32>>>(nullptr); std::puts("done"); }\n'
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc is installed")
reads_sm_80 = pytest.mark.skipif(
    not any(80 in tool.reads for tool in tools("nvdisasm")), reason="no nvdisasm that reads sm_80 is installed"
)
needs_nvrtc = pytest.mark.skipif(
    importlib.util.find_spec("nvidia") is None or importlib.util.find_spec("nvidia.cuda_nvrtc") is None, reason="no NVRTC is installed"
)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "factor.h").write_text("#define FACTOR 2\n", "utf-8")
    path = tmp_path / "k.cu"
    path.write_text(DEVICE, "utf-8")
    return path


def without_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [folder for folder in os.environ["PATH"].split(os.pathsep) if not (Path(folder) / "nvcc").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(kept))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)


@pytest.mark.slow
@needs_nvcc
@reads_sm_80
def test_a_source_with_host_code_is_analyzed_and_compiled_once(sassan: Sassan, source: Path):
    source.write_text(DEVICE + HOST, "utf-8")
    first = sassan("analyze", source, "--arch", "sm_80", "--json")
    assert [one["arch"] for one in first.document["functions"]] == ["sm_80", "sm_80"]
    (entry,) = (source.parent / "cache" / "compiled").iterdir()
    made = entry.stat().st_mtime_ns, entry.stat().st_ino
    assert sassan("analyze", source, "--arch", "sm_80", "--json").document == first.document
    assert entry.stat().st_ino == made[1]
    if FULL:
        # A file that it includes is a part of it.
        (source.parent / "factor.h").write_text("#define FACTOR (2 + threadIdx.x)\n", "utf-8")
        changed = sassan("analyze", source, "--arch", "sm_80", "--json").document
        assert changed["functions"][0]["text"] != first.document["functions"][0]["text"]


BLUR = """__global__ void blur(float *out, const float *in, int width, int radius) {
  float sum = 0;
  for (int d = -radius; d <= radius; ++d) sum += in[blockIdx.x * width + threadIdx.x + d];
  out[blockIdx.x * width + threadIdx.x] = sum;
}
"""


@pytest.mark.slow
@needs_nvrtc
@reads_sm_80
def test_parameters_have_the_names_of_the_source(sassan: Sassan, source: Path, monkeypatch: pytest.MonkeyPatch):
    without_nvcc(monkeypatch)
    source.write_text(BLUR, "utf-8")
    assert "pass --param radius=N" in sassan("analyze", source, "--arch", "sm_80").out
    named = sassan("analyze", source, "--arch", "sm_80", "--param", "radius=4", "--json").document["functions"]
    counted = sassan("analyze", source, "--arch", "sm_80", "--param", "param_3=4", "--json").document["functions"]
    assert named[0]["wcet"]["value"] == counted[0]["wcet"]["value"] is not None
    result = sassan("analyze", source, "--arch", "sm_80", "--param", "w=1920")
    assert result.codes == ["unknown-parameter"]
    assert "width (param_2)" in result.err


@pytest.mark.slow
@needs_nvrtc
@reads_sm_80
def test_recorded_arguments_have_the_names_of_the_source(sassan: Sassan, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    without_nvcc(monkeypatch)
    source.write_text(BLUR, "utf-8")
    path = tmp_path / "launches.toml"
    words = ", ".join(f'{{offset = {16 + 4 * at}, size = 4, value = "{value:#x}"}}' for at, value in enumerate((1920, 4)))
    path.write_text(f'[[launch]]\nkernel = "_Z4blurPfPKfii"\ngrid = [8, 1, 1]\nblock = [64, 1, 1]\nparams = [{words}]\n')
    out = sassan("analyze", source, "--arch", "sm_80", "--launches", path).out
    assert "launch as given: block 64 x 1 x 1, grid 8 x 1 x 1, parameter width=1920, parameter radius=4" in out


@needs_nvcc
def test_the_message_of_nvcc_is_that_of_the_command(sassan: Sassan, source: Path):
    source.write_text(DEVICE.replace("x[threadIdx.x]", "y[threadIdx.x]", 1), "utf-8")
    result = sassan("analyze", source, "--arch", "sm_80")
    assert_refused(result, 3)
    assert result.codes == ["compile-failed"]
    assert 'identifier "y" is undefined' in result.err
    assert f"--> {source}:2:1" in result.err


def test_a_compiler_that_succeeds_without_any_output_is_an_error(sassan: Sassan, source: Path, monkeypatch: pytest.MonkeyPatch):
    nothing = source.parent / "tools" / "nvcc"
    nothing.parent.mkdir()
    nothing.write_text("#!/bin/sh\n", "utf-8")
    nothing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{nothing.parent}{os.pathsep}{os.environ['PATH']}")
    result = sassan("analyze", source, "--arch", "sm_80")
    assert_refused(result, 3)
    assert "nvcc named no error, and left no 'read.d'" in result.err


@pytest.mark.slow
@needs_nvrtc
@reads_sm_80
def test_without_nvcc_nvrtc_compiles(sassan: Sassan, source: Path, monkeypatch: pytest.MonkeyPatch):
    without_nvcc(monkeypatch)
    assert len(sassan("analyze", source, "--arch", "sm_80", "--json").document["functions"]) == 2
    source.write_text(DEVICE + HOST, "utf-8")
    result = sassan("analyze", source, "--arch", "sm_80")
    assert_refused(result, 3)
    assert "NVRTC compiled it, which takes device code only" in result.err


@pytest.mark.parametrize("command", ["analyze", "check", "strings", "listing", "memory", "ipet"])
def test_without_an_architecture_the_option_is_named(command: str, sassan: Sassan, source: Path):
    result = sassan(command, source, *(["--no-gaps"] if command == "check" else []))
    assert_refused(result, 2, silent=False)
    assert result.codes == ["no-architecture"]
    assert "pass --arch sm_90" in result.err


INCLUDING = '#include "../common/n.h"\n#include "source.cu"\n__global__ void k(int* x) { x[0] = N; x[1] = M; }\n'


@pytest.mark.parametrize("folder", some(["a'$(b)\"", "a"]))
@pytest.mark.parametrize("with_nvcc", [pytest.param(True, marks=needs_nvcc), pytest.param(False, marks=needs_nvrtc)])
def test_what_a_source_includes_is_looked_for_where_it_lies(folder: str, with_nvcc: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # Others may write to the folder for temporary files, and what stands in the current folder is not beside the source.
    if not with_nvcc:
        without_nvcc(monkeypatch)
    (tmp_path / "current").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for place, number in ((tmp_path / "common", 666), (tmp_path / "temporary" / "common", 666), (tmp_path / folder / "common", 777)):
        place.mkdir(parents=True)
        (place / "n.h").write_text(f"#define N {number}\n")
    (tmp_path / folder / "src").mkdir()
    for place, number in ((tmp_path / "current", 555), (tmp_path / folder / "src", 888)):
        (place / "source.cu").write_text(f"#define M {number}\n")
    source = tmp_path / folder / "src" / "k$(l).cu"
    source.write_text(INCLUDING)
    ptx = compiled(str(source), "sm_80", cached=False).ptx
    assert (b"777" in ptx, b"888" in ptx) == (True, True)
    (named,) = (user_file(str(source), os.fsdecode(name)) for name in re.findall(rb'\.file\s+1 "(.*)"', ptx))
    assert named == str(source)


def test_a_source_that_no_line_can_name_is_refused(tmp_path: Path):
    source = tmp_path / 'k".cu'
    source.write_text(BLUR)
    with pytest.raises(UsageError) as caught:
        compiled(str(source), "sm_80", cached=False)
    assert caught.value.code == "unsafe-name"
