"""The part of the reference that shows `samples/experiments/public/*.csv`: which part of public code has a graph, an estimate, a bound."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from statistics import median

ROWS = Path(__file__).resolve().parents[2] / "samples" / "experiments" / "public"
_ABOUT = """\
Kernels that people use, from public repositories, compiled elsewhere; a row is a source. `n` counts kernels, each with up to four of its
recorded launches. Of all, the share with a graph without gaps; of those that are launched, the shares with an estimate and with a bound,
and the median of bound / estimate. Of CUDA's samples (folders 0 to 3 and a part of 5, commit c94ff366, sm_80) those are in that need no
graphics and no library; of CUB (CUDA 13.0, sm_80) device algorithms on 2^20 items; of Liger-Kernel (commit ead96b61, Triton 3.3.1, sm_80)
launches are given by hand: 4096 programs, rows of 1000 numbers. So are those of ATen (the wheel torch 2.5.1, sm_80), for kernels of many
kinds: 2^20 numbers, rows of 1024, structures in part where their fields are not published. What took longer than a limit of one to
five minutes on a busy computer is `time-limit`. The bounds of kernels whose blocks wait for each other take one block after the other,
and loops over whole buffers: they are far above what they take.
`scripts/experiments public DIR -o samples/experiments/public` makes the figures from a folder per source of cubins and launches."""
_HEAD = "| source | n | graph | launched | estimate | bound | bound / estimate |\n| --- | --- | --- | --- | --- | --- | --- |"
_MISSING = "What the others need, with the number of rows:"


def section(folder: Path = ROWS) -> list[str]:
    """The lines of the part, none where no source was measured."""
    sources = {path.stem: list(csv.DictReader(path.read_text("utf-8").splitlines())) for path in sorted(folder.glob("*.csv"))}
    if not sources:
        return []
    needs = Counter((name, need) for name, rows in sources.items() for row in rows for need in row["needs"].split("; ") if need)
    lines = ["", "## Public code", "", _ABOUT, "", _HEAD, *(_line(name, rows) for name, rows in sources.items())]
    lines += ["", _MISSING, "", *(f"* {name}: {need} ({count})" for (name, need), count in sorted(needs.items()))] if needs else []
    return lines


def _line(name: str, rows: list[dict[str, str]]) -> str:
    launched = [row for row in rows if row["launch"]]
    shares = [f"{sum(bool(row[key]) for row in launched) / len(launched):.0%}" if launched else "-" for key in ("estimate_us", "bound_us")]
    both = [float(row["bound_us"]) / float(row["estimate_us"]) for row in launched if row["bound_us"] and row["estimate_us"]]
    ratio = f"{median(both):.1f}" if both else "-"
    graphs = f"{sum(row['graph'] == '1' for row in rows) / len(rows):.0%}"
    return f"| {' | '.join((name, str(len(rows)), graphs, str(len(launched)), *shares, ratio))} |"
