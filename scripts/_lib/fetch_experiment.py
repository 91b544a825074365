"""Code and caches of instructions: what a line of code adds to the bound of one warp, and of eight, where each cache does not keep it.

Each kernel of samples/fetch turns through so many KiB of straight code. A line is its share of a turn, the difference of two bounds of the
launch, less that of a line in the smallest kernel, which every cache keeps.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from _lib.written import written

from sassan.access.transactions import LINE
from sassan.machine.code_caches import code_caches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GPUS = {
    "sm_52": "GTX 980 Ti",
    "sm_60": "P100 PCIe",
    "sm_61": "GTX 1080",
    "sm_70": "V100-SXM2-16GB",
    "sm_75": "RTX 2080 Ti",
    "sm_80": "A100-SXM4-40GB",
    "sm_86": "RTX 3080",
    "sm_90": "H100 SXM",
    "sm_120": "RTX 5070 Ti",
}
"""A product of each architecture."""
WARPS = (1, 8)
TURNS = (100, 300)
_KIB = 1024


class Row(NamedTuple):
    """What a line of code adds to a turn, in cycles: of one warp and of eight; `kept`: by which cache, `sizes`: those of both, in KiB."""

    arch: str
    kib: int
    kept: str
    one: str
    eight: str
    sizes: str
    source: str


def run(folder: Path, output: Path | None) -> int:
    """Print what a line costs in each kernel; 1 where code beyond a cache costs no more than code within it."""
    rows = [row for arch, gpu in GPUS.items() for row in _rows(folder / arch / "fetch.cubin", arch, gpu)]
    print(f"{'arch':7} {'KiB':>4} {'kept by':10} {'1 warp':>7} {'8 warps':>8} {'sizes':>8}  source")
    for row in rows:
        print(f"{row.arch:7} {row.kib:4} {row.kept:10} {row.one:>7} {row.eight:>8} {row.sizes:>8}  {row.source.partition(':')[0]}")
    free = [row for row in rows if row.kept != "partition" and float(row.one) <= 0]
    print(f"{len(rows)} kernels, {len(free)} beyond a cache without a charge")
    if output is not None:
        with written(output) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Row._fields)
            writer.writerows(rows)
    return int(bool(free) or not rows)


def _rows(path: Path, arch: str, gpu: str) -> Iterator[Row]:
    caches = code_caches(arch)
    turns = {warps: _turns(path, gpu, warps) for warps in WARPS}
    sizes = sorted(turns[1])
    for kib in sizes:
        size = kib * _KIB
        one, eight = (turns[warps][kib] / (size / LINE) - turns[warps][sizes[0]] / (sizes[0] * _KIB / LINE) for warps in WARPS)
        kept = "partition" if size <= caches.inner else "SM" if size <= caches.outer else "L2"
        both = f"{caches.inner // _KIB}/{caches.outer // _KIB}"
        yield Row(arch, kib, kept, f"{one:.1f}", f"{eight:.1f}", both, caches.source)


def _turns(path: Path, gpu: str, warps: int) -> dict[int, float]:
    """Cycles of a turn in the bound of a launch of one block, by KiB of code."""
    few, many = (_bounds(path, gpu, warps, turns) for turns in TURNS)
    return {kib: (many[kib] - few[kib]) / (TURNS[1] - TURNS[0]) for kib in few}


def _bounds(path: Path, gpu: str, warps: int, turns: int) -> dict[int, int]:
    launch = ["--block-dim", str(32 * warps), "--grid", "1", "--param", f"param_1={turns}"]
    command = [sys.executable, "-m", "sassan", "analyze", str(path), "--gpu", gpu, *launch, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own command line
    return {int(each["name"].rpartition("_")[2]): each["grid"]["upper"] for each in json.loads(done.stdout)["functions"]}
