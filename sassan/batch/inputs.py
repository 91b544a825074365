"""What a batch reads: files by name, patterns, and what a directory holds.

Nothing is held but the names of the directories entered: a hundred thousand files cost no memory. The rule of a directory, which is
stated in docs/developer/design/batches.md: entries by name, hidden ones omitted, links to directories not followed; taken are `.sass` and
`.ptx`, and, whatever they are called, cubins, fatbins, and programs, libraries and archives with GPU code inside.
"""

import glob
import os
import re
import stat
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from sassan.errors import InputError
from sassan.frontend.image import format_of
from sassan.system.reading import plain

TEXTS = frozenset({".sass", ".ptx"})
"""Extensions of what is text: other text is not looked into, since much of it speaks of kernels and is none."""
_MARKS = (b".nv_fatbin", b"__nv_relfatbin")
"""Sections of host code that hold GPU code."""
_ELF64_LITTLE = b"\x7fELF\x02\x01"
_MACHINE_CUDA = 190
_ELF_HEADER, _SECTION_HEADER = 64, 64
_NAMES_LIMIT = 1 << 20
_BLOCK = 1 << 20
_SEPARATORS = re.escape(os.sep + (os.altsep or ""))
_ANY_DEPTH = re.compile(rf"(?<![^{_SEPARATORS}])\*\*(?![^{_SEPARATORS}])")
"""A part of a pattern that stands for folders of any depth."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file to be read: `file` as the results name it, `path` from everywhere, `size` in bytes; `error` is why it cannot be taken."""

    file: str
    path: str
    size: int = 0
    error: InputError | None = None


@dataclass(slots=True)
class Passed:
    """What was passed over: entries of directories that are no input, and files that came twice."""

    other: int = 0
    repeated: int = 0
    seen: set[bytes] = field(default_factory=set[bytes])
    """Digests of the real paths so far."""


def expand(paths: Sequence[str], passed: Passed, results: Path | None = None) -> Iterator[Input]:
    """Yield every input that the paths name, in their order, each file once; `results` is the file of results, which is never an input.

    A path that names nothing is an input, too: whoever reads it says what is wrong with it.
    """
    results_path = os.path.realpath(results) if results is not None else None
    for source in _named(paths, passed):
        real = os.path.realpath(source.path)
        if real == results_path:
            passed.other += 1
            continue
        digest = blake2b(os.fsencode(real), digest_size=16).digest()
        if digest in passed.seen:
            passed.repeated += 1
            continue
        passed.seen.add(digest)
        yield source


def _named(paths: Iterable[str], passed: Passed) -> Iterator[Input]:
    for path in paths:
        if glob.has_magic(path) and not os.path.lexists(path):
            matches = sorted(set(_matches(path)))
            if not matches:
                yield _refused(path, "missing-file", f"nothing matches '{path}'")
            for match in matches:
                yield from _one(match, passed)
        else:
            yield from _one(path, passed)


def _matches(pattern: str) -> Iterator[str]:
    """Yield what a pattern matches; `**` goes through no link, and hidden folders are for patterns that name them."""
    # As glob does it, a tree with two links to itself has no end: each level doubles the paths.
    any_depth = _ANY_DEPTH.search(pattern)
    if any_depth is None:
        yield from glob.iglob(pattern)  # noqa: PTH207 - as typed, also from the root
        return
    head, rest = pattern[: any_depth.start()], pattern[any_depth.end() :]
    inner = rest.lstrip(os.sep + (os.altsep or ""))
    for top in glob.iglob(head) if head else ("",):  # noqa: PTH207
        for folder in _folders(top):
            if inner:
                yield from _matches(glob.escape(folder) + inner)
            elif rest:
                yield folder
            else:
                yield from (folder, *_visible(folder))


def _folders(top: str) -> Iterator[str]:
    """Yield a directory and those below it that are neither hidden nor links, each with a separator at its end."""
    left = [top]
    while left:
        folder = left.pop()
        yield folder
        left += [f"{path}{os.sep}" for path in _visible(folder) if os.path.isdir(path)]  # noqa: PTH112 - see _entries


def _visible(folder: str) -> list[str]:
    """Return the paths in a directory that are neither hidden nor links to directories, none where it cannot be listed."""
    with suppress(OSError), os.scandir(folder or os.curdir) as entries:
        return [folder + entry.name for entry in entries if not entry.name.startswith(".") and not _linked(entry)]
    return []


def _one(path: str, passed: Passed) -> Iterator[Input]:
    """Yield what stands at a path that somebody named."""
    try:
        seen = Path(path).stat()
    except (OSError, ValueError):
        yield _input(path, 0)  # to read it says why not
        return
    if stat.S_ISDIR(seen.st_mode):
        yield from _walk(path, passed)
    elif stat.S_ISREG(seen.st_mode):
        yield _input(path, seen.st_size)
    else:
        yield _refused(path, "not-a-file", f"'{path}' is not a regular file", hint="a batch reads files that it can read again")


def _walk(top: str, passed: Passed) -> Iterator[Input]:
    """Yield what a directory holds, by name; a loop instead of a recursion, since directories may be nested deeper than calls."""
    open_directories = [iter([top])]
    while open_directories:
        path = next(open_directories[-1], None)
        if path is None:
            open_directories.pop()
        elif Path(path).is_dir():
            entries = _entries(path)
            if isinstance(entries, Input):
                yield entries
            else:
                open_directories.append(iter(entries))
        else:
            size = _taken(path)
            if size is None:
                passed.other += 1
            else:
                yield _input(path, size)


def _entries(directory: str) -> list[str] | Input:
    """Return the paths in a directory that are looked at, by name, or why there are none to be had."""
    try:
        with os.scandir(directory) as entries:
            names = sorted(
                entry.name
                for entry in entries
                if not entry.name.startswith(".") and (entry.is_dir(follow_symlinks=False) or not _linked(entry))
            )
    except OSError as error:
        return _refused(directory, "unreadable", f"'{directory}' cannot be listed: {error.strerror or error}")
    return [os.path.join(directory, name) for name in names]  # noqa: PTH118 - names that are no valid text stay as they are


def _linked(entry: "os.DirEntry[str]") -> bool:
    """Say whether an entry is a link to a directory; following it could lead round in circles."""
    with suppress(OSError):
        return entry.is_symlink() and entry.is_dir()
    return True


def _taken(path: str) -> int | None:
    """Return the size of a file that the rule of directories takes, None for another."""
    try:
        seen = Path(path).stat()
        if not stat.S_ISREG(seen.st_mode):
            return None
        if Path(path).suffix.lower() in TEXTS:
            return seen.st_size
        with plain(path) as file:
            return seen.st_size if _gpu_code(file) else None
    except OSError:
        # A text that may not be read is worth a word; anything else is not known to be one.
        return 0 if Path(path).suffix.lower() in {*TEXTS, ".cubin", ".fatbin"} else None


def _gpu_code(file: BinaryIO) -> bool:
    """Say whether a file is a cubin or holds some."""
    head = file.read(_ELF_HEADER)
    match format_of(head):
        case "fatbin":
            return True
        case "archive":
            return _mentions(file)
        case "ELF":
            return _machine(head) == _MACHINE_CUDA or _has_section(file, head)
        case _:
            return False


def _machine(head: bytes) -> int:
    return int.from_bytes(head[18:20], "little")


def _has_section(file: BinaryIO, head: bytes) -> bool:
    """Say whether a host program has a section of GPU code: its table of names is looked at, nothing else."""
    if not head.startswith(_ELF64_LITTLE) or len(head) < _ELF_HEADER:
        return False
    (table,) = struct.unpack_from("<Q", head, 40)
    size, _, names = struct.unpack_from("<HHH", head, 58)
    if size != _SECTION_HEADER or table + size * (names + 1) > 1 << 62:
        return False
    file.seek(table + size * names)
    header = file.read(size)
    if len(header) < size:
        return False
    offset, length = struct.unpack_from("<QQ", header, 24)
    if offset > 1 << 62:
        return False
    file.seek(offset)
    text = file.read(min(length, _NAMES_LIMIT))
    return any(mark in text for mark in _MARKS)


def _mentions(file: BinaryIO) -> bool:
    """Say whether an archive speaks of GPU code anywhere: its members are not taken apart here."""
    file.seek(0)
    rest = b""
    while block := file.read(_BLOCK):
        if any(mark in rest + block for mark in _MARKS):
            return True
        rest = block[-16:]
    return False


def _input(path: str, size: int) -> Input:
    return Input(path, os.path.abspath(path), size)  # noqa: PTH100 - see _entries


def _refused(path: str, code: str, message: str, hint: str | None = None) -> Input:
    return Input(path, os.path.abspath(path), 0, InputError(code, message, hint=hint))  # noqa: PTH100 - see _entries
