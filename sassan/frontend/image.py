"""A binary input: the bytes of a cubin, or of a file that contains cubins."""

from dataclasses import dataclass

MAGIC = {"ELF": b"\x7fELF", "fatbin": b"\x50\xed\x55\xba", "archive": b"!<arch>\n"}
"""The first bytes of each kind of file."""


@dataclass(frozen=True, slots=True)
class Image:
    """A named binary input; the name is as the user typed it (`-` for standard input)."""

    name: str
    data: bytes

    @property
    def kind(self) -> str:
        """Return a key of MAGIC, or ''."""
        return format_of(self.data)


def format_of(data: bytes) -> str:
    """Return the kind of file that begins with these bytes, a key of MAGIC, or ''."""
    return next((kind for kind, magic in MAGIC.items() if data.startswith(magic)), "")
