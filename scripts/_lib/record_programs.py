"""Compile a folder of small CUDA programs with their own Makefiles, the shared runtime and one architecture, into a scratch folder."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_WRAPPER = """#!/bin/sh
# nvcc with the shared runtime, and a language that its headers still take.
for word in "$@"; do
  shift
  case "$word" in -std=c++11 | -std=c++14) word=-std=c++17 ;; esac
  set -- "$@" "$word"
done
exec nice -n 15 {nvcc} --cudart shared "$@"
"""
_SECONDS = 900


class Built(NamedTuple):
    """A program: where it runs, its executable (None: it was not made), and why not."""

    folder: Path
    executable: Path | None
    why: str


def build(sources: Path, names: Iterable[str], scratch: Path, arch: str, processes: int) -> dict[str, Built]:
    """Return the programs by name; programs built by an earlier run are reused."""
    nvcc = shutil.which("nvcc")
    tools = scratch / "tools"
    tools.mkdir(parents=True, exist_ok=True)
    if nvcc is not None:
        wrapper = tools / "nvcc"
        wrapper.write_text(_WRAPPER.format(nvcc=shlex.quote(nvcc)), "utf-8")
        wrapper.chmod(0o755)
    # Some programs name files of others: they stand side by side, as in the folder they come from.
    shutil.copytree(sources, scratch / "programs", dirs_exist_ok=True) if not (scratch / "programs").is_dir() else None
    listed = list(names)
    with ThreadPoolExecutor(processes) as pool:
        return dict(zip(listed, pool.map(lambda name: _build(scratch / "programs" / name, tools, arch), listed), strict=True))


def _build(folder: Path, tools: Path, arch: str) -> Built:
    makefile = folder / "Makefile"
    if not makefile.is_file():
        return Built(folder, None, "no Makefile")
    number = arch.removeprefix("sm_") if "sm_$(ARCH)" in makefile.read_text("utf-8", "replace") else arch
    environment = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
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
