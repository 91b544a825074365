"""Launches recorded without a GPU against those that a GPU ran: kernel, block and grid of every row of `programs/measured.csv`."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from _lib.record_programs import Built, build
from _lib.written import written

from sassan.errors import SassanError
from sassan.launches import read as read_launches

_COLUMNS = ("program", "built", "recorded", "status", "seconds", "launches", "different", "measured_rows", "agreeing_rows", "agrees")
_SAID = 3000
"""Maximum number of bytes of the program's last output."""
_INSTALL = "a CUDA toolkit (nvcc), make and a C compiler"


class Shape(NamedTuple):
    """What a launch is compared by: name of the kernel without types and templates, block, grid."""

    kernel: str
    block: tuple[int, ...]
    grid: tuple[int, ...]


class Measured(NamedTuple):
    """A program of the data: its arguments, and the launches that a GPU ran."""

    arguments: str
    shapes: tuple[Shape, ...]


class Row(NamedTuple):
    """One program: figures for the table, and why it does not agree."""

    figures: tuple[object, ...]
    agrees: bool
    why: str


def run(data: Path, output: Path | None, work: Path | None, seconds: float, processes: int) -> int:
    """Compile, record and compare every program; print differences, and the share of equal launches."""
    folder = data / "programs"
    if not (folder / "measured.csv").is_file():
        print(f"error: there is no {folder / 'measured.csv'}\nhint: name a folder of recorded runs that has programs/", file=sys.stderr)
        return 3
    if shutil.which("nvcc") is None or shutil.which("make") is None:
        print(f"error: the programs cannot be compiled\nhint: install {_INSTALL}", file=sys.stderr)
        return 4
    programs = measured_programs(folder / "measured.csv")
    scratch = (work or Path(tempfile.mkdtemp(prefix="sassan-programs-"))).resolve()
    built = build(folder, programs, scratch, "sm_86")
    with ThreadPoolExecutor(processes) as pool:
        rows = dict(zip(programs, pool.map(lambda name: _row(name, programs[name], built[name], seconds), programs), strict=True))
    for name, row in rows.items():
        if not row.agrees:
            print(f"{name}: {row.why}")
    _print_summary(rows)
    if output is not None:
        with written(output) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(_COLUMNS)
            writer.writerows(row.figures for row in rows.values())
    return 0


def _print_summary(rows: dict[str, Row]) -> None:
    built = sum(row.figures[1] == 1 for row in rows.values())
    recorded = sum(row.figures[2] == 1 for row in rows.values())
    agree = sum(row.agrees for row in rows.values())
    lines = sum(int(str(row.figures[7])) for row in rows.values())
    same = sum(int(str(row.figures[8])) for row in rows.values())
    print(
        f"{len(rows)} programs: {built} compiled, {recorded} recorded, {agree} make every launch that was measured; rows: {same} of {lines}"
    )


def measured_programs(path: Path) -> dict[str, Measured]:
    """Return the programs of a table of measured launches by name."""
    shapes: dict[str, list[Shape]] = defaultdict(list)
    arguments: dict[str, str] = {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = _demangled(sorted({row["kernel"] for row in rows if row["kernel"].startswith("_Z")}))
    for row in rows:
        arguments[row["program"]] = row["arguments"]
        kernel = names.get(row["kernel"]) or short(row["kernel"])
        shapes[row["program"]].append(Shape(kernel, _extents(row["block"]), _extents(row["grid"])))
    return {name: Measured(arguments[name], tuple(shapes[name])) for name in arguments}


def _extents(text: str) -> tuple[int, ...]:
    return tuple(int(extent) for extent in text.split(","))


def short(name: str) -> str:
    """Return the name of a function without return type, namespaces, template arguments and parameters."""
    depth, plain = 0, ""
    for character in name.replace("(anonymous namespace)", "anonymous"):
        depth += (character == "<") - (character == ">")
        if depth == 0 and character != ">":
            plain += character
    return plain.split("(")[0].strip().split(" ")[-1].rpartition("::")[2]


def _row(name: str, measured: Measured, program: Built, seconds: float) -> Row:
    wanted = set(measured.shapes)
    if program.executable is None:
        return Row((name, 0, 0, "", "", 0, 0, len(wanted), 0, 0), agrees=False, why=f"not compiled: {program.why}")
    place = program.folder / "launches.toml"
    place.unlink(missing_ok=True)
    start = time.monotonic()
    said = record_program(program, measured.arguments, place, seconds)
    took = time.monotonic() - start
    try:
        recording = read_launches(str(place))
    except SassanError:
        return Row((name, 1, 0, "", f"{took:.1f}", 0, 0, len(wanted), 0, 0), agrees=False, why=_reason(said))
    names = _demangled(sorted({launch.kernel for launch in recording.launches}))
    shapes = {Shape(names[launch.kernel], launch.block, launch.grid) for launch in recording.launches}
    missing = sorted(wanted - shapes)
    status = "" if recording.status is None else recording.status
    figures = (
        name,
        1,
        int(bool(shapes)),
        status,
        f"{took:.1f}",
        recording.total,
        len(recording.launches),
        len(wanted),
        len(wanted & shapes),
    )
    why = f"{len(missing)} of {len(wanted)} missing, such as {missing[0]}; recorded {_like(missing[0], shapes)}" if missing else ""
    if recording.cut:
        why += f"; cut off {recording.cut}"
    elif recording.status:
        why += f"; ended with status {recording.status}: {_reason(said)}"
    return Row((*figures, int(not missing)), agrees=not missing, why=why)


def _like(wanted: Shape, shapes: set[Shape]) -> str:
    """Return the recorded launches of the same kernel."""
    same = sorted(shape for shape in shapes if shape.kernel == wanted.kernel)
    return "; ".join(f"block {shape.block} grid {shape.grid}" for shape in same[:3]) or "no launch of this kernel"


def record_program(program: Built, arguments: str, place: Path, seconds: float) -> str:
    """Run a program with its arguments for at most `seconds`, write its launches to `place`; return the end of its output."""
    command = [sys.executable, "-m", "sassan", "record", "-o", str(place), "--sm", "8.6", "--time-limit", str(seconds), "--"]
    tail = b""
    with subprocess.Popen(  # noqa: S603 - the programs of the data
        [*command, str(program.executable), *arguments.split()],
        cwd=program.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        # A program may print gigabytes: only what it says last is kept.
        while chunk := process.stdout.read1(1 << 16):
            tail = (tail + chunk)[-_SAID:]
    return tail.decode("utf-8", "replace")


def _reason(said: str) -> str:
    """Return the line with the error in the output of a program."""
    lines = [
        line.strip()
        for line in said.splitlines()
        if re.search("error|cannot|can't|fail|not found|unable|no such|usage", line, re.IGNORECASE)
    ]
    return (lines[0] if lines else " ".join(said.split())[-150:])[:200]


def _demangled(names: list[str]) -> dict[str, str]:
    if not names:
        return {}
    tool = shutil.which("cu++filt") or shutil.which("c++filt")
    if tool is None:
        return {name: _unmangled(name) for name in names}
    done = subprocess.run([tool, *names], capture_output=True, text=True, check=True)  # noqa: S603 - found on PATH
    texts = zip(names, done.stdout.splitlines(), strict=True)
    # A demangler leaves a name as it is where a newer compiler spelled it.
    return {name: _unmangled(name) if text == name else short(text) for name, text in texts}


def _unmangled(name: str) -> str:
    """Return the last identifier of a mangled name: sufficient without a demangler."""
    match = re.match(r"_ZN?([0-9]+)", name)
    return name[match.end() : match.end() + int(match[1])] if match is not None else name
