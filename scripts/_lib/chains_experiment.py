"""Chains of dependent instructions: what a step takes in the bound and in the estimate, beside what publications measured.

Each kernel of samples/chains has a form of 4 steps and one of 12. A step is an eighth of the difference of both WCETs (`control`), and
of both estimates without the lines of code that a cold start fetches.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, NamedTuple

from _lib.written import written

from sassan import api
from sassan.access.transactions import LINE
from sassan.estimate.figures import calibrated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SHORT, LONG = 4, 12
GPUS = {
    "sm_61": "GTX 1080",
    "sm_70": "V100-SXM2-16GB",
    "sm_75": "RTX 2080 Ti",
    "sm_80": "A100-SXM4-40GB",
    "sm_86": "RTX 3080",
    "sm_120": "RTX 5070 Ti",
}
"""A product of each architecture, for estimates of one warp."""


class Row(NamedTuple):
    """A step of a chain, in cycles; `published` and `source` are '' without a publication, `estimate` without a product."""

    chain: str
    arch: str
    published: str
    bound: str
    estimate: str
    source: str


def run(folder: Path, output: Path | None) -> int:
    """Print every step; 1 where a bound is below a publication."""
    table = tomllib.loads((folder / "chains.toml").read_text(encoding="utf-8"))
    rows = [row for path in sorted(folder.glob("sm_*/*.cubin")) for row in _rows(path, table)]
    below = [row for row in rows if row.published and float(row.bound) < float(row.published)]
    print(f"{'chain':12} {'arch':7} {'published':>9} {'bound':>7} {'estimate':>8}  source")
    for row in rows:
        print(
            f"{row.chain:12} {row.arch:7} {row.published or '-':>9} {row.bound:>7} {row.estimate or '-':>8}  {row.source.partition(',')[0]}"
        )
    print(f"{len(rows)} chains, {sum(bool(row.published) for row in rows)} published, {len(below)} bounds below")
    if output is not None:
        with written(output) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Row._fields)
            writer.writerows(rows)
    return int(bool(below) or not rows)


def _rows(path: Path, table: Mapping[str, Mapping[str, Mapping[str, object]]]) -> Iterator[Row]:
    kernels = {kernel.name: kernel for kernel in api.analyze(api.read(str(path)), launch=api.Launch(block=(32, 1, 1)), model="control")}
    arch = path.parent.name
    expected = _estimates(path, GPUS[arch]) if arch in GPUS else {}
    for name in sorted(kernels):
        chain, _, steps = name.rpartition("_")
        short = kernels.get(f"{chain}_{SHORT}")
        if steps != str(LONG) or short is None:
            continue
        long = kernels[name]
        assert long.wcet is not None, f"{path}: {name} has no WCET"
        assert short.wcet is not None, f"{path}: {name} has no WCET"
        published = table.get(arch, {}).get(chain, {})
        estimate = (expected[name] - expected[short.name]) / (LONG - SHORT) if name in expected else None
        yield Row(
            chain,
            arch,
            str(published.get("cycles", "")),
            f"{(long.wcet - short.wcet) / (LONG - SHORT):.1f}",
            "" if estimate is None else f"{estimate:.1f}",
            str(table["sources"][str(published["source"])]) if published else "",
        )


def _estimates(path: Path, gpu: str) -> dict[str, float]:
    command = [sys.executable, "-m", "sassan", "estimate", str(path), "--gpu", gpu, "--block-dim", "32", "--grid", "1", "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own command line
    lines = {function.name: len({each.address // LINE for each in function.instructions}) for function in api.read(str(path)).functions}
    return {
        each["name"]: each["estimate"]["cycles"] - calibrated().fetch * lines[each["name"]]
        for each in json.loads(done.stdout)["functions"]
        if each.get("estimate")
    }
