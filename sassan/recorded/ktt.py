"""Reader of the JSON results of the Kernel Tuning Toolkit (KTT).

    {"Metadata": {"TimeUnit", "GlobalSizeType", "Device", …},
     "Results": [{"KernelName", "Status", "TotalDuration", "ExtraDuration", "Configuration": [{"Name", "Value"} …],
                  "ComputationResults": [{"KernelFunction", "Duration", "GlobalSize": {"X", "Y", "Z"}, "LocalSize", …} …]} …]}

The total is the sum over the computations and the extra duration, and is checked. GlobalSize is the grid where GlobalSizeType is CUDA or
Vulkan; for OpenCL, where it counts threads, no grid is given. Source: KTT documentation, and the JSON that version 2 writes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sassan.recorded import documents
from sassan.recorded.faults import bad
from sassan.recorded.types import OK, Configuration, RecordedDevice, Size, TuningSpace
from sassan.recorded.units import MILLISECONDS

FORMAT = "ktt"
_BLOCKS = ("cuda", "vulkan")
_NEAR = 1e-6
_LARGEST = 1 << 31


@dataclass(frozen=True, slots=True)
class _Scale:
    """Common properties of the results of a file: milliseconds per unit of time, whether GlobalSize counts blocks; and notes."""

    path: str
    milliseconds: float
    in_blocks: bool
    notes: list[str]


def is_ktt(document: Mapping[str, object]) -> bool:
    """Return whether a document has results of KTT."""
    return "Metadata" in document and "Results" in document


def read_ktt(path: str, document: Mapping[str, object]) -> TuningSpace:
    """Return the tuning space of a file.

    Raises InputError `bad-recording` if it is damaged, or has results of several kernels.
    """
    metadata = documents.table(path, "Metadata", document["Metadata"])
    unit = documents.name(path, "Metadata.TimeUnit", metadata.get("TimeUnit")).lower()
    if unit not in MILLISECONDS:
        raise bad(path, "Metadata.TimeUnit", f"unknown unit '{unit}'", hint=f"known: {', '.join(MILLISECONDS)}")
    in_blocks = str(metadata.get("GlobalSizeType", "")).lower() in _BLOCKS
    scale = _Scale(path, MILLISECONDS[unit], in_blocks, [])
    kernels: dict[str, None] = {}
    names: tuple[str, ...] = ()
    configurations: list[Configuration] = []
    for index, value in enumerate(documents.items(path, "Results", document["Results"])):
        place = f"Results[{index}]"
        result = documents.table(path, place, value)
        kernels[documents.name(path, f"{place}.KernelName", result.get("KernelName"))] = None
        values = _values(path, f"{place}.Configuration", result.get("Configuration"))
        names = names or tuple(values)
        if set(values) != set(names):
            raise bad(path, f"{place}.Configuration", "the parameters differ from those of the first configuration")
        configurations.append(_configuration(scale, place, result, tuple(values[name] for name in names)))
    if len(kernels) != 1:
        raise bad(
            path, "Results", f"the results are of {len(kernels)} kernels; expected 1", hint="save the results of each kernel separately"
        )
    device = documents.name(path, "Metadata.Device", metadata.get("Device", ""))
    return TuningSpace(
        path,
        FORMAT,
        next(iter(kernels)),
        RecordedDevice(device) if device else None,
        names,
        tuple(configurations),
        notes=tuple(scale.notes),
    )


def _values(path: str, place: str, value: object) -> dict[str, object]:
    out: dict[str, object] = {}
    for entry in documents.items(path, place, value):
        pair = documents.table(path, place, entry)
        name = documents.name(path, f"{place}.Name", pair.get("Name"))
        if name in out:
            raise bad(path, place, f"duplicate parameter '{name}'")
        out[name] = pair.get("Value")
    return out


def _configuration(scale: _Scale, place: str, result: Mapping[str, object], values: tuple[object, ...]) -> Configuration:
    path, factor = scale.path, scale.milliseconds
    scalars = tuple(documents.scalar(path, f"{place}.Configuration", value) for value in values)
    status = documents.name(path, f"{place}.Status", result.get("Status"))
    if status.lower() != OK:
        return Configuration(scalars, status=status, place=place)
    total = documents.duration(path, f"{place}.TotalDuration", result.get("TotalDuration"), factor)
    launches = [
        documents.table(path, f"{place}.ComputationResults[{index}]", value)
        for index, value in enumerate(documents.items(path, f"{place}.ComputationResults", result.get("ComputationResults", [])))
    ]
    parts = [documents.duration(path, f"{place}.ComputationResults.Duration", launch.get("Duration"), factor) for launch in launches]
    extra = documents.number(path, f"{place}.ExtraDuration", result.get("ExtraDuration", 0)) * factor
    if parts and abs(sum(parts) + extra - total) > _NEAR * total:
        scale.notes.append(f"{place}: the total of {total:g} ms is not the sum of its computations, {sum(parts) + extra:g} ms")
    single = launches[0] if len(launches) == 1 else {}
    block = _size(path, f"{place}.ComputationResults[0].LocalSize", single.get("LocalSize"))
    grid = _size(path, f"{place}.ComputationResults[0].GlobalSize", single.get("GlobalSize")) if scale.in_blocks else None
    return Configuration(scalars, (total,), total, OK, grid, block, place)


def _size(path: str, place: str, value: object) -> Size | None:
    if value is None:
        return None
    axes = documents.table(path, place, value)
    x, y, z = (documents.number(path, f"{place}.{axis}", axes.get(axis)) for axis in "XYZ")
    if not all(extent.is_integer() and 0 < extent <= _LARGEST for extent in (x, y, z)):
        raise bad(path, place, f"{x:g} x {y:g} x {z:g} is not a size of a launch")
    return int(x), int(y), int(z)
