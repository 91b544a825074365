"""Reader of the cache files of Kernel Tuner.

    {"device_name", "kernel_name", "problem_size", "tune_params_keys": [name …], "tune_params": {name: [value …]}, "objective",
     "cache": {"16,1,…": {name: value …, "time": ms or the name of an error, "times": [ms …], …} …}}

During a tuning run, the cache has a line per configuration and no closing braces; such a file is read, with a note. Times are
milliseconds. Source: Kernel Tuner documentation, "Cache files".
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sassan.errors import InputError
from sassan.recorded import documents
from sassan.recorded.faults import bad, shown
from sassan.recorded.types import OK, Configuration, RecordedDevice, TuningSpace, Value

FORMAT = "kernel-tuner"
KEYS = ("kernel_name", "tune_params_keys", "cache")
_FAILED = {"InvalidConfig": "constraints", "CompilationFailedConfig": "compile", "RuntimeFailedConfig": "runtime"}
"""Error names that Kernel Tuner writes instead of a time, with the corresponding status of the T4 format."""
_ERROR_TIME = 1e20
"""Times from this value on mark failed configurations."""
_NEAR = 1e-6


@dataclass(frozen=True, slots=True)
class _Space:
    """The common properties of the configurations of a cache, and notes."""

    path: str
    names: tuple[str, ...]
    domains: Mapping[str, tuple[Value, ...]]
    notes: list[str]


def parse(path: str, text: str) -> tuple[object, tuple[str, ...]]:
    """Return the JSON value of a cache, and notes if the file is not closed.

    Raises InputError `bad-recording`; the error refers to the original file.
    """
    try:
        return documents.parsed(path, text), ()
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
                return documents.parsed(path, body + "}}"), (note,)
            except InputError:
                continue
        raise error from None


def read_cache(path: str, document: Mapping[str, object], notes: tuple[str, ...]) -> TuningSpace:
    """Return the tuning space of a cache.

    Raises InputError `bad-recording` if it is damaged.
    """
    names = tuple(
        documents.name(path, f"tune_params_keys[{index}]", value)
        for index, value in enumerate(documents.items(path, "tune_params_keys", document["tune_params_keys"]))
    )
    if not names or len(set(names)) != len(names):
        raise bad(path, "tune_params_keys", "expected the names of the parameters, without duplicates")
    domains = _domains(path, names, document.get("tune_params", {}))
    space = _Space(path, names, domains, list(notes))
    if domains and len(domains) != len(names):
        space.notes.append("tune_params does not have the values of every parameter")
    entries = documents.table(path, "cache", document["cache"])
    configurations = tuple(_configuration(space, key, value) for key, value in entries.items())
    device, problem = document.get("device_name"), document.get("problem_size") or []
    sizes = documents.items(path, "problem_size", problem if isinstance(problem, list) else [problem])
    return TuningSpace(
        path,
        FORMAT,
        documents.name(path, "kernel_name", document["kernel_name"]),
        None if device is None else RecordedDevice(documents.name(path, "device_name", device)),
        names,
        configurations,
        tuple(documents.scalar(path, f"problem_size[{index}]", value) for index, value in enumerate(sizes)),
        domains,
        (*_summed(space.notes), *_twice(configurations)),
    )


def _domains(path: str, names: tuple[str, ...], value: object) -> dict[str, tuple[Value, ...]]:
    domains = documents.table(path, "tune_params", value)
    return {
        name: tuple(
            documents.scalar(path, f"tune_params.{name}", value) for value in documents.items(path, f"tune_params.{name}", domains[name])
        )
        for name in names
        if name in domains
    }


def _configuration(space: _Space, key: str, value: object) -> Configuration:
    path, names, domains, notes = space.path, space.names, space.domains, space.notes
    place = f"cache.{shown(key)}"
    entry = documents.table(path, place, value)
    missing = [name for name in names if name not in entry]
    if missing:
        raise bad(path, place, f"the parameter '{missing[0]}' is missing")
    values = tuple(documents.scalar(path, f"{place}.{name}", entry[name]) for name in names)
    texts = [str(value) for value in values]
    if key not in (",".join(texts), "_".join(texts)):
        notes.append(f"{place}: the key of a configuration contradicts its values")
    if any(name in domains and value not in domains[name] for name, value in zip(names, values, strict=True)):
        notes.append(f"{place}: a configuration has a value outside the domain of its parameter")
    status, recorded = _time(path, place, entry)
    times = tuple(
        documents.duration(path, f"{place}.times[{index}]", value, 1)
        for index, value in enumerate(documents.items(path, f"{place}.times", entry.get("times") or []))
    )
    if status == "no time" and times:
        notes.append(f"{place}: a configuration has runs, but no time")
    if status == OK and recorded is not None and times and not _mean(times, recorded):
        notes.append(f"{place}: the time of a configuration is not the mean of its runs")
    return Configuration(values, times if status == OK else (), recorded, status, place=place)


def _time(path: str, place: str, entry: Mapping[str, object]) -> tuple[str, float | None]:
    """Return the status and the time of a configuration."""
    time = entry.get("time", entry.get("__error__"))
    if isinstance(time, dict):
        time = documents.table(path, f"{place}.time", time).get("__error__")
    if isinstance(time, str):
        return _FAILED.get(time, documents.name(path, f"{place}.time", time) or "no time"), None
    if time is None:
        return "no time", None
    if isinstance(time, float | int) and not isinstance(time, bool) and _ERROR_TIME <= time < math.inf:
        return "failed", None
    return OK, documents.duration(path, f"{place}.time", time, 1)


def _mean(times: tuple[float, ...], recorded: float) -> bool:
    return abs(math.fsum(times) / len(times) - recorded) <= _NEAR * recorded


def _twice(configurations: tuple[Configuration, ...]) -> tuple[str, ...]:
    """Return a note if two configurations have the same values."""
    seen: set[tuple[Value, ...]] = set()
    for configuration in configurations:
        if configuration.values in seen:
            return (f"{configuration.place}: duplicate configuration",)
        seen.add(configuration.values)
    return ()


def _summed(notes: list[str]) -> tuple[str, ...]:
    """Combine notes with the same text, with the first position and the count."""
    kinds: dict[str, list[str]] = {}
    for note in notes:
        place, colon, text = note.partition(": ") if note.startswith("cache.") else ("", "", note)
        kinds.setdefault(text, []).append(place + colon)
    return tuple(f"{places[0]}{text}" + (f" ({len(places)} times)" if len(places) > 1 else "") for text, places in kinds.items())
