"""A cache of compilations and of costs, addressed by content: JSON and cubins (`sassan/entries.py`)."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import cast

from sassan.arch.files import further_digest
from sassan.entries import Entries

FORMAT = b"sassan-evolve-1"
"""Part of every key: an entry of another version of this module is not used."""
_ENTRIES = Entries("evolve", FORMAT)
_CHECK_INTERVAL = 64
"""The size of the folder is checked for one in this many new entries, chosen by key."""


class Cache:
    """Entries in a folder; with `used` False nothing is stored or found."""

    def __init__(self, *, used: bool = True) -> None:
        """Set whether the cache is used; the folder is located when needed."""
        self._used = used

    def get(self, name: str) -> bytes | None:
        """Return the data of an entry, None if it is missing or damaged."""
        return _ENTRIES.get(name) if self._used else None

    def put(self, name: str, data: bytes) -> None:
        """Store an entry, if possible."""
        if self._used:
            _ENTRIES.put(name, data, look=int(name[:4], 16) % _CHECK_INTERVAL == 0)

    def get_object(self, name: str) -> dict[str, object] | None:
        """Return the JSON object of an entry, None if it is missing."""
        data = self.get(name)
        if data is None:
            return None
        try:
            document: object = json.loads(data)
        except (ValueError, RecursionError):
            return None
        return cast("dict[str, object]", document) if isinstance(document, dict) else None

    def put_object(self, name: str, value: dict[str, object]) -> None:
        """Store a JSON object."""
        self.put(name, json.dumps(value, sort_keys=True).encode())


def key(*parts: str | bytes) -> str:
    """Return the name of the entry that depends on these parts."""
    digest = hashlib.sha256(FORMAT)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@lru_cache(maxsize=1)
def program() -> str:
    """Return a hash of the files of this installation, and of further architectures: costs computed by others are not reused."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(further_digest().encode())
    for path in sorted(path for pattern in ("**/*.py", "**/*.toml", "**/*.lark") for path in root.glob(pattern)):
        seen = path.stat()
        digest.update(f"{path.relative_to(root)} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()
