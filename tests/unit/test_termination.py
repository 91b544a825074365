"""Signals that ask a command to end, where Python drops exceptions, and where they are ignored."""

import os
import signal
import sys
from threading import Event

import pytest

from sassan.system.termination import Termination, terminations


class Ending:
    """An object whose end is interrupted."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def drop() -> None:
    """Receive a signal at the end of an object."""
    ending = Ending()
    del ending
    Event().wait(60)


def test_a_signal_amid_what_drops_exceptions_still_ends_the_command():
    hook = sys.unraisablehook
    with terminations() as received, pytest.raises(Termination):
        drop()
    assert received.status == 128 + signal.SIGTERM
    assert sys.unraisablehook is hook
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminations() as received:
            os.kill(os.getpid(), signal.SIGHUP)
        assert received.status is None
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
