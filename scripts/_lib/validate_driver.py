"""The calls of the CUDA driver needed by a measurement, through ctypes: only the driver must be installed."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from dataclasses import dataclass

_MAJOR, _MINOR, _SMS = 75, 76, 16
"""CUdevice_attribute."""
_NAME = 256


class NoGpuError(Exception):
    """There is no GPU, or no driver for it; the message says which."""


class DriverError(Exception):
    """A call of the driver failed."""


@dataclass(frozen=True)
class Device:
    """The first GPU: its name, compute capability, SMs, and the CUDA version of its driver."""

    name: str
    capability: tuple[int, int]
    sms: int
    driver: str


class Driver:
    """A context on the first GPU."""

    def __init__(self) -> None:
        """Load the driver.

        Raises NoGpuError.
        """
        try:
            self._lib = ctypes.CDLL("libcuda.so.1")
        except OSError:
            message = "libcuda.so.1 (the NVIDIA driver) was not found"
            raise NoGpuError(message) from None
        count = c_int()
        if self._lib.cuInit(0) != 0 or self._lib.cuDeviceGetCount(byref(count)) != 0 or not count.value:
            message = "the NVIDIA driver sees no GPU"
            raise NoGpuError(message)
        self._device, context = c_int(), c_void_p()
        self._call("cuDeviceGet", byref(self._device), 0)
        self._call("cuDevicePrimaryCtxRetain", byref(context), self._device)
        self._call("cuCtxSetCurrent", context)

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._lib, name)(*arguments)
        if status != 0:
            text = c_char_p()
            self._lib.cuGetErrorName(status, byref(text))
            message = f"{name}: {text.value.decode() if text.value else status}"
            raise DriverError(message)

    def device(self) -> Device:
        """Return the properties of the GPU."""
        name, version = ctypes.create_string_buffer(_NAME), c_int()
        self._call("cuDeviceGetName", name, _NAME, self._device)
        self._call("cuDriverGetVersion", byref(version))
        major, minor, sms = (self._attribute(attribute) for attribute in (_MAJOR, _MINOR, _SMS))
        return Device(name.value.decode(), (major, minor), sms, f"{version.value // 1000}.{version.value % 1000 // 10}")

    def _attribute(self, which: int) -> int:
        value = c_int()
        self._call("cuDeviceGetAttribute", byref(value), which, self._device)
        return value.value

    def kernel(self, cubin: bytes, name: str) -> c_void_p:
        """Return a kernel of a cubin."""
        module, function = c_void_p(), c_void_p()
        self._call("cuModuleLoadData", byref(module), cubin)
        self._call("cuModuleGetFunction", byref(function), module, name.encode())
        return function

    def buffer(self, data: bytes) -> c_uint64:
        """Return GPU memory initialized with `data`."""
        pointer = c_uint64()
        self._call("cuMemAlloc_v2", byref(pointer), c_size_t(len(data)))
        self.fill(pointer, data)
        return pointer

    def fill(self, pointer: c_uint64, data: bytes) -> None:
        """Write bytes into memory of the GPU."""
        self._call("cuMemcpyHtoD_v2", pointer, data, c_size_t(len(data)))

    def read(self, pointer: c_uint64, size: int) -> bytes:
        """Return bytes of the GPU's memory."""
        data = ctypes.create_string_buffer(size)
        self._call("cuMemcpyDtoH_v2", data, pointer, c_size_t(size))
        return data.raw

    def launch(self, kernel: c_void_p, blocks: int, threads: int, arguments: list[object]) -> None:
        """Run a kernel and wait for it."""
        places = (c_void_p * len(arguments))(*(ctypes.cast(byref(argument), c_void_p) for argument in arguments))  # type: ignore[arg-type]
        shape = (c_uint(blocks), c_uint(1), c_uint(1), c_uint(threads), c_uint(1), c_uint(1))
        self._call("cuLaunchKernel", kernel, *shape, c_uint(0), c_void_p(), places, c_void_p())
        self._call("cuCtxSynchronize")
