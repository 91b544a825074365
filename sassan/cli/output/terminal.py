"""Standard output and standard error: the only place that writes to them, and the rule of what untrusted text may do to a terminal."""

import os
import sys
from collections import Counter
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

import typer

from sassan.errors import UsageError, is_full, no_space
from sassan.names import beginning, brief, in_text, middle, readable, short_names

_HEADING = 100
"""Characters of a name that stands over what is printed of a function."""
BROKEN_PIPE = 141
"""128 + SIGPIPE: what a shell reports of a program whose reader has gone. It is not a documented status: no program reads it."""


def prepare() -> None:
    """Make the standard streams fit for use: one that was closed reads and writes nothing, a character that cannot be shown is escaped."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - it lives as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def safe(text: str) -> str:
    """Return `text` with every character that could steer a terminal (control, direction, surrogate, line end) spelled as an escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


_MANGLED = ContextVar("mangled", default=False)
"""Whether names stay as they are in the input."""


@contextmanager
def mangled(wanted: bool) -> Generator[None]:
    """Show names as they are in the input while a block runs, where that is wanted."""
    before = _MANGLED.set(wanted)
    try:
        yield
    finally:
        _MANGLED.reset(before)


_EVERY_GAP = ContextVar("every_gap", default=False)
"""Whether each gap has a line of its own."""


@contextmanager
def every_gap(wanted: bool) -> Generator[None]:
    """Print each gap with its place while a block runs, where that is wanted."""
    before = _EVERY_GAP.set(wanted)
    try:
        yield
    finally:
        _EVERY_GAP.reset(before)


def every_gap_wanted() -> bool:
    """Return whether each gap is to be printed with its place."""
    return _EVERY_GAP.get()


def label(name: str, width: int = 0) -> str:
    """Return the name of a function as a person reads it, harmless, in at most `width` characters (0: whole).

    What is too long loses its parameters first: instances of one template differ in what is left.
    """
    if _MANGLED.get():
        text = short = safe(name)
    else:
        text, short = safe(readable(name)), safe(brief(name))
    if not width or len(text) <= width:
        return text
    return short if len(short) <= width else middle(short, width)


def heading(name: str) -> str:
    """Return the name of a function as a head over what is printed of it: one line or two, however long the name is."""
    return label(name, _HEADING)


def labels(names: Collection[str], width: int) -> Mapping[str, str]:
    """Return how several names are shown beside each other in about `width` characters (0: whole): different ones by different texts."""
    if not width:
        return {name: label(name) for name in names}
    short = {name: middle(name, width) for name in names} if _MANGLED.get() else short_names(names, width)
    counts = Counter(short.values())
    return {name: safe(text) if counts[text] == 1 else label(name) for name, text in short.items()}


def message(text: str) -> str:
    """Return a message with names as a person reads them, harmless."""
    return safe(text if _MANGLED.get() else in_text(text))


def cut(text: str, width: int) -> str:
    """Return `text` when it fits into `width` characters, else its beginning and an ellipsis; a number stands whole or not at all."""
    return text if len(text) <= width else beginning(text, max(width - 1, 0)) + "…"


def listed(text: str, width: int) -> str:
    """Return `text` when it fits into `width` characters, else its beginning, and how many parts of its list are left."""
    if len(text) <= width:
        return text
    head = text[:width].rpartition(", ")[0]
    more = text[len(head) :].count(", ")
    return f"{head}, … and {more} more" if head and more else cut(text, width)


def is_terminal(stream: TextIO) -> bool:
    """Return whether a person reads this stream."""
    return stream.isatty()


def colourful(stream: TextIO) -> bool:
    """Return whether colours may be used: a terminal, and neither NO_COLOR nor a dumb one."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Return the columns of the reader's terminal, 80 where there is none."""
    return typer.get_terminal_size((80, 24)).columns


def out(text: str) -> None:
    """Write a result to standard output; when its reader has gone, end quietly.

    Raises typer.Exit with BROKEN_PIPE, StorageError `no-space` when the disk behind it is full, UsageError `cannot-write` where it cannot
    be written for another reason.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up()
        raise typer.Exit(BROKEN_PIPE) from None
    except OSError as error:
        _give_up()
        if is_full(error):
            raise no_space("standard output", error) from None
        raise UsageError("cannot-write", f"cannot write standard output: {error.strerror or error}") from None


def _give_up() -> None:
    """Let the interpreter, which flushes once more at its end, flush to nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(text: str) -> None:
    """Write a message to standard error; a reader that has gone misses nothing that the exit status does not say."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
