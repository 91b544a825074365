"""Triton without a GPU: a target stands in for one, and for the hook, a driver that launches nothing."""

import contextlib
from types import SimpleNamespace

import pytest

import sassan
from integrations.programs import run
from sassan.errors import InputError, MissingToolError
from sassan.extras import install
from sassan.frontend.cubin.tools import tools
from sassan.integrations import extra
from sassan.integrations import triton as sassan_triton
from sassan.machine.parameters import places

triton = pytest.importorskip("triton", reason="triton is not installed")
tl = pytest.importorskip("triton.language", reason="triton is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not tools("nvdisasm"), reason="no nvdisasm is installed")]

TYPES = {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}


@triton.jit
def double(x, n, BLOCK: tl.constexpr):  # noqa: N803 - Triton's spelling
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def early(x, n, BLOCK: tl.constexpr):  # noqa: N803 - Triton's spelling
    if n > BLOCK:
        tl.store(x, n)


class Pointer:
    """As much of a tensor as Triton looks at."""

    dtype = "float32"

    def data_ptr(self):
        return 16


class Driver:
    """A driver for a GPU that is not there: it compiles for it and launches nothing."""

    def get_current_target(self):
        return triton.backends.compiler.GPUTarget("cuda", 80, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, _device):
        return 0


@pytest.fixture
def driver(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    triton.runtime.driver.set_active(Driver())
    yield
    with contextlib.suppress(RuntimeError):  # since 3.4, where there is no GPU to go back to
        triton.runtime.driver.reset_active()


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    return sassan_triton.compile_for(double, TYPES, {"BLOCK": 256}, arch="sm_90", options={"num_warps": 8})


def test_the_example_runs_without_a_gpu(tmp_path):
    lines = run("triton/without_gpu.py", tmp_path)
    assert [line.split()[:2] for line in lines] == [["sm_80", "WCET"], ["sm_100", "WCET"]]
    assert all(int(line.split()[2]) > 100 for line in lines)
    assert all("loop inferred" in line for line in lines)


def test_a_kernel_is_bounded_for_the_block_that_triton_chose(compiled):
    kernel = sassan_triton.analyze(compiled)
    assert (kernel.name, kernel.arch, kernel.gaps) == ("double", "sm_90", ())
    assert kernel.wcet is not None
    assert kernel.analysis.residency is not None
    assert kernel.analysis.residency.occupancy is not None
    assert kernel.analysis.residency.occupancy.block_warps == 8
    assert sassan_triton.analyze(compiled, model="table").wcet > kernel.wcet


def test_parameters_are_called_as_in_the_signature(compiled):
    kernel = sassan_triton.analyze(compiled, launch=sassan.Launch(parameters={"n": 1000}))
    assert kernel.wcet is not None
    assert [place.source for place in places(kernel.analysis.function)][:2] == ["x", "n"]


def test_a_launch_of_the_user_goes_over_that_of_triton(compiled):
    assert sassan_triton.analyze(compiled, launch=sassan.Launch(block=64), warps=4).warps == 4


def test_a_kernel_of_another_backend_is_refused(compiled):
    other = SimpleNamespace(asm={"hsaco": b"..."}, metadata=compiled.metadata)
    with pytest.raises(InputError) as error:
        sassan_triton.analyze(other)
    assert error.value.code == "no-gpu-code"


def test_an_unknown_architecture_is_refused():
    with pytest.raises(InputError) as error:
        sassan_triton.compile_for(double, TYPES, {"BLOCK": 256}, arch="sm_81")
    assert error.value.code == "unsupported-architecture"


@pytest.mark.usefixtures("driver")
def test_every_kernel_that_a_program_compiles_is_seen_once():
    told = []
    with sassan_triton.watching(then=told.append, warps=4) as seen:
        double.warmup(Pointer(), 1000, BLOCK=128, grid=(8,))
        double.warmup(Pointer(), 1000, BLOCK=128, grid=(8,))
        early.warmup(Pointer(), 1000, BLOCK=128, grid=(8,))
    double.warmup(Pointer(), 1000, BLOCK=64, grid=(8,))
    assert [(one.name, one.arch, one.warps) for one in seen.kernels] == [("double", "sm_80", 4), ("early", "sm_80", 4)]
    assert seen.kernels == told
    assert seen.refused == []


@pytest.mark.usefixtures("driver")
def test_a_refusal_does_not_stop_the_program():
    with sassan_triton.watching(warps=1000) as seen:
        double.warmup(Pointer(), 1000, BLOCK=512, grid=(8,))
    assert [(name, error.code) for name, error in seen.refused] == [("double", "bad-warps")]


@pytest.mark.usefixtures("driver")
def test_a_hook_that_was_there_is_called_and_kept():
    calls = []
    place, name = sassan_triton._hook()
    mine = lambda **told: calls.append(told["fn"].name)  # noqa: E731 - a hook is a function
    setattr(place, name, mine)
    try:
        with sassan_triton.watching() as seen:
            double.warmup(Pointer(), 1000, BLOCK=1024, grid=(8,))
        assert getattr(place, name) is mine
    finally:
        setattr(place, name, None)
    assert calls == ["double"]
    assert len(seen.kernels) == 1


def test_without_triton_the_error_names_the_extra():
    with pytest.raises(MissingToolError) as error:
        extra.library("triton_is_not_here", "triton")
    assert (error.value.status, error.value.hint) == (4, install("triton"))
