"""CUDA C++ in a file to PTX and a cubin: with nvcc where it is installed and compiles for the architecture, else with NVRTC.

Both are kept in the cache, with the digest of every file that the compiler read. Options stand where nvcc looks for them, too: in the
environment variables NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS.

nvcc hands names on to a shell. It is given a file of one line under a plain name, which includes the source where it lies: what the source
includes is looked for in its own folder first, as always, and messages, line information and `__FILE__` have the user's name. A folder
whose name cannot stand in that line stands there as a link.
"""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sassan.compilers.nvrtc import compile_source
from sassan.entries import Entries
from sassan.errors import InputError, MissingToolError, UsageError
from sassan.frontend.load import LIMIT, read_bytes
from sassan.scratch import scratch
from sassan.source import Source, Span
from sassan.system.processes import ToolLimits, ToolProblem, run
from sassan.system.programs import folders, programs
from sassan.system.reading import read

SUFFIX = ".cu"
_ENTRIES = Entries("compiled", b"sassan-compiled-4")
_SOURCE, _FOLDER = "source.cu", "folder-of-the-source"
_NO_TEXT = frozenset('"\\')
_LONGEST = 200
_LIMITS = ToolLimits(seconds=600, size=1_000_000)
_FLAGS = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH", "CPLUS_INCLUDE_PATH")
"""Variables that nvcc and its host compiler obey."""
_UNSUPPORTED = "Unsupported gpu architecture"
_ERROR = re.compile(r"(?:\(|:)(?P<line>[0-9]+)(?:\)|:[0-9]+): (?:catastrophic |fatal )?error:? *(?P<what>.*)", re.DOTALL)
_DEPENDENCY = re.compile(r"(?:\\.|[^\s\\])+")
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include\b", re.MULTILINE)
INSTALL = "install the CUDA toolkit, whose nvcc is found on PATH, or: pip install nvidia-cuda-nvrtc-cu12"


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

    Raises InputError `compile-failed` with the place of the first error, `not-utf8`, what reading raises, UsageError `unsafe-name`,
    MissingToolError `nvcc-missing`.
    """
    data = read_bytes(path, LIMIT)
    nvcc = find_nvcc()
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
    with scratch() as folder:
        name = _included(path, folder)
        (folder / _SOURCE).write_bytes(b'#include "%s"\n' % os.fsencode(name))
        keep = ["-keep", "-keep-dir", "."]  # the PTX is a step on the way
        command = [nvcc, "-cubin", f"-arch={arch}", "-lineinfo", "-MD", "-MF", "read.d", *keep, "-o", "made.cubin", _SOURCE]
        try:
            run(command, folder, _LIMITS)
        except ToolProblem as problem:
            if _UNSUPPORTED in str(problem):
                return None
            log = str(problem)
            raise _failed(path, data, log.partition(name)[2] or f": error: {log.replace(f'{_FOLDER}/', f'{_parent(path)}/')}") from None
        try:
            rule = (folder / "read.d").read_bytes()
            code = CompiledSource((folder / "made.cubin").read_bytes(), (folder / _SOURCE).with_suffix(".ptx").read_bytes())
        except FileNotFoundError as missing:
            raise _failed(path, data, f": error: nvcc named no error, and left no '{Path(str(missing.filename)).name}'") from None
        files = _DEPENDENCY.findall(os.fsdecode(rule).partition(" : ")[2])
        names = (re.sub(r"\\(.)|\$(\$)", r"\1\2", file) for file in files if file != "\\")
        return code, tuple(user_file(path, name) for name in names if name != _SOURCE)


def _parent(path: str) -> Path:
    return Path(path).absolute().parent


def _is_text(name: str) -> bool:
    """Say whether a name can stand between quotes in C, in PTX and in messages."""
    return name.isprintable() and not _NO_TEXT & set(name) and "??" not in name and len(name) <= _LONGEST


def _included(path: str, place: Path) -> str:
    """Return the name of a source for a compiler that works in `place`: its whole path, or one by a link to its folder there."""
    file = Path(path).absolute()
    if _is_text(str(file)):
        return str(file)
    if not _is_text(f"{_FOLDER}/{file.name}"):
        hint = f"rename the file: at most {_LONGEST} characters, and no controls, quotes or backslashes"
        raise UsageError("unsafe-name", f"'{path}' cannot be given to a compiler by its name", hint=hint)
    (place / _FOLDER).symlink_to(file.parent)
    return f"{_FOLDER}/{file.name}"


def user_file(path: str, file: str) -> str:
    """Return what the user calls a file of the line information of a source: that itself, or one of its folder."""
    head, link, rest = file.rpartition(f"{_FOLDER}/")
    return f"{_parent(path)}/{rest}" if link and (not head or head.endswith("/")) else file


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
    try:
        with scratch() as place:
            file = place / _included(path, place)  # it looks beside this name, and where this process stands if that is relative
            made = compile_source(text, arch=arch, name=str(file), options=("-lineinfo", f"-I{file.parent}"))
    except MissingToolError:
        message = f"'{path}' is CUDA source, and neither nvcc nor NVRTC that compile for {arch} were found"
        raise MissingToolError("nvcc-missing", message, hint=INSTALL) from None
    except InputError as error:
        if error.source is not None:
            error.source = Source(path, error.source.text)
        error.hint = f"NVRTC compiled it, which takes device code only: no nvcc that compiles for {arch} was found"
        raise
    code = CompiledSource(made.cubin, made.ptx)
    if alone:
        _keep(name, code, ())
    return code


def find_nvcc() -> str | None:
    """Return the path of nvcc, None where none is found."""
    return next(programs("nvcc", folders()), None)


def _key(data: bytes, path: str, arch: str, compiler: str) -> str:
    changed = str(Path(compiler).resolve().stat().st_mtime_ns) if compiler != "nvrtc" else ""
    context = (str(Path(path).absolute()), arch, compiler, changed, *(os.environ.get(name, "") for name in _FLAGS))
    return hashlib.sha256("\0".join([hashlib.sha256(data).hexdigest(), *context]).encode("utf-8", "surrogateescape")).hexdigest() + ".cubin"


def _keep(name: str, code: CompiledSource, files: Sequence[str]) -> None:
    digests = [(file, _digest(file)) for file in files]
    head = {"read": digests, "ptx": len(code.ptx)}
    if not all(digest for _, digest in digests):
        return  # a change of it would not be seen
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
        data = read(file, LIMIT)
    except (OSError, ValueError):
        return ""
    return hashlib.sha256(data).hexdigest() if len(data) <= LIMIT else ""


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
