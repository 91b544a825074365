"""CUDA C++ to a cubin with NVRTC, in process: the library of a wheel or a toolkit, called directly.

Nothing but the library is needed: no GPU, no driver, no binding of one CUDA version. A source that crashes the compiler ends the process:
run untrusted sources in a child (`library.py` is one).
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
from sassan.compilers.library import Library, Refused
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


def compile_source(
    source: str, *, arch: str, name: str = "source.cu", options: Sequence[str] = (), instances: Sequence[str] = ()
) -> Compiled:
    """Return the cubin of CUDA C++ for `arch` (`sm_80`); `name` is what messages call the source, `options` are NVRTC's own.

    `instances` are the instances of templates to compile (`scale<float>`).

    Raises InputError `compile-failed` at the place of the first complaint, MissingToolError `nvrtc-missing`.
    """
    found = _library_for(arch)
    try:
        log, (cubin, ptx) = found.compiled(source, name, (f"-arch={arch}", *options), ("CUBIN", "PTX"), instances)
    except Refused as refused:
        raise _error(Source(name, source), str(refused)) from None
    return Compiled(cubin, ptx, log, found.version)


def _error(source: Source, log: str) -> InputError:
    place = next((one for one in _COMPLAINT.finditer(log) if one["file"] == source.name), None)
    if place is not None:
        line = int(place["line"])
        span = Span(line, 1, max(1, len(source.line(line))))
        return InputError("compile-failed", f"it does not compile: {place['what']}", source=source, span=span)
    whole = _COMPLAINT.search(log) or _WHOLE.search(log)
    said = whole["what"] if whole else next(iter(log.strip().splitlines()), "NVRTC gives no reason")
    return InputError("compile-failed", f"it does not compile: {said}", source=Source(source.name, ""))


def _library_for(arch: str) -> Library:
    """Return the first NVRTC that compiles for `arch`.

    Raises InputError `unsupported-architecture`, MissingToolError.
    """
    if not arch.startswith("sm_"):
        raise unknown(arch)
    number = described(arch).number
    seen: list[str] = []
    for found in libraries():
        if number in found.numbers:
            return found
        version = ".".join(map(str, found.version))
        seen.append(f"{found.path} ({version}) compiles for sm_{min(found.numbers)} to sm_{max(found.numbers)}")
    raise MissingToolError("nvrtc-missing", f"no NVRTC compiles for {arch}: {'; '.join(seen) or 'none was found'}", hint=_INSTALL)


def libraries() -> Iterator[Library]:
    """Yield every NVRTC that answers, in the order of search."""
    for path in dict.fromkeys(_places()):
        if (found := _loaded(path)) is not None:
            yield found


@cache
def _loaded(path: str) -> Library | None:
    try:
        return Library(path)
    except (OSError, AttributeError, Refused):
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
        for inner in ("cuda_nvrtc/lib", "cu*/lib", "cuda_nvrtc/bin", "cu*/bin", "cu*/bin/*"):
            yield from sorted(Path(package).glob(inner), reverse=True)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if home := os.environ.get(variable):
            yield from (Path(home) / inner for inner in ("lib64", "lib", "bin"))
