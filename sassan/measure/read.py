"""Reading samples, CSV or JSON, and writing them.

JSON is `{"device": "…", "groups": [{"group": 0, "seconds": [0.0031, 0.0022], "delay": 0.5, "pause": 2, "size": 1000, "cycles": [7, 6]}]}`,
where only `seconds` is required and the strings beside `groups` are metadata; or a list of lists of seconds, one per group; or such a list.
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import cast

from sassan.checked import Fields, Format
from sassan.errors import InputError
from sassan.frontend.load import LIMIT
from sassan.frontend.load import load as load_text
from sassan.measure import rows
from sassan.measure.samples import HINT, LONGEST, SHORTEST, SampleGroup, Samples, bad
from sassan.source import Source

_KEYS = ("group", "seconds", "delay", "pause", "size", "cycles")
_IGNORED = ("groups", "schema", "tool")
_MOST = 10**18
_FORMAT = Format("bad-samples", HINT, table="an object")


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
        return _json(plain.text) if plain.text.lstrip()[:1] in {"{", "["} else rows.read(plain)
    except InputError as error:
        place = Source(plain.name, error.source.text if error.source is not None else "")
        raise InputError(error.code, error.message, source=place, span=error.span, hint=error.hint) from None


def text(name: str, samples: Samples) -> str:
    """Return the contents of a file called `name`: JSON if it ends in .json, else CSV."""
    return json_text(samples) if name.lower().endswith(".json") else rows.text(samples)


def json_text(samples: Samples) -> str:
    """Return samples as JSON; `read` gives them back."""
    return json.dumps({**samples.about, "groups": [_document(group) for group in samples.groups]}, indent=1) + "\n"


def _json(text: str) -> Samples:
    value = _FORMAT.json_value("", text)
    if isinstance(value, list):
        elements = cast("list[object]", value)
        lists = elements if all(isinstance(element, list) for element in elements) else [elements]
        value = {"groups": [{"seconds": durations} for durations in lists]}
    document = Fields(_FORMAT, "", cast("Mapping[str, object]", value))
    groups = tuple(_group(index, group) for index, group in enumerate(document.tables("groups")))
    if not groups:
        raise bad("there are no runs")
    repeated, times = Counter(group.number for group in groups).most_common(1)[0]
    if times > 1:
        raise bad(f"group {repeated} is given twice")
    return Samples(groups, {key: document.text(key, "") for key in document.values if key not in _IGNORED})


def _group(index: int, fields: Fields) -> SampleGroup:
    fields.only(*_KEYS)
    seconds = fields.numbers("seconds", least=SHORTEST, most=LONGEST)
    if not seconds:
        raise fields.fail("seconds", "there are no runs")
    delay = fields.number("delay", 0.0, least=0, most=_MOST)
    pause = fields.number("pause", delay, least=0, most=_MOST)
    size = fields.number("size", least=0, most=_MOST) if "size" in fields else None
    cycles = fields.wholes("cycles", least=0, most=_MOST)
    if cycles and len(cycles) != len(seconds):
        raise fields.fail("cycles", f"must be as many as the runs, {len(seconds)}, not {len(cycles)}")
    return SampleGroup(fields.whole("group", index, least=0, most=_MOST), seconds, delay, pause, size, cycles)


def _document(group: SampleGroup) -> Mapping[str, object]:
    known: dict[str, object] = {"group": group.number, "seconds": group.seconds, "delay": group.delay, "pause": group.pause}
    if group.size is not None:
        known["size"] = group.size
    if group.cycles:
        known["cycles"] = group.cycles
    return known
