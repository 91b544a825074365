"""CUDA C++ to a cubin with NVRTC, in process: the library of a wheel or a toolkit, called directly.

Only the library is needed: no GPU, no driver, no binding of one CUDA version. A source that crashes the compiler ends the process:
compile untrusted sources in a child process (`library.py`).
"""

import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sassan.arch import described, unknown
from sassan.compilers.library import Library, RefusedError
from sassan.errors import InputError, MissingToolError
from sassan.source import Source, Span
from sassan.system.folders import open_to_all

_INSTALL = "pip install nvidia-cuda-nvrtc-cu12"
_WINDOWS = sys.platform == "win32"
_FILES = ("nvrtc64_*_0.dll",) if _WINDOWS else ("libnvrtc.so.[0-9]*", "libnvrtc.so")
_ERROR_LINE = re.compile(r"^(?P<file>.*?)\((?P<line>[0-9]+)\): (?:catastrophic )?error:? ?(?P<what>.*)$", re.MULTILINE)
_GENERAL_ERROR = re.compile(r"^nvrtc: error: (?P<what>.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NvrtcOutput:
    """The output of NVRTC for a source and an architecture; `log` includes its warnings, `version` is that of NVRTC (12, 9)."""

    cubin: bytes
    ptx: bytes
    log: str
    version: tuple[int, int]


def compile_source(
    source: str, *, arch: str, name: str = "source.cu", options: Sequence[str] = (), instances: Sequence[str] = ()
) -> NvrtcOutput:
    """Return the cubin of CUDA C++ for `arch` (`sm_80`); `name` is the source's name in messages, `options` are those of NVRTC.

    `instances` are the instances of templates to compile (`scale<float>`).

    Raises InputError `compile-failed` with the span of the first error, MissingToolError `nvrtc-missing`.
    """
    library = _library_for(arch)
    try:
        log, (cubin, ptx) = library.compiled(source, name, (f"-arch={arch}", *options), ("CUBIN", "PTX"), instances)
    except RefusedError as refused:
        raise _error(Source(name, source), str(refused)) from None
    return NvrtcOutput(cubin, ptx, log, library.version)


def _error(source: Source, log: str) -> InputError:
    located = next((match for match in _ERROR_LINE.finditer(log) if match["file"] == source.name), None)
    if located is not None:
        line = int(located["line"])
        span = Span(line, 1, max(1, len(source.line(line))))
        return InputError("compile-failed", f"it does not compile: {located['what']}", source=source, span=span)
    match = _ERROR_LINE.search(log) or _GENERAL_ERROR.search(log)
    message = match["what"] if match else next(iter(log.strip().splitlines()), "NVRTC printed no error")
    return InputError("compile-failed", f"it does not compile: {message}", source=Source(source.name, ""))


def _library_for(arch: str) -> Library:
    """Return the first NVRTC that compiles for `arch`.

    Raises InputError `unsupported-architecture`, MissingToolError.
    """
    if not arch.startswith("sm_"):
        raise unknown(arch)
    number = described(arch).number
    others: list[str] = []
    for library in libraries():
        if number in library.numbers:
            return library
        version = ".".join(map(str, library.version))
        others.append(f"{library.path} ({version}) compiles for sm_{min(library.numbers)} to sm_{max(library.numbers)}")
    raise MissingToolError("nvrtc-missing", f"no NVRTC supports {arch}: {'; '.join(others) or 'none was found'}", hint=_INSTALL)


def libraries() -> Iterator[Library]:
    """Yield every NVRTC that can be loaded, in the order of search."""
    for path in dict.fromkeys(_places()):
        if (library := _loaded(path)) is not None:
            yield library


@cache
def _loaded(path: str) -> Library | None:
    try:
        return Library(path)
    except (OSError, AttributeError, RefusedError):
        return None


def _places() -> Iterator[str]:
    """Yield the path of every NVRTC: in wheels, in CUDA_HOME and CUDA_PATH, and for the system's loader."""
    for folder in _folders():
        for pattern in _FILES:
            yield from map(str, (path for path in sorted(folder.glob(pattern), reverse=True) if not open_to_all(path)))
    # The loader of the system takes a relative folder for one below where it stands, and an empty one for that itself.
    if not _WINDOWS and all(map(os.path.isabs, os.environ.get("LD_LIBRARY_PATH", os.sep).split(os.pathsep))):
        yield "libnvrtc.so"


def _folders() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for package in spec.submodule_search_locations or () if spec is not None else ():
        for inner in ("cuda_nvrtc/lib", "cu*/lib", "cuda_nvrtc/bin", "cu*/bin", "cu*/bin/*"):
            yield from sorted(Path(package).glob(inner), reverse=True)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if home := os.environ.get(variable):
            yield from (place for inner in ("lib64", "lib", "bin") if (place := Path(home) / inner).is_absolute())
