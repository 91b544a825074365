"""The shipped samples, read once per process."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from sassan.frontend import load, read
from sassan.frontend.link import ALIGN
from sassan.ir import Function, Program
from sassan.isa import tables
from sassan.warpcfg import explore
from sassan.warpcfg.graph import WarpCfg

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
PRE_VOLTA = ("sm_52", "sm_61")
VOLTA = ("sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
EVERY = (*PRE_VOLTA, *VOLTA)


def names(arch: str, tool: str = "nvdisasm") -> list[str]:
    """Return the samples that ship a listing of this tool for this architecture."""
    return sorted(path.name.split(".")[0] for path in (SAMPLES / arch).glob(f"*.{tool}.sass"))


@lru_cache(maxsize=32)
def program(arch: str, name: str, tool: str = "nvdisasm") -> Program:
    """Return a sample read from its listing."""
    return read(load(str(SAMPLES / arch / f"{name}.{tool}.sass")))


def own_end(arch: str, name: str, function: Function) -> int:
    """Return the end address of the function's own section; code after it was linked from other sections."""
    others = {function.name for function in program(arch, name).functions} - {function.name}
    return min((address & -ALIGN for address, symbol in function.symbols if symbol in others), default=1 << 32)


def explored(function: Function) -> WarpCfg:
    """Return the warp-level CFG of a function."""
    return explore(function, tables.load(function.arch).facts)


def golden(kind: str, arch: str, name: str) -> dict[str, Any]:
    """Return a golden document of a sample: function name to facts."""
    return json.loads((SAMPLES / "golden" / kind / arch / f"{name}.json").read_text())
