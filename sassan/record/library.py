"""Building the stand-in library: compiled with the system's C compiler on first use, stored in the user's cache folder."""

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import platformdirs

from sassan.errors import InputError, MissingToolError, is_full, no_space
from sassan.scratch import scratch

RUNTIMES = ("libcudart.so.10.1", "libcudart.so.10.2", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13")
DRIVERS = ("libcuda.so.1", "libcuda.so")
_SOURCES = "stand_in"
_VARIABLE = "SASSAN_CACHE"
_SECONDS = 300
_SHOWN = 400
_COMPILERS = ("cc", "gcc", "clang")
_FLAGS = ("-O1", "-std=c11", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-w")
_FOLDER_MODE = 0o700


def library() -> Path:
    """Return the folder with the library under every name that programs may load.

    Raises MissingToolError `compiler-missing` without a C compiler, InputError `compiler-failed` if compiling fails, and
    `record-platform` on systems other than Linux.
    """
    if platform.system() != "Linux":
        raise InputError("record-platform", "programs can be recorded on Linux only", hint="record on Linux, then analyze with --launches")
    compiler = _compiler()
    sources = _sources()
    key = hashlib.sha256("\0".join([compiler, _version(compiler), platform.machine(), *_FLAGS]).encode())
    for name, data in sources:
        key.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
    folder = _cache() / key.hexdigest()[:32]
    if not (folder / "complete").is_file():
        _build(compiler, sources, folder)
    return folder


def _cache() -> Path:
    return Path(os.environ.get(_VARIABLE) or platformdirs.user_cache_dir("sassan", appauthor=False)) / "record"


def _compiler() -> str:
    chosen = os.environ.get("CC") or ""
    for name in filter(None, (chosen, *_COMPILERS)):
        path = shutil.which(name)
        if path is not None:
            return path
    raise MissingToolError(
        "compiler-missing", "recording needs a C compiler, which was not found", hint="apt install gcc (or set the variable CC)"
    )


def _version(compiler: str) -> str:
    try:
        done = subprocess.run([compiler, "--version"], capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL)  # noqa: S603 - found on PATH
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _sources() -> list[tuple[str, bytes]]:
    folder = resources.files("sassan.record").joinpath(_SOURCES)
    return sorted((file.name, file.read_bytes()) for file in folder.iterdir() if file.name.endswith((".c", ".h", ".map", ".txt")))


def _build(compiler: str, sources: list[tuple[str, bytes]], folder: Path) -> None:
    """Build in a folder of this process and rename it: another run may do the same concurrently."""
    try:
        folder.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        with scratch(folder.parent) as place:
            for name, data in sources:
                (place / name).write_bytes(data)
            _compile(compiler, place, [name for name, _ in sources if name.endswith(".c")])
            for name in (*RUNTIMES, *DRIVERS):
                (place / name).symlink_to("stand-in.so")
            (place / "complete").write_bytes(b"")
            with contextlib.suppress(OSError):  # another run was first, with the same library
                place.rename(folder)
    except OSError as error:
        if is_full(error):
            raise no_space(f"the stand-in library to '{folder.parent}'", error) from None
        raise InputError(
            "cache", f"the cache folder '{folder.parent}' cannot be used: {error}", hint=f"set another folder in {_VARIABLE}"
        ) from None


def _compile(compiler: str, folder: Path, files: list[str]) -> None:
    aliases = [f"-Wl,--defsym={alias}={_base_name(alias)}" for alias in (folder / "aliases.txt").read_text("utf-8").split()]
    command = [compiler, *_FLAGS, "-o", "stand-in.so", *files, "-Wl,--version-script=versions.map", *aliases, "-ldl"]
    try:
        done = subprocess.run(  # noqa: S603 - sources of this package
            command,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder)},
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError("compiler-failed", f"{compiler} cannot build the stand-in library: {error}") from None
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip()[:_SHOWN]
        raise InputError("compiler-failed", f"{compiler} cannot build the stand-in library: {message}", hint="set another compiler in CC")


def _base_name(alias: str) -> str:
    """Return the base name of a function for per-thread default streams."""
    return alias.removesuffix("_ptsz").removesuffix("_ptds")
