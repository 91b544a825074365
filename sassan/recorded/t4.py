"""Reader of results in the T4 format, which several tuners write.

    {"schema_version", "metadata": {"timeunit", "device", …},
     "results": [{"configuration": {name: value …}, "times": {"runtimes": [time …], …}, "invalidity", "correctness",
                  "measurements": [{"name", "value", "unit"} …]} …]}

Source: "T4 results schema", github.com/odgaard/TuningSchema.
"""

from collections.abc import Sequence

from sassan.recorded.documents import Document, repeated
from sassan.recorded.types import OK, RecordedDevice, TuningConfiguration, TuningSpace
from sassan.recorded.units import MILLISECONDS

FORMAT = "t4"
_VALID = ("correct", "valid", "ok", "none", "")
"""Values of `invalidity` for a configuration that ran; the schema specifies only failures."""
_NO_UNIT = "the file has no unit of time: milliseconds are assumed, as written by Kernel Tuner"
_LARGEST = 1e18


def is_t4(document: Document) -> bool:
    """Return whether a document has results in this format."""
    results = document.values.get("results")
    return isinstance(results, list) and all(isinstance(result, dict) and "configuration" in result for result in results[:1])


def read_t4(document: Document) -> TuningSpace:
    """Return the tuning space of a file.

    Raises InputError `bad-recording` if it is damaged.
    """
    results = document.tables("results")
    metadata = document.table("metadata")
    unit = _unit(document, metadata, results)
    factor = MILLISECONDS[unit] if unit else 1.0
    names: tuple[str, ...] = ()
    configurations: list[TuningConfiguration] = []
    for result in results:
        values = result.table("configuration", required=True)
        names = names or tuple(values.plain(name, name) for name in values.values)
        if set(values.values) != set(names):
            raise result.fail("configuration", "the parameters differ from those of the first configuration")
        configurations.append(_configuration(result, values, names, factor))
    if not names:
        raise document.fail("results", "no configurations")
    device, kernel = (metadata.label(key, "") for key in ("device", "kernel_name"))
    unclear = sum("invalidity" not in result or "correctness" not in result for result in results)
    unclear_note = (f"validity or correctness of {unclear} results is unknown: they are assumed to be valid",) if unclear else ()
    notes = (() if unit else (_NO_UNIT,)) + unclear_note + repeated(configurations)
    return TuningSpace(document.name, FORMAT, kernel, RecordedDevice(device) if device else None, names, tuple(configurations), notes=notes)


def _unit(document: Document, metadata: Document, results: Sequence[Document]) -> str:
    """Return the unit of the times, '' if the file has none."""
    units = {metadata.label("timeunit").lower()} if "timeunit" in metadata else set[str]()
    if not units:
        times = (measured for result in results if (measured := _measurement(result)) is not None)
        units = {unit.lower() for time in times if (unit := time.label("unit", ""))}
    if len(units) > 1 or any(unit not in MILLISECONDS for unit in units):
        problem = f"unknown or contradictory units of time: {', '.join(sorted(units))} (known: {', '.join(MILLISECONDS)})"
        raise document.fail("metadata.timeunit", problem)
    return units.pop() if units else ""


def _configuration(result: Document, values: Document, names: tuple[str, ...], factor: float) -> TuningConfiguration:
    scalars = tuple(values.scalar(name) for name in names)
    invalidity = result.label("invalidity", "")
    correct = result.number("correctness", 1, least=-_LARGEST, most=_LARGEST)
    status = invalidity if invalidity not in _VALID else OK if correct else "correctness"
    if status != OK:
        return TuningConfiguration(scalars, status=status, place=result.place)
    samples = result.table("times", required=True).durations("runtimes", factor)
    measured = _measurement(result)
    recorded = measured.duration("value", factor) if measured is not None else None
    if not samples and recorded is None:
        return TuningConfiguration(scalars, status="no time", place=result.place)
    return TuningConfiguration(scalars, samples, recorded, place=result.place)


def _measurement(result: Document) -> Document | None:
    """Return the time among the measurements of a result, None if there is none."""
    return next((measured for measured in result.tables("measurements") if measured.values.get("name") == "time"), None)
