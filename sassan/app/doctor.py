"""What of this machine sassan can use: tools, optional packages, caches; what is missing, and the line that mends it."""

import platform
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib import metadata
from pathlib import Path

from sassan import __version__
from sassan.compilers.host import c_compiler
from sassan.compilers.nvrtc import libraries
from sassan.compilers.ptxas import INSTALL as PTXAS_INSTALL
from sassan.compilers.ptxas import PTXAS
from sassan.compilers.source import INSTALL as COMPILER_INSTALL
from sassan.compilers.source import find_nvcc
from sassan.entries import cache_folder
from sassan.errors import MissingToolError
from sassan.extras import install
from sassan.frontend.cubin.tools import CUOBJDUMP, NVDISASM, Tool, cuobjdump, nvdisasm, tools
from sassan.isa.toolkit import NEWEST
from sassan.makespan import compiling
from sassan.system.folders import trusted

_EXTRAS = {
    "plots": "pictures of `measure`",
    "measure": "times on a GPU",
    "evolve": "the evolutionary compiler",
    "dask": "batches on a cluster",
    "parquet": "results of batches as Parquet",
    "mcp": "the server for programs that write kernels",
}
"""Those that a user may want, with what they are for."""
_OLDEST, _OLD, _NEW = 50, 72, 75
"""The first and the last SM that the tools of CUDA 12 alone read, and the first of those of CUDA 13."""
_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")
_CACHES = ("disassembly", "compiled", "evolve", "record")


class ExaminedState(StrEnum):
    """How something stands: there, missing though nothing needs it before it is asked for, or wrong."""

    OK = "ok"
    MISSING = "missing"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Examined:
    """One thing that was looked at: what it is for, what was found, and the line that mends it."""

    purpose: str
    state: ExaminedState
    details: str
    remedy: str = ""


def examine() -> Iterator[Examined]:
    """Yield one check after the other: tools are started, to ask for their version; nothing is compiled and nothing fetched."""
    yield Examined(
        "sassan", ExaminedState.OK, f"{__version__}, Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    )
    yield _packages()
    yield from _disassemblers()
    yield _tool("cubins in executables", CUOBJDUMP, cuobjdump)
    yield _ptxas()
    yield _sources()
    yield _recording()
    yield from (_extra(name, purpose) for name, purpose in _EXTRAS.items())
    yield _searches()
    yield from _caches()


def _requirements(extra: str | None) -> Iterator[str]:
    """Yield the names of the packages that sassan needs, or one of its extras."""
    try:
        required = metadata.requires("sassan") or []
    except metadata.PackageNotFoundError:
        required = []
    for line in required:
        package, _, marker = line.partition(";")
        name = _REQUIREMENT.match(package.strip())
        if name is not None and (f'extra == "{extra}"' in marker.replace("'", '"') if extra else "extra ==" not in marker):
            yield name[0]


def _versions(packages: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the packages that are installed, with their versions, and those that are not."""
    there: list[str] = []
    missing: list[str] = []
    for name in packages:
        try:
            there.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    return there, missing


def _packages() -> Examined:
    there, missing = _versions(_requirements(None))
    if missing:
        return Examined("packages", ExaminedState.WRONG, f"{', '.join(missing)} not found", f"pip install {' '.join(missing)}")
    return Examined("packages", ExaminedState.OK, ", ".join(there) or "not installed as a package")


def _disassemblers() -> Iterator[Examined]:
    for purpose, sm in ((f"cubins of sm_{_OLDEST} to sm_{_OLD}", _OLD), (f"cubins of sm_{_NEW} and later", _NEW)):
        yield _tool(purpose, NVDISASM, partial(nvdisasm, sm))
    newer = [tool for tool in tools(NVDISASM) if _numbers(tool)[:2] > NEWEST]
    if newer:
        details = (
            f"{newer[0].path} ({newer[0].version}) is newer than {'.'.join(map(str, NEWEST))}, the newest that sassan was compared with"
        )
        yield Examined("toolkit", ExaminedState.MISSING, details, "unknown instructions are gaps: look for a newer sassan")


def _numbers(tool: Tool) -> tuple[int, ...]:
    return tuple(map(int, tool.version.split(".")))


def _tool(purpose: str, name: str, find: Callable[[], Tool]) -> Examined:
    try:
        tool = find()
    except MissingToolError as error:
        return Examined(purpose, ExaminedState.MISSING, f"no {name}", error.hint or "")
    return Examined(purpose, ExaminedState.OK, f"{name} {tool.version}: {tool.path}")


def _ptxas() -> Examined:
    newest = max(tools(PTXAS), key=_numbers, default=None)
    if newest is None:
        return Examined("PTX", ExaminedState.MISSING, f"no {PTXAS}", PTXAS_INSTALL)
    return Examined("PTX", ExaminedState.OK, f"{PTXAS} {newest.version}: {newest.path}")


def _sources() -> Examined:
    nvcc, library = find_nvcc(), next(libraries(), None)
    details = [*([f"nvcc: {nvcc}"] if nvcc else []), *([f"NVRTC: {library.path}"] if library is not None else [])]
    if not details:
        return Examined("CUDA C++", ExaminedState.MISSING, "neither nvcc nor NVRTC", COMPILER_INSTALL)
    return Examined("CUDA C++", ExaminedState.OK, ", ".join(details))


def _recording() -> Examined:
    if platform.system() != "Linux":
        return Examined("record", ExaminedState.MISSING, f"programs are not recorded on {platform.system()}", "record on Linux")
    try:
        return Examined("record", ExaminedState.OK, f"C compiler: {c_compiler()[0]}")
    except MissingToolError as error:
        return Examined("record", ExaminedState.MISSING, "no C compiler", error.hint or "")


def _extra(name: str, purpose: str) -> Examined:
    there, missing = _versions(_requirements(name))
    if missing or not there:
        return Examined(purpose, ExaminedState.MISSING, f"{', '.join(missing) or name} not found", install(name))
    return Examined(purpose, ExaminedState.OK, ", ".join(there))


def _searches() -> Examined:
    done = sum(map(compiling.compiled, compiling.SEARCHES))
    details = f"{done} of {len(compiling.SEARCHES)} compiled"
    return Examined(
        "searches",
        ExaminedState.OK if done == len(compiling.SEARCHES) else ExaminedState.MISSING,
        details,
        "" if done == len(compiling.SEARCHES) else "sassan warm",
    )


def _caches() -> Iterator[Examined]:
    for name in _CACHES:
        folder = cache_folder(name)
        if not folder.exists():
            yield Examined(f"cache {name}", ExaminedState.OK, f"{folder}: empty")
        elif not trusted(folder):
            yield Examined(
                f"cache {name}", ExaminedState.WRONG, f"{folder}: others may write it, so that it is not used", f"chmod go-w {folder}"
            )
        else:
            files = [path for path in folder.rglob("*") if path.is_file()]
            yield Examined(f"cache {name}", ExaminedState.OK, f"{folder}: {len(files)} files, {_megabytes(files):.1f} MB")


def _megabytes(files: Iterable[Path]) -> float:
    return sum(path.stat().st_size for path in files) / 1e6
