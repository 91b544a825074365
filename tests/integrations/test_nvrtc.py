"""NVRTC, and what CuPy keeps of a kernel."""

from types import SimpleNamespace

import pytest

from budget import whole
from integrations.programs import run
from sassan.errors import InputError, UsageError
from sassan.frontend.cubin.tools import tools
from sassan.integrations import nvrtc

pytest.importorskip("nvidia.cuda_nvrtc", reason="nvidia-cuda-nvrtc-cu12 is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not tools("nvdisasm"), reason="no nvdisasm is installed")]

SOURCE = """
#ifndef FACTOR
#define FACTOR 1
#endif
template <typename T> __global__ void scale(T* x) { x[threadIdx.x] *= FACTOR; }
extern "C" __global__ void fill(float* x) { x[threadIdx.x] = FACTOR; }
extern "C" __global__ void count(int* x, int n) { for (int i = 0; i < n; ++i) x[i] += i; }
"""


@whole("only another NVRTC changes it")
def test_the_example_runs_without_a_gpu(tmp_path):
    lines = run("nvrtc/without_gpu.py", tmp_path)
    assert [line.split()[0] for line in lines] == ["_Z5scaleIfEvPT_S0_i", "_Z5scaleIdEvPT_S0_i", "fill"]
    assert "D" in lines[1].split()[2]


def test_every_kernel_of_a_source_is_bounded():
    found = nvrtc.analyze_source(SOURCE, arch="sm_80", options=["-DFACTOR=3"], name="mine.cu", loop_bound=5)
    assert found.file == "mine.cu"
    assert sorted(one.name for one in found) == ["count", "fill"]
    assert found["count"].wcet is not None


def test_a_complaint_is_an_error_of_the_input():
    with pytest.raises(InputError) as error:
        nvrtc.analyze_source("no kernel", arch="sm_80")
    assert error.value.code == "compile-failed"


def test_a_raw_kernel_is_bounded_alone():
    # The attributes of cupy.RawKernel.
    raw = SimpleNamespace(code=SOURCE, options=("-DFACTOR=2",), name="fill", backend="nvrtc", file_path=None)
    assert [one.name for one in nvrtc.analyze_raw(raw, arch="sm_80")] == ["fill"]


def test_a_raw_module_has_its_instances():
    # The attributes of cupy.RawModule.
    raw = SimpleNamespace(code=SOURCE, options=("--std=c++14",), name_expressions=["scale<double>"], backend="nvrtc", file_path=None)
    names = [one.name for one in nvrtc.analyze_raw(raw, arch="sm_80", loop_bound=1)]
    assert sorted(names) == ["_Z5scaleIdEvPT_", "count", "fill"]


def test_a_module_of_machine_code_has_no_source():
    with pytest.raises(UsageError) as error:
        nvrtc.analyze_raw(SimpleNamespace(code=None, options=(), file_path="x.cubin"), arch="sm_80")
    assert error.value.code == "no-source"
