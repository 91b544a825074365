"""A cache of disassembly, addressed by content (`sassan/entries.py`)."""

import hashlib
from pathlib import Path

from sassan.entries import Entries

FORMAT = b"sassan-disassembly-1"
"""Part of every key: entries of other versions of this module do not match."""
ENTRIES = Entries("disassembly", FORMAT)
_SUFFIX = ".sass"


def folder() -> Path:
    """Return the folder of the entries."""
    return ENTRIES.folder()


def key(data: bytes, *context: str) -> str:
    """Return the name of the entry for an input and everything else that determines its disassembly."""
    digest = hashlib.sha256(FORMAT)
    for part in (hashlib.sha256(data).hexdigest(), *context):
        digest.update(f"\0{part}".encode())
    return digest.hexdigest()


def get(name: str) -> bytes | None:
    """Return the text of an entry, None if it is missing or damaged."""
    return ENTRIES.get(f"{name}{_SUFFIX}")


def put(name: str, text: bytes) -> None:
    """Store an entry, if possible."""
    ENTRIES.put(f"{name}{_SUFFIX}", text)
