"""Compiling a kernel with a choice of values to a cubin: with NVRTC alone, or to PTX, whose instructions may be reordered, and ptxas."""

from dataclasses import dataclass
from enum import StrEnum

from sassan.errors import InputError
from sassan.evolve.cache import Cache, key, program
from sassan.evolve.compilation import compilers
from sassan.evolve.compilation.children import CompileProblem
from sassan.evolve.compilation.compilers import Tools
from sassan.evolve.compilation.order import reordered
from sassan.evolve.space.genes import GenomeValues, Value
from sassan.evolve.space.includes import Header

_REGISTERS, _PTXAS = "--maxrregcount", "--ptxas-options"
_AFTER_PTX = (_REGISTERS, _PTXAS)


class CompileStatus(StrEnum):
    """The status of a compilation."""

    DONE = "done"
    FAILED = "failed"
    HUNG = "hung"


@dataclass(frozen=True, slots=True)
class CompileResult:
    """`cubin` is empty unless DONE, `why` is the error otherwise; `ptx` is the input of ptxas; `cached`: no compiler ran."""

    status: CompileStatus
    cubin: bytes = b""
    why: str = ""
    ptx: str = ""
    cached: bool = False


@dataclass(frozen=True, slots=True)
class CompileJob:
    """A compilation. `by_ptx`: ptxas compiles PTX; `source_is_ptx`: NVRTC is not needed; `seconds`: time limit of each compiler."""

    source: str
    source_is_ptx: bool
    by_ptx: bool
    arch: str
    options: tuple[str, ...]
    choice: GenomeValues
    seconds: float
    headers: tuple[Header, ...] = ()

    @property
    def nvrtc_arguments(self) -> tuple[str, ...]:
        """Return the arguments of NVRTC."""
        target = self.arch.replace("sm_", "compute_") if self.by_ptx else self.arch
        flags = tuple(flag for flag in self.choice.flags if not self.by_ptx or flag[0] not in _AFTER_PTX)
        return (f"-arch={target}", *self.options, *GenomeValues(self.choice.macros, flags).words)

    @property
    def ptxas_arguments(self) -> tuple[str, ...]:
        """Return the arguments of ptxas."""
        return (f"-arch={self.arch}", *(word for name, value in self.choice.flags for word in _ptxas_words(name, value)))


def _ptxas_words(name: str, value: Value) -> tuple[str, ...]:
    if value is False or name not in _AFTER_PTX:
        return ()
    return tuple(str(value).split()) if name == _PTXAS else (f"{name}={value}",)


def build(job: CompileJob, tools: Tools, cache: Cache) -> CompileResult:
    """Return the cubin of a job, or the error. Compiler errors are cached; timeouts and crashes are not.

    Raises SelfCheckError `order`.
    """
    name = _key(job, tools)
    known = cache.get_object(name)
    if known is not None and known.get("failed"):
        return CompileResult(CompileStatus.FAILED, why=str(known["failed"]), cached=True)
    cubin = cache.get(f"{name}.cubin") if known is not None else None
    if cubin is not None and known is not None:
        return CompileResult(CompileStatus.DONE, cubin, ptx=str(known.get("ptx", "")), cached=True)
    try:
        ptx, cubin = _compile(job, tools)
    except CompileProblem as problem:
        if problem.hung:
            return CompileResult(CompileStatus.HUNG, why=str(problem))
        if problem.lasting:
            cache.put_object(name, {"failed": str(problem)})
        return CompileResult(CompileStatus.FAILED, why=str(problem))
    cache.put(f"{name}.cubin", cubin)
    cache.put_object(name, {"ptx": ptx})
    return CompileResult(CompileStatus.DONE, cubin, ptx=ptx)


def _compile(job: CompileJob, tools: Tools) -> tuple[str, bytes]:
    """Return the PTX given to ptxas ('' without ptxas) and the cubin; raises CompileProblem."""
    if not job.by_ptx:
        assert tools.nvrtc is not None
        return "", compilers.nvrtc(tools.nvrtc, job.source, job.nvrtc_arguments, "CUBIN", job.seconds, job.headers)
    assert tools.ptxas is not None
    ptx = job.source
    if not job.source_is_ptx:
        assert tools.nvrtc is not None
        ptx = compilers.nvrtc(tools.nvrtc, job.source, job.nvrtc_arguments, "PTX", job.seconds, job.headers).decode("utf-8", "replace")
    if job.choice.order:
        try:
            ptx = reordered(ptx, job.choice.order)
        except InputError as error:
            raise CompileProblem(f"sassan cannot read the PTX: {error.message}") from None
    return ptx, compilers.ptxas(tools.ptxas, ptx, job.ptxas_arguments, job.seconds)


def _key(job: CompileJob, tools: Tools) -> str:
    """Return the cache key of a job: source, headers, arguments, order, and compilers."""
    identities = [compiler.identity if compiler is not None else "" for compiler in (tools.nvrtc, tools.ptxas)]
    version = program() if job.choice.order else ""
    return key(
        job.source,
        repr(job.headers),
        repr((job.source_is_ptx, job.by_ptx, job.nvrtc_arguments, job.ptxas_arguments, job.choice.order)),
        version,
        *identities,
    )
