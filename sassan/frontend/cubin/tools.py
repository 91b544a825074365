"""Finds NVIDIA's disassembler and says, before it is called, which architectures it reads.

Looked for on PATH, in CUDA_HOME and CUDA_PATH, and in installed wheels: nvidia-cuda-nvdisasm (nvidia/cu13/bin) and triton.
What each one reads is asked of itself: `--help` lists the architectures of `--binary`.
"""

import importlib.util
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sassan.errors import MissingToolError
from sassan.extras import install
from sassan.frontend.cubin.run import Limits, ToolProblem, run

NVDISASM, CUOBJDUMP = "nvdisasm", "cuobjdump"
_ASKING = Limits(seconds=20, size=1_000_000)
_VERSION = re.compile(rb"\bV([0-9]+(?:\.[0-9]+)+)")
_BINARY = re.compile(r"^--binary\b.*?(?=^--|\Z)", re.DOTALL | re.MULTILINE)
_SM = re.compile(r"'SM([0-9]{2,3})[a-z]?'")
_FIRST_OF_CUDA_13 = 75
_INSTALL_OLD = "pip install triton==3.3.1"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that answered: its version (`12.8.55`) and the SM numbers that it reads; those of cuobjdump are not asked for."""

    path: str
    version: str
    reads: frozenset[int] = frozenset()


def nvdisasm(sm: int) -> Tool:
    """Return the first nvdisasm that reads `sm`.

    Raises MissingToolError nvdisasm-missing; the hint is the install command.
    """
    found = tools(NVDISASM)
    for tool in found:
        if sm in tool.reads:
            return tool
    seen = "; ".join(f"{one.path} ({one.version}) reads {_range(one.reads)}" for one in found) or "none was found"
    command = install("cubin") if sm >= _FIRST_OF_CUDA_13 else f"{_INSTALL_OLD} (its wheel carries nvdisasm 12.8)"
    raise MissingToolError("nvdisasm-missing", f"no nvdisasm reads sm_{sm}: {seen}", hint=f"{command}, or give a text: {NVDISASM} -c FILE")


def cuobjdump() -> Tool:
    """Return the first cuobjdump; raises MissingToolError cuobjdump-missing, the hint is the install command."""
    found = tools(CUOBJDUMP)
    if found:
        return found[0]
    message = "the file holds cubins inside; taking them out needs cuobjdump, and none was found"
    raise MissingToolError("cuobjdump-missing", message, hint=install("cubin"))


def tools(name: str) -> tuple[Tool, ...]:
    """Return every tool of this name that answers, in the order of search."""
    found = (_ask(path, Path(path).stat().st_mtime_ns) for path in dict.fromkeys(_places(name)))
    return tuple(one for one in found if one is not None)


def _range(reads: frozenset[int]) -> str:
    return f"sm_{min(reads)} to sm_{max(reads)}" if reads else "nothing"


def _places(name: str) -> Iterator[str]:
    """Yield the full path of every executable of this name, in the order of search."""
    for folder in _folders():
        found = shutil.which(name, path=folder)
        if found is not None:
            yield str(Path(found).resolve())


def _folders() -> Iterator[str]:
    # Each folder of PATH on its own: the first tool may be too old, or too new, where a later one is not.
    yield from filter(None, os.environ.get("PATH", "").split(os.pathsep))
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if home := os.environ.get(variable):
            yield str(Path(home) / "bin")
    for package in _package_folders("nvidia"):
        yield from map(str, sorted(package.glob("*/bin"), reverse=True))
    for package in _package_folders("triton"):
        yield str(package / "backends" / "nvidia" / "bin")


def _package_folders(name: str) -> list[Path]:
    """Return the folders of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    return [Path(one) for one in spec.submodule_search_locations or ()] if spec is not None else []


@lru_cache(maxsize=64)
def _ask(path: str, changed: int) -> Tool | None:  # noqa: ARG001 - a tool that was replaced is asked again
    """Return what the tool says of itself, None when it does not answer."""
    try:
        said = _VERSION.search(run([path, "--version"], Path(path).parent, _ASKING))
        if said is None:
            return None
        help_text = run([path, "--help"], Path(path).parent, _ASKING).decode("utf-8", "replace")
    except ToolProblem:
        return None
    binary = _BINARY.search(help_text)
    return Tool(path, said[1].decode(), frozenset(int(one) for one in _SM.findall(binary[0])) if binary else frozenset())
