"""Building the stand-in library: compiled with the system's C compiler on first use, stored in the user's cache folder.

Programs load it: one is never taken from a folder, nor put into one, that others may write (`system/folders.py`). It is built anew then.
"""

import contextlib
import hashlib
import os
import platform
from importlib import resources
from pathlib import Path

from sassan.compilers.host import c_compiler
from sassan.entries import CACHE, cache_folder, usable
from sassan.errors import InputError, StorageError, is_full, no_space
from sassan.scratch import scratch
from sassan.system.folders import is_plain, trusted_file
from sassan.system.processes import ToolLimits, ToolProblem, run

RUNTIMES = ("libcudart.so.10.1", "libcudart.so.10.2", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13")
DRIVERS = ("libcuda.so.1", "libcuda.so")
_SOURCES = "stand_in"
_LIBRARY, _COMPLETE = "stand-in.so", "complete"
_LIMITS = ToolLimits(seconds=300, size=1 << 20)
_FLAGS = ("-O1", "-std=c11", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-w")
_FILE_MODE = 0o700


def library(private: Path) -> Path:
    """Return the folder with the library under every name that programs may load: that of the cache, `private` where others may write that.

    Raises MissingToolError `compiler-missing` without a C compiler, InputError `compiler-failed` if compiling fails, and
    `record-platform` on systems other than Linux.
    """
    if platform.system() != "Linux":
        raise InputError("record-platform", "programs can be recorded on Linux only", hint="record on Linux, then analyze with --launches")
    compiler = c_compiler()
    sources = _sources()
    key = hashlib.sha256("\0".join([*compiler, _version(compiler), platform.machine(), *_FLAGS]).encode())
    for name, data in sources:
        key.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
    folder = cache_folder("record") / key.hexdigest()[:32]
    if is_plain(str(folder)) and _is_whole(folder):
        return folder
    # What cannot be kept is built for this run.
    fit = usable(folder.parent) and os.access(folder.parent, os.W_OK) and _is_free(folder)
    # The loader splits LD_PRELOAD at blanks and colons.
    place = folder if fit and is_plain(str(folder)) else private
    try:
        _build(compiler, sources, place)
    except StorageError:
        if place == private:
            raise
        _build(compiler, sources, private)
        return private
    return place


def _is_whole(folder: Path) -> bool:
    return all(trusted_file(folder / name) for name in (_LIBRARY, _COMPLETE))


def _is_free(folder: Path) -> bool:
    """Say whether a library can be put there; a damaged one, or one that others may write, is removed first."""
    with contextlib.suppress(OSError), scratch(folder.parent) as away:
        if os.path.lexists(folder) and not _is_whole(folder):  # looked at again: another run may have mended it
            folder.rename(away / folder.name)
    return not os.path.lexists(folder)


def _version(compiler: tuple[str, ...]) -> str:
    try:
        return run([*compiler, "--version"], None, _LIMITS, program=len(compiler)).decode("utf-8", "replace")
    except ToolProblem:
        return ""


def _sources() -> list[tuple[str, bytes]]:
    folder = resources.files("sassan.record").joinpath(_SOURCES)
    return sorted((file.name, file.read_bytes()) for file in folder.iterdir() if file.name.endswith((".c", ".h", ".map", ".txt")))


def _build(compiler: tuple[str, ...], sources: list[tuple[str, bytes]], folder: Path) -> None:
    """Build in a folder of this process and rename it: another run may do the same concurrently."""
    try:
        with scratch(folder.parent) as place:
            for name, data in sources:
                (place / name).write_bytes(data)
            _compile(compiler, place, [name for name, _ in sources if name.endswith(".c")])
            for name in (*RUNTIMES, *DRIVERS):
                (place / name).symlink_to(_LIBRARY)
            (place / _COMPLETE).write_bytes(b"")
            for name in (_LIBRARY, _COMPLETE):
                (place / name).chmod(_FILE_MODE)
            with contextlib.suppress(OSError):  # another run was first, with the same library
                place.rename(folder)
    except OSError as error:
        if is_full(error):
            raise no_space(f"the stand-in library to '{folder.parent}'", error) from None
        raise InputError(
            "cache", f"the cache folder '{folder.parent}' cannot be used: {error}", hint=f"set another folder in {CACHE}"
        ) from None


def _compile(compiler: tuple[str, ...], folder: Path, files: list[str]) -> None:
    aliases = [f"-Wl,--defsym={alias}={_base_name(alias)}" for alias in (folder / "aliases.txt").read_text("utf-8").split()]
    command = [*compiler, *_FLAGS, "-o", _LIBRARY, *files, "-Wl,--version-script=versions.map", *aliases, "-ldl"]
    try:
        run(command, folder, _LIMITS, program=len(compiler))
    except ToolProblem as problem:
        raise InputError(
            "compiler-failed", f"{compiler[0]} cannot build the stand-in library: {problem}", hint="set another compiler in CC"
        ) from None


def _base_name(alias: str) -> str:
    """Return the base name of a function for per-thread default streams."""
    return alias.removesuffix("_ptsz").removesuffix("_ptds")
