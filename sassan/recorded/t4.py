"""Reader of results in the T4 format, which several tuners write.

    {"schema_version", "metadata": {"timeunit", "device", …},
     "results": [{"configuration": {name: value …}, "times": {"runtimes": [time …], …}, "invalidity", "correctness",
                  "measurements": [{"name", "value", "unit"} …]} …]}

Source: "T4 results schema", github.com/odgaard/TuningSchema.
"""

from collections.abc import Mapping

from sassan.recorded import documents
from sassan.recorded.faults import bad
from sassan.recorded.types import OK, Configuration, RecordedDevice, TuningSpace
from sassan.recorded.units import MILLISECONDS

FORMAT = "t4"
_VALID = ("correct", "valid", "ok", "none", "")
"""Values of `invalidity` for a configuration that ran; the schema specifies only failures."""
_NO_UNIT = "the file has no unit of time: milliseconds are assumed, as written by Kernel Tuner"


def is_t4(document: Mapping[str, object]) -> bool:
    """Return whether a document has results in this format."""
    results = document.get("results")
    return isinstance(results, list) and all(isinstance(result, dict) and "configuration" in result for result in results[:1])


def read_t4(path: str, document: Mapping[str, object]) -> TuningSpace:
    """Return the tuning space of a file.

    Raises InputError `bad-recording` if it is damaged.
    """
    results = [
        documents.table(path, f"results[{index}]", value)
        for index, value in enumerate(documents.items(path, "results", document["results"]))
    ]
    metadata = documents.table(path, "metadata", document.get("metadata", {}))
    unit = _unit(path, metadata, results)
    factor = MILLISECONDS[unit] if unit else 1.0
    names: tuple[str, ...] = ()
    configurations: list[Configuration] = []
    for index, result in enumerate(results):
        place = f"results[{index}]"
        values = documents.table(path, f"{place}.configuration", result.get("configuration"))
        names = names or tuple(documents.name(path, f"{place}.configuration", name) for name in values)
        if set(values) != set(names):
            raise bad(path, f"{place}.configuration", "the parameters differ from those of the first configuration")
        configurations.append(_configuration(path, place, result, tuple(values[name] for name in names), factor))
    if not names:
        raise bad(path, "results", "no configurations")
    device, kernel = (documents.name(path, f"metadata.{key}", metadata.get(key, "")) for key in ("device", "kernel_name"))
    unclear = sum("invalidity" not in result or "correctness" not in result for result in results)
    unclear_note = (f"validity or correctness of {unclear} results is unknown: they are assumed to be valid",) if unclear else ()
    notes = (() if unit else (_NO_UNIT,)) + unclear_note + _repeated(configurations)
    return TuningSpace(path, FORMAT, kernel, RecordedDevice(device) if device else None, names, tuple(configurations), notes=notes)


def _unit(path: str, metadata: Mapping[str, object], results: list[Mapping[str, object]]) -> str:
    """Return the unit of the times, '' if the file has none."""
    named = {documents.name(path, "metadata.timeunit", metadata["timeunit"]).lower()} if "timeunit" in metadata else set[str]()
    if not named:
        for index, result in enumerate(results):
            place = f"results[{index}].measurements"
            for entry in documents.items(path, place, result.get("measurements", [])):
                measurement = documents.table(path, place, entry)
                if measurement.get("name") == "time" and measurement.get("unit"):
                    named.add(documents.name(path, f"{place}.unit", measurement["unit"]).lower())
    if len(named) > 1 or any(unit not in MILLISECONDS for unit in named):
        raise bad(path, "", f"unknown or contradictory units of time: {', '.join(sorted(named))}", hint=f"known: {', '.join(MILLISECONDS)}")
    return named.pop() if named else ""


def _configuration(path: str, place: str, result: Mapping[str, object], values: tuple[object, ...], factor: float) -> Configuration:
    scalars = tuple(documents.scalar(path, f"{place}.configuration", value) for value in values)
    invalidity = documents.name(path, f"{place}.invalidity", result.get("invalidity", ""))
    correct = documents.number(path, f"{place}.correctness", result.get("correctness", 1))
    status = invalidity if invalidity not in _VALID else OK if correct else "correctness"
    if status != OK:
        return Configuration(scalars, status=status, place=place)
    times = documents.table(path, f"{place}.times", result.get("times"))
    runs = documents.items(path, f"{place}.times.runtimes", times.get("runtimes", []))
    samples = tuple(documents.duration(path, f"{place}.times.runtimes[{index}]", time, factor) for index, time in enumerate(runs))
    recorded = _measured(path, place, result, factor)
    if not samples and recorded is None:
        return Configuration(scalars, status="no time", place=place)
    return Configuration(scalars, samples, recorded, place=place)


def _measured(path: str, place: str, result: Mapping[str, object], factor: float) -> float | None:
    """Return the time among the measurements of a result in milliseconds, None if there is none."""
    where = f"{place}.measurements"
    for entry in documents.items(path, where, result.get("measurements", [])):
        measurement = documents.table(path, where, entry)
        if measurement.get("name") == "time":
            return documents.duration(path, where, measurement.get("value"), factor)
    return None


def _repeated(configurations: list[Configuration]) -> tuple[str, ...]:
    values = [configuration.values for configuration in configurations]
    count = len(values) - len(set(values))
    return (f"{count} duplicate configurations",) if count else ()
