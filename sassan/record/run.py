"""Running a program with the stand-in library instead of the CUDA runtime and driver, under limits."""

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sassan.errors import InputError, UsageError
from sassan.launches import Launches
from sassan.record.devices import DEFAULT, DeviceChoice, simulated_device
from sassan.record.library import library
from sassan.record.names import with_names
from sassan.record.program import executable
from sassan.record.recorder import Recorder
from sassan.record.server import Server
from sassan.scratch import scratch
from sassan.system.processes import Process, start_typed, waited

_DRIVER_VERSION = 13000
_STEP = 0.02
_GRACE_SECONDS = 2.0
"""Seconds between SIGTERM and SIGKILL."""
_ZEROS = "no kernel ran: memory written by kernels is zero, and control flow that depends on it may differ on a GPU"


@dataclass(frozen=True, slots=True)
class RecordingLimits:
    """Limits of a recording: `launches` that differ from the previous one, `seconds`, and `data` in bytes that the host writes."""

    launches: int = 10_000
    seconds: float = 60.0
    data: int = 256 << 20


@dataclass(frozen=True, slots=True)
class RecordedProgram:
    """A recording; `interrupted` by the user. `images` are hash and bytes of the launched code: cubins, or PTX."""

    launches: Launches
    interrupted: bool = False
    images: tuple[tuple[str, bytes], ...] = ()


def record(command: Sequence[str], choice: DeviceChoice, limits: RecordingLimits) -> RecordedProgram:
    """Run a command and return its launches; it inherits the standard streams of this process.

    Raises UsageError without a command or for an unknown device, InputError if the program cannot be recorded (see `executable` and
    `library`), MissingToolError if a C compiler or cuobjdump is missing.
    """
    if not command:
        raise UsageError("usage", "the command is missing", hint="pass it after --: sassan record -o launches.toml -- ./program arguments")
    file = executable(command[0])
    device = simulated_device(choice, file.capability or DEFAULT)
    recorder = Recorder(device, file.runtime, _DRIVER_VERSION, limits.launches, limits.data)
    with scratch() as place:
        folder = library(place / "library")
        path = place / "socket"
        variables = _environment(dict(os.environ), folder, path) | {"SASSAN_RECORD_DATA": str(limits.data)}
        with Server(path, recorder) as server:
            process = _start([command[0], *command[1:]], file.path, variables)
            status, interrupted = _wait(process, recorder, limits.seconds, server)
    if recorder.error is not None:
        raise recorder.error
    rows = with_names(recorder.launches(), recorder.images(), command, os.environ)
    launches = Launches(
        rows, command[0], tuple(command[1:]), device.device, status, recorder.cut, (_ZEROS, *recorder.notes()), recorder.data()
    )
    return RecordedProgram(launches, interrupted, recorder.images())


def _environment(variables: dict[str, str], folder: Path, socket: Path) -> dict[str, str]:
    """Return the environment in which programs load the stand-in library first."""
    for name, separator, value in (
        ("LD_LIBRARY_PATH", ":", str(folder)),
        ("LD_PRELOAD", ":", str(folder / "stand-in.so")),
    ):
        previous = variables.get(name)
        variables[name] = f"{value}{separator}{previous}" if previous else value
    variables["SASSAN_RECORD_SOCKET"] = str(socket)
    variables["TRITON_LIBCUDA_PATH"] = str(folder)
    return variables


def _start(command: list[str], path: str, variables: dict[str, str]) -> Process:
    try:
        return start_typed(command, path=path, variables=variables)
    except OSError as error:
        raise InputError("program-failed", f"'{command[0]}' cannot be started: {error.strerror or error}") from None


def _wait(process: Process, recorder: Recorder, seconds: float, server: Server) -> tuple[int | None, bool]:
    """Return the exit status of the program, None if it was stopped, and whether the user interrupted it."""
    end = time.monotonic() + seconds
    try:
        while process.poll() is None and not recorder.ended.is_set() and time.monotonic() < end:
            recorder.ended.wait(_STEP)
    except KeyboardInterrupt:
        recorder.cut = "interrupted"
        _stop(process, recorder)
        return None, True
    if process.poll() is None:
        recorder.cut = recorder.cut or f"after {seconds:g} s (--time-limit)"
        recorder.ended.set()
        _stop(process, recorder)
        return None, False
    server.drain()
    return (None if recorder.cut else process.returncode), False


def _stop(process: Process, recorder: Recorder) -> None:
    """End the program and its processes that connected to the recorder."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        for number in {process.pid, *recorder.processes}:
            if number != process.pid or process.poll() is None:
                with contextlib.suppress(OSError):
                    os.kill(number, signal_number)
        if waited(process, _GRACE_SECONDS) is not None:
            return
