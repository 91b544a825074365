"""What all readers refuse a file with, and the limits that they share."""

import re

from sassan.errors import InputError
from sassan.source import Source, Span

CODE = "bad-recording"
LIMIT = 256 << 20
"""Bytes of a file, and of what a compressed file holds."""
_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SHOWN = 60
_DAMAGED = "the file is damaged or was cut off: record it again, or copy it again"


def bad(path: str, place: str, what: str, hint: str = _DAMAGED) -> InputError:
    """Return the error for a file that cannot be read; `place` says where in the file, '' for the whole."""
    return InputError(CODE, f"{place}: {what}" if place else what, source=Source(path, ""), hint=hint)


def bad_line(path: str, line: int, text: str, what: str, hint: str = _DAMAGED) -> InputError:
    """Return the error for one line of a text; `line` counts from 1."""
    excerpt = Source(path, "\n" * (line - 1) + text) if line <= 1 << 20 else Source(path, "")
    return InputError(CODE, f"line {line}: {what}", source=excerpt, span=Span(line, 1, max(1, len(text))), hint=hint)


def shown(text: str) -> str:
    """Return a text of a file as a message may hold it: short, and without control characters."""
    plain = _STEERING.sub("?", text[: _SHOWN + 1])
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"


def steers(text: str) -> bool:
    """Return whether a name holds control characters, which a terminal would obey."""
    return bool(_STEERING.search(text))
