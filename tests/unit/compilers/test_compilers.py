"""NVRTC and ptxas, where they are installed."""

import ctypes.util
import importlib.util

import pytest

from sassan.compilers import assemble, compile_source
from sassan.compilers import nvrtc as module
from sassan.errors import InputError, MissingToolError
from sassan.frontend.cubin.tools import tools

SOURCE = """extern "C" __global__ void scale(float* x, int n) {
  int at = threadIdx.x;
  if (at < n) x[at] *= 2;
}
"""
PTX = b""".version 7.0
.target sm_52
.address_size 64
.visible .entry nothing() { ret; }
"""
has_nvrtc = importlib.util.find_spec("nvidia.cuda_nvrtc") if importlib.util.find_spec("nvidia") else None
needs_nvrtc = pytest.mark.skipif(has_nvrtc is None, reason="nvidia-cuda-nvrtc-cu12 is not installed")
needs_ptxas = pytest.mark.skipif(not tools("ptxas"), reason="no ptxas is installed")


@needs_nvrtc
def test_a_source_becomes_a_cubin_and_ptx():
    made = compile_source(SOURCE, arch="sm_80", options=["-lineinfo"])
    assert made.cubin.startswith(b"\x7fELF")
    assert b".entry scale(" in made.ptx
    assert made.log == ""


@needs_nvrtc
def test_a_complaint_points_at_its_line():
    with pytest.raises(InputError) as error:
        compile_source(SOURCE.replace("x[at]", "y[at]"), arch="sm_80", name="scale.cu")
    assert error.value.code == "compile-failed"
    assert error.value.message == 'it does not compile: identifier "y" is undefined'
    assert error.value.source is not None
    assert error.value.source.name == "scale.cu"
    assert error.value.span is not None
    assert error.value.span.line == 3


@needs_nvrtc
def test_an_option_that_is_none_is_refused():
    with pytest.raises(InputError, match="unrecognized option"):
        compile_source(SOURCE, arch="sm_80", options=["--bogus"])


def test_an_architecture_is_spelled_sm():
    with pytest.raises(InputError) as error:
        compile_source(SOURCE, arch="8.0")
    assert error.value.code == "unsupported-architecture"


@needs_nvrtc
def test_an_architecture_that_no_compiler_supports_is_a_missing_tool():
    with pytest.raises(MissingToolError, match="no NVRTC supports sm_20"):
        compile_source(SOURCE, arch="sm_20")


def test_without_nvrtc_the_error_names_the_command(monkeypatch):
    monkeypatch.setattr(module, "_places", lambda: iter((ctypes.util.find_library("c") or "none", "/nowhere/libnvrtc.so")))
    with pytest.raises(MissingToolError) as error:
        compile_source(SOURCE, arch="sm_80")
    assert (error.value.code, error.value.hint) == ("nvrtc-missing", "pip install nvidia-cuda-nvrtc-cu12")


@needs_ptxas
def test_ptx_becomes_a_cubin():
    assert assemble(PTX, arch="sm_90").startswith(b"\x7fELF")


@needs_ptxas
def test_invalid_ptx_is_refused():
    with pytest.raises(InputError) as error:
        assemble(b"nothing", arch="sm_90")
    assert error.value.code == "ptxas-failed"


def test_without_ptxas_the_error_names_the_command(monkeypatch):
    monkeypatch.setattr("sassan.compilers.ptxas.tools", lambda _: ())
    with pytest.raises(MissingToolError) as error:
        assemble(PTX, arch="sm_90")
    assert error.value.hint == "pip install nvidia-cuda-nvcc-cu12"
