"""From a kernel and a choice to a cubin: with NVRTC alone, or by way of PTX, whose independent instructions change places, and ptxas."""

from dataclasses import dataclass
from enum import StrEnum

from sassan.errors import InputError
from sassan.evolve import compilers
from sassan.evolve.cache import Cache, key, program
from sassan.evolve.compilers import CompileProblem, Tools
from sassan.evolve.genes import Choice, Value
from sassan.evolve.includes import Header
from sassan.evolve.order import reordered

_REGISTERS, _PTXAS = "--maxrregcount", "--ptxas-options"
_AFTER_PTX = (_REGISTERS, _PTXAS)


class Fate(StrEnum):
    """What became of a compilation."""

    DONE = "done"
    FAILED = "failed"
    HUNG = "hung"


@dataclass(frozen=True, slots=True)
class Built:
    """`cubin` is empty unless it is DONE, `why` is empty then; `ptx` is what ptxas was given; `cached`: no compiler ran."""

    fate: Fate
    cubin: bytes = b""
    why: str = ""
    ptx: str = ""
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One compilation. `by_ptx`: PTX goes to ptxas; `source_is_ptx`: NVRTC has nothing to do. Units: `seconds` for each compiler."""

    source: str
    source_is_ptx: bool
    by_ptx: bool
    arch: str
    options: tuple[str, ...]
    choice: Choice
    seconds: float
    headers: tuple[Header, ...] = ()

    @property
    def front(self) -> tuple[str, ...]:
        """Return the words for NVRTC."""
        target = self.arch.replace("sm_", "compute_") if self.by_ptx else self.arch
        flags = tuple(one for one in self.choice.flags if not self.by_ptx or one[0] not in _AFTER_PTX)
        return (f"-arch={target}", *self.options, *Choice(self.choice.macros, flags).words)

    @property
    def back(self) -> tuple[str, ...]:
        """Return the words for ptxas."""
        return (f"-arch={self.arch}", *(word for name, value in self.choice.flags for word in _ptxas_words(name, value)))


def _ptxas_words(name: str, value: Value) -> tuple[str, ...]:
    if value is False or name not in _AFTER_PTX:
        return ()
    return tuple(str(value).split()) if name == _PTXAS else (f"{name}={value}",)


def build(job: Job, tools: Tools, cache: Cache) -> Built:
    """Return the cubin of a job, or why there is none. A compiler that hung or crashed is asked again later, one that refused is not.

    Raises SelfCheckError `order`.
    """
    name = _key(job, tools)
    known = cache.get_object(name)
    if known is not None and known.get("failed"):
        return Built(Fate.FAILED, why=str(known["failed"]), cached=True)
    cubin = cache.get(f"{name}.cubin") if known is not None else None
    if cubin is not None and known is not None:
        return Built(Fate.DONE, cubin, ptx=str(known.get("ptx", "")), cached=True)
    try:
        ptx, cubin = _made(job, tools)
    except CompileProblem as problem:
        if problem.hung:
            return Built(Fate.HUNG, why=str(problem))
        if problem.lasting:
            cache.put_object(name, {"failed": str(problem)})
        return Built(Fate.FAILED, why=str(problem))
    cache.put(f"{name}.cubin", cubin)
    cache.put_object(name, {"ptx": ptx})
    return Built(Fate.DONE, cubin, ptx=ptx)


def _made(job: Job, tools: Tools) -> tuple[str, bytes]:
    """Return the PTX that ptxas was given ('' without it) and the cubin; raises CompileProblem."""
    if not job.by_ptx:
        assert tools.nvrtc is not None
        return "", compilers.nvrtc(tools.nvrtc, job.source, job.front, "CUBIN", job.seconds, job.headers)
    assert tools.ptxas is not None
    ptx = job.source
    if not job.source_is_ptx:
        assert tools.nvrtc is not None
        ptx = compilers.nvrtc(tools.nvrtc, job.source, job.front, "PTX", job.seconds, job.headers).decode("utf-8", "replace")
    if job.choice.order:
        try:
            ptx = reordered(ptx, job.choice.order)
        except InputError as error:
            raise CompileProblem(f"PTX that sassan cannot read: {error.message}") from None
    return ptx, compilers.ptxas(tools.ptxas, ptx, job.back, job.seconds)


def _key(job: Job, tools: Tools) -> str:
    """Return the name of a job in the cache: its source and what that includes, its words, its order, and who compiles."""
    who = [one.identity if one is not None else "" for one in (tools.nvrtc, tools.ptxas)]
    ours = program() if job.choice.order else ""
    return key(job.source, repr(job.headers), repr((job.source_is_ptx, job.by_ptx, job.front, job.back, job.choice.order)), ours, *who)
