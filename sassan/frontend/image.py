"""An input that is no text: the bytes of a cubin, or of a file that holds cubins."""

from dataclasses import dataclass

MAGIC = {"ELF": b"\x7fELF", "fatbin": b"\x50\xed\x55\xba", "archive": b"!<arch>\n"}
"""What each kind of file begins with."""


@dataclass(frozen=True, slots=True)
class Image:
    """A named input of bytes; the name is what the user typed (`-` for standard input)."""

    name: str
    data: bytes

    @property
    def kind(self) -> str:
        """Return a key of MAGIC, or ''."""
        return kind_of(self.data)


def kind_of(data: bytes) -> str:
    """Return which kind of file these bytes begin, a key of MAGIC, or ''."""
    return next((kind for kind, magic in MAGIC.items() if data.startswith(magic)), "")
