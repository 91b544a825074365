"""Reader of a table of times in sassan's own format: CSV with a head, a row per launch or per several equal launches.

| column | other names | meaning |
|---|---|---|
| kernel | kernel_name | the name as in the source or the profiler |
| mangled | mangled_name | the mangled name |
| block, grid | block_dim, block_size; grid_dim, grid_size | X,Y,Z, or X, or XxYxZ |
| time_ns, time_us, time_ms, time_s | each also with _median; duration_ns … | the time of a launch |
| time_ns_min, time_ns_max … | | the shortest and the longest of several launches, in the same unit |
| cycles | | elapsed SM cycles |
| instructions | | executed warp instructions |
| shared | shared_bytes, dynamic_shared | dynamic shared memory per block in bytes |
| launches | launches_recorded, count | the number of launches of the row |
| device, program, arguments, parameters | args | texts; parameters are NAME=VALUE with semicolons between |

The kernel and a time or cycles are required; other columns are ignored, with a note.
"""

import re
from collections.abc import Mapping
from io import StringIO

from sassan.recorded.faults import bad, bad_line, has_control_characters, shown
from sassan.recorded.rows import CsvRow, number, rows, size, whole
from sassan.recorded.types import RecordedDevice, RecordedLaunch, Recording

FORMAT = "csv"
_ALIASES = {
    "kernel_name": "kernel",
    "mangled_name": "mangled",
    "block_dim": "block",
    "block_size": "block",
    "grid_dim": "grid",
    "grid_size": "grid",
    "shared_bytes": "shared",
    "dynamic_shared": "shared",
    "launches_recorded": "launches",
    "count": "launches",
    "args": "arguments",
}
_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_TIME = re.compile(r"(?:time|duration)_(ns|us|ms|s)(?:_(median|min|max))?")
_TEXTS = ("kernel", "mangled", "device", "program", "arguments", "parameters")
_NUMBERS = ("block", "grid", "cycles", "instructions", "shared", "launches")
_MOST = 1 << 24
"""Maximum number of rows."""


def is_table(head: str) -> bool:
    """Return whether a first line is the head of such a table."""
    names = [_name(cell) for cell in head.strip().split(",")]
    return "kernel" in names and any(name == "cycles" or name.startswith("time ") for name in names)


def read_table(path: str, text: str) -> Recording:
    """Read a table.

    Raises InputError `bad-recording` with the line.
    """
    parsed = rows(path, StringIO(text, newline=""))
    head = next(parsed)
    names = [_name(cell) for cell in head.cells]
    known = [name for name in names if name]
    if repeated := next((name for name in known if known.count(name) > 1), None):
        raise bad(path, "line 1", f"duplicate column '{repeated}'")
    if not is_table(",".join(head.cells)):
        raise bad(path, "line 1", "expected the columns kernel and a time or cycles", hint="sassan/recorded/README.md lists the columns")
    notes = [f"line 1: the column '{shown(cell)}' is not used" for cell, name in zip(head.cells, names, strict=True) if not name]
    if not text.endswith("\n"):
        notes.append("the last line has no line end: the file may be truncated")
    launches: list[RecordedLaunch] = []
    seen: set[tuple[str, ...]] = set()
    for row in parsed:
        if len(row.cells) != len(names):
            raise bad_line(path, row.line, f"{len(row.cells)} cells; the head has {len(names)}")
        if row.cells in seen:
            notes.append(f"line {row.line}: duplicate row")
        seen.add(row.cells)
        launches.append(_launch(path, row, {name: cell for name, cell in zip(names, row.cells, strict=True) if name}))
        if len(launches) > _MOST:
            raise bad(path, f"line {row.line}", f"there are more than {_MOST} rows")
    if not launches:
        raise bad(path, "", "the table has no rows")
    return Recording(path, FORMAT, tuple(launches), notes=tuple(notes))


def _name(cell: str) -> str:
    """Return the meaning of a column: a key of the table above, `time UNIT PART` for a time, '' if it is ignored."""
    plain = cell.strip().strip('"').lower().lstrip("\ufeff")
    if match := _TIME.fullmatch(plain):
        return f"time {match[1]} {match[2] or 'median'}"
    plain = _ALIASES.get(plain, plain)
    return plain if plain in _TEXTS or plain in _NUMBERS else ""


def _launch(path: str, row: CsvRow, cells: Mapping[str, str]) -> RecordedLaunch:
    texts = {name: cells.get(name, "").strip() for name in _TEXTS}
    for name, value in texts.items():
        if has_control_characters(value):
            raise bad_line(path, row.line, f"the column {name} contains control characters")
    if not texts["kernel"]:
        raise bad_line(path, row.line, "the row has no kernel")
    times = _times(path, row, cells)
    cycles = number(path, row, cells.get("cycles", ""), "cycles")
    if cycles == 0 or (cycles is None and "median" not in times):
        raise bad_line(path, row.line, "the row has neither a time nor cycles above 0")
    count = whole(path, row, cells.get("launches", ""), "launches")
    if count == 0:
        raise bad_line(path, row.line, "the row has 0 launches")
    return RecordedLaunch(
        kernel=texts["kernel"],
        mangled=texts["mangled"],
        grid=size(path, row, cells.get("grid", ""), "grid"),
        block=size(path, row, cells.get("block", ""), "block"),
        shared=whole(path, row, cells.get("shared", ""), "shared"),
        cycles=cycles,
        time_ns=times.get("median"),
        time_range_ns=(times["min"], times["max"]) if "min" in times and "max" in times else None,
        instructions=whole(path, row, cells.get("instructions", ""), "instructions"),
        count=count or 1,
        place=f"line {row.line}",
        device=RecordedDevice(texts["device"]) if texts["device"] else None,
        program=texts["program"],
        arguments=texts["arguments"],
        parameters=_parameters(path, row, texts["parameters"]),
    )


def _times(path: str, row: CsvRow, cells: Mapping[str, str]) -> dict[str, float]:
    """Return the shortest, median and longest time in ns, if the row has them; columns in different units must agree."""
    out: dict[str, float] = {}
    for name, cell in cells.items():
        if not name.startswith("time "):
            continue
        _, unit, part = name.split()
        value = number(path, row, cell, name)
        if value is None:
            continue
        if value * _NS[unit] <= 0 or abs(out.setdefault(part, value * _NS[unit]) - value * _NS[unit]) > 1e-3 * out[part]:
            raise bad_line(path, row.line, f"'{shown(cell)}' {unit} is not a time, or contradicts the time in another unit")
    ordered = [out[part] for part in ("min", "median", "max") if part in out]
    if ordered != sorted(ordered):
        raise bad_line(path, row.line, "the shortest, median and longest time are out of order")
    return out


def _parameters(path: str, row: CsvRow, text: str) -> dict[str, str]:
    out: dict[str, str] = {}
    for assignment in filter(None, (part.strip() for part in text.split(";"))):
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip() or name.strip() in out:
            raise bad_line(path, row.line, f"'{shown(assignment)}' is not a parameter: expected NAME=VALUE, without duplicates")
        out[name.strip()] = value.strip()
    return out
