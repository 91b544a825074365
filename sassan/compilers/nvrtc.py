"""CUDA C++ to a cubin with NVRTC, in process: the library of a wheel or a toolkit, called directly.

Nothing but the library is needed: no GPU, no driver, no binding of one CUDA version. A source that crashes the compiler ends the process:
run untrusted sources in a child. C interface: NVRTC documentation, "Compilation" and "General Information Query".
"""

import ctypes
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sassan.errors import InputError, MissingToolError
from sassan.source import Source, Span

_INSTALL = "pip install nvidia-cuda-nvrtc-cu12"
_WINDOWS = sys.platform == "win32"
_FILES = ("nvrtc64_*_0.dll",) if _WINDOWS else ("libnvrtc.so.[0-9]*", "libnvrtc.so")
_COMPLAINT = re.compile(r"^(?P<file>.*?)\((?P<line>[0-9]+)\): (?:catastrophic )?error:? ?(?P<what>.*)$", re.MULTILINE)
_WHOLE = re.compile(r"^nvrtc: error: (?P<what>.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What NVRTC made of a source for one architecture; `log` is what it said of it, warnings included; `version` is its own (12, 9)."""

    cubin: bytes
    ptx: bytes
    log: str
    version: tuple[int, int]


class _Refused(Exception):  # noqa: N818 - it becomes an error of the input where the input is known
    """NVRTC ended with a status other than 0."""


class _Library:
    """One NVRTC."""

    def __init__(self, path: str) -> None:
        """Load it, and ask for its version and for the SM numbers that it compiles for.

        Raises OSError, AttributeError where it is none, or older than CUDA 11.2.
        """
        self._calls = ctypes.CDLL(path)
        major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.version = major.value, minor.value
        self.call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        self.call("nvrtcGetSupportedArchs", numbers)
        self.numbers = frozenset(numbers)

    def call(self, name: str, *arguments: object) -> None:
        if getattr(self._calls, name)(*arguments) != 0:
            raise _Refused(name)

    def text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, buffer)
        return buffer.raw


def compile_source(
    source: str, *, arch: str, name: str = "source.cu", options: Sequence[str] = (), instances: Sequence[str] = ()
) -> Compiled:
    """Return the cubin of CUDA C++ for `arch` (`sm_80`); `name` is what messages call the source, `options` are NVRTC's own.

    `instances` are the instances of templates to compile (`scale<float>`).

    Raises InputError `compile-failed` at the place of the first complaint, MissingToolError `nvrtc-missing`.
    """
    found = _library_for(arch)
    arguments = [f"-arch={arch}", *options]
    program = ctypes.c_void_p()
    found.call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
    array = (ctypes.c_char_p * len(arguments))(*(one.encode() for one in arguments))
    try:
        for one in instances:
            found.call("nvrtcAddNameExpression", program, one.encode())
        try:
            found.call("nvrtcCompileProgram", program, len(arguments), array)
        except _Refused:
            raise _error(Source(name, source), _plain(found.text(program, "ProgramLog"))) from None
        log = _plain(found.text(program, "ProgramLog"))
        return Compiled(found.text(program, "CUBIN"), found.text(program, "PTX").rstrip(b"\0"), log, found.version)
    finally:
        found.call("nvrtcDestroyProgram", ctypes.byref(program))


def _plain(log: bytes) -> str:
    return log.rstrip(b"\0").decode("utf-8", "replace")


def _error(source: Source, log: str) -> InputError:
    place = next((one for one in _COMPLAINT.finditer(log) if one["file"] == source.name), None)
    if place is not None:
        line = int(place["line"])
        span = Span(line, 1, max(1, len(source.line(line))))
        return InputError("compile-failed", f"it does not compile: {place['what']}", source=source, span=span)
    whole = _COMPLAINT.search(log) or _WHOLE.search(log)
    said = whole["what"] if whole else next(iter(log.strip().splitlines()), "NVRTC gives no reason")
    return InputError("compile-failed", f"it does not compile: {said}", source=Source(source.name, ""))


def _library_for(arch: str) -> _Library:
    """Return the first NVRTC that compiles for `arch`.

    Raises MissingToolError.
    """
    digits = re.fullmatch(r"sm_([0-9]{2,3})[af]?", arch, re.ASCII)
    if digits is None:
        raise InputError("unsupported-architecture", f"'{arch}' is no architecture", hint="write it as sm_80")
    number = int(digits[1])
    seen: list[str] = []
    for path in dict.fromkeys(_places()):
        found = _loaded(path)
        if found is None:
            continue
        if number in found.numbers:
            return found
        seen.append(f"{path} ({'.'.join(map(str, found.version))}) compiles for sm_{min(found.numbers)} to sm_{max(found.numbers)}")
    raise MissingToolError("nvrtc-missing", f"no NVRTC compiles for {arch}: {'; '.join(seen) or 'none was found'}", hint=_INSTALL)


@cache
def _loaded(path: str) -> _Library | None:
    try:
        return _Library(path)
    except (OSError, AttributeError, _Refused):
        return None


def _places() -> Iterator[str]:
    """Yield every NVRTC: those of wheels, of CUDA_HOME and CUDA_PATH, and what the system's loader finds."""
    for folder in _folders():
        for pattern in _FILES:
            yield from map(str, sorted(folder.glob(pattern), reverse=True))
    if not _WINDOWS:
        yield "libnvrtc.so"


def _folders() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for package in spec.submodule_search_locations or () if spec is not None else ():
        for inner in ("cuda_nvrtc/lib", "cu*/lib", "cuda_nvrtc/bin", "cu*/bin"):
            yield from sorted(Path(package).glob(inner), reverse=True)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if home := os.environ.get(variable):
            yield from (Path(home) / inner for inner in ("lib64", "lib", "bin"))
