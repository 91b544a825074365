"""One call, in a process of its own: within its limits, and an error is an answer."""

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType

from sassan.api.estimating import estimate
from sassan.api.launching import Launch
from sassan.app.documents import ErrorFields
from sassan.app.warm import SEARCHES
from sassan.compilers.nvrtc import libraries
from sassan.errors import InputError, OutOfTimeError, SassanError, SelfCheckError
from sassan.executor import can_end_after, end_after
from sassan.fields.field import document
from sassan.mcp.calls import ToolAnswer, ToolCall
from sassan.mcp.catalogue import TOOLS
from sassan.simt.compiled import is_made

_GRACE = 1.5
"""Seconds after the end of the time, in which what the call has started is ended, until the system ends the process."""


_SMALL = b""".version 7.0
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
"""


def work(call: ToolCall) -> ToolAnswer:
    """Return the answer to a call; runs in a worker, which the system ends where the call does not."""
    try:
        with _limited(call):
            os.chdir(call.root)
            return ToolAnswer(TOOLS[call.tool].run(call))
    except SassanError as error:
        return refused(error)
    except MemoryError:
        hint = "send less code, choose one function, or start the server with a larger --memory-limit"
        return refused(InputError("memory-limit", "the call needs more memory than the limit", hint=hint))
    except Exception as error:  # noqa: BLE001 - a defect ends one call, and is said
        return refused(
            SelfCheckError("internal", f"{type(error).__name__}: {error}", hint="this is a defect of sassan: report it with the input")
        )


def refused(error: SassanError) -> ToolAnswer:
    """Return the answer that says an error, with the keys of the command line's JSON."""
    if isinstance(error, OutOfTimeError):
        error.hint = "send less code, choose one function, bound its loops, or start the server with a larger --time-limit"
    return ToolAnswer({"error": document(ErrorFields, error)}, refused=True)


@contextmanager
def _limited(call: ToolCall) -> Generator[None]:
    """Hold the block to the limits of a call.

    Raises OutOfTimeError, which ends programs that it has started; where that does not come through, the system ends the process.
    """
    _limit_memory(call.limits.memory)
    if not can_end_after():
        yield
        return
    error = OutOfTimeError(call.limits.seconds)

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise error

    signal.signal(signal.SIGUSR1, end)
    timer = threading.Timer(call.limits.seconds, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.daemon = True
    end_after(call.limits.seconds + _GRACE)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        end_after(None)


def _limit_memory(limit: int | None) -> None:
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return
    if limit is not None:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def lost(call: ToolCall, error: SassanError) -> ToolAnswer:
    """Return the answer to a call whose process ended: by the system's alarm, or another way."""
    if error.code == OutOfTimeError(0).code:
        return refused(OutOfTimeError(call.limits.seconds))
    return refused(
        InputError("worker-lost", "the process of this call ended", hint="send less code; needs it more memory, raise --memory-limit")
    )


def warm_up(nothing: None) -> None:
    """Load what a first estimate needs, so that no client waits for it: compiled searches, tables, and NVRTC where there is one."""
    SEARCHES["estimate"]()
    if is_made():  # else it is compiled once that is worth it
        SEARCHES["runs"]()
    with suppress(SassanError):
        estimate(_SMALL, launch=Launch(gpu="T4", block=32, grid=1))
    next(libraries(), None)
    del nothing
