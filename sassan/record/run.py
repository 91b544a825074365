"""Runs the program with the stand-in in the place of the CUDA runtime and driver, under limits."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sassan.errors import InputError, UsageError
from sassan.launches import Launches
from sassan.record.devices import DEFAULT, DeviceChoice, product
from sassan.record.library import library
from sassan.record.program import program
from sassan.record.recorder import Recorder
from sassan.record.server import Server

_DRIVER_VERSION = 13000
_STEP = 0.02
_PATIENCE = 2.0
"""Seconds between the request to end and the order."""
_ZEROS = "no kernel ran: memory that kernels write holds zeros, and what the program decides by it may differ on a GPU"


@dataclass(frozen=True, slots=True)
class Limits:
    """When a recording is cut off: after `launches` that differ from the one before, after `seconds`."""

    launches: int = 10_000
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording; `interrupted` where the user ended it. `images` are hash and bytes of the code that was launched: cubins, or PTX."""

    launches: Launches
    interrupted: bool = False
    images: tuple[tuple[str, bytes], ...] = ()


def record(command: Sequence[str], choice: DeviceChoice, limits: Limits, environment: Mapping[str, str] | None = None) -> Recorded:
    """Run a command and return its launches; its streams are those of this process.

    Raises UsageError for no command or an unknown device, InputError where the program cannot be recorded (see `program` and `library`),
    MissingToolError where a C compiler or cuobjdump is missing.
    """
    if not command:
        raise UsageError("usage", "no program is named", hint="sassan record -o launches.toml -- ./program arguments")
    file = program(command[0])
    shown = product(choice, file.capability or DEFAULT)
    recorder = Recorder(shown, file.runtime, _DRIVER_VERSION, limits.launches)
    folder = library()
    with tempfile.TemporaryDirectory(prefix="sassan-") as scratch:
        path = Path(scratch) / "socket"
        variables = _environment(dict(os.environ if environment is None else environment), folder, path)
        with Server(path, recorder) as server:
            process = _start([command[0], *command[1:]], file.path, variables)
            status, interrupted = _wait(process, recorder, limits.seconds, server)
    if recorder.error is not None:
        raise recorder.error
    launches = Launches(
        recorder.launches(), command[0], tuple(command[1:]), shown.device, status, recorder.cut, (_ZEROS, *recorder.notes())
    )
    return Recorded(launches, interrupted, recorder.images())


def _environment(variables: dict[str, str], folder: Path, socket: Path) -> dict[str, str]:
    """Return the environment in which programs find the stand-in before any other library."""
    for name, separator, value in (
        ("LD_LIBRARY_PATH", ":", str(folder)),
        ("LD_PRELOAD", ":", str(folder / "stand-in.so")),
    ):
        before = variables.get(name)
        variables[name] = f"{value}{separator}{before}" if before else value
    variables["SASSAN_RECORD_SOCKET"] = str(socket)
    variables["TRITON_LIBCUDA_PATH"] = str(folder)
    return variables


def _start(command: list[str], path: str, variables: dict[str, str]) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(command, executable=path, env=variables)  # noqa: S603 - what the user typed
    except OSError as error:
        raise InputError("program-failed", f"'{command[0]}' cannot be started: {error.strerror or error}") from None


def _wait(process: "subprocess.Popen[bytes]", recorder: Recorder, seconds: float, server: Server) -> tuple[int | None, bool]:
    """Return the status of the program, None where it was cut off, and whether the user interrupted it."""
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


def _stop(process: "subprocess.Popen[bytes]", recorder: Recorder) -> None:
    """End the program and the processes of it that spoke to the recorder."""
    for order in (signal.SIGTERM, signal.SIGKILL):
        for number in {process.pid, *recorder.processes}:
            if number != process.pid or process.poll() is None:
                with contextlib.suppress(OSError):
                    os.kill(number, order)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
            return
    process.wait()
