"""The compilers of a search, run in separate processes with a time limit (`sassan/compilers/library.py`).

NVRTC and ptxas are located by `sassan.compilers`. Neither a GPU nor a driver is needed.
"""

from dataclasses import dataclass
from pathlib import Path

from sassan.compilers import libraries
from sassan.compilers.ptxas import PTXAS
from sassan.errors import MissingToolError
from sassan.evolve.compilation import children
from sassan.evolve.compilation.children import CompileProblem
from sassan.evolve.space.includes import Header
from sassan.extras import install
from sassan.frontend.cubin.tools import tools
from sassan.scratch import scratch

_OUTPUT = "kernel.out"


@dataclass(frozen=True, slots=True)
class InstalledCompiler:
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

    nvrtc: InstalledCompiler | None = None
    ptxas: InstalledCompiler | None = None

    def __str__(self) -> str:
        """Return the compilers and their versions."""
        return ", ".join(str(compiler) for compiler in (self.nvrtc, self.ptxas) if compiler is not None)


def find(*, nvrtc: bool, ptxas: bool) -> Tools:
    """Return the compilers that are needed; raises MissingToolError `no-nvrtc`, `no-ptxas`."""
    return Tools(_nvrtc() if nvrtc else None, _ptxas() if ptxas else None)


def _nvrtc() -> InstalledCompiler:
    for candidate in libraries():
        if Path(candidate.path).is_file():  # libraries known only to the dynamic loader have no identity
            return _compiler(candidate.path, ".".join(map(str, candidate.version)))
    raise MissingToolError("no-nvrtc", "compiling kernels needs NVRTC, which was not found", hint=install("evolve"))


def _ptxas() -> InstalledCompiler:
    for candidate in tools(PTXAS):
        return _compiler(candidate.path, candidate.version)
    message = "reordering PTX instructions needs ptxas, which was not found"
    raise MissingToolError("no-ptxas", message, hint=f"{install('evolve')}, or omit the gene 'order'")


def _compiler(path: str, version: str) -> InstalledCompiler:
    status = Path(path).stat()
    return InstalledCompiler(path, version, f"{Path(path).name} {version} {status.st_size} {status.st_mtime_ns}")


def nvrtc(  # noqa: PLR0913, PLR0917 - the inputs of a compilation
    compiler: InstalledCompiler, source: str, options: tuple[str, ...], kind: str, seconds: float, headers: tuple[Header, ...] = ()
) -> bytes:
    """Return the cubin or the PTX (`kind`) that NVRTC compiles from a source and its headers; raises CompileProblem."""
    with scratch() as folder:
        place, output = folder / "source", folder / _OUTPUT
        place.mkdir()
        for path, text in headers:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(text.encode())
        job = {"library": compiler.path, "folder": str(place), "source": source, "name": "kernel.cu", "options": options, "kind": kind}
        children.answered({**job, "output": str(output)}, seconds)
        return output.read_bytes()


def ptxas(compiler: InstalledCompiler, text: str, options: tuple[str, ...], seconds: float) -> bytes:
    """Return the cubin that ptxas compiles from PTX; raises CompileProblem."""
    with scratch() as folder:
        (folder / "kernel.ptx").write_text(text, "utf-8")
        log = children.executed([compiler.path, *options, "kernel.ptx", "-o", _OUTPUT], folder, seconds)
        try:
            return (folder / _OUTPUT).read_bytes()
        except OSError:
            raise CompileProblem(log or "the compiler wrote no output") from None
