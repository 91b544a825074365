"""CUDA C++ in a file to PTX and a cubin: with nvcc where it is installed and compiles for the architecture, else with NVRTC.

Both are kept in the cache, with the digest of every file that the compiler read. Options stand where nvcc looks for them, too: in the
environment variables NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sassan.compilers.nvrtc import compile_source
from sassan.entries import Entries
from sassan.errors import InputError, MissingToolError
from sassan.frontend.cubin.run import ToolLimits, ToolProblem, run
from sassan.frontend.load import LIMIT, read_bytes
from sassan.scratch import scratch
from sassan.source import Source, Span

SUFFIX = ".cu"
_ENTRIES = Entries("compiled", b"sassan-compiled-2")
_LIMITS = ToolLimits(seconds=600, size=1_000_000)
_FLAGS = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH", "CPLUS_INCLUDE_PATH")
"""Variables that nvcc and its host compiler obey."""
_UNSUPPORTED = "Unsupported gpu architecture"
_ERROR = re.compile(r"(?:\(|:)(?P<line>[0-9]+)(?:\)|:[0-9]+): (?:catastrophic |fatal )?error:? *(?P<what>.*)", re.DOTALL)
_DEPENDENCY = re.compile(r"(?:\\.|[^\s\\])+")
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_INSTALL = "install the CUDA toolkit, whose nvcc is found on PATH, or: pip install nvidia-cuda-nvrtc-cu12"


@dataclass(frozen=True, slots=True)
class CompiledSource:
    """What a compiler made of a source: the machine code, and the PTX that it was made of."""

    cubin: bytes
    ptx: bytes


def is_source(path: str) -> bool:
    """Say whether a file is CUDA source, by its name."""
    return path.endswith(SUFFIX)


def compiled(path: str, arch: str, *, cached: bool = True) -> CompiledSource:
    """Return PTX and cubin of the CUDA source in a file for an architecture (`sm_90`), both with the lines of the source.

    Raises InputError `compile-failed` with the place of the first error, `not-utf8`, what reading raises, MissingToolError `nvcc-missing`.
    """
    data = read_bytes(path, LIMIT)
    nvcc = _nvcc()
    if nvcc is not None:
        name = _key(data, path, arch, nvcc)
        kept = _kept(name) if cached else None
        if kept is not None:
            return kept
        made = _with_nvcc(nvcc, path, data, arch)
        if made is not None:
            code, read = made
            _keep(name, code, read)
            return code
    return _with_nvrtc(path, data, arch, cached=cached)


def _with_nvcc(nvcc: str, path: str, data: bytes, arch: str) -> tuple[CompiledSource, tuple[str, ...]] | None:
    """Return PTX, cubin and the files that were read, None where this nvcc does not compile for the architecture."""
    source = str(Path(path).absolute())
    with scratch() as folder:
        keep = ["-keep", "-keep-dir", "."]  # the PTX is a step on the way
        command = [nvcc, "-cubin", f"-arch={arch}", "-lineinfo", "-MD", "-MF", "read.d", *keep, "-o", "made.cubin", source]
        try:
            run(command, folder, _LIMITS)
        except ToolProblem as problem:
            if _UNSUPPORTED in str(problem):
                return None
            raise _failed(path, data, str(problem).partition(f"{source}")[2] or f": error: {problem}") from None
        files = _DEPENDENCY.findall((folder / "read.d").read_text("utf-8", "replace").partition(" : ")[2])
        code = CompiledSource((folder / "made.cubin").read_bytes(), next(folder.glob("*.ptx")).read_bytes())
        return code, tuple(file.replace("\\ ", " ") for file in files if file != "\\")


def _with_nvrtc(path: str, data: bytes, arch: str, *, cached: bool) -> CompiledSource:
    """Return PTX and cubin; those of a source with includes are not kept, since NVRTC does not say what it read."""
    name = _key(data, path, arch, "nvrtc")
    alone = _INCLUDE.search(data) is None
    kept = _kept(name) if cached and alone else None
    if kept is not None:
        return kept
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("not-utf8", f"'{path}' is not UTF-8 text: byte {error.start}", source=Source(path, "")) from None
    folder = Path(path).absolute().parent
    try:
        made = compile_source(text, arch=arch, name=path, options=("-lineinfo", f"-I{folder}"))
    except MissingToolError:
        message = f"'{path}' is CUDA source, and neither nvcc nor NVRTC that compile for {arch} were found"
        raise MissingToolError("nvcc-missing", message, hint=_INSTALL) from None
    except InputError as error:
        error.hint = f"NVRTC compiled it, which takes device code only: no nvcc that compiles for {arch} was found"
        raise
    code = CompiledSource(made.cubin, made.ptx)
    if alone:
        _keep(name, code, ())
    return code


def _nvcc() -> str | None:
    homes = [str(Path(home) / "bin") for name in ("CUDA_HOME", "CUDA_PATH") if (home := os.environ.get(name))]
    return shutil.which("nvcc", path=os.pathsep.join([os.environ.get("PATH", ""), *homes]))


def _key(data: bytes, path: str, arch: str, compiler: str) -> str:
    changed = str(Path(compiler).resolve().stat().st_mtime_ns) if compiler != "nvrtc" else ""
    context = (str(Path(path).absolute()), arch, compiler, changed, *(os.environ.get(name, "") for name in _FLAGS))
    return hashlib.sha256("\0".join([hashlib.sha256(data).hexdigest(), *context]).encode("utf-8", "surrogateescape")).hexdigest() + ".cubin"


def _keep(name: str, code: CompiledSource, read: Sequence[str]) -> None:
    head = {"read": [(file, _digest(file)) for file in read], "ptx": len(code.ptx)}
    _ENTRIES.put(name, json.dumps(head).encode() + b"\n" + code.ptx + code.cubin)


def _kept(name: str) -> CompiledSource | None:
    """Return what an entry holds, None where there is none, or a file that it was made of has changed."""
    text, _, data = (_ENTRIES.get(name) or b"").partition(b"\n")
    if not data:
        return None
    head = json.loads(text)
    if any(_digest(file) != digest for file, digest in head["read"]):
        return None
    return CompiledSource(data[head["ptx"] :], data[: head["ptx"]])


def _digest(file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return ""


def _failed(path: str, data: bytes, log: str) -> InputError:
    """Return the error of a source, at the line that the compiler names."""
    match = _ERROR.match(log)
    source = Source(path, data.decode("utf-8", "replace"))
    if match is None:
        return InputError("compile-failed", f"it does not compile: {log.removeprefix(': error: ')}", source=Source(path, ""))
    line = int(match["line"])
    return InputError(
        "compile-failed", f"it does not compile: {match['what']}", source=source, span=Span(line, 1, max(1, len(source.line(line))))
    )
