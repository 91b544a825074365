"""Compile a folder of small CUDA programs with their own Makefiles, the shared runtime and one architecture, into a scratch folder.

With nvcc or with clang, each in a folder of its own there: the code of one never stands for that of the other, since loops are unrolled
otherwise, and a time that was measured with one refutes a right bound of the other.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_WRAPPER = """#!/bin/sh
# nvcc with the shared runtime, and a language that its headers still take.
for word in "$@"; do
  shift
  case "$word" in -std=c++11 | -std=c++14) word=-std=c++17 ;; esac
  set -- "$@" "$word"
done
exec nice -n 15 {nvcc} --cudart shared "$@"
"""
_CLANG = """#!/bin/sh
exec nice -n 15 {python} {translator} {clang} {cuda} {include} "$@"
"""
_FATBINARY = """#!/bin/sh
exec {python} {translator} {fatbinary} "$@"
"""
_NEWEST = 30
"""Versions of clang that are looked for, this one first, down to the one that knows sm_86."""
_OLDEST = 13
_PROCESSES = 2
_SECONDS = 900


class Built(NamedTuple):
    """A program: where it runs, its executable (None: it was not made), and why not."""

    folder: Path
    executable: Path | None
    why: str


def find_clang() -> str | None:
    """Return the newest clang on PATH."""
    names = ("clang++", *(f"clang++-{version}" for version in range(_NEWEST, _OLDEST - 1, -1)))
    return next((found for name in names if (found := shutil.which(name))), None)


def build(sources: Path, names: Iterable[str], scratch: Path, arch: str, clang: str | None = None) -> dict[str, Built]:
    """Return the programs by name, made by nvcc, or by clang alone where one is named; programs built by an earlier run are reused."""
    folder = scratch / ("nvcc" if clang is None else "clang")
    compiler = _compiler(folder / "tools", clang)
    # Some programs name files of others: they stand side by side, as in the folder they come from.
    shutil.copytree(sources, folder / "programs", dirs_exist_ok=True) if not (folder / "programs").is_dir() else None
    listed = list(names)
    with ThreadPoolExecutor(_PROCESSES) as pool:
        return dict(zip(listed, pool.map(lambda name: _build(folder / "programs" / name, compiler, arch), listed), strict=True))


def _compiler(folder: Path, clang: str | None) -> Path | None:
    """Make a program called nvcc that compiles as asked, and return its folder; None where no CUDA toolkit is installed."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return None
    if clang is None:
        return _program(folder, "nvcc", _quoted(_WRAPPER, nvcc=nvcc))
    include = folder / "include"
    include.mkdir(parents=True, exist_ok=True)
    translator = Path(__file__).with_name("clang_as_nvcc.py")
    cuda = _for_clang(_toolkit(nvcc), folder / "cuda")
    return _program(folder, "nvcc", _quoted(_CLANG, python=sys.executable, translator=translator, clang=clang, cuda=cuda, include=include))


def _for_clang(toolkit: Path, folder: Path) -> Path:
    """Make `folder` the CUDA installation with a fatbinary that takes clang's words, and return it; the installation itself if it does."""
    fatbinary = toolkit / "bin" / "fatbinary"
    known = subprocess.run([fatbinary, "--help"], capture_output=True, text=True, check=False).stdout  # noqa: S603 - of the installation
    if "--image3" not in known or "--image " in known:
        return toolkit
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    for place in (*toolkit.iterdir(), *(toolkit / "bin").iterdir()):
        link = folder / place.relative_to(toolkit)
        if place not in {toolkit / "bin", fatbinary} and not link.is_symlink():
            link.symlink_to(place)
    translator = Path(__file__).with_name("clang_fatbinary.py")
    _program(folder / "bin", "fatbinary", _quoted(_FATBINARY, python=sys.executable, translator=translator, fatbinary=fatbinary))
    return folder


def _toolkit(nvcc: str) -> Path:
    """Return the folder of the CUDA installation; the nvcc on PATH may be a script that calls the one there."""
    places = [os.environ.get("CUDA_HOME", ""), Path(nvcc).resolve().parents[1], "/usr/local/cuda"]
    return next((Path(place) for place in places if place and Path(place, "include", "cuda_runtime.h").is_file()), Path(nvcc).parents[1])


def _quoted(text: str, **words: Path | str) -> str:
    return text.format(**{name: shlex.quote(str(word)) for name, word in words.items()})


def _program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    (folder / name).chmod(0o755)
    return folder


def _build(folder: Path, compiler: Path | None, arch: str) -> Built:
    if compiler is None:
        return Built(folder, None, "no compiler")
    makefile = folder / "Makefile"
    if not makefile.is_file():
        return Built(folder, None, "no Makefile")
    number = arch.removeprefix("sm_") if "sm_$(ARCH)" in makefile.read_text("utf-8", "replace") else arch
    environment = os.environ | {"PATH": f"{compiler}{os.pathsep}{os.environ['PATH']}"}
    made = _make(folder, environment, f"ARCH={number}")
    plan = _make(folder, environment, f"ARCH={number}", "-n", "run")
    for line in reversed(plan.stdout.splitlines()):
        words = line.split()
        candidate = folder / words[0] if words else folder
        if candidate.is_file() and os.access(candidate, os.X_OK) and made.returncode == 0:
            return Built(folder, candidate, "")
    errors = [line for line in (made.stdout + made.stderr).splitlines() if "error" in line or "fatal" in line or "***" in line]
    return Built(folder, None, errors[0][:200] if errors else "no program was made")


def _make(folder: Path, environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 - the programs of the data
            ["make", *words],  # noqa: S607 - that on PATH
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(["make"], 1, "", f"error: make took longer than {_SECONDS} s")
