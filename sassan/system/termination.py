"""The signals that ask a command to end: it ends as at an interrupt, so that it leaves neither files nor processes behind."""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Timer
from types import FrameType

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_AGAIN = 0.05
"""Seconds until a signal is sent once more."""
_STATUS = 128
"""What a shell adds to the number of a signal that ended a command."""


class Termination(KeyboardInterrupt):
    """A signal came that asks to end."""

    def __init__(self, number: int) -> None:
        """Take the number of the signal."""
        super().__init__()
        self.number = number


class Received:
    """What came so far."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.status: int | None = None
        """The status to end with."""

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Take one signal."""
        del frame
        self.status = _STATUS + number
        raise Termination(number)


@contextmanager
def terminations() -> Generator[Received]:
    """Turn signals that ask to end into an interrupt while the block runs; those that are ignored (`nohup`) stay so."""
    received = Received()
    taken = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    hook = sys.unraisablehook

    def again(ignored: "sys.UnraisableHookArgs") -> None:
        """Raise it once more, where it came amid what drops all exceptions, as the end of a weak reference does."""
        if isinstance(ignored.exc_value, Termination):
            later = Timer(_AGAIN, os.kill, (os.getpid(), ignored.exc_value.number))  # what is raised in here is dropped, too
            later.daemon = True
            later.start()
        elif received.status is None:  # else an object that was only half made when the signal came
            hook(ignored)

    for number in taken:
        signal.signal(number, received.handle)
    sys.unraisablehook = again
    try:
        yield received
    finally:
        sys.unraisablehook = hook
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
