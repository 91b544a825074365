"""The folder whose files a client may name: nothing outside it is opened for one, wherever names and links lead."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sassan.errors import InputError, UsageError
from sassan.system import reading

_LONGEST = 1024
_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t]*\r?\n")
"""The end of a line that goes on: compilers join it with the next."""
_NOTHING = r"(?:\s|/\*.*?\*/)*"
_DIRECTIVE = re.compile(
    rf"(?:(?:\#|%:|\?\?=){_NOTHING}(?:include|include_next|import|embed)\b|__has_(?:include|include_next|embed)\b{_NOTHING}\()"
    rf"{_NOTHING}(?P<name>\"[^\"\n]*\"|<[^>\n]*>)?",
    re.DOTALL,
)
"""What has a compiler open a file, also where it stands in a comment or a string: rather one too many."""
_MOST_HEADERS = 256


@dataclass(frozen=True, slots=True)
class RootFolder:
    """A folder, with all links on the way to it followed."""

    path: Path

    @classmethod
    def of(cls, name: str) -> "RootFolder":
        """Return the folder of a name; raises UsageError `no-folder`."""
        path = Path(name)
        if not path.is_dir():
            raise UsageError("no-folder", f"'{name}' is not a folder", hint="pass the folder whose files clients may name: --root DIR")
        return cls(path.resolve())

    def file(self, name: str) -> str:
        """Return the path of a file below the folder, relative to it.

        Raises InputError `outside-root` for a name or a link that leads out of the folder, or to what is hidden, `missing-file`.
        """
        real = self._real(self.path, name)
        if real is None:
            hint = f"name a file below {self.path}, relative to it; nothing else is opened"
            raise InputError("outside-root", f"'{name[:_LONGEST]}' leads out of the folder of this server", hint=hint)
        if not real.is_file():
            raise InputError("missing-file", f"there is no file '{name}'", hint=f"name a file below {self.path}, relative to it")
        return f"./{real.relative_to(self.path)}"

    def new_file(self, name: str, suffix: str) -> Path:
        """Return the path of a file to write, with this end of its name, in a folder that exists; one that is there is replaced.

        Raises InputError `outside-root`, UsageError `usage` for another end of the name.
        """
        real = self._real(self.path, name)
        if real is None or not real.parent.is_dir() or (real.exists() and not real.is_file()):
            raise InputError("outside-root", f"'{name[:_LONGEST]}' is not a file to write below the folder of this server")
        if real.suffix != suffix:
            raise UsageError("usage", f"'{name[:_LONGEST]}' does not end in {suffix}", hint=f"pass a name such as launches{suffix}")
        return real

    def check_includes(self, text: str, place: str | None) -> None:
        """Refuse a source that has a compiler open files outside the folder; `place` is its folder, None where it is in no file.

        Headers below the folder are looked through, too. Raises InputError `outside-root`.
        """
        top = self.path / place if place is not None else None
        left, seen = [(text, top)], set[Path]()
        while left:
            source, folder = left.pop()
            for name in _included(source):
                header = self._header(name, [each for each in (folder, top) if each is not None])
                if header is not None and header not in seen:
                    seen.add(header)
                    if len(seen) > _MOST_HEADERS:
                        raise _not_included(name)
                    left.append((reading.text(header, errors="replace"), header.parent))

    def _header(self, name: str, folders: Sequence[Path]) -> Path | None:
        """Return the header below this folder that is included, looked for in these; None for one of the compiler; raises InputError."""
        path = name[1:-1]
        for folder in folders if path else ():
            real = self._real(folder, path)
            if real is not None and real.is_file():
                return real
            if os.path.lexists(folder / path):
                raise _not_included(name)  # it leads out, or is not a file
        if not path or path.startswith(("/", "~")) or "\\" in path or ".." in path.split("/"):
            raise _not_included(name)
        return None

    def _real(self, base: Path, name: str) -> Path | None:
        """Return where a name leads, None where that is outside, or hidden."""
        if not name or "\0" in name or len(name) > _LONGEST:
            return None
        try:
            real = (base / name).resolve()
        except (OSError, RuntimeError, ValueError):
            return None
        inside = real.is_relative_to(self.path) and not any(part.startswith(".") for part in real.relative_to(self.path).parts)
        return real if inside else None


def _included(text: str) -> Iterator[str]:
    """Yield what a source includes, as it is written; raises InputError where only the compiler knows its name."""
    for match in _DIRECTIVE.finditer(_SPLICE.sub("", text)):
        if match["name"] is None:
            raise _not_included(match[0][:_LONGEST].strip())
        yield match["name"]


def _not_included(name: str) -> InputError:
    message = f"{name}: a file outside the folder of this server, or one whose name is not written there, is not included"
    return InputError("outside-root", message, hint='include headers of the compiler (<...>) and files below the folder ("...") by name')
