"""The compilers of a search, run in processes of their own with a time limit (`sassan/compilers/library.py`).

NVRTC and ptxas are found where `sassan.compilers` finds them. No GPU and no driver is needed.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sassan.compilers import libraries, library
from sassan.compilers.ptxas import PTXAS
from sassan.errors import MissingToolError
from sassan.evolve.includes import Header
from sassan.extras import install
from sassan.frontend.cubin.tools import tools

_CHILD = library.__file__
_OUTPUT = "kernel.out"
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler that was found: `version` is its own word, `identity` tells builds of one version apart."""

    path: str
    version: str
    identity: str

    def __str__(self) -> str:
        """Return its name and version."""
        return f"{'ptxas' if 'ptxas' in Path(self.path).name else 'NVRTC'} {self.version}"


@dataclass(frozen=True, slots=True)
class Tools:
    """What a configuration needs; None: it is not needed."""

    nvrtc: Compiler | None = None
    ptxas: Compiler | None = None

    def __str__(self) -> str:
        """Return the compilers and their versions."""
        return ", ".join(str(one) for one in (self.nvrtc, self.ptxas) if one is not None)


class CompileProblem(Exception):  # noqa: N818 - it is a result: the individual costs infinity
    """Nothing was compiled; the message says why.

    `hung`: the compiler had not ended when its time was over; `lasting`: it would say so again.
    """

    def __init__(self, message: str, *, hung: bool = False, lasting: bool = True) -> None:
        """Keep what is known."""
        super().__init__(message)
        self.hung = hung
        self.lasting = lasting and not hung


def find(*, nvrtc: bool, ptxas: bool) -> Tools:
    """Return the compilers that are needed; raises MissingToolError `no-nvrtc`, `no-ptxas`."""
    return Tools(_nvrtc() if nvrtc else None, _ptxas() if ptxas else None)


def _nvrtc() -> Compiler:
    for one in libraries():
        if Path(one.path).is_file():  # what only the loader of the system finds cannot be told from another build
            return _compiler(one.path, ".".join(map(str, one.version)))
    raise MissingToolError("no-nvrtc", "compiling kernels needs NVRTC, and none was found", hint=install("evolve"))


def _ptxas() -> Compiler:
    for one in tools(PTXAS):
        return _compiler(one.path, one.version)
    message = "reordering PTX instructions needs ptxas, and none was found"
    raise MissingToolError("no-ptxas", message, hint=f"{install('evolve')}, or omit the gene 'order'")


def _compiler(path: str, version: str) -> Compiler:
    seen = Path(path).stat()
    return Compiler(path, version, f"{Path(path).name} {version} {seen.st_size} {seen.st_mtime_ns}")


def nvrtc(  # noqa: PLR0913, PLR0917 - what a compilation depends on
    compiler: Compiler, source: str, options: tuple[str, ...], kind: str, seconds: float, headers: tuple[Header, ...] = ()
) -> bytes:
    """Return the cubin or the PTX (`kind`) that NVRTC makes of a text and of the headers beside it; raises CompileProblem."""
    job = {"library": compiler.path, "source": source, "name": "kernel.cu", "options": options, "kind": kind}
    with tempfile.TemporaryDirectory(prefix="sassan-") as name:
        place = Path(name) / "source"  # NVRTC looks for what is included where it runs
        place.mkdir()
        for path, text in headers:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(text.encode())
        return _made(job, place, Path(name) / _OUTPUT, seconds)


def ptxas(compiler: Compiler, text: str, options: tuple[str, ...], seconds: float) -> bytes:
    """Return the cubin that ptxas makes of a PTX text; raises CompileProblem."""
    with tempfile.TemporaryDirectory(prefix="sassan-") as name:
        (Path(name) / "kernel.ptx").write_text(text, "utf-8")
        job = {"command": [compiler.path, *options, "kernel.ptx", "-o", _OUTPUT]}
        return _made(job, Path(name), Path(name) / _OUTPUT, seconds)


def _made(job: Mapping[str, object], folder: Path, output: Path, seconds: float) -> bytes:
    """Return what a compilation in a folder wrote."""
    log = _ended(json.dumps({**job, "seconds": seconds, "output": str(output)}), folder, seconds)
    try:
        return output.read_bytes()
    except OSError:
        raise CompileProblem(log or "the compiler wrote nothing") from None


def _ended(job: str, folder: Path, seconds: float) -> str:
    """Return the log of a compilation that ended well; raises CompileProblem."""
    command = [sys.executable, "-I", "-S", _CHILD]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
        )
        try:
            process.communicate(job.encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise CompileProblem(f"the compiler had not ended after {seconds:g} s", hung=True) from None
        finally:
            _stop(process)
        log.seek(0)
        text = log.read(1 << 16).decode("utf-8", "replace")
    if process.returncode == -getattr(signal, "SIGALRM", 0):
        raise CompileProblem(f"the compiler had not ended after {seconds:g} s", hung=True)
    if process.returncode < 0:
        raise CompileProblem(f"the compiler crashed with signal {-process.returncode}", lasting=False)
    if process.returncode:
        raise CompileProblem(_first(text) or f"the compiler ended with status {process.returncode}")
    return _first(text)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End whatever the compilation left running: its session, where the system has such."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _first(log: str) -> str:
    """Return the line of a log that says what is wrong: the first with an error, else the first."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line or "fatal" in line), lines[0] if lines else "")[:_SHOWN]
