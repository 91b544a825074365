"""Inspecting the executable of a program before it runs: the CUDA runtime that it needs, and the GPUs of its code."""

import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sassan.errors import InputError
from sassan.frontend.cubin.elf import Elf, ElfSection
from sassan.frontend.image import Image
from sassan.record.library import RUNTIMES
from sassan.system.reading import read

_LARGEST = 1024 * 1024 * 1024
_FATBINS = (".nv_fatbin", "__nv_relfatbin")
_REGISTERS = b"__cudaRegisterFatBinary"
_LOADER = ".interp"
_NEEDED = 1
_FATBIN_MAGIC = 0xBA55ED50
_PTX, _CUBIN = 1, 2
_VERSIONS = {
    "libcudart.so.10.1": 10010,
    "libcudart.so.10.2": 10020,
    "libcudart.so.11.0": 11080,
    "libcudart.so.12": 12090,
    "libcudart.so.13": 13000,
}
_DEFAULT_VERSION = 12090


@dataclass(frozen=True, slots=True)
class Executable:
    """An executable: `capability` is that of the newest GPU of its code, None without GPU code; `runtime` such as 12090."""

    path: str
    capability: int | None
    runtime: int


def executable(command: str) -> Executable:
    """Return the executable of a command, located on PATH like in a shell.

    Raises InputError `missing-program`, `static-runtime` for a static CUDA runtime in a stripped or static program, `unknown-runtime`.
    """
    path = shutil.which(command)
    if path is None:
        hint = "pass an executable file; one in the current folder as ./NAME"
        raise InputError("missing-program", f"program '{command}' not found", hint=hint)
    file = Path(path)
    try:
        data = read(file, _LARGEST) if file.stat().st_size <= _LARGEST else b""
    except OSError:
        data = b""
    image = Image(command, data)
    if image.kind != "ELF":
        return Executable(path, None, _DEFAULT_VERSION)
    try:
        return _read(path, image)
    except InputError as error:
        if error.code in ("static-runtime", "unknown-runtime"):
            raise
        return Executable(path, None, _DEFAULT_VERSION)  # unsupported file format, but it may run


def _read(path: str, image: Image) -> Executable:
    elf = Elf(image)
    named = {section.name: section for section in elf.sections}
    fatbins = [named[name] for name in _FATBINS if name in named]
    needed = tuple(_needed(elf, named))
    runtimes = [name for name in needed if name.startswith("libcudart.so")]
    for runtime_name in runtimes:
        if runtime_name not in RUNTIMES:
            hint = f"link it with one of {', '.join(RUNTIMES)}"
            raise InputError("unknown-runtime", f"'{path}' needs {runtime_name}, which sassan does not replace", hint=hint)
    functions = _functions(elf, named)
    if fatbins and not runtimes and _REGISTERS not in _names(elf, named) and (_REGISTERS not in functions or _LOADER not in named):
        hint = "link it without -s and -static, and do not strip it, or relink with: nvcc --cudart shared (sassan-nvcc: --sassan-record)"
        raise InputError(
            "static-runtime", f"'{path}' holds a static CUDA runtime without names, so its launches cannot be recorded", hint=hint
        )
    capability = max((capability for part in fatbins for capability in _capabilities(elf.bytes_of(part))), default=None)
    runtime = max((_VERSIONS[name] for name in runtimes), default=_static_version(functions))
    return Executable(path, capability[1] if capability is not None else None, runtime)


def _names(elf: Elf, named: dict[str, ElfSection]) -> bytes:
    return elf.bytes_of(named[".dynstr"]) if ".dynstr" in named else b""


def _functions(elf: Elf, named: dict[str, ElfSection]) -> frozenset[bytes]:
    """Return the names of symbols in a program that was not stripped."""
    return frozenset(elf.bytes_of(named[".strtab"]).split(b"\0")) if ".strtab" in named else frozenset()


def _static_version(functions: frozenset[bytes]) -> int:
    """Return the version of a static runtime, as `static_runtime.c` does."""
    if b"cudaGetDeviceProperties_v2" in functions:  # only CUDA 12 has it
        return _VERSIONS["libcudart.so.12"]
    if _REGISTERS not in functions:
        return _DEFAULT_VERSION
    later = b"cudaLibraryLoadData" in functions  # since CUDA 12.8
    return _VERSIONS["libcudart.so.13" if later else "libcudart.so.11.0"]


def _needed(elf: Elf, named: dict[str, ElfSection]) -> Iterator[str]:
    """Yield the libraries that the dynamic loader loads."""
    names = _names(elf, named)
    dynamic = elf.bytes_of(named[".dynamic"]) if ".dynamic" in named else b""
    for tag, value in struct.iter_unpack("<QQ", dynamic[: len(dynamic) // 16 * 16]):
        end = names.find(b"\0", value)
        if tag == _NEEDED and end >= 0:
            yield names[value:end].decode("utf-8", "replace")


def _capabilities(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield (2 for machine code, 1 for PTX; the number of the architecture) of every image in a section of fatbins."""
    start = data.find(struct.pack("<I", _FATBIN_MAGIC))
    while start >= 0:
        if start + 16 > len(data):
            return
        _, _, header, size = struct.unpack_from("<IHHQ", data, start)
        at, end = start + header, min(start + header + size, len(data))
        while at + 32 <= end:
            kind, _, head, length = struct.unpack_from("<HHIQ", data, at)
            (number,) = struct.unpack_from("<I", data, at + 28)
            if kind in (_PTX, _CUBIN):
                yield kind, number
            if head + length == 0:
                break
            at += head + length
        start = data.find(struct.pack("<I", _FATBIN_MAGIC), max(end, start + 4))
