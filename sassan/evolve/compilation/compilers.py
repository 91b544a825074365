"""The compilers of a search, run in separate processes with a time limit (`sassan/compilers/library.py`).

NVRTC and ptxas are located by `sassan.compilers`. Neither a GPU nor a driver is needed.
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
from sassan.evolve.space.includes import Header
from sassan.extras import install
from sassan.frontend.cubin.tools import tools

_CHILD = library.__file__
_OUTPUT = "kernel.out"
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Compiler:
    """An installed compiler: `version` is the version it reports, `identity` distinguishes builds of the same version."""

    path: str
    version: str
    identity: str

    def __str__(self) -> str:
        """Return its name and version."""
        return f"{'ptxas' if 'ptxas' in Path(self.path).name else 'NVRTC'} {self.version}"


@dataclass(frozen=True, slots=True)
class Tools:
    """The compilers of a configuration; None if not needed."""

    nvrtc: Compiler | None = None
    ptxas: Compiler | None = None

    def __str__(self) -> str:
        """Return the compilers and their versions."""
        return ", ".join(str(compiler) for compiler in (self.nvrtc, self.ptxas) if compiler is not None)


class CompileProblem(Exception):  # noqa: N818 - a result: the individual has infinite cost
    """A compilation failed; the message says why.

    `hung`: the compiler exceeded its time limit; `lasting`: the error is reproducible.
    """

    def __init__(self, message: str, *, hung: bool = False, lasting: bool = True) -> None:
        """Store the message and flags."""
        super().__init__(message)
        self.hung = hung
        self.lasting = lasting and not hung


def find(*, nvrtc: bool, ptxas: bool) -> Tools:
    """Return the compilers that are needed; raises MissingToolError `no-nvrtc`, `no-ptxas`."""
    return Tools(_nvrtc() if nvrtc else None, _ptxas() if ptxas else None)


def _nvrtc() -> Compiler:
    for candidate in libraries():
        if Path(candidate.path).is_file():  # libraries known only to the dynamic loader have no identity
            return _compiler(candidate.path, ".".join(map(str, candidate.version)))
    raise MissingToolError("no-nvrtc", "compiling kernels needs NVRTC, which was not found", hint=install("evolve"))


def _ptxas() -> Compiler:
    for candidate in tools(PTXAS):
        return _compiler(candidate.path, candidate.version)
    message = "reordering PTX instructions needs ptxas, which was not found"
    raise MissingToolError("no-ptxas", message, hint=f"{install('evolve')}, or omit the gene 'order'")


def _compiler(path: str, version: str) -> Compiler:
    status = Path(path).stat()
    return Compiler(path, version, f"{Path(path).name} {version} {status.st_size} {status.st_mtime_ns}")


def nvrtc(  # noqa: PLR0913, PLR0917 - the inputs of a compilation
    compiler: Compiler, source: str, options: tuple[str, ...], kind: str, seconds: float, headers: tuple[Header, ...] = ()
) -> bytes:
    """Return the cubin or the PTX (`kind`) that NVRTC compiles from a source and its headers; raises CompileProblem."""
    job = {"library": compiler.path, "source": source, "name": "kernel.cu", "options": options, "kind": kind}
    with tempfile.TemporaryDirectory(prefix="sassan-") as name:
        place = Path(name) / "source"  # NVRTC resolves includes relative to its working directory
        place.mkdir()
        for path, text in headers:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(text.encode())
        return _run_compiler(job, place, Path(name) / _OUTPUT, seconds)


def ptxas(compiler: Compiler, text: str, options: tuple[str, ...], seconds: float) -> bytes:
    """Return the cubin that ptxas compiles from PTX; raises CompileProblem."""
    with tempfile.TemporaryDirectory(prefix="sassan-") as name:
        (Path(name) / "kernel.ptx").write_text(text, "utf-8")
        job = {"command": [compiler.path, *options, "kernel.ptx", "-o", _OUTPUT]}
        return _run_compiler(job, Path(name), Path(name) / _OUTPUT, seconds)


def _run_compiler(job: Mapping[str, object], folder: Path, output: Path, seconds: float) -> bytes:
    """Run a compilation in a folder and return its output."""
    log = _compiler_log(json.dumps({**job, "seconds": seconds, "output": str(output)}), folder, seconds)
    try:
        return output.read_bytes()
    except OSError:
        raise CompileProblem(log or "the compiler wrote no output") from None


def _compiler_log(job: str, folder: Path, seconds: float) -> str:
    """Return the log of a successful compilation; raises CompileProblem."""
    command = [sys.executable, "-I", "-S", _CHILD]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S603 - this interpreter
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
        )
        try:
            process.communicate(job.encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise CompileProblem(f"the compiler exceeded its time limit of {seconds:g} s", hung=True) from None
        finally:
            _stop(process)
        log.seek(0)
        text = log.read(1 << 16).decode("utf-8", "replace")
    if process.returncode == -getattr(signal, "SIGALRM", 0):
        raise CompileProblem(f"the compiler exceeded its time limit of {seconds:g} s", hung=True)
    if process.returncode < 0:
        raise CompileProblem(f"the compiler crashed with signal {-process.returncode}", lasting=False)
    if process.returncode:
        raise CompileProblem(_first_error(text) or f"the compiler ended with status {process.returncode}")
    return _first_error(text)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill the compilation and its child processes, by its session where the system has sessions."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _first_error(log: str) -> str:
    """Return the first line of a log with an error, else its first line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line or "fatal" in line), lines[0] if lines else "")[:_SHOWN]
