"""Processes: other programs are started here, by `start` or `start_typed`; our own workers by `multiprocessing` (`sassan/executor`).

Names are data. Another program is given plain names only, in a private folder (`scratch.py`): many hand their arguments on to a shell,
split them, or take them for options. Every wait has a limit, and at its end the whole family of the process is killed. The environment is
the user's, without what would have a shell or Python run something first, and without folders that are named relative to another.
"""

import errno
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sassan.system.folders import is_plain

PIPE, NOTHING = subprocess.PIPE, subprocess.DEVNULL
Process = subprocess.Popen[bytes]
OWN = 3
_DROPPED = frozenset(
    {"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "IFS", "PS4"} | {"PYTHONSTARTUP", "PYTHONINSPECT"}
)
_FUNCTION = "BASH_FUNC_"
_FOLDERS = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
"""Variables that list folders: an empty one, or one with a relative name, is whatever folder a process stands in."""
_WORD = frozenset("=,%:")
"""What a word may hold besides what a name may."""
_GRACE = 5.0
"""Seconds for the system to end a process that was killed."""
_MESSAGES = 1 << 16
"""Bytes of what a process says on standard error that are kept."""
_CONFINED = 'ulimit -t "$1" && ulimit -v "$2" && shift 2 && exec "$@"'
"""What sh does before it becomes the tool: limits that are set from outside come too late for what the tool does at once."""
_OUT_OF_TIME = (signal.SIGKILL, signal.SIGXCPU)
_TOO_LARGE = int(signal.SIGXFSZ)
_OVER_LIMIT = (b"File too large", b"died due to signal %d " % _TOO_LARGE)
"""What tools say where the limit on the size of files is reached; the last is nvcc's word of a program that it ran.

Input can have them say it, too: there has to be a limit.
"""
_NO_SPACE = (b"No space left on device", b"Disk quota exceeded", b"No usable temporary directory", *_OVER_LIMIT)
"""What tools say where a disk takes no more. Input can have them say it, too: then it takes no more of ours."""
_FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})
"""Errors of a disk that takes no more: as `errors.is_full`."""
_PROBE = 1 << 16
"""Bytes that a disk takes that is not full."""
_RAISING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
"""Signals whose handlers raise: a user's, and that of a limit of time."""
_PAUSES = (0.001, 0.05)
"""Seconds between two looks at a process, the first and the longest."""
_SHOWN = 600
"""Characters of a tool's message that an error quotes."""


class ToolProblem(Exception):  # noqa: N818 - it becomes an error of the input where the input is known
    """The tool failed; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """The limits of a run: `seconds` of wall-clock time and `size` bytes of output.

    The system enforces `processor` whole seconds of processor time for each process, also when this one was killed (None: as many as of
    wall-clock time), and `memory` bytes of address space (None: no limit).
    """

    seconds: float
    size: int
    processor: int | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class EndedProcess:
    """A process that has ended: its status (below 0: the signal that ended it), and what it wrote.

    `output` may be one byte longer than the limit of a run; `late`: it was killed at the limit of time.
    """

    status: int
    output: bytes
    messages: bytes
    late: bool


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a process: that of this one, or the given variables."""
    kept = {
        name: value
        for name, value in (os.environ if variables is None else variables).items()
        if name not in _DROPPED and not name.startswith(_FUNCTION)
    }
    for name in kept.keys() & set(_FOLDERS):
        kept[name] = os.pathsep.join(folder for folder in kept[name].split(os.pathsep) if Path(folder).is_absolute())
    return kept


def module_command(file: Path | str, *words: str) -> tuple[str, ...]:
    """Return the command that runs a file of this package with this interpreter; the first `OWN` words of it name the program."""
    # -P: the folder of the file must not come before the standard library.
    return (sys.executable, "-P", str(file), *words)


def start(
    command: Sequence[str],
    *,
    program: int = 1,
    folder: Path | None = None,
    stdin: int = NOTHING,
    stderr: int | IO[bytes] = NOTHING,
) -> Process:
    """Start a program with plain words in a private folder, as the head of a family of processes.

    The first words (`program` of them) name the program that was found, or our own. Raises OSError, and ValueError for a word that is not
    plain: what a user chose is never one.
    """
    for word in command[program:]:
        if not is_plain("".join(char for char in word if char not in _WORD)):
            raise ValueError(f"no plain word for another program: {word!r}")
    return subprocess.Popen(  # noqa: S603 - no shell, and plain words
        list(command), cwd=folder or os.sep, stdin=stdin, stdout=PIPE, stderr=stderr, env=_working_in(folder), start_new_session=True
    )


def _working_in(folder: Path | None) -> dict[str, str]:
    """Return the environment in which a process leaves temporary files in its folder, and they go with that."""
    return environment() if folder is None else {**environment(), "TMPDIR": str(folder)}


def start_typed(
    command: Sequence[str], *, path: str | None = None, variables: Mapping[str, str] | None = None, stdout: int | None = None
) -> Process:
    """Start what the user typed, as it was typed, with the user's streams and environment. Raises OSError."""
    return subprocess.Popen(list(command), executable=path, env=variables, stdout=stdout)  # noqa: S603 - the user's command


def waited(process: Process, seconds: float) -> int | None:
    """Return the status of a process, None where it has not ended within so many seconds."""
    with suppress(subprocess.TimeoutExpired):
        return process.wait(max(seconds, 0.0))
    return None


def kill(process: Process) -> None:
    """Kill a process that `start` started, and all that it started; it has ended when this returns."""
    if process.returncode is not None:
        return  # its number may be another's by now
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    waited(process, _GRACE)


@contextmanager
def put_off() -> Generator[None]:
    """Put off what signals raise to the end of the block: what has begun in it has a name by then, by which it can be ended."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals raise in the main thread only
        return
    came = list[int]()
    handlers = {number: handler for number in _RAISING if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _RAISING)  # none of them raises before all are back
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for each in came:
            signal.raise_signal(each)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def finish(  # noqa: PLR0913 - what a run consists of
    command: Sequence[str], *, seconds: float, size: int, program: int = 1, folder: Path | None = None, given: bytes = b""
) -> EndedProcess:
    """Run a program to its end, with `given` as its standard input; it is killed after `seconds`, or when it writes more than `size` bytes.

    Raises OSError where it cannot be started, or the disk that it writes to is full.
    """
    output, messages = list[bytes](), bytearray()
    with ExitStack() as ending:
        with put_off():
            process = start(command, program=program, folder=folder, stdin=PIPE if given else NOTHING, stderr=PIPE)
            ending.callback(kill, process)  # also what it left behind
            reader = _begun(_collect, process, output, size)
            listener, writer = _begun(_listen, process, messages), _begun(_give, process, given)
        late = not _done(process, reader, output, time.monotonic() + seconds, size)
    for thread in (writer, listener):
        thread.join(_GRACE)
    status = process.returncode
    place = folder or os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - where it has tried to write
    if status and (reason := _unwritten(status, messages, place)):
        raise OSError(reason, os.strerror(reason), str(place))
    return EndedProcess(status, b"".join(output), bytes(messages), late)


def _unwritten(status: int, messages: bytearray, place: Path | str) -> int:
    """Return the number of the error by which a process could not write to a folder, 0 where it failed for another reason."""
    limited = resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
    if -status == _TOO_LARGE or (limited and any(text in messages for text in _OVER_LIMIT)):
        return errno.EFBIG
    if not any(text in messages for text in _NO_SPACE):
        return 0
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(bytes(_PROBE))
    except OSError as error:
        return error.errno if error.errno is not None and error.errno in _FULL else errno.ENOSPC
    return 0


def _begun(work: Callable[..., None], *words: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=words, daemon=True)
    thread.start()
    return thread


def _done(process: Process, reader: threading.Thread, output: list[bytes], end: float, size: int) -> bool:
    """Say whether a process ended, or wrote too much, before the end of its time."""
    reader.join(max(end - time.monotonic(), 0.0))
    over = sum(map(len, output)) > size
    done = not reader.is_alive() and (over or _ends(process, end))
    if not done or over:
        kill(process)
        reader.join(_GRACE)
    return done


def _ends(process: Process, end: float) -> bool:
    """Say whether a process ends in time. Its status is left for `kill`: until then no other can have its number, which is its family's."""
    pause, longest = _PAUSES
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() >= end:
            return False
        time.sleep(pause)
        pause = min(2 * pause, longest)
    return True


def _collect(process: Process, output: list[bytes], size: int) -> None:
    assert process.stdout is not None
    with suppress(OSError, ValueError), process.stdout:
        output.append(process.stdout.read(size + 1))


def _listen(process: Process, messages: bytearray) -> None:
    """Keep the beginning of what a process says, and read all of it."""
    assert process.stderr is not None
    with suppress(OSError, ValueError), process.stderr:
        while data := os.read(process.stderr.fileno(), _MESSAGES):
            messages += data[: _MESSAGES - len(messages)]


def _give(process: Process, given: bytes) -> None:
    if process.stdin is not None:
        with suppress(OSError, ValueError), process.stdin:
            process.stdin.write(given)


def run(command: Sequence[str], folder: Path | None, limits: ToolLimits, *, program: int = 1) -> bytes:
    """Run a tool in a private folder, if it writes anything, and return its standard output; `program` as of `start`.

    Raises ToolProblem, OSError where the disk that it writes to is full.
    """
    name, confined = Path(command[0]).name, _confined(command, limits)
    try:
        ended = finish(confined, program=program + len(confined) - len(command), folder=folder, seconds=limits.seconds, size=limits.size)
    except OSError as error:
        if error.errno in _FULL:
            raise
        raise ToolProblem(f"{name} cannot be started: {error.strerror or error}") from None
    if ended.late:
        raise ToolProblem(f"{name} did not finish within {limits.seconds:g} s")
    if len(ended.output) > limits.size:
        raise ToolProblem(f"{name} printed more than {limits.size} bytes")
    if ended.status:
        raise ToolProblem(f"{name} {_ending(ended.status)}{_first_line(ended.messages.decode('utf-8', 'replace'))}")
    return ended.output


def _confined(command: Sequence[str], limits: ToolLimits) -> Sequence[str]:
    """Return the command that runs the tool under the limits of the system; a tool that cannot be run is left to fail by itself."""
    if not os.access(command[0], os.X_OK):
        return command
    seconds = math.ceil(limits.seconds) if limits.processor is None else limits.processor
    kilobytes = "unlimited" if limits.memory is None else str(limits.memory // 1024)
    return ("/bin/sh", "-c", _CONFINED, "sh", str(seconds), kilobytes, *command)


def _ending(status: int) -> str:
    if status > 0:
        return f"ended with status {status}"
    return "was stopped because it took too long" if -status in _OUT_OF_TIME else f"crashed with signal {-status}"


def _first_line(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    line = next((line for line in lines if "fatal" in line or "error" in line), lines[0] if lines else "")
    return f": {line[:_SHOWN]}" if line else ""
