"""The case study of Berezovskyi et al. 2013 for every number of warps: longest makespans, time and memory of the exact engine.

Where that does not take an instance, `all` says what is known.
Each number of warps has a process of its own, so that its memory is its own; compiled searches are loaded from disk.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from _lib.written import written

STRING, CAPACITY, ISSUE = "L5C9L2C9", "L=1,C=4", "4"
_MB = 1 << 20
_KB = 1 << 10


class Row(NamedTuple):
    """One number of warps: the interval of the longest makespan, what proves its upper end, processor seconds, and megabytes at most."""

    warps: int
    lower: int | None
    upper: int | None
    proof: str
    seconds: str
    megabytes: int
    status: str
    """`solved`, or `time limit` where the interval is not a number."""


def run(output: Path | None, warps: range, seconds: float, memory: float) -> int:
    """Print a row for each number of warps; 1 where one has no interval. `seconds` and `memory` (GiB) are limits of each."""
    rows: list[Row] = []
    print(f"{'warps':>5}{'lower':>7}{'upper':>7}{'CPU s':>9}{'MB':>7}  proof")
    for number in warps:
        row = measured(number, seconds, memory)
        rows.append(row)
        print(f"{row.warps:>5}{row.lower or '-':>7}{row.upper or '-':>7}{row.seconds:>9}{row.megabytes:>7}  {row.proof}", flush=True)
    exact = sum(row.lower is not None and row.lower == row.upper for row in rows)
    print(f"{exact} of {len(rows)} exact")
    if output is not None:
        with written(output) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Row._fields)
            writer.writerows(rows)
    return int(any(row.lower is None or row.upper is None for row in rows))


def measured(warps: int, seconds: float, memory: float) -> Row:
    """Search one instance in a process of its own."""
    for engine in ("exact", "all"):
        command = [
            sys.executable,
            "-m",
            "sassan",
            "makespan",
            STRING,
            "-W",
            str(warps),
            "--cap",
            CAPACITY,
            "--issue",
            ISSUE,
            "--json",
            "-q",
        ]
        command += ["--engine", engine, "--time-limit", f"{seconds:g}", "--memory-limit", f"{memory:g}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).resolve().parents[2]) as process:  # noqa: S603 - this program
            assert process.stdout is not None
            text = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode == 0:
            break
    answer = json.loads(text)
    proof = next((each["proof"] for each in answer["engines"] if each["upper"] == answer["upper"] and each["proof"]), "")
    status = "solved" if answer["exact"] is not None else "time limit"
    return Row(warps, answer["lower"], answer["upper"], proof, f"{used.ru_utime + used.ru_stime:.1f}", used.ru_maxrss * _KB // _MB, status)
