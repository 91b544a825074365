"""Output files: their names, one per function and none that leaves its folder, and what is said of a file that was written."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from sassan.cli.output.terminal import note, safe
from sassan.errors import UsageError
from sassan.files import Content
from sassan.plurals import count_of
from sassan.render.files import refuse_unwritable, write_atomically

_STANDARD_OUTPUT = "-"
_LONGEST = 80
"""Characters of a kernel name that are kept in a file name; file systems end at 255 bytes."""


def stem(name: str) -> str:
    """Return a plain file name for a kernel; a name that had to be changed or cut ends in a hash, so that names stay apart."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip(".-")[:_LONGEST]
    if plain and plain == name:
        return plain
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain or 'function'}-{digest}"


def extension(path: str, known: tuple[str, ...]) -> str:
    """Return the extension of an output file without its dot, lower case; refuse before the work what could not be written after it.

    Raises UsageError `output-format` when it is not one of `known`, `unwritable-output`.
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in known:
        names = ", ".join(f".{kind}" for kind in known)
        raise UsageError("output-format", f"cannot tell the format of '{path}'", hint=f"end the name in one of {names}")
    check_writable(path)
    return suffix


def check_writable(path: str | None, inputs: Iterable[str | None] = ()) -> None:
    """Refuse before the work an output that could not be written after it, or would replace an input; `-` is standard output.

    Raises UsageError `unwritable-output`.
    """
    if path is None or path == _STANDARD_OUTPUT:
        return
    file = Path(path)
    if "{name}" not in str(file.parent):
        refuse_unwritable(file)
    for name in inputs:
        if name is not None and name != _STANDARD_OUTPUT and Path(name).exists() and file.exists() and file.samefile(name):
            raise UsageError("unwritable-output", f"'{path}' would replace what is read", hint="name another file")


def check(pattern: str | None, names: tuple[str, ...]) -> None:
    """Refuse early what `outputs` would refuse after the work.

    Raises UsageError `several-functions`.
    """
    if pattern is not None:
        outputs(pattern, names)


def outputs(pattern: str, names: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the output file of each function: `{name}` in the pattern stands for the name of the function.

    Raises UsageError `several-functions` when one file name was given for several functions.
    """
    if "{name}" not in pattern:
        if len(names) > 1:
            shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")  # noqa: PLR2004 - a few names are enough to see what is meant
            raise UsageError(
                "several-functions",
                f"{len(names)} functions and one output file: {shown}",
                hint="choose one with -f NAME, or put {name} into the file name: -o '{name}.svg'",
            )
        return (Path(pattern),) * len(names)
    taken: dict[str, int] = {}
    paths: list[Path] = []
    for name in names:
        plain = stem(name)
        taken[plain] = taken.get(plain, 0) + 1
        number = f"-{taken[plain]}" if taken[plain] > 1 else ""
        paths.append(Path(pattern.replace("{name}", plain + number)))
    return tuple(paths)


def save(path: Path | str, data: Content, *, quiet: bool, remark: str = "") -> None:
    """Write an output file whole and say so, with the `remark`, unless `quiet`; hard links that are cut are always named.

    Raises UsageError `unwritable-output`.
    """
    others = write_atomically(Path(path), data)
    if others:
        names = count_of(others, "other hard link")
        note(f"note: '{safe(str(path))}' had {names} to its file, which keep the old content\n")
    if not quiet:
        note(f"wrote {safe(str(path))}{remark}\n")
