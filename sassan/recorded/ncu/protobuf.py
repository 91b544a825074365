"""The wire format of protocol buffers: fields of a message, each bounded by the message, without a schema.

It is stricter than the format, to detect damage: a number must have its shortest encoding, and a field that is not a list must not be
repeated. Source: Protocol Buffers documentation, "Encoding".
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Never

from sassan.recorded.faults import bad

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST = 10
"""Maximum number of bytes of a 64-bit number."""
_U64 = (1 << 64) - 1
_FIELDS = 1 << 22
"""Maximum number of fields of a message, to limit memory."""


@dataclass(frozen=True, slots=True)
class WireField:
    """A field: a number, or the range of its bytes in the file (`start` to `end`; also for fixed-size numbers)."""

    wire: int
    value: int
    start: int
    end: int


class Message:
    """The fields of a message, read from `data[start:end]`.

    Raises InputError `bad-recording` if the bytes are not a message, or a field is not of the requested kind.
    """

    __slots__ = ("_data", "_fields", "_path", "name", "start")

    def __init__(self, path: str, data: bytes, start: int, end: int, name: str) -> None:
        """Read all fields; `name` describes the message in errors."""
        self._path, self._data, self.start, self.name = path, data, start, name
        self._fields: dict[int, list[WireField]] = {}
        at, count = start, 0
        while at < end:
            key, at = self._varint(at, end)
            number, wire = key >> 3, key & 7
            if not number:
                self._fail(at, "a field has the number 0")
            field, at = self._field(wire, at, end)
            self._fields.setdefault(number, []).append(field)
            count += 1
            if count > _FIELDS:
                self._fail(at, f"it has more than {_FIELDS} fields")

    @property
    def place(self) -> str:
        """Return the position of the message, for notes and errors."""
        return f"byte {self.start}"

    def unknown(self, known: Iterable[int]) -> list[int]:
        """Return the numbers of fields that are not among `known`."""
        return sorted(set(self._fields) - set(known))

    def many(self, number: int) -> list[WireField]:
        """Return all fields of a number, in their order."""
        return self._fields.get(number, [])

    def messages(self, number: int, name: str) -> "list[Message]":
        """Return the messages in a repeated field."""
        return [self._message(field, name) for field in self.many(number)]

    def message(self, number: int, name: str) -> "Message | None":
        """Return the message in a field, None if it is absent."""
        field = self._single(number)
        return self._message(field, name) if field else None

    def whole(self, number: int) -> int | None:
        """Return the number in a field, None if it is absent."""
        field = self._single(number)
        if field is None:
            return None
        if field.wire != _VARINT:
            self._fail(field.start, f"field {number} is not an integer")
        return field.value

    def needed(self, number: int) -> int:
        """Return the number in a required field."""
        value = self.whole(number)
        if value is None:
            self._fail(self.start, f"field {number} is missing")
        return value

    def double(self, number: int) -> float | None:
        """Return the 64-bit float in a field, None if it is absent."""
        return self._float(number, _FIXED64, "<d")

    def single(self, number: int) -> float | None:
        """Return the 32-bit float in a field, None if it is absent."""
        return self._float(number, _FIXED32, "<f")

    def blob(self, number: int) -> bytes | None:
        """Return the bytes in a field, None if it is absent."""
        field = self._single(number)
        return self.blob_of(field) if field else None

    def blob_of(self, field: WireField) -> bytes:
        """Return the bytes of a field."""
        self._check_bytes(field)
        return self._data[field.start : field.end]

    def text(self, number: int) -> str | None:
        """Return the text in a field, None if it is absent."""
        field = self._single(number)
        return self.text_of(field) if field else None

    def text_of(self, field: WireField) -> str:
        """Return the text of a field."""
        try:
            return self.blob_of(field).decode("utf-8")
        except UnicodeDecodeError:
            self._fail(field.start, "a text is not UTF-8")

    def _check_bytes(self, field: WireField) -> None:
        if field.wire != _BYTES:
            self._fail(field.start, "expected bytes, found a number")

    def _single(self, number: int) -> WireField | None:
        fields = self.many(number)
        if len(fields) > 1:
            self._fail(fields[1].start, f"field {number} is repeated {len(fields)} times; expected once")
        return fields[0] if fields else None

    def _message(self, field: WireField, name: str) -> "Message":
        self._check_bytes(field)
        return Message(self._path, self._data, field.start, field.end, name)

    def _float(self, number: int, wire: int, form: str) -> float | None:
        field = self._single(number)
        if field is None:
            return None
        if field.wire != wire:
            self._fail(field.start, f"field {number} is not a float of {struct.calcsize(form)} bytes")
        value: float = struct.unpack_from(form, self._data, field.start)[0]
        return value

    def _field(self, wire: int, at: int, end: int) -> tuple[WireField, int]:
        value, start = 0, at
        if wire == _VARINT:
            value, at = self._varint(at, end)
            return WireField(wire, value, start, at), at
        if wire == _BYTES:
            length, start = self._varint(at, end)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            self._fail(at, f"a field has the unknown kind {wire}")
        if length > end - start:
            self._fail(start, f"a field of length {length} exceeds the remaining length {end - start}")
        return WireField(wire, value, start, start + length), start + length

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        value = shift = 0
        for place in range(at, min(end, at + _LONGEST)):
            byte = self._data[place]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004 - the last byte of a number has no top bit
                if (not byte and place > at) or value > _U64:
                    self._fail(at, "a number is not in its shortest encoding")
                return value, place + 1
        return self._fail(at, "an unterminated number")

    def _fail(self, at: int, problem: str) -> Never:
        raise bad(self._path, f"byte {at}", f"{self.name} is damaged: {problem}")
