"""What asks cuda-core for a GPU. No GPU is needed here: the package is replaced by a fake that writes down its calls, or is inspected."""

import ctypes
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sassan.errors import InputError, MissingToolError
from sassan.extras import install
from sassan.measure import MeasureArgument, MeasureTask
from sassan.measure.sampling import gpu
from sassan.measure.sampling.cuda_source import timed

TASK = MeasureTask(
    b"cubin", "kernel", (2, 1, 1), (32, 1, 1), (MeasureArgument("n", "int", 7), MeasureArgument("x", "pointer", 64)), clocked=True
)


class Refused(Exception):  # noqa: N818 - stands for CUDAError
    pass


class Memory:
    """Memory of the fake: bytes on this machine."""

    def __init__(self, size: int) -> None:
        self.size, self.data, self.closed = size, np.zeros(size, np.uint8), False

    def copy_from(self, other: "Memory", *, stream: object) -> None:
        del stream
        self.data[:] = other.data

    def close(self) -> None:
        self.closed = True

    def __dlpack__(self, **options: Any) -> object:
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.data.__dlpack_device__()


class Event(float):
    def sync(self) -> None:
        pass


class Fake:
    """Writes down what is asked of cuda-core; a launch doubles the first byte of each memory and takes 2.5 ms."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.arguments: tuple[object, ...] = ()
        self.memories: list[Memory] = []
        self.name, self.arch = "fake GPU", "90"
        self.events = 0
        self.fails = False

    def module(self) -> Any:
        return SimpleNamespace(
            Device=lambda _: self,
            ObjectCode=SimpleNamespace(from_cubin=lambda data: SimpleNamespace(get_kernel=lambda name: (data, name))),
            LaunchConfig=lambda **options: options,
            EventOptions=lambda timing_enabled: timing_enabled,
            LegacyPinnedMemoryResource=lambda: SimpleNamespace(allocate=self._memory),
            launch=self._launch,
        )

    def set_current(self) -> None:
        if self.fails:
            raise Refused("CUDA_ERROR_NO_DEVICE")

    def create_stream(self) -> "Fake":
        return self

    def create_event(self, timing: bool) -> Event:
        assert timing
        self.events += 1
        return Event(2.5 * (self.events - 1))

    def record(self, event: Event) -> None:
        del event
        self.calls.append("record")

    def sync(self) -> None:
        pass

    def close(self) -> None:
        self.calls.append("close stream")

    def allocate(self, size: int, *, stream: object) -> Memory:
        del stream
        return self._memory(size)

    def _memory(self, size: int) -> Memory:
        self.memories.append(Memory(size))
        return self.memories[-1]

    def _launch(self, stream: object, config: dict[str, object], kernel: tuple[bytes, str], *arguments: object) -> None:
        del stream
        if self.fails:
            raise Refused("CUDA_ERROR_LAUNCH_FAILED")
        self.calls.append("launch")
        self.config, self.kernel, self.arguments = config, kernel, arguments
        for argument in arguments:
            if isinstance(argument, Memory):
                self.seen = bytes(argument.data[:8]) if argument.size == 64 else self.seen
                argument.data.view(np.int64)[:] = 1234


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake()
    inner = ModuleType("cuda.core._utils.cuda_utils")
    inner.CUDAError = Refused  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda.core._utils.cuda_utils", inner)
    monkeypatch.setitem(sys.modules, "cuda.core", made.module())
    return made


def test_a_run_is_timed_between_two_events_around_the_launch(fake: Fake):
    loaded = gpu.Gpu().load(TASK)
    fake.calls.clear()
    assert loaded.run().seconds == pytest.approx(2.5e-3)
    assert fake.calls == ["record", "launch", "record"]


def test_arguments_have_the_types_that_the_kernel_declares(fake: Fake):
    gpu.Gpu().load(TASK).run()
    assert isinstance(fake.arguments[0], ctypes.c_int)
    assert fake.arguments[0].value == 7
    assert [argument.size for argument in fake.arguments[1:] if isinstance(argument, Memory)] == [64, 8 * 64]
    assert fake.kernel == (b"cubin", "kernel")
    assert fake.config == {"grid": (2, 1, 1), "block": (32, 1, 1), "shmem_size": 0}


@pytest.mark.usefixtures("fake")
def test_the_cycles_are_those_of_the_longest_thread():
    assert gpu.Gpu().load(TASK).run().cycles == 1234


def test_every_run_meets_the_same_data(fake: Fake):
    loaded = gpu.Gpu().load(TASK)
    loaded.run()
    first = fake.seen
    loaded.run()
    assert fake.seen == first == gpu.small_integers(8)


def test_results_are_what_the_memory_holds_after_a_run_and_the_next_meets_the_same_data(fake: Fake):
    loaded = gpu.Gpu().load(TASK)
    assert loaded.results() == (np.full(8, 1234, np.int64).tobytes(),)
    loaded.run()
    assert fake.seen == gpu.small_integers(8)


def test_memory_of_floats_holds_small_floats(fake: Fake):
    gpu.Gpu().load(MeasureTask(b"cubin", "kernel", arguments=(MeasureArgument("x", "floats", 64),))).run()
    assert fake.seen == gpu.small_floats(8) == np.array([4 / 8, 11 / 8], "<f4").tobytes()


def test_all_memory_is_given_back(fake: Fake):
    gpu.Gpu().load(TASK).close()
    assert all(memory.closed for memory in fake.memories)
    assert fake.calls[-1] == "close stream"


def test_a_failed_launch_is_an_error_with_the_reason(fake: Fake):
    loaded = gpu.Gpu().load(TASK)
    fake.fails = True
    with pytest.raises(InputError) as refused:
        loaded.run()
    assert (refused.value.code, refused.value.message) == ("launch-failed", "CUDA_ERROR_LAUNCH_FAILED")


def test_a_machine_without_a_gpu_is_reported(fake: Fake):
    fake.fails = True
    with pytest.raises(MissingToolError) as refused:
        gpu.Gpu()
    assert (refused.value.code, refused.value.message) == ("no-gpu", "GPU 0 of this machine cannot be used: CUDA_ERROR_NO_DEVICE")


def test_without_the_extra_the_install_command_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    with pytest.raises(MissingToolError) as refused:
        gpu.Gpu()
    assert (refused.value.code, refused.value.hint) == ("missing-extra", install("measure"))


@pytest.mark.parametrize(
    ("kind", "value", "type_"),
    [("int", 3, ctypes.c_int), ("long", 3, ctypes.c_longlong), ("float", 0.5, ctypes.c_float), ("double", 0.5, ctypes.c_double)],
)
def test_a_number_is_passed_in_its_type(kind: str, value: float, type_: type):
    passed: Any = gpu.scalar(MeasureArgument("v", kind, value))
    assert type(passed) is type_
    assert passed.value == value


def test_a_fraction_is_not_an_integer():
    with pytest.raises(InputError):
        gpu.scalar(MeasureArgument("v", "int", 0.5))


def test_memory_holds_integers_from_1_to_60_of_every_kind():
    assert sorted(set(np.frombuffer(gpu.small_integers(4000), "<i4"))) == list(range(1, 61))
    assert len(gpu.small_integers(7)) == 7


def test_the_installed_cuda_core_has_what_is_asked_of_it():
    """Names and options as cuda-core 1.2 has them; no GPU is touched."""
    core = pytest.importorskip("cuda.core", reason="cuda-core is not installed (extra 'measure')")
    assert core.LaunchConfig(grid=(2, 1, 1), block=(32, 1, 1), shmem_size=16).block == (32, 1, 1)
    assert core.EventOptions(timing_enabled=True).timing_enabled is True
    expected = {
        core.Device: ("name", "arch", "set_current", "create_stream", "create_event", "allocate"),
        core.Stream: ("record", "sync", "close"),
        core.Event: ("sync", "__sub__"),
        core.Buffer: ("copy_from", "close", "size", "__dlpack__"),
        core.ObjectCode: ("from_cubin", "get_kernel"),
        core.LegacyPinnedMemoryResource: ("allocate",),
    }
    for owner, names in expected.items():
        assert [name for name in names if not hasattr(owner, name)] == [], owner
    assert core.launch.__doc__.startswith("launch(stream: Stream | GraphBuilder | IsStreamType, LaunchConfig config")


def nvrtc() -> None:
    pytest.importorskip("nvidia.cuda_nvrtc", reason="NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")


def test_nvrtc_makes_a_cubin_without_a_gpu():
    nvrtc()
    source = timed('extern "C" __global__ void f(int *x) { *x = A; }', "f").source
    assert gpu.compile_cuda(source, "f.cu", "sm_90", ("A=3",))[:4] == b"\x7fELF"


def test_a_compile_error_has_its_position():
    nvrtc()
    with pytest.raises(InputError) as refused:
        gpu.compile_cuda('extern "C" __global__ void f(int *x) { *x = B; }', "f.cu", "sm_90")
    assert (refused.value.code, refused.value.message) == ("compile-failed", 'it does not compile: identifier "B" is undefined')
    assert (refused.value.source and refused.value.source.name, refused.value.span and refused.value.span.line) == ("f.cu", 1)


def test_without_nvrtc_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("sassan.compilers.nvrtc.libraries", tuple)
    with pytest.raises(MissingToolError) as refused:
        gpu.compile_cuda("", "f.cu", "sm_90")
    assert (refused.value.code, refused.value.hint) == ("no-nvrtc", install("measure"))
