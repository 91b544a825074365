"""What the warps of an SM take in cycles: a schedule beside the bound, for each kernel of samples/launches, launched as its source says."""

from __future__ import annotations

import csv
import re
import shlex
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

from _lib.written import written

from sassan import api
from sassan.app.makespan.cycles import with_schedule

if TYPE_CHECKING:
    from pathlib import Path

MODELS = ("control", "table")


class Row(NamedTuple):
    """One kernel under one cost model; times in cycles. `path` is how many instructions the worst path of a warp has."""

    kernel: str
    arch: str
    model: str
    launch: str
    warps: int
    path: int
    alone: int
    schedule: int
    bound: int
    ratio: str
    seconds: str
    rule: str


def run(folder: Path, output: Path | None) -> int:
    """Print the interval of each kernel and the medians of bound / schedule; 1 where one has none."""
    rows: list[Row] = []
    missing: list[str] = []
    for path in sorted(folder.glob("sm_*/*.cubin")):
        for model in MODELS:
            row = measured(path, folder / f"{path.stem}.cu", model)
            if row is None:
                missing.append(f"{path}: no interval under {model}")
                continue
            rows.append(row)
            interval = f"{row.schedule}..{row.bound}"
            print(f"{row.kernel:18}{row.arch:7}{row.model:9}{row.warps:3} warps{interval:>18}  {row.ratio}  {row.seconds:>6} s", flush=True)
    for model in MODELS:
        ratios = [row.bound / row.schedule for row in rows if row.model == model]
        if ratios:
            print(f"{model}: {len(ratios)} kernels, bound / schedule: median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}")
    print("\n".join(missing), end="\n" if missing else "")
    if output is not None:
        with written(output) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Row._fields)
            writer.writerows(rows)
    return int(bool(missing) or not rows)


def measured(cubin: Path, source: Path, model: api.ModelName) -> Row | None:
    """Return the row of a kernel, None where it has no schedule or no bound."""
    text = _launch(source)
    (kernel,) = api.analyze(api.read(str(cubin)), launch=launch(text), model=model)
    begin = time.monotonic()
    result = with_schedule(kernel.analysis)
    seconds = time.monotonic() - begin
    lower = result.scheduled.cycles if result.scheduled is not None else None
    if kernel.makespan is None or kernel.wcet is None or lower is None or kernel.warps is None or result.worst_path is None:
        return None
    return Row(
        kernel.name,
        kernel.arch,
        model,
        text,
        kernel.warps,
        result.worst_path.length,
        kernel.wcet,
        lower,
        kernel.makespan,
        f"{kernel.makespan / lower:.3f}",
        f"{seconds:.2f}",
        result.scheduled.rule if result.scheduled is not None else "",
    )


def launch(text: str) -> api.Launch:
    """Return the launch of options of `sassan analyze`: `--block-dim 16,16 --param param_3=256`."""
    words = shlex.split(text)
    given = list(zip(words[::2], words[1::2], strict=True))
    block = next(tuple(map(int, value.split(","))) for name, value in given if name == "--block-dim")
    parameters = dict(value.split("=") for name, value in given if name == "--param")
    return api.Launch(block=block, parameters={name: int(value) for name, value in parameters.items()})


def _launch(source: Path) -> str:
    line = re.search(r"^// Launch: (.*)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    assert line is not None, f"{source} names no launch"
    return line[1]
