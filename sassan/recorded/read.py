"""Reading a recording of any format, detected by its contents, not by its name."""

from io import StringIO
from typing import cast

from sassan.errors import InputError
from sassan.frontend.load import read_bytes
from sassan.recorded import documents, kernel_tuner
from sassan.recorded.documents import Document
from sassan.recorded.faults import CODE, LIMIT
from sassan.recorded.ktt import is_ktt, read_ktt
from sassan.recorded.ncu.csv import is_ncu, read_ncu
from sassan.recorded.ncu.launches import MAGIC, read_report
from sassan.recorded.t4 import is_t4, read_t4
from sassan.recorded.table import is_table, read_table
from sassan.recorded.types import Recording, TuningSpace
from sassan.source import Source

_HINT = "supported are Nsight Compute reports and CSV, Kernel Tuner caches, T4 and KTT results, and tables (sassan/recorded/README.md)"


def read(path: str) -> Recording | TuningSpace:
    """Read the recording at `path`.

    Raises InputError: missing-file, is-directory, no-permission, unreadable, too-large, unknown-recording; bad-recording with the place.
    """
    return content(path, _bytes(path))


def content(path: str, data: bytes) -> Recording | TuningSpace:
    """Read a recording from bytes; `path` names it in errors.

    Raises InputError: unknown-recording for an unknown format, bad-recording with the position of an error.
    """
    if data.startswith(MAGIC):
        return read_report(path, data)
    text = documents.text_of(path, documents.decompressed(path, data))
    if text.lstrip()[:1] in ("{", "["):
        return _document(path, text)
    head = text.partition("\n")[0]
    if is_table(head):
        return read_table(path, text)
    if any(is_ncu(line) for line in StringIO(text, newline="")):
        return read_ncu(path, text)
    raise _unknown(path)


def _document(path: str, text: str) -> TuningSpace:
    value, notes = kernel_tuner.parse(path, text)
    document = Document(documents.FORMAT, path, cast("dict[str, object]", value) if isinstance(value, dict) else {})
    if all(key in document for key in kernel_tuner.KEYS):
        return kernel_tuner.read_cache(document, notes)
    if notes:
        raise InputError(CODE, "the JSON text is truncated", source=Source(path, ""), hint="copy the file again")
    if is_ktt(document):
        return read_ktt(document)
    if is_t4(document):
        return read_t4(document)
    raise _unknown(path)


def _unknown(path: str) -> InputError:
    return InputError("unknown-recording", "unknown recording format", source=Source(path, ""), hint=_HINT)


def _bytes(path: str) -> bytes:
    data = read_bytes(path, LIMIT)
    if len(data) > LIMIT:
        hint = "record fewer launches, such as with ncu --launch-count N"
        raise InputError("too-large", f"'{path}' is larger than {LIMIT >> 20} MiB", source=Source(path, ""), hint=hint)
    return data
