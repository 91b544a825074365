"""Reader of the CSV of Nsight Compute: `--page raw`, a row per launch with a column per metric, and `--page details`, a row per metric.

Lines before the head, and lines that begin with `==`, are the profiler's and the program's own output. Numbers are in the language of the
machine (`quoting`). Metrics of the details page have titles instead of names; those that are used here are in `_TITLES`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO

from sassan.recorded.faults import bad, bad_line, has_control_characters, shown
from sassan.recorded.ncu.checks import check_launch
from sassan.recorded.ncu.launches import CYCLES, INSTRUCTIONS, TIMES
from sassan.recorded.ncu.metrics import Metrics
from sassan.recorded.ncu.quoting import ambiguous, convention, value_of
from sassan.recorded.rows import CsvRow, rows, size
from sassan.recorded.types import Metric, RecordedDevice, RecordedLaunch, Recording
from sassan.recorded.units import base, unit_of

FORMAT_RAW, FORMAT_DETAILS = "ncu-csv-raw", "ncu-csv-details"
_FIXED = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream", "Block Size", "Grid Size",
    "Device", "CC",
    "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type",
    "Estimated Speedup",
)  # fmt: skip
_TITLES = {
    "Duration": "gpu__time_duration.sum",
    "Elapsed Cycles": "sm__cycles_elapsed.max",
    "Executed Instructions": "smsp__inst_executed.sum",
    "Dynamic Shared Memory Per Block": "launch__shared_mem_per_block_dynamic",
    "Static Shared Memory Per Block": "launch__shared_mem_per_block_static",
    "Registers Per Thread": "launch__registers_per_thread",
    "Threads": "launch__thread_count",
    "Grid Size": "launch__grid_size",
    "Block Size": "launch__block_size",
}
_EMPTY = ("", "n/a", "N/A", "nan")
_WHOLE = ("cycle", "inst", "thread", "block", "byte", "byte/block", "register/thread")
"""Units of counting metrics, whose values are integers unless they are means."""
_SUMMARY = "Invocations"
_ROWS = 1 << 24


@dataclass(frozen=True, slots=True)
class _CsvContext:
    """Common properties of the launches of a file: its name, the decimal mark of its numbers; and notes."""

    path: str
    mark: str
    notes: list[str]


def is_ncu(head: str) -> bool:
    """Return whether a line is the head of such a CSV."""
    cells = {cell.strip().strip('"\ufeff') for cell in head.split(",")} if "Kernel Name" in head else set[str]()
    return "Kernel Name" in cells and ("ID" in cells or "Metric Name" in cells)


def read_ncu(path: str, text: str) -> Recording:
    """Read a CSV of Nsight Compute.

    Raises InputError `bad-recording` with the line.
    """
    lines = list(StringIO(text, newline=""))
    first = next(index for index, line in enumerate(lines) if is_ncu(line))
    notes = [
        f"line {number}: {shown(line.strip())}" for number, line in enumerate(lines, 1) if line.startswith(("==ERROR==", "==WARNING=="))
    ]
    if not text.endswith("\n"):
        notes.append("the last line has no line end: the file may be truncated")
    # Lines of the profiler are emptied, not removed, to keep line numbers.
    parsed = rows(path, ("\n" if line.startswith("==") else line for line in lines[first:]), first + 1)
    head = next(parsed).cells
    if "Kernel Name" not in head:
        raise bad(path, f"line {first + 1}", "the head of the table is damaged: the column 'Kernel Name' is missing")
    if _SUMMARY in head:
        raise bad(path, f"line {first + 1}", "the rows summarize several launches", hint="print each launch: ncu --csv --page raw")
    if len(set(head)) != len(head):
        raise bad(path, f"line {first + 1}", "duplicate column in the head")
    body = list(_checked(path, head, parsed))
    details = "Metric Name" in head
    launches = _details(path, head, body, notes) if details else _raw(path, head, body, notes)
    if not launches:
        raise bad(path, "", "the CSV has no launches")
    return Recording(path, FORMAT_DETAILS if details else FORMAT_RAW, tuple(launches), notes=tuple(notes))


def _checked(path: str, head: Sequence[str], parsed: Iterator[CsvRow]) -> Iterator[CsvRow]:
    for count, row in enumerate(parsed):
        if len(row.cells) != len(head):
            raise bad_line(path, row.line, f"{len(row.cells)} cells; the head has {len(head)}")
        if count > _ROWS:
            raise bad(path, f"line {row.line}", f"there are more than {_ROWS} rows")
        yield row


def _raw(path: str, head: Sequence[str], body: Sequence[CsvRow], notes: list[str]) -> list[RecordedLaunch]:
    """Return the launches of a table with a column per metric, whose first row has the units."""
    fixed = [index for index, name in enumerate(head) if name in _FIXED]
    identity = head.index("Kernel Name")
    units: dict[str, str] = {}
    if body and not body[0].cells[identity]:
        units = {name: cell for index, (name, cell) in enumerate(zip(head, body[0].cells, strict=True)) if index not in fixed}
        body = body[1:]
    else:
        notes.append("the table has no row of units: base units are assumed")
    metrics = [(index, name) for index, name in enumerate(head) if index not in fixed]
    mark = _convention(path, ((row.cells[index], name, units.get(name, unit_of(name))) for row in body for index, name in metrics))
    seen: set[tuple[str, ...]] = set()
    out: list[RecordedLaunch] = []
    for row in body:
        keys: Mapping[str, str] = {name: row.cells[index] for index, name in enumerate(head) if index in fixed}
        _once(row, (keys.get("Process ID", ""), keys.get("ID", str(row.line))), seen, notes)
        cells = [(name, row.cells[index], units.get(name, unit_of(name))) for index, name in metrics]
        out.append(_launch(_CsvContext(path, mark, notes), row, keys, cells))
    return out


def _details(path: str, head: Sequence[str], body: Sequence[CsvRow], notes: list[str]) -> list[RecordedLaunch]:
    """Return the launches of a table with a row per metric; the rows of a launch share its process and its number."""
    if missing := next((name for name in ("Kernel Name", "Metric Unit", "Metric Value") if name not in head), None):
        raise bad(path, "", f"the column '{missing}' is missing in the head")
    groups: dict[tuple[str, str, str], list[tuple[CsvRow, Mapping[str, str]]]] = {}
    for row in body:
        keys = dict(zip(head, row.cells, strict=True))
        groups.setdefault((keys.get("Process ID", ""), keys.get("ID", ""), keys["Kernel Name"]), []).append((row, keys))
    numbers = [key[:2] for key in groups]
    if len(set(numbers)) != len(numbers):
        notes.append("two kernels have the same launch number: the file is damaged, or combines several files")
    cells = {
        key: [
            (_TITLES.get(keys["Metric Name"], keys["Metric Name"]), keys["Metric Value"], keys["Metric Unit"])
            for _, keys in group
            if keys["Metric Name"]
        ]
        for key, group in groups.items()
    }
    mark = _convention(path, (cell[1:2] + cell[:1] + cell[2:] for group in cells.values() for cell in group))
    out: list[RecordedLaunch] = []
    for key, group in groups.items():
        row, common = group[0]
        if any(other.get(name) != common.get(name) for _, other in group for name in ("Block Size", "Grid Size", "Device", "CC")):
            notes.append(f"line {row.line}: the rows of launch {shown(key[1])} have different sizes or devices; the first ones are used")
        out.append(_launch(_CsvContext(path, mark, notes), row, common, cells[key]))
    return out


def _convention(path: str, cells: Iterator[tuple[str, ...]]) -> str:
    """Return the decimal mark of a file, '' if it is undecided."""
    decided = convention((cell, unit in _WHOLE and not name.endswith((".avg", "_avg"))) for cell, name, unit in cells)
    if decided.mixed:
        problem = "its numbers use both a point and a comma as decimal mark"
        raise bad(path, "", problem, hint="print numbers in one locale: LC_ALL=C ncu --csv …")
    return decided.mark


def _launch(text: _CsvContext, row: CsvRow, keys: Mapping[str, str], cells: Sequence[tuple[str, str, str]]) -> RecordedLaunch:
    path = text.path
    kernel = keys["Kernel Name"].strip()
    if not kernel or has_control_characters(kernel):
        raise bad_line(path, row.line, "a launch has no kernel name, or one with control characters")
    where = f"line {row.line}, {shown(kernel)}"
    values = _metrics(text, row, where, cells)
    metrics = Metrics(values, {}, (), path)
    launch = RecordedLaunch(
        kernel=kernel,
        mangled=kernel if kernel.startswith("_Z") else "",
        grid=size(path, row, keys.get("Grid Size", ""), "grid"),
        block=size(path, row, keys.get("Block Size", ""), "block"),
        shared=_exact(metrics, "launch__shared_mem_per_block_dynamic", "byte/block"),
        cycles=_positive(path, row, metrics, CYCLES),
        time_ns=_positive(path, row, metrics, TIMES),
        instructions=next(
            (int(value) for name in INSTRUCTIONS if (value := metrics.number(name)) is not None and value.is_integer()), None
        ),
        metrics=values,
        place=f"line {row.line}",
        device=_device(path, row, keys, metrics),
    )
    if launch.grid is None or launch.block is None:
        launch = replace(launch, grid=launch.grid or _dims(metrics, "grid"), block=launch.block or _dims(metrics, "block"))
    text.notes.extend(f"{where}: {note}" for note in check_launch(launch, metrics, None))
    return launch


def _metrics(text: _CsvContext, row: CsvRow, where: str, cells: Sequence[tuple[str, str, str]]) -> dict[str, Metric]:
    """Return the metrics of a launch in base units; ambiguous numbers are omitted, with a note."""
    out: dict[str, Metric] = {}
    unclear: list[str] = []
    for name, cell, unit in cells:
        if cell.strip() in _EMPTY:
            continue
        value = value_of(cell, text.mark)
        if value is None and not text.mark and ambiguous(cell):
            unclear.append(f"{name} '{cell}'")
            continue
        if value is None and has_control_characters(cell):
            raise bad_line(text.path, row.line, f"the metric {shown(name)} contains control characters")
        metric = Metric(cell, unit) if value is None else base(value, unit)
        if out.setdefault(name, metric) != metric:
            text.notes.append(
                f"{where}: {shown(name)} is given twice, as {shown(str(out[name].value))} and as {shown(cell)}; the first is used"
            )
    if unclear:
        problem = (
            f"{len(unclear)} numbers, such as {shown(unclear[0])}, have a comma or a point that may be a decimal mark; they are omitted"
        )
        text.notes.append(f"{where}: {problem}")
    return out


def _positive(path: str, row: CsvRow, metrics: Metrics, names: Sequence[str]) -> float | None:
    name = next((name for name in names if metrics.number(name) is not None), "")
    value = metrics.number(name)
    if value is None:
        return None
    unit = metrics.values[name].unit
    if value <= 0 or unit not in ("ns", "cycle"):
        raise bad_line(path, row.line, f"{name} is {value:g} {unit or '(no unit)'}; expected a time or cycles above 0")
    return value


def _exact(metrics: Metrics, name: str, unit: str) -> int | None:
    """Return an integer that is printed in its base unit; printed kilobytes are rounded, hence not exact."""
    value = metrics.whole(name)
    return value if value is not None and metrics.values[name].unit == unit and value >= 0 else None


def _dims(metrics: Metrics, name: str) -> tuple[int, int, int] | None:
    x, y, z = (metrics.whole(f"launch__{name}_dim_{axis}") for axis in "xyz")
    return (x, y, z) if x and y and z and min(x, y, z) > 0 else None


def _device(path: str, row: CsvRow, keys: Mapping[str, str], metrics: Metrics) -> RecordedDevice | None:
    capability = keys.get("CC", "").strip()
    major, dot, minor = capability.partition(".")
    if capability and not (dot and major.isdecimal() and minor.isdecimal() and len(capability) < 6):  # noqa: PLR2004 - two numbers and a point
        raise bad_line(path, row.line, f"'{shown(capability)}' is not a compute capability")
    named = metrics.values.get("device__attribute_display_name", Metric("", "")).value
    sms, khz = (metrics.number(f"device__attribute_{name}") for name in ("multiprocessor_count", "clock_rate"))
    device = RecordedDevice(
        named if isinstance(named, str) else "",
        (int(major), int(minor)) if capability else None,
        int(sms) if sms and sms > 0 else None,
        khz * 1000 if khz and khz > 0 else None,
    )
    return device if device != RecordedDevice() else None


def _once(row: CsvRow, key: tuple[str, str], seen: set[tuple[str, ...]], notes: list[str]) -> None:
    if key in seen:
        notes.append(f"line {row.line}: duplicate launch {shown(key[1])}")
    seen.add(key)
