"""Numba and Triton without a GPU: their programs run with a stand-in for the driver, and their launches are bounded."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from record.programs import needs_compiler
from sassan.frontend.cubin.tools import tools
from sassan.launches import ProgramLaunch
from sassan.launches import read as read_launches

pytestmark = pytest.mark.slow
NUMBA = """
import numpy as np
from numba import cuda

@cuda.jit
def scale(n, a, x):
    i = cuda.grid(1)
    if i < n:
        x[i] = a * x[i]

x = cuda.to_device(np.ones(1000, dtype=np.float32))
for _ in range(3):
    scale[4, 256](1000, 2.0, x)
cuda.synchronize()
assert x.copy_to_host()[0] == 1
"""
TRITON = """
import ctypes, sys, types

class Array:
    dtype = "fp32"
    def __init__(self, address): self.address = address
    def data_ptr(self): return self.address

# Triton asks torch for devices and streams: a few functions of it are enough.
torch = types.ModuleType("torch")
torch.cuda = types.SimpleNamespace(
    is_available=lambda: True, current_device=lambda: 0, set_device=lambda one: None,
    current_stream=lambda one=0: types.SimpleNamespace(cuda_stream=0),
    get_device_capability=lambda one=0: (8, 6))
torch.version = types.SimpleNamespace(hip=None)
sys.modules["torch"] = torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

driver = ctypes.CDLL("libcuda.so.1")
def allocate(size):
    address = ctypes.c_uint64()
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0
    return Array(address.value)

assert driver.cuInit(0) == 0
n = 5000
add[(triton.cdiv(n, 1024),)](allocate(4 * n), allocate(4 * n), n, BLOCK=1024)
"""


def recorded(folder: Path, text: str) -> ProgramLaunch:
    (folder / "program.py").write_text(text)
    command = [
        sys.executable,
        "-m",
        "sassan",
        "record",
        "-o",
        "launches.toml",
        "--images",
        "code",
        "--sm",
        "8.6",
        "--time-limit",
        "200",
        "--",
    ]
    done = subprocess.run([*command, sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = read_launches(str(folder / "launches.toml"))
    assert found.status == 0, done.stdout + done.stderr
    (launch,) = found.launches
    return launch


def bounded(folder: Path, assumed: str = "") -> bool:
    (image,) = (folder / "code").iterdir()
    command = [sys.executable, "-m", "sassan", "analyze", str(image), "--launches", "launches.toml"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    return "one after the other at most" in said and assumed in said


needs_nvdisasm = pytest.mark.skipif(not tools("nvdisasm"), reason="no nvdisasm is installed")


@needs_compiler
@needs_nvdisasm
@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed")
def test_a_program_of_numba_is_recorded_and_bounded(tmp_path: Path):
    launch = recorded(tmp_path, NUMBA)
    assert (launch.grid, launch.block, launch.count) == ((4, 1, 1), (256, 1, 1), 3)
    assert launch.arguments is not None
    assert [(each.name, each.value) for each in launch.arguments[:2]] == [("n", 1000), ("a", 0x4000000000000000)]
    assert launch.arguments[6].name == "x_data"
    assert bounded(tmp_path)


@needs_compiler
@needs_nvdisasm
@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_a_program_of_triton_is_recorded_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    launch = recorded(tmp_path, TRITON)
    assert (launch.kernel, launch.grid, launch.block) == ("add", (5, 1, 1), (128, 1, 1))
    assert launch.arguments is not None
    assert [each.name for each in launch.arguments] == ["x", "y", "n", ""]
    assert launch.arguments[2].value == 5000
    assert bounded(tmp_path, "parameter n=5000")
