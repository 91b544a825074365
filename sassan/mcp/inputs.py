"""The code that a call is about: a text, or a file below the folder of the server."""

from collections.abc import Mapping
from typing import Any

from sassan.api.inputs import read
from sassan.app.reading import architecture, read_gpu
from sassan.compilers.source import is_source
from sassan.errors import UsageError
from sassan.ir import Program
from sassan.mcp.calls import CallLimits, too_large
from sassan.mcp.folder import RootFolder
from sassan.system import reading

LANGUAGES: Mapping[str, str] = {"cuda": "kernel.cu", "ptx": "kernel.ptx", "sass": "kernel.sass"}
"""What a text may be, and the name that it goes by."""


def program_of(given: Mapping[str, Any], root: RootFolder, limits: CallLimits) -> Program:
    """Return the program of the arguments `text` and `language`, or `file`; CUDA source is compiled for `arch`, or for the GPU.

    Raises UsageError where both or none are given, InputError for what is refused, MissingToolError.
    """
    file, text = given.get("file"), given.get("text")
    if (file is None) == (text is None):
        raise UsageError("usage", "the code is missing, or given twice", hint="pass `text` with its `language`, or `file`")
    arch = architecture(given.get("arch"))
    target = arch or (read_gpu(gpu_of(given, root) or "").architecture if given.get("gpu") is not None else None)
    if text is not None:
        name = LANGUAGES.get(str(given.get("language")))
        if name is None:
            raise UsageError("usage", "a text needs its language", hint=f"pass `language`: {', '.join(LANGUAGES)}")
        data = text.encode("utf-8", "replace")
        check_size(len(data), limits)
        if is_source(name):
            root.check_includes(text, None)
        return read(data, name=name, arch=target if is_source(name) else arch, compiler="nvrtc")
    path = root.file(str(file))
    data = reading.read(path, limits.input)
    check_size(len(data), limits)
    if not is_source(path):
        return read(path, name=str(file), arch=arch)
    root.check_includes(data.decode("utf-8", "replace"), path.rpartition("/")[0])
    return read(path, name=str(file), arch=target, compiler="nvrtc")


def check_size(size: int, limits: CallLimits) -> None:
    """Raise InputError `too-large` for an input beyond the limit."""
    if size > limits.input:
        raise too_large(limits)


def gpu_of(given: Mapping[str, Any], root: RootFolder) -> str | None:
    """Return the product that is named, or the path of its file; raises InputError `outside-root`."""
    gpu = given.get("gpu")
    return root.file(gpu) if gpu is not None and gpu.endswith(".toml") else gpu


def file_of(given: Mapping[str, Any], name: str, root: RootFolder, limits: CallLimits) -> str | None:
    """Return the path of the file that an argument names, None where it is not given; raises InputError."""
    file = given.get(name)
    if file is None:
        return None
    path = root.file(file)
    check_size((root.path / path).stat().st_size, limits)
    return path
