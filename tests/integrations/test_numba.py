"""Numba CUDA without a GPU: PTX from a signature, and ptxas."""

from types import SimpleNamespace

import pytest

import sassan
from integrations.programs import run
from sassan.compilers import assemble
from sassan.errors import InputError, UsageError
from sassan.frontend.cubin.tools import tools
from sassan.integrations import numba as sassan_numba
from sassan.machine.parameters import places

cuda = pytest.importorskip("numba_cuda", reason="numba-cuda is not installed") and pytest.importorskip("numba.cuda")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not (tools("ptxas") and tools("nvdisasm")), reason="no ptxas or nvdisasm is installed")]

SIGNATURE = "void(float32[::1], int32)"


def scale(x, times):
    at = cuda.grid(1)
    if at < x.size:
        for _ in range(times):
            x[at] *= 2


def test_the_example_runs_without_a_gpu(tmp_path):
    lines = run("numba/without_gpu.py", tmp_path)
    assert [line.split()[0] for line in lines] == ["sm_75", "sm_90"]
    assert all(int(line.split()[2]) > 1000 for line in lines)


def test_a_kernel_is_bounded_from_its_signature():
    assert [gap.code for gap in sassan_numba.analyze(scale, SIGNATURE).gaps] == ["unbounded-loop"]
    kernel = sassan_numba.analyze(scale, SIGNATURE, arch="sm_90", options={"fastmath": True}, loop_bound=3)
    assert kernel.arch == "sm_90"
    assert kernel.wcet is not None


def test_parameters_are_called_as_in_python_and_arrays_are_taken_apart():
    kernel = sassan_numba.analyze(scale, SIGNATURE, launch=sassan.Launch(block=64, parameters={"times": 3, "x_shape0": 1000}))
    assert kernel.gaps == ()
    assert [place.source for place in places(kernel.analysis.function)] == [
        "x_meminfo", "x_parent", "x_nitems", "x_itemsize", "x_data", "x_shape0", "x_stride0", "times",
    ]  # fmt: skip
    with pytest.raises(UsageError) as error:
        sassan_numba.analyze(scale, SIGNATURE, launch=sassan.Launch(parameters={"time": 3}))
    assert "times (param_7)" in str(error.value.hint)


def test_a_dispatcher_is_as_good_as_its_function():
    of_function = sassan_numba.analyze(scale, SIGNATURE, loop_bound=3)
    assert sassan_numba.analyze(cuda.jit(scale), SIGNATURE, loop_bound=3).worst_path == of_function.worst_path


def test_an_unknown_architecture_is_refused():
    with pytest.raises(InputError) as error:
        sassan_numba.analyze(scale, SIGNATURE, arch="sm_81")
    assert error.value.code == "unsupported-architecture"


def test_an_architecture_may_be_a_compute_capability():
    assert sassan_numba.analyze(scale, SIGNATURE, arch="8.0").wcet == sassan_numba.analyze(scale, SIGNATURE, arch="sm_80").wcet


@pytest.mark.parametrize("wrap", [lambda cubin: cubin, lambda cubin: SimpleNamespace(code=cubin)], ids=["bytes", "object of cuda-core"])
def test_what_a_dispatcher_has_compiled_is_bounded_by_signature(wrap):
    # Stands for a dispatcher that ran on a GPU: its overloads carry what the linker made.
    cubin = assemble(sassan_numba.ptx(scale, SIGNATURE).encode(), arch="sm_80")
    overload = SimpleNamespace(_codelibrary=SimpleNamespace(get_cubin=lambda: wrap(cubin)))
    found = sassan_numba.analyze_compiled(SimpleNamespace(py_func=scale, overloads={("float32[::1]", "int32"): overload}), loop_bound=3)
    assert list(found) == ["('float32[::1]', 'int32')"]
    assert next(iter(found.values())).wcet == sassan_numba.analyze(scale, SIGNATURE, loop_bound=3).wcet


def test_what_is_no_cubin_is_refused():
    overload = SimpleNamespace(_codelibrary=SimpleNamespace(get_cubin=lambda: None))
    with pytest.raises(InputError) as error:
        sassan_numba.analyze_compiled(SimpleNamespace(py_func=scale, overloads={"(int32,)": overload}))
    assert error.value.code == "no-gpu-code"
