"""Finds NVIDIA's disassembler and, before it is used, the architectures that it supports.

It is searched on PATH, in CUDA_HOME and CUDA_PATH, and in installed wheels: nvidia-cuda-nvdisasm (nvidia/cu13/bin) and triton.
Its `--help` lists the architectures of `--binary`.
"""

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sassan.errors import MissingToolError
from sassan.extras import install
from sassan.system.processes import ToolLimits, ToolProblem, run
from sassan.system.programs import folders, programs

NVDISASM, CUOBJDUMP = "nvdisasm", "cuobjdump"
_PROBE_LIMITS = ToolLimits(seconds=120, size=1_000_000, processor=10)
_VERSION = re.compile(rb"\bV([0-9]+(?:\.[0-9]+)+)")
_BINARY = re.compile(r"^--binary\b.*?(?=^--|\Z)", re.DOTALL | re.MULTILINE)
_SM = re.compile(r"'SM([0-9]{2,3})[a-z]?'")
_FIRST_OF_CUDA_13 = 75
_INSTALL_OLD = "pip install triton==3.3.1"


@dataclass(frozen=True, slots=True)
class Tool:
    """A working tool: its version (`12.8.55`) and the SM numbers that it supports (not determined for cuobjdump)."""

    path: str
    version: str
    reads: frozenset[int] = frozenset()


def nvdisasm(sm: int) -> Tool:
    """Return the newest nvdisasm that supports `sm`: an older one skips words that ptxas writes, or calls them illegal.

    Raises MissingToolError nvdisasm-missing; the hint is the install command.
    """
    candidates = tools(NVDISASM)
    suitable = [tool for tool in candidates if sm in tool.reads]
    if suitable:
        return max(suitable, key=lambda tool: tuple(map(int, tool.version.split("."))))
    listed = "; ".join(f"{tool.path} ({tool.version}) supports {_range(tool.reads)}" for tool in candidates) or "none was found"
    command = install("cubin") if sm >= _FIRST_OF_CUDA_13 else f"{_INSTALL_OLD} (its wheel contains nvdisasm 12.8)"
    raise MissingToolError(
        "nvdisasm-missing", f"no nvdisasm for sm_{sm}: {listed}", hint=f"{command}, or pass a listing: {NVDISASM} -c FILE"
    )


def cuobjdump() -> Tool:
    """Return the first cuobjdump; raises MissingToolError cuobjdump-missing, the hint is the install command."""
    candidates = tools(CUOBJDUMP)
    if candidates:
        return candidates[0]
    message = "the file contains cubins; cuobjdump, which extracts them, was not found"
    raise MissingToolError("cuobjdump-missing", message, hint=install("cubin"))


def tools(name: str) -> tuple[Tool, ...]:
    """Return every working tool of this name, in the order of search."""
    probed = (_probe(path, Path(path).stat().st_mtime_ns) for path in dict.fromkeys(_places(name)))
    return tuple(tool for tool in probed if tool is not None)


def _range(reads: frozenset[int]) -> str:
    return f"sm_{min(reads)} to sm_{max(reads)}" if reads else "nothing"


def _places(name: str) -> Iterator[str]:
    """Yield the full path of every executable of this name, in the order of search."""
    yield from (str(Path(path).resolve()) for path in programs(name, _folders()))


def _folders() -> Iterator[str]:
    yield from folders()
    for package in _package_folders("nvidia"):
        yield from map(str, sorted(package.glob("*/bin"), reverse=True))
    for package in _package_folders("triton"):
        yield str(package / "backends" / "nvidia" / "bin")


def _package_folders(name: str) -> list[Path]:
    """Return the folders of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    return [Path(location) for location in spec.submodule_search_locations or ()] if spec is not None else []


@lru_cache(maxsize=64)
def _probe(path: str, changed: int) -> Tool | None:  # noqa: ARG001 - a tool that was replaced is probed again
    """Return the tool with its version and architectures, None when it does not work."""
    try:
        version = _VERSION.search(run([path, "--version"], None, _PROBE_LIMITS))
        if version is None:
            return None
        help_text = run([path, "--help"], None, _PROBE_LIMITS).decode("utf-8", "replace")
    except ToolProblem:
        return None
    binary = _BINARY.search(help_text)
    return Tool(path, version[1].decode(), frozenset(int(number) for number in _SM.findall(binary[0])) if binary else frozenset())
