"""Reader of the cache files of Kernel Tuner.

    {"device_name", "kernel_name", "problem_size", "tune_params_keys": [name …], "tune_params": {name: [value …]}, "objective",
     "cache": {"16,1,…": {name: value …, "time": ms or the name of an error, "times": [ms …], …} …}}

During a tuning run, the cache has a line per configuration and no closing braces; such a file is read, with a note. Times are
milliseconds. Source: Kernel Tuner documentation, "Cache files".
"""

import math
from collections.abc import Mapping

from sassan.errors import InputError
from sassan.recorded import documents
from sassan.recorded.documents import Document
from sassan.recorded.types import OK, RecordedDevice, TuningConfiguration, TuningSpace, Value

FORMAT = "kernel-tuner"
KEYS = ("kernel_name", "tune_params_keys", "cache")
_FAILED = {"InvalidConfig": "constraints", "CompilationFailedConfig": "compile", "RuntimeFailedConfig": "runtime"}
"""Error names that Kernel Tuner writes instead of a time, with the corresponding status of the T4 format."""
_ERROR_TIME = 1e20
"""Times from this value on mark failed configurations."""
_NEAR = 1e-6


def parse(path: str, text: str) -> tuple[object, tuple[str, ...]]:
    """Return the JSON value of a cache, and notes if the file is not closed.

    Raises InputError `bad-recording`; the error refers to the original file.
    """
    try:
        return documents.FORMAT.json_value(path, text), ()
    except InputError as error:
        opened = text.rstrip().rstrip(",")
        for body, note in (
            (opened, "the cache is not closed: the tuning run was not finished, or the file is truncated"),
            (
                text[: text.rfind("}") + 1],
                "the cache is truncated within a configuration: this configuration is omitted, and others may be missing",
            ),
        ):
            try:
                return documents.FORMAT.json_value(path, body + "}}"), (note,)
            except InputError:
                continue
        raise error from None


def read_cache(document: Document, notes: tuple[str, ...]) -> TuningSpace:
    """Return the tuning space of a cache.

    Raises InputError `bad-recording` if it is damaged.
    """
    names = document.labels("tune_params_keys")
    if not names or len(set(names)) != len(names):
        raise document.fail("tune_params_keys", "must have the names of the parameters, without duplicates")
    values = document.table("tune_params")
    domains = {name: values.scalars(name) for name in names if name in values}
    messages = list(notes)
    if domains and len(domains) != len(names):
        messages.append("tune_params does not have the values of every parameter")
    entries = document.table("cache")
    configurations = [_configuration(entries, key, domains, names, messages) for key in entries.values]
    return TuningSpace(
        document.name,
        FORMAT,
        document.label("kernel_name"),
        RecordedDevice(document.label("device_name")) if "device_name" in document else None,
        names,
        tuple(configurations),
        document.scalars("problem_size"),
        domains,
        (*_summed(messages), *documents.repeated(configurations)),
    )


def _configuration(
    entries: Document, key: str, domains: Mapping[str, tuple[Value, ...]], names: tuple[str, ...], notes: list[str]
) -> TuningConfiguration:
    """Return a configuration; contradictions in it are added to `notes`."""
    entry = entries.table(key, required=True)
    missing = next((name for name in names if name not in entry), None)
    if missing is not None:
        raise entries.fail(key, f"the parameter '{missing}' is missing")
    values = tuple(entry.scalar(name) for name in names)
    texts = [str(value) for value in values]
    if key not in (",".join(texts), "_".join(texts)):
        notes.append(f"{entry.place}: the key of a configuration contradicts its values")
    if any(name in domains and value not in domains[name] for name, value in zip(names, values, strict=True)):
        notes.append(f"{entry.place}: a configuration has a value outside the domain of its parameter")
    status, recorded = _time(entry)
    times = entry.durations("times")
    if status == "no time" and times:
        notes.append(f"{entry.place}: a configuration has runs, but no time")
    if status == OK and recorded is not None and times and not _mean(times, recorded):
        notes.append(f"{entry.place}: the time of a configuration is not the mean of its runs")
    return TuningConfiguration(values, times if status == OK else (), recorded, status, place=entry.place)


def _time(entry: Document) -> tuple[str, float | None]:
    """Return the status and the time of a configuration."""
    key = "time" if "time" in entry else "__error__"
    time = entry.values.get(key)
    if isinstance(time, dict):
        entry, key = entry.table(key), "__error__"
        time = entry.values.get(key)
    if isinstance(time, str):
        return _FAILED.get(time, entry.plain(key, time) or "no time"), None
    if time is None:
        return "no time", None
    if isinstance(time, float | int) and not isinstance(time, bool) and _ERROR_TIME <= time < math.inf:
        return "failed", None
    return OK, entry.duration(key)


def _mean(times: tuple[float, ...], recorded: float) -> bool:
    return abs(math.fsum(times) / len(times) - recorded) <= _NEAR * recorded


def _summed(notes: list[str]) -> tuple[str, ...]:
    """Combine notes with the same text, with the first position and the count."""
    kinds: dict[str, list[str]] = {}
    for note in notes:
        place, colon, text = note.partition(": ") if note.startswith("cache.") else ("", "", note)
        kinds.setdefault(text, []).append(place + colon)
    return tuple(f"{places[0]}{text}" + (f" ({len(places)} times)" if len(places) > 1 else "") for text, places in kinds.items())
