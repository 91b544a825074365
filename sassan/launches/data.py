"""The file beside a `launches.toml` with the bytes that the host wrote: a ZIP archive with an entry for each, called by its SHA-256."""

import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from sassan.errors import InputError
from sassan.system.reading import read

LIMIT = 1 << 30
"""The largest file, and the most bytes of all its entries that are read."""
_PREFIX = "sha256:"
_NAME = re.compile("[0-9a-f]{64}", re.ASCII)
_TRIED, _WORTH = 1 << 16, 0.8
"""Bytes at the start that are compressed to see what it brings; they must shrink to such a part."""
_PART = 1 << 20
_DATE = (1980, 1, 1, 0, 0, 0)
_HINT = "record the program again, or pass --data assume-none"


def archive(data: Mapping[str, bytes], to: BinaryIO) -> None:
    """Write bytes by their name into a file: the same for the same bytes."""
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name in sorted(data):
            entry = zipfile.ZipInfo(name.removeprefix(_PREFIX), _DATE)
            entry.compress_type, entry.file_size = _method(data[name]), len(data[name])
            with file.open(entry, "w") as stream, memoryview(data[name]) as view:
                for at in range(0, len(view), _PART):  # what is compressed is never whole in memory
                    stream.write(view[at : at + _PART])


def _method(data: bytes) -> int:
    """Return how to store bytes: random floats take long to compress, and hardly become smaller."""
    start = data[:_TRIED]
    shrinks = len(zlib.compress(start, 1)) < _WORTH * len(start)
    return zipfile.ZIP_DEFLATED if shrinks else zipfile.ZIP_STORED


_DAMAGES = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError)
"""What reading an archive raises that is damaged, encrypted, or packed by another method."""


class DataFile(Mapping[str, bytes]):
    """The bytes in a file by their name; each entry is read once, when it is asked for, and held to its name."""

    def __init__(self, path: Path) -> None:
        """Open nothing yet."""
        self._path = path
        self._archive: zipfile.ZipFile | None = None
        self._read: dict[str, bytes] = {}
        self._size = 0

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def __getitem__(self, name: str) -> bytes:
        """Return the bytes of a name; raises KeyError where the file has no such entry, InputError where it cannot be used."""
        if name not in self._read:
            self._read[name] = self._entry(name.removeprefix(_PREFIX))
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        """Say whether the file has an entry of a name; raises InputError where it cannot be used."""
        return isinstance(name, str) and name.removeprefix(_PREFIX) in self._opened().NameToInfo

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return (f"{_PREFIX}{name}" for name in self._opened().namelist() if _NAME.fullmatch(name))

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(1 for _ in self)

    def _entry(self, entry: str) -> bytes:
        file = self._opened()
        size = file.getinfo(entry).file_size
        self._size += size
        if self._size > LIMIT:
            raise self._fail(f"has more than {LIMIT} bytes")
        try:
            with file.open(entry) as stream:
                data = stream.read(size + 1)
        except _DAMAGES as error:
            raise self._fail(f"is damaged: {error}") from None
        if hashlib.sha256(data).hexdigest() != entry:
            raise self._fail(f"is damaged: entry {entry[:16]}… holds other bytes")
        return data

    def _opened(self) -> zipfile.ZipFile:
        if self._archive is None:
            try:
                data = read(self._path, LIMIT)
            except (OSError, ValueError) as error:
                raise self._fail(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
            if len(data) > LIMIT:
                raise self._fail("is too large")
            try:
                self._archive = zipfile.ZipFile(io.BytesIO(data))
            except _DAMAGES as error:
                raise self._fail(f"is damaged: {error}") from None
        return self._archive

    def _fail(self, why: str) -> InputError:
        return InputError("launches-data", f"the recorded data '{self._path}' {why}", hint=_HINT)
