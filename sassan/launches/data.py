"""The file beside a `launches.toml` with the bytes that the host wrote: a ZIP archive with an entry for each, called by its SHA-256."""

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from sassan.errors import InputError
from sassan.system.reading import read

LIMIT = 1 << 30
"""The largest file, and the most bytes of one entry."""
_PREFIX = "sha256:"
_NAME = re.compile("[0-9a-f]{64}", re.ASCII)
_DATE = (1980, 1, 1, 0, 0, 0)
_HINT = "record the program again, or pass --data assume-none"


def archive(data: Mapping[str, bytes]) -> bytes:
    """Return bytes by their name as a file: the same for the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name in sorted(data):
            file.writestr(zipfile.ZipInfo(name.removeprefix(_PREFIX), _DATE), data[name], zipfile.ZIP_DEFLATED)
    return out.getvalue()


class DataFile(Mapping[str, bytes]):
    """The bytes in a file by their name; each entry is read when it is asked for, and held to its name."""

    def __init__(self, path: Path) -> None:
        """Open nothing yet."""
        self._path = path
        self._archive: zipfile.ZipFile | None = None

    def __getitem__(self, name: str) -> bytes:
        """Return the bytes of a name; raises KeyError where the file has no such entry, InputError where it cannot be used."""
        file = self._opened()
        entry = name.removeprefix(_PREFIX)
        size = file.getinfo(entry).file_size
        if size > LIMIT:
            raise self._fail(f"has an entry of {size} bytes")
        try:
            with file.open(entry) as stream:
                data = stream.read(size + 1)
        except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise self._fail(f"is damaged: {error}") from None
        if hashlib.sha256(data).hexdigest() != entry:
            raise self._fail(f"is damaged: entry {entry[:16]}… holds other bytes")
        return data

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return (f"{_PREFIX}{name}" for name in self._opened().namelist() if _NAME.fullmatch(name))

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(1 for _ in self)

    def _opened(self) -> zipfile.ZipFile:
        if self._archive is None:
            try:
                data = read(self._path, LIMIT)
                if len(data) > LIMIT:
                    raise self._fail("is too large")
                self._archive = zipfile.ZipFile(io.BytesIO(data))
            except (OSError, ValueError) as error:
                raise self._fail(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
            except zipfile.BadZipFile as error:
                raise self._fail(f"is damaged: {error}") from None
        return self._archive

    def _fail(self, why: str) -> InputError:
        return InputError("launches-data", f"the recorded data '{self._path}' {why}", hint=_HINT)
