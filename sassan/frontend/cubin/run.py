"""Runs one of NVIDIA's tools: a time limit, a limit on its output, limits of the system from its first instruction on."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

_OUT_OF_TIME = (signal.SIGKILL, getattr(signal, "SIGXCPU", signal.SIGKILL))
_SHOWN = 300
"""Characters of a tool's message that an error quotes."""
_CONFINED = 'ulimit -t "$1" && ulimit -v "$2" && shift 2 && exec "$@"'
"""What sh does before it becomes the tool: limits that are set from outside come too late for what the tool does at once."""


class ToolProblem(Exception):  # noqa: N818 - it becomes an error of the input where the input is known
    """The tool failed; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """The limits of a run: `seconds` of wall-clock time and `size` bytes of output.

    Where the system can enforce it (Linux), also `processor` whole seconds of processor time and `memory` bytes of address space; None:
    no limit.
    """

    seconds: float
    size: int
    processor: int | None = None
    memory: int | None = None


def run(command: list[str], folder: Path, limits: ToolLimits) -> bytes:
    """Run a command in `folder` and return its standard output; raises ToolProblem."""
    name = Path(command[0]).name
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(  # noqa: S603 - a located tool, with arguments of sassan
                _confined(command, limits),
                cwd=folder,
                env={**os.environ, "TMPDIR": str(folder)},  # what it leaves there is removed with the folder
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        except OSError as error:
            raise ToolProblem(f"{name} cannot be started: {error.strerror or error}") from None
        late = threading.Event()
        output = _read(process, limits, late)
        errors.seek(0)
        message = errors.read(4 * _SHOWN).decode("utf-8", "replace")
    if late.is_set():
        raise ToolProblem(f"{name} did not finish within {limits.seconds:g} s")
    if len(output) > limits.size:
        raise ToolProblem(f"{name} printed more than {limits.size} bytes")
    if process.returncode:
        raise ToolProblem(f"{name} {_ending(process.returncode)}{_first_line(message)}")
    return output


def _read(process: subprocess.Popen[bytes], limits: ToolLimits, late: threading.Event) -> bytes:
    """Return at most one byte more than the limit; the process has ended."""

    def stop() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(limits.seconds, stop)
    timer.start()
    try:
        with process:
            assert process.stdout is not None
            output = process.stdout.read(limits.size + 1)
            if len(output) > limits.size:
                process.kill()
    except BaseException:
        process.kill()
        raise
    finally:
        timer.cancel()
    return output


def _confined(command: list[str], limits: ToolLimits) -> list[str]:
    """Return the command that runs the tool under the limits of the system; a tool that cannot be run is left to fail by itself."""
    if sys.platform != "linux" or (limits.processor is None and limits.memory is None) or not os.access(command[0], os.X_OK):
        return command
    seconds = "unlimited" if limits.processor is None else str(limits.processor)
    kilobytes = "unlimited" if limits.memory is None else str(limits.memory // 1024)
    return ["/bin/sh", "-c", _CONFINED, "sh", seconds, kilobytes, *command]


def _ending(status: int) -> str:
    if status > 0:
        return f"ended with status {status}"
    return "was stopped because it took too long" if -status in _OUT_OF_TIME else f"crashed with signal {-status}"


def _first_line(message: str) -> str:
    line = next((line.strip() for line in message.splitlines() if "fatal" in line or "error" in line), "")
    return f": {line[:_SHOWN]}" if line else ""
