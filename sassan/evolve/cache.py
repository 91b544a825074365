"""A cache of compilations and of costs, addressed by content: JSON and cubins (`sassan/entries.py`)."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import cast

from sassan.entries import Entries

FORMAT = b"sassan-evolve-1"
"""Part of every key: an entry of another version of this module is never found."""
_ENTRIES = Entries("evolve", FORMAT)
_LOOK_EVERY = 64
"""The size of the folder is looked at when the key of a new entry falls to one in so many."""


class Cache:
    """Entries in one folder; `used` False keeps and finds nothing."""

    def __init__(self, *, used: bool = True) -> None:
        """Look for the folder when it is needed."""
        self._used = used

    def get(self, name: str) -> bytes | None:
        """Return the data of an entry, None when there is none that is whole."""
        return _ENTRIES.get(name) if self._used else None

    def put(self, name: str, data: bytes) -> None:
        """Keep an entry, where that is possible."""
        if self._used:
            _ENTRIES.put(name, data, look=int(name[:4], 16) % _LOOK_EVERY == 0)

    def get_object(self, name: str) -> dict[str, object] | None:
        """Return the JSON object of an entry, None when there is none."""
        data = self.get(name)
        if data is None:
            return None
        try:
            found: object = json.loads(data)
        except ValueError:
            return None
        return cast("dict[str, object]", found) if isinstance(found, dict) else None

    def put_object(self, name: str, value: dict[str, object]) -> None:
        """Keep a JSON object."""
        self.put(name, json.dumps(value, sort_keys=True).encode())


def folder() -> Path:
    """Return the folder of the entries."""
    return _ENTRIES.folder()


def key(*parts: str | bytes) -> str:
    """Return the name of the entry for everything that it depends on."""
    digest = hashlib.sha256(FORMAT)
    for one in parts:
        data = one if isinstance(one, bytes) else one.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@lru_cache(maxsize=1)
def program() -> str:
    """Return a hash of which files this sassan consists of: costs that another one computed are not taken."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(one for pattern in ("**/*.py", "**/*.toml", "**/*.lark") for one in root.glob(pattern)):
        seen = path.stat()
        digest.update(f"{path.relative_to(root)} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()
