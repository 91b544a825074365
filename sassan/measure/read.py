"""Reading samples, CSV or JSON, and writing them.

JSON is `{"device": "…", "groups": [{"group": 0, "seconds": [0.0031, 0.0022], "delay": 0.5, "pause": 2, "size": 1000, "cycles": [7, 6]}]}`,
where only `seconds` is required and the strings beside `groups` are metadata; or a list of lists of seconds, one per group; or such a list.
"""

import json
from collections.abc import Mapping
from typing import Never, cast

from sassan.errors import InputError
from sassan.frontend.load import LIMIT
from sassan.frontend.load import load as load_text
from sassan.measure import rows
from sassan.measure.samples import HINT, Group, Samples, bad, duration
from sassan.source import Source, Span

_KEYS = ("group", "seconds", "delay", "pause", "size", "cycles")
_IGNORED = ("groups", "schema", "tool")
_TOO_MUCH = 10**18
_SHOWN = 40


def load(path: str) -> Samples:
    """Return the samples in the file at `path`, or on standard input for `-`.

    Raises InputError: as `read`, and what `frontend.load` refuses.
    """
    try:
        loaded = load_text(path)
    except InputError as error:
        hint = (
            f"samples are CSV or JSON, at most {LIMIT >> 20} MiB" if error.code in {"too-large", "binary-input", "not-utf8"} else error.hint
        )
        raise InputError(error.code, error.message, source=error.source, hint=hint) from None
    if not isinstance(loaded, Source):
        raise InputError("bad-samples", "the file is machine code, not samples", source=Source(path, ""), hint=HINT)
    return read(loaded)


def read(source: Source) -> Samples:
    """Parse samples: JSON where the text begins with `{` or `[`, else CSV.

    Raises InputError `bad-samples` with the location.
    """
    plain = Source(source.name, source.text.removeprefix("\ufeff"))
    try:
        return _json(plain) if plain.text.lstrip()[:1] in {"{", "["} else rows.read(plain)
    except InputError as error:
        if error.source is None:
            raise InputError(error.code, error.message, source=Source(plain.name, ""), hint=error.hint) from None
        raise


def text(name: str, samples: Samples) -> str:
    """Return the contents of a file called `name`: JSON if it ends in .json, else CSV."""
    return json_text(samples) if name.lower().endswith(".json") else rows.text(samples)


def json_text(samples: Samples) -> str:
    """Return samples as JSON; `read` gives them back."""
    return json.dumps({**samples.about, "groups": [_document(group) for group in samples.groups]}, indent=1) + "\n"


def _json(source: Source) -> Samples:
    try:
        document: object = json.loads(source.text, parse_constant=_constant)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise InputError("bad-samples", message, source=source, span=Span(error.lineno, error.colno, 1), hint=HINT) from None
    except (ValueError, RecursionError) as error:
        raise bad(f"unreadable JSON: {error}") from None
    if isinstance(document, list):
        elements = cast("list[object]", document)
        lists = elements if all(isinstance(element, list) for element in elements) else [elements]
        return _samples([{"seconds": durations} for durations in lists], {})
    content = cast("Mapping[str, object]", document)
    groups = content.get("groups")
    if not isinstance(groups, list):
        raise bad("the list 'groups' is missing")
    about = {key: value for key, value in content.items() if key not in _IGNORED}
    for key, value in about.items():
        if not isinstance(value, str):
            raise bad(f"'{key}': expected a string")
    return _samples(cast("list[object]", groups), cast("dict[str, str]", about))


def _constant(name: str) -> Never:
    raise ValueError(f"{name} is not allowed")


def _samples(groups: list[object], about: dict[str, str]) -> Samples:
    parsed = tuple(_group(f"groups[{index}]", index, group) for index, group in enumerate(groups))
    if not parsed:
        raise bad("there are no runs")
    numbers = [group.number for group in parsed]
    repeated = next((number for number in numbers if numbers.count(number) > 1), None) if len(set(numbers)) < len(numbers) else None
    if repeated is not None:
        raise bad(f"group {repeated} is given twice")
    return Samples(parsed, about)


def _group(where: str, index: int, document: object) -> Group:
    if not isinstance(document, dict):
        raise bad(f"{where}: expected an object with 'seconds'")
    fields = cast("dict[str, object]", document)
    for key in fields:
        if key not in _KEYS:
            raise bad(f"{where}.{key}: unknown key (known: {', '.join(_KEYS)})")
    seconds = tuple(_duration(f"{where}.seconds[{place}]", value) for place, value in enumerate(_list(where, "seconds", fields)))
    if not seconds:
        raise bad(f"{where}.seconds: there are no runs")
    delay = _number(f"{where}.delay", fields.get("delay", 0.0))
    pause = _number(f"{where}.pause", fields.get("pause", delay))
    size = _number(f"{where}.size", fields["size"]) if fields.get("size") is not None else None
    cycles = tuple(_whole(f"{where}.cycles[{place}]", value) for place, value in enumerate(_list(where, "cycles", fields)))
    if cycles and len(cycles) != len(seconds):
        raise bad(f"{where}: cycles for {len(cycles)} of {len(seconds)} runs")
    return Group(_whole(f"{where}.group", fields.get("group", index)), seconds, delay, pause, size, cycles)


def _list(where: str, key: str, fields: Mapping[str, object]) -> list[object]:
    value = fields.get(key, [])
    if not isinstance(value, list):
        raise bad(f"{where}.{key}: expected a list")
    return cast("list[object]", value)


def _number(where: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _TOO_MUCH:
        raise bad(f"{where}: expected a non-negative number, not {_shown(value)}")
    return float(value)


def _duration(where: str, value: object) -> float:
    number = _number(where, value)
    try:
        return duration(number)
    except InputError as error:
        raise bad(f"{where}: {error.message}") from None


def _whole(where: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _TOO_MUCH:
        raise bad(f"{where}: expected a non-negative integer, not {_shown(value)}")
    return value


def _shown(value: object) -> str:
    shown = json.dumps(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _document(group: Group) -> Mapping[str, object]:
    known: dict[str, object] = {"group": group.number, "seconds": group.seconds, "delay": group.delay, "pause": group.pause}
    if group.size is not None:
        known["size"] = group.size
    if group.cycles:
        known["cycles"] = group.cycles
    return known
