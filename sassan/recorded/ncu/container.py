r"""The container of a report of Nsight Compute (`.ncu-rep`): blocks of length-prefixed messages, checked to the last byte.

    "NVR\0"  u32 length, file header {1: version}
    blocks:   u32 length, block header {1: sources, 2: results, 3: session, 4: strings {1: text …}, 5: bytes of the payload, 6: process}
              payload: for each source, then each result: u32 length, message

A string belongs to the whole file: later blocks use the strings of earlier ones. The format has no checksum and counts no blocks.
"""

import struct
from dataclasses import dataclass, field

from sassan.recorded.faults import bad, has_control_characters
from sassan.recorded.ncu.protobuf import Message

MAGIC = b"NVR\0"
_LENGTH = 4
_SOURCES, _RESULTS, _SESSION, _STRINGS, _PAYLOAD = 1, 2, 3, 4, 5
_HEADER_FIELDS = range(1, 8)
_BLOCKS, _MESSAGES, _TEXTS = 1 << 20, 1 << 20, 1 << 22


@dataclass(slots=True)
class NcuReport:
    """The messages of a report, in its order; `strings` are those of all blocks."""

    path: str
    version: int
    sources: list[Message] = field(default_factory=list[Message])
    results: list[Message] = field(default_factory=list[Message])
    sessions: list[Message] = field(default_factory=list[Message])
    strings: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])


def parse(path: str, data: bytes) -> NcuReport:
    """Return the messages of a report.

    Raises InputError `bad-recording` for an invalid length, count or message.
    """
    if not data.startswith(MAGIC):
        raise bad(path, "byte 0", "expected the first bytes of a report of Nsight Compute")
    header, at = _message(path, data, len(MAGIC), len(data), "the file header")
    report = NcuReport(path, header.needed(1))
    blocks = 0
    while at < len(data):
        at = _block(report, data, at)
        blocks += 1
        if blocks > _BLOCKS:
            raise bad(path, f"byte {at}", f"there are more than {_BLOCKS} blocks")
    if not report.results:
        raise bad(path, "", "the report has no result of a profiled kernel", hint="profile at least one kernel: ncu -o FILE PROGRAM")
    return report


def _block(report: NcuReport, data: bytes, at: int) -> int:
    header, at = _message(report.path, data, at, len(data), "a block header")
    sources, results, size = (header.needed(number) for number in (_SOURCES, _RESULTS, _PAYLOAD))
    if unknown := header.unknown(_HEADER_FIELDS):
        report.notes.append(f"{header.place}: a block header has the unknown fields {unknown}: a newer version, or damage")
    if sources + results > _MESSAGES or size > len(data) - at:
        problem = f"a block claims {sources} sources and {results} results in {size} bytes; {len(data) - at} bytes are left"
        raise bad(report.path, header.place, problem)
    _add_strings(report, header)
    session = header.message(_SESSION, "a session")
    if session is not None:
        report.sessions.append(session)
    end = at + size
    for number in range(sources + results):
        message, at = _message(report.path, data, at, end, "a source" if number < sources else "a result")
        (report.sources if number < sources else report.results).append(message)
    if at != end:
        raise bad(report.path, f"byte {at}", f"{end - at} bytes follow the last message of a block")
    return end


def _add_strings(report: NcuReport, header: Message) -> None:
    table = header.message(_STRINGS, "a table of strings")
    if table is None:
        return
    if unknown := table.unknown((1,)):
        raise bad(report.path, table.place, f"a table of strings is damaged: it has the fields {unknown}")
    for entry in table.many(1):
        text = table.text_of(entry)
        if has_control_characters(text):
            raise bad(report.path, f"byte {entry.start}", "a string contains control characters")
        report.strings.append(text)
    if len(report.strings) > _TEXTS:
        raise bad(report.path, table.place, f"there are more than {_TEXTS} strings")


def _message(path: str, data: bytes, at: int, end: int, name: str) -> tuple[Message, int]:
    if end - at < _LENGTH:
        raise bad(path, f"byte {at}", f"{end - at} bytes are left, expected the length of {name}")
    (size,) = struct.unpack_from("<I", data, at)
    start = at + _LENGTH
    if size > end - start:
        raise bad(path, f"byte {at}", f"{name} of length {size} exceeds the remaining length {end - start}")
    return Message(path, data, start, start + size, name), start + size
