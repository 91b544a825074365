"""Reader of reports of Nsight Compute: one launch per profiled kernel, with its metrics, its counts per instruction and its cubin.

result    {1: process, 2: number of the launch, 5: mangled name, 6: short name, 7: demangled name, 10: grid {1: x, 2: y, 3: z},
           11: block, likewise, 13: metric …, 14: seconds since 1970, 15: {1: id of the source}}
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sassan.recorded.faults import bad, has_control_characters
from sassan.recorded.ncu.checks import check_launch
from sassan.recorded.ncu.container import MAGIC, NcuReport, parse
from sassan.recorded.ncu.metrics import Metrics, read_metrics
from sassan.recorded.ncu.protobuf import Message
from sassan.recorded.ncu.sources import RecordedCubin, described_by, read_cubin, read_devices
from sassan.recorded.types import RecordedDevice, RecordedLaunch, Recording, Size

__all__ = ["FORMAT", "MAGIC", "read_report"]

FORMAT = "ncu-rep"
_FIELDS = (*range(1, 12), *range(13, 20), 21, 22, 23, 25, 28, 31, 35, 36)
_ONCE = (*range(1, 12), 14, 15)
"""Fields of results of ncu 2022.3 to 2026.1, and those of them that are not repeated."""
_PROCESS, _NUMBER, _MANGLED, _SHORT, _FULL, _GRID, _BLOCK, _METRICS, _SOURCE = 1, 2, 5, 6, 7, 10, 11, 13, 15
_LARGEST = 1 << 31
CYCLES = ("sm__cycles_elapsed.max", "gpc__cycles_elapsed.max")
"""Metrics of the elapsed cycles of a launch, in order of preference; the second also counts the clock of the SMs."""
TIMES = ("gpu__time_duration.sum", "gpu__time_duration.max", "gpu__time_duration.avg")
INSTRUCTIONS = ("smsp__inst_executed.sum", "sm__inst_executed.sum", "inst_executed")


@dataclass(frozen=True, slots=True)
class _Counts:
    """Executions by offset within the kernel, by warps and by threads."""

    warps: Mapping[int, int]
    threads: Mapping[int, int]


def read_report(path: str, data: bytes) -> Recording:
    """Read a report of Nsight Compute.

    Raises InputError `bad-recording` if the report is damaged.
    """
    report = parse(path, data)
    cubins = _cubins(report)
    devices = read_devices(report)
    _check_numbers(report)
    kernels = [result for result in report.results if _names_kernel(report, result)]
    if not kernels:
        raise bad(
            path, "", "the report has no result of a single kernel", hint="results of ranges and graphs are not supported: profile kernels"
        )
    launches = tuple(_launch(report, result, cubins, devices) for result in kernels)
    return Recording(path, FORMAT, launches, tuple(cubin.code for cubin in cubins.values()), tuple(report.notes))


def _names_kernel(report: NcuReport, result: Message) -> bool:
    """Return whether a result is of a kernel; results of ranges and graphs get a note."""
    if result.text(_SHORT) or result.text(_MANGLED):
        return True
    report.notes.append(f"{result.place}: a result without a kernel (a range or a graph) is omitted")
    return False


def _cubins(report: NcuReport) -> dict[int, RecordedCubin]:
    """Return the cubins by their id, in the order of the report."""
    out: dict[int, RecordedCubin] = {}
    for source in report.sources:
        cubin = read_cubin(report.path, source)
        if cubin is None:
            report.notes.append(f"{source.place}: a source has no cubin")
            continue
        report.notes.extend(cubin.notes)
        if cubin.id in out and out[cubin.id].code != cubin.code:
            raise bad(report.path, source.place, f"two different cubins have the id {cubin.id}")
        out.setdefault(cubin.id, cubin)
    return out


def _check_numbers(report: NcuReport) -> None:
    """Note duplicate or unordered launches: ncu numbers launches in ascending order within a process."""
    seen: dict[int, int] = {}
    for result in report.results:
        process, number = result.whole(_PROCESS) or 0, result.whole(_NUMBER)
        if number is None:
            continue
        before = seen.get(process)
        if before is not None and number <= before:
            report.notes.append(
                f"{result.place}: launch {number} follows launch {before}: the report is combined from several ones, or damaged"
            )
        seen[process] = max(number, before or 0)


def _launch(
    report: NcuReport, result: Message, cubins: Mapping[int, RecordedCubin], devices: Mapping[int, RecordedDevice]
) -> RecordedLaunch:
    kernel, mangled = _names(report, result)
    metrics = read_metrics(report.path, result, _METRICS, report.strings)
    report.notes.extend(metrics.notes)
    if unknown := result.unknown(_FIELDS):
        report.notes.append(f"{result.place}: a result has the unknown fields {unknown}: a newer version, or damage")
    if repeated := [number for number in _ONCE if len(result.many(number)) > 1]:
        raise bad(report.path, result.place, f"a result is damaged: field {repeated[0]} is repeated")
    where = f"{result.place}, {kernel}"
    cubin = _cubin(report, result, cubins, where)
    counts = _counts(report, metrics, cubin, mangled, where)
    launch = RecordedLaunch(
        kernel=kernel,
        mangled=mangled,
        grid=_size(report, result, _GRID, "grid"),
        block=_size(report, result, _BLOCK, "block"),
        shared=metrics.whole("launch__shared_mem_per_block_dynamic"),
        cycles=_positive(report, metrics, CYCLES, where),
        time_ns=_positive(report, metrics, TIMES, where),
        instructions=next((value for name in INSTRUCTIONS if (value := metrics.whole(name)) is not None), None),
        counts=counts.warps,
        thread_counts=counts.threads,
        metrics=metrics.values,
        image=list(cubins).index(cubin.id) if cubin else None,
        place=result.place,
        device=_device(report, metrics, devices, where),
    )
    report.notes.extend(f"{where}: {note}" for note in check_launch(launch, metrics, cubin))
    return launch


def _names(report: NcuReport, result: Message) -> tuple[str, str]:
    """Return the name of a kernel as in its source, and its mangled name."""
    mangled, short, full = (result.text(number) or "" for number in (_MANGLED, _SHORT, _FULL))
    if any(has_control_characters(name) for name in (mangled, short, full)):
        raise bad(report.path, result.place, "the name of a kernel contains control characters")
    kernel = short or mangled
    if short.isidentifier() and not all(short in (name or short) for name in (full, mangled)):
        report.notes.append(f"{result.place}: a kernel has contradictory names '{short}', '{full}' and '{mangled}'")
    return kernel, mangled


def _cubin(report: NcuReport, result: Message, cubins: Mapping[int, RecordedCubin], where: str) -> RecordedCubin | None:
    reference = result.message(_SOURCE, "the reference to a source")
    if reference is None:
        report.notes.append(f"{where}: the result has no source, so its machine code is unknown")
        return None
    identity = reference.needed(1)
    if identity not in cubins:
        report.notes.append(f"{where}: the machine code of source {identity} is not in the report")
        return None
    return cubins[identity]


def _size(report: NcuReport, result: Message, number: int, name: str) -> Size | None:
    message = result.message(number, f"the {name} of a launch")
    if message is None:
        report.notes.append(f"{result.place}: a launch has no {name}")
        return None
    size = (message.needed(1), message.needed(2), message.needed(3))
    if not all(0 < extent <= _LARGEST for extent in size) or message.unknown((1, 2, 3)):
        raise bad(report.path, message.place, f"{size[0]} x {size[1]} x {size[2]} is not a {name} of a launch")
    return size


def _positive(report: NcuReport, metrics: Metrics, names: tuple[str, ...], where: str) -> float | None:
    name = next((name for name in names if metrics.number(name) is not None), "")
    value = metrics.number(name)
    if value is not None and value <= 0:
        report.notes.append(f"{where}: {name} is {value:g}, which is impossible; it is not used")
        return None
    return value


def _device(report: NcuReport, metrics: Metrics, devices: Mapping[int, RecordedDevice], where: str) -> RecordedDevice | None:
    """Return the device of a launch: by its number in the session, else from the metrics of the launch itself."""
    itself = described_by({name: metric.value for name, metric in metrics.values.items()})
    index = metrics.whole("launch__device_id")
    session = devices.get(index) if index is not None else next(iter(devices.values())) if len(devices) == 1 else None
    if session and itself.name and itself != session:
        report.notes.append(f"{where}: the launch and the session describe the device {index} differently; the launch is used")
        return itself
    return session or (itself if itself != RecordedDevice() else None)


def _counts(report: NcuReport, metrics: Metrics, cubin: RecordedCubin | None, mangled: str, where: str) -> _Counts:
    """Return executions per instruction of the kernel; counts outside the kernel, such as of called functions, are omitted."""
    warps, threads = (metrics.addresses(name) for name in ("inst_executed", "thread_inst_executed"))
    if not warps and not threads:
        return _Counts({}, {})
    base = _base(report, metrics, cubin, mangled, where)
    if base is None:
        report.notes.append(f"{where}: the address of the kernel is unknown, so its counts per instruction are omitted")
        return _Counts({}, {})
    size = cubin.sizes.get(mangled) if cubin else None
    last = base + size if size else (max(*warps, *threads) + 1)
    inside = [{address - base: count for address, count in sorted(counts.items()) if base <= address < last} for counts in (warps, threads)]
    outside = len(warps) - len(inside[0])
    if outside:
        report.notes.append(
            f"{where}: {outside} counted instructions are outside the kernel (in functions that it calls); they are omitted"
        )
    return _Counts(*inside)


def _base(report: NcuReport, metrics: Metrics, cubin: RecordedCubin | None, mangled: str, where: str) -> int | None:
    """Return the address of the first instruction: the symbol of the source, which must be among the functions of the launch."""
    launched = {value for value in metrics.instances("launch__function_pcs").values() if isinstance(value, int)}
    symbol = cubin.addresses.get(mangled) if cubin else None
    if symbol is None:
        return launched.pop() if len(launched) == 1 else None
    if launched and symbol not in launched:
        report.notes.append(
            f"{where}: the kernel is at {symbol:#x} in its cubin, but at {min(launched):#x} in its launch; counts are omitted"
        )
        return None
    return symbol
