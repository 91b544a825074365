"""Reader of the JSON results of the Kernel Tuning Toolkit (KTT).

    {"Metadata": {"TimeUnit", "GlobalSizeType", "Device", …},
     "Results": [{"KernelName", "Status", "TotalDuration", "ExtraDuration", "Configuration": [{"Name", "Value"} …],
                  "ComputationResults": [{"KernelFunction", "Duration", "GlobalSize": {"X", "Y", "Z"}, "LocalSize", …} …]} …]}

The total is the sum over the computations and the extra duration, and is checked. GlobalSize is the grid where GlobalSizeType is CUDA or
Vulkan; for OpenCL, where it counts threads, no grid is given. Source: KTT documentation, and the JSON that version 2 writes.
"""

from dataclasses import dataclass

from sassan.recorded.documents import Document
from sassan.recorded.types import OK, RecordedDevice, Size, TuningConfiguration, TuningSpace, Value
from sassan.recorded.units import MILLISECONDS

FORMAT = "ktt"
_BLOCKS = ("cuda", "vulkan")
_NEAR = 1e-6
_LARGEST = 1 << 31
_LONGEST = 1e18


@dataclass(frozen=True, slots=True)
class _Scale:
    """Common properties of the results of a file: milliseconds per unit of time, whether GlobalSize counts blocks; and notes."""

    milliseconds: float
    in_blocks: bool
    notes: list[str]


def is_ktt(document: Document) -> bool:
    """Return whether a document has results of KTT."""
    return "Metadata" in document and "Results" in document


def read_ktt(document: Document) -> TuningSpace:
    """Return the tuning space of a file.

    Raises InputError `bad-recording` if it is damaged, or has results of several kernels.
    """
    metadata = document.table("Metadata")
    unit = metadata.label("TimeUnit").lower()
    if unit not in MILLISECONDS:
        raise metadata.fail("TimeUnit", f"unknown unit '{unit}' (known: {', '.join(MILLISECONDS)})")
    scale = _Scale(MILLISECONDS[unit], metadata.text("GlobalSizeType", "").lower() in _BLOCKS, [])
    kernels: dict[str, None] = {}
    names: tuple[str, ...] = ()
    configurations: list[TuningConfiguration] = []
    for result in document.tables("Results"):
        kernels[result.label("KernelName")] = None
        values = _values(result)
        names = names or tuple(values)
        if set(values) != set(names):
            raise result.fail("Configuration", "the parameters differ from those of the first configuration")
        configurations.append(_configuration(scale, result, tuple(values[name] for name in names)))
    if len(kernels) != 1:
        raise document.fail("Results", f"the results are of {len(kernels)} kernels; save those of each kernel separately")
    device = metadata.label("Device", "")
    return TuningSpace(
        document.name,
        FORMAT,
        next(iter(kernels)),
        RecordedDevice(device) if device else None,
        names,
        tuple(configurations),
        notes=tuple(scale.notes),
    )


def _values(result: Document) -> dict[str, Value]:
    pairs = [(pair.label("Name"), pair.scalar("Value")) for pair in result.tables("Configuration", required=True)]
    if len(dict(pairs)) < len(pairs):
        raise result.fail("Configuration", "has a parameter twice")
    return dict(pairs)


def _configuration(scale: _Scale, result: Document, values: tuple[Value, ...]) -> TuningConfiguration:
    factor = scale.milliseconds
    status = result.label("Status")
    if status.lower() != OK:
        return TuningConfiguration(values, status=status, place=result.place)
    total = result.duration("TotalDuration", factor)
    launches = result.tables("ComputationResults")
    parts = [launch.duration("Duration", factor) for launch in launches]
    extra = result.number("ExtraDuration", 0, least=-_LONGEST, most=_LONGEST) * factor
    if parts and abs(sum(parts) + extra - total) > _NEAR * total:
        scale.notes.append(f"{result.place}: the total of {total:g} ms is not the sum of its computations, {sum(parts) + extra:g} ms")
    block = _size(launches[0], "LocalSize") if len(launches) == 1 else None
    grid = _size(launches[0], "GlobalSize") if len(launches) == 1 and scale.in_blocks else None
    return TuningConfiguration(values, (total,), total, OK, grid, block, result.place)


def _size(launch: Document, key: str) -> Size | None:
    if key not in launch:
        return None
    axes = launch.table(key)
    return axes.whole("X", most=_LARGEST), axes.whole("Y", most=_LARGEST), axes.whole("Z", most=_LARGEST)
