"""Every deliberate error: a code that tests match, a span when the input has one, and a hint.

A gap is not an error: it is a result, collected with all the others.
"""

import errno
from dataclasses import dataclass
from functools import partial

from sassan.source import Source, Span


class SassanError(Exception):
    """Base of every deliberate error; the CLI prints it once, on stderr, and exits with `status`.

    `code` is a stable name (docs/reference/error-codes.md), `message` says what is wrong, `hint` what to do, None where nothing is known to
    help; `source` and `span` are the text and the place in it, None where there is none. `status` is an exit status of the command line
    (2 usage, 3 input refused, 4 tool or space missing, 5 self-check).
    """

    status = 3

    def __init__(
        self,
        code: str,
        message: str,
        *,
        source: Source | None = None,
        span: Span | None = None,
        hint: str | None = None,
    ) -> None:
        """Create the error with the parts that the CLI prints."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.source = source
        self.span = span
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """Support pickling, so that the error reaches another process with all its parts."""
        return partial(type(self), source=self.source, span=self.span, hint=self.hint), (self.code, self.message)


class InputError(SassanError):
    """The input was refused: it is unreadable, truncated or inconsistent."""


class OutOfTimeError(InputError):
    """The time of a command is over: what it works on is refused, and nothing else is begun."""

    def __init__(self, seconds: float) -> None:
        """Create the error of a limit in seconds."""
        super().__init__("time-limit", f"it is not done within {seconds:g} s", hint="raise --time-limit, or choose functions with -f")
        self.seconds = seconds

    def __reduce__(self) -> tuple[object, ...]:
        """Support pickling."""
        return type(self), (self.seconds,)


class UsageError(SassanError):
    """The options contradict each other or name something that does not exist."""

    status = 2


class MissingToolError(SassanError):
    """An external tool or an optional extra is needed and not installed; the hint is the install command."""

    status = 4


class StorageError(SassanError):
    """What has to be written cannot be: a disk is full, or a quota or a limit of sizes is reached."""

    status = 4


_FULL = {
    errno.ENOSPC: "free space, or choose another disk",
    getattr(errno, "EDQUOT", errno.ENOSPC): "free space, or raise the quota",
    errno.EFBIG: "raise the limit on the size of files: ulimit -f",
}
"""Errors of the system where nothing more can be written, and what to do."""


def is_full(error: Exception) -> bool:
    """Say whether an error is one of a full disk, a quota, or a limit of the size of files."""
    return isinstance(error, OSError) and error.errno in _FULL


def no_space(place: str, error: Exception) -> StorageError:
    """Return the error of what cannot be written for lack of space."""
    number = getattr(error, "errno", None)
    return StorageError("no-space", f"cannot write {place}: {getattr(error, 'strerror', None) or error}", hint=_FULL.get(number))


class SelfCheckError(SassanError):
    """A result failed its re-check: a defect of sassan, never of the input."""

    status = 5


class DefectWarning(UserWarning):
    """A defect of sassan that a check found, and that leaves a gap and no wrong number: to be reported, with what shows it again."""


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """A construct at `address` that sassan does not understand; paths through it have no bound.

    `code` is a stable name (docs/reference/gap-codes.md has its cause and remedy), `message` says what is missing and what to pass.
    """

    address: int
    code: str
    message: str
