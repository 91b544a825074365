"""The GPU of this machine through cuda-core: CUDA events time the launches of a cubin, `clock64` counts cycles inside.

The only module that imports cuda-core. Memory is filled before the first run and restored after every run, outside the timed interval and
before the delay: each run reads the same data, and no copy wakes a GPU that is idle during the delay.
"""

import ctypes
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from sassan.compilers import compile_source
from sassan.errors import InputError, MissingToolError
from sassan.extras import install
from sassan.measure.sampling.device import DATA_LARGEST, MeasureArgument, MeasureTask, Timing

CudaObject = Any
"""An object of cuda-core, which has no types for checkers (`_cuda`)."""
_TICK = 1e-3
"""Seconds per unit of a difference of two events."""
_LONG = 8
_SCALARS: dict[str, Callable[..., object]] = {
    "int": ctypes.c_int,
    "long": ctypes.c_longlong,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


class Gpu:
    """One GPU of this machine."""

    def __init__(self, number: int = 0) -> None:
        """Select GPU `number`, counted from 0.

        Raises MissingToolError `missing-extra`, `no-gpu`.
        """
        cuda = _cuda()
        try:
            with _cuda_errors("no-gpu"):
                self._device = cuda.Device(number)
                self._device.set_current()
        except (RuntimeError, ValueError, InputError) as error:
            why = " ".join(str(error).split())
            hint = "to read samples from another machine, pass a file: sassan measure SAMPLES.csv"
            raise MissingToolError("no-gpu", f"GPU {number} of this machine cannot be used: {why}", hint=hint) from error

    @property
    def name(self) -> str:
        """Return the name of the GPU."""
        return str(self._device.name)

    @property
    def arch(self) -> str:
        """Return the architecture, such as `sm_61`."""
        return f"sm_{self._device.arch}"

    def load(self, task: MeasureTask) -> "GpuKernel":
        """Load the kernel of a task and fill its memory.

        Raises InputError `launch-failed`.
        """
        with _cuda_errors("launch-failed"):
            return GpuKernel(self._device, task)


class GpuKernel:
    """A kernel on a GPU with its arguments; each run is timed by two events."""

    def __init__(self, device: CudaObject, task: MeasureTask) -> None:
        """Load the kernel and fill its memory."""
        cuda = _cuda()
        self._task = task
        self._stream = device.create_stream()
        self._object = cuda.ObjectCode.from_cubin(task.cubin)
        self._kernel = self._object.get_kernel(task.kernel)
        self._config = cuda.LaunchConfig(grid=task.grid, block=task.block, shmem_size=task.shared)
        timed = cuda.EventOptions(timing_enabled=True)
        self._start, self._end = device.create_event(timed), device.create_event(timed)
        initial = [
            (argument.name, _CONTENTS[argument.kind](int(argument.value))) for argument in task.arguments if argument.kind in _CONTENTS
        ]
        self._pristine = {name: self._data(device, data) for name, data in initial}
        self._memory = {name: device.allocate(data.size, stream=self._stream) for name, data in self._pristine.items()}
        self._pinned: CudaObject = None
        self._times: CudaObject = None
        if task.clocked:
            self._pinned = cuda.LegacyPinnedMemoryResource().allocate(_LONG * task.threads)
            self._times = device.allocate(_LONG * task.threads, stream=self._stream)
        self._restore()

    def run(self) -> Timing:
        """Run the kernel once and wait for it.

        Raises InputError `launch-failed`.
        """
        cuda = _cuda()
        with _cuda_errors("launch-failed"):
            self._stream.record(self._start)
            cuda.launch(self._stream, self._config, self._kernel, *self._arguments())
            self._stream.record(self._end)
            self._end.sync()
            seconds = (self._end - self._start) * _TICK
            cycles = self._cycles()
            self._restore()
        return Timing(seconds, cycles)

    def results(self) -> tuple[bytes, ...]:
        """Run the kernel once and return the contents of its memory afterwards, in the order of the arguments.

        Raises InputError `launch-failed`.
        """
        cuda = _cuda()
        with _cuda_errors("launch-failed"):
            cuda.launch(self._stream, self._config, self._kernel, *self._arguments())
            self._stream.sync()
            contents = tuple(self._bytes(memory) for memory in self._memory.values())
            self._restore()
        return contents

    def _bytes(self, memory: CudaObject) -> bytes:
        pinned = _cuda().LegacyPinnedMemoryResource().allocate(memory.size)
        pinned.copy_from(memory, stream=self._stream)
        self._stream.sync()
        data = np.from_dlpack(pinned).view(np.uint8).tobytes()
        pinned.close()
        return data

    def close(self) -> None:
        """Free the memory."""
        for buffer in (*self._memory.values(), *self._pristine.values(), self._times, self._pinned):
            if buffer is not None:
                buffer.close()
        self._stream.close()

    def _arguments(self) -> list[object]:
        values = [self._memory[argument.name] if argument.kind in _CONTENTS else scalar(argument) for argument in self._task.arguments]
        return [*values, *([self._times] if self._times is not None else [])]

    def _data(self, device: CudaObject, content: bytes) -> CudaObject:
        """Return GPU memory initialized with `content`."""
        cuda = _cuda()
        pinned = cuda.LegacyPinnedMemoryResource().allocate(len(content))
        np.from_dlpack(pinned).view(np.uint8)[:] = np.frombuffer(content, dtype=np.uint8)
        data = device.allocate(len(content), stream=self._stream)
        data.copy_from(pinned, stream=self._stream)
        self._stream.sync()
        pinned.close()
        return data

    def _restore(self) -> None:
        for name, data in self._pristine.items():
            self._memory[name].copy_from(data, stream=self._stream)
        self._stream.sync()

    def _cycles(self) -> int | None:
        if self._times is None or self._pinned is None:
            return None
        self._pinned.copy_from(self._times, stream=self._stream)
        self._stream.sync()
        return int(np.from_dlpack(self._pinned).view(np.int64).max())


def scalar(argument: MeasureArgument) -> object:
    """Return the value of an argument in the type that the kernel declares: a bare Python number would be passed as 64 bits.

    Raises InputError `launch-failed` for a fraction where an integer is declared.
    """
    kind = _SCALARS[argument.kind]
    if argument.kind in {"int", "long"}:
        if argument.value != int(argument.value):
            raise InputError("launch-failed", f"argument '{argument.name}' needs an integer, not {argument.value:g}")
        return kind(int(argument.value))
    return kind(argument.value)


def small_integers(size: int) -> bytes:
    """Return `size` bytes of 32-bit integers from 1 to DATA_LARGEST, in a fixed irregular order."""
    values = (np.arange(size // 4 + 1, dtype=np.int64) * 7 + 3) % DATA_LARGEST + 1
    return values.astype("<i4").tobytes()[:size]


def small_floats(size: int) -> bytes:
    """Return `size` bytes of 32-bit floats from 1/8 to DATA_LARGEST/8, in a fixed irregular order: their products are exact."""
    values = np.frombuffer(small_integers(size // 4 * 4 + 4), dtype="<i4") / 8
    return values.astype("<f4").tobytes()[:size]


_CONTENTS: dict[str, Callable[[int], bytes]] = {"pointer": small_integers, "floats": small_floats}
"""Initial contents of the memory of an argument, by its kind."""


def compile_cuda(source: str, name: str, arch: str, options: Sequence[str] = ()) -> bytes:
    """Return the cubin that NVRTC compiles from CUDA C++; `name` names the source in messages. No GPU is needed.

    `options` are macros: `NAME` or `NAME=VALUE`. Raises InputError `compile-failed` with the compiler's first error, MissingToolError.
    """
    flags = ("-std=c++17", *(f"-D{macro}" for macro in options))
    try:
        return compile_source(source, arch=arch, name=name, options=flags).cubin
    except MissingToolError as error:
        raise MissingToolError("no-nvrtc", error.message, hint=install("measure")) from error


def _cuda() -> ModuleType:
    """Return cuda-core, whose wheel assembles the package at import, so that type checkers cannot see it.

    Raises MissingToolError `missing-extra`.
    """
    try:
        return import_module("cuda.core")
    except ImportError as error:
        raise MissingToolError("missing-extra", "running kernels needs cuda-core", hint=install("measure")) from error


@contextmanager
def _cuda_errors(code: str) -> Generator[None]:
    """Turn CUDA errors into InputError `code`."""
    # cuda-core gives its exception no public name.
    cuda_error: type[Exception] = import_module("cuda.core._utils.cuda_utils").CUDAError
    try:
        yield
    except cuda_error as error:
        raise InputError(code, _first_error(str(error))) from error


def _first_error(text: str) -> str:
    """Return the first line of a log with an error, else its first line."""
    lines = [line.strip() for line in text.replace("\0", "").splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0] if lines else "no error text")
