"""Reading untrusted JSON files, also gzipped: bounded, and with checked access to their values (`sassan/checked.py`)."""

import gzip
import io
import zlib

from sassan.checked import Fields, Format
from sassan.recorded.faults import CODE, DAMAGED, LIMIT, bad, has_control_characters, shown
from sassan.recorded.types import TuningConfiguration, Value
from sassan.source import decoded

GZIP = b"\x1f\x8b"
FORMAT = Format(CODE, DAMAGED, table="an object")
_MOST = 10**18
_LABEL_LENGTH = 10_000


class Document(Fields):
    """An object of a file."""

    __slots__ = ()

    @property
    def place(self) -> str:
        """The path of keys that leads to this object, for notes."""
        return self.where.removesuffix(".")

    def label(self, key: str, default: str | None = None) -> str:
        """Return the name under a key, checked to have no control characters."""
        return self.plain(key, self.text(key, default))

    def labels(self, key: str) -> tuple[str, ...]:
        """Return the array of names under a key."""
        return tuple(self.plain(key, text) for text in self.texts(key))

    def scalar(self, key: str) -> Value:
        """Return the value of a tuning parameter, checked to be a number, a string, true or false."""
        return self._scalar(key, self.values.get(key))

    def scalars(self, key: str) -> tuple[Value, ...]:
        """Return the array of such values under a key, empty where there is none; a single value is an array of one."""
        value = self.values.get(key)
        values = self.items(key, ()) if value is None or isinstance(value, list) else (value,)
        return tuple(self._scalar(f"{key}[{index}]", item) for index, item in enumerate(values))

    def duration(self, key: str, factor: float = 1) -> float:
        """Return the time under a key, above 0, multiplied by `factor`."""
        return self._time(key, self.number(key, least=-_MOST, most=_MOST)) * factor

    def durations(self, key: str, factor: float = 1) -> tuple[float, ...]:
        """Return the array of times under a key, empty where there is none."""
        return tuple(self._time(key, time) * factor for time in self.numbers(key, least=-_MOST, most=_MOST))

    def plain(self, key: str, text: str) -> str:
        """Return a text at a key, checked to be a name without control characters."""
        if has_control_characters(text) or len(text) > _LABEL_LENGTH:
            raise self.fail(key, f"must be a name, not '{shown(text)}'")
        return text

    def _scalar(self, key: str, value: object) -> Value:
        if isinstance(value, str):
            return self.plain(key, value)
        if isinstance(value, bool) or (isinstance(value, int) and abs(value) < _MOST):
            return value
        return self._number(key, value, -_MOST, _MOST)

    def _time(self, key: str, time: float) -> float:
        if time <= 0:
            raise self.fail(key, f"must be a time above 0, not {time:g}")
        return time


def decompressed(path: str, data: bytes) -> bytes:
    """Return the contents of a gzip file, or other bytes unchanged.

    Raises InputError `bad-recording` if the file is truncated, fails its checksum, or contains more than the limit.
    """
    if not data.startswith(GZIP):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            out = file.read(LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise bad(path, "", f"the compressed file is damaged: {error}") from None
    if len(out) > LIMIT:
        raise bad(path, "", f"the compressed file contains more than {LIMIT >> 20} MiB", hint="split the file")
    return out


def text_of(path: str, data: bytes) -> str:
    """Decode text.

    Raises InputError `bad-recording` if it is neither UTF-8 nor UTF-16 with a mark, or contains NUL bytes.
    """
    try:
        text = decoded(data)
    except UnicodeDecodeError as error:
        raise bad(path, f"byte {error.start}", "the text is not UTF-8") from None
    if "\0" in text:
        raise bad(path, f"character {text.index(chr(0))}", "the text contains a NUL")
    return text


def repeated(configurations: list[TuningConfiguration]) -> tuple[str, ...]:
    """Return a note if configurations have the same values."""
    count = len(configurations) - len({configuration.values for configuration in configurations})
    return (f"{count} duplicate configuration{'s' * (count > 1)}",) if count else ()
