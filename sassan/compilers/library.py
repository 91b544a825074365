"""NVRTC, called through ctypes, and a program that runs it in a separate process.

Started by its file name with an isolated interpreter, it imports nothing of sassan: it starts quickly, and a compiler that crashes or
hangs affects no other process. Each line of standard input then holds a job as a JSON object: `seconds`, after which the system ends the
process even if its parent has died, and either `command`, a program to execute instead, or `library`, `folder`, `source`, `name`,
`options`, `kind` (`CUBIN` or `PTX`) and `output` for NVRTC. Each job of NVRTC is answered by a line of standard output: `null`, or its log
as a JSON string where it refused.

C interface: NVRTC documentation, "Compilation" and "General Information Query".
"""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

_GRACE = 2


class RefusedError(Exception):
    """NVRTC ended with a status other than 0; the message is its log, or else names the call."""


class Library:
    """An NVRTC library."""

    def __init__(self, path: str) -> None:
        """Load it and query its version and the SM numbers that it supports.

        Raises OSError, AttributeError or RefusedError if it is not NVRTC, or older than CUDA 11.2.
        """
        self.path = path
        self._calls = ctypes.CDLL(path)
        major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.version = major.value, minor.value
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", numbers)
        self.numbers = frozenset(numbers)

    def compiled(
        self, source: str, name: str, options: Sequence[str], kinds: Sequence[str], instances: Sequence[str] = ()
    ) -> tuple[str, tuple[bytes, ...]]:
        """Return the log of a compilation, and its outputs of these kinds (`CUBIN`; `PTX` without its final zero).

        Raises RefusedError.
        """
        program = ctypes.c_void_p()
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), os.fsencode(name), 0, None, None)
        array = (ctypes.c_char_p * len(options))(*map(os.fsencode, options))
        try:
            for text in instances:
                self._call("nvrtcAddNameExpression", program, text.encode())
            try:
                self._call("nvrtcCompileProgram", program, len(options), array)
            except RefusedError as error:
                raise RefusedError(self._log(program) or str(error)) from None
            made = (self._result(program, kind) for kind in kinds)
            return self._log(program), tuple(text.rstrip(b"\0") if kind == "PTX" else text for kind, text in zip(kinds, made, strict=True))
        finally:
            self._call("nvrtcDestroyProgram", ctypes.byref(program))

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._calls, name)(*arguments)
        if status != 0:
            raise RefusedError(f"{name}: status {status}")

    def _log(self, program: ctypes.c_void_p) -> str:
        return self._result(program, "ProgramLog").rstrip(b"\0").decode("utf-8", "replace")

    def _result(self, program: ctypes.c_void_p, name: str) -> bytes:
        """Return an output of NVRTC: one function gives its size, another its bytes."""
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{name}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{name}", program, buffer)
        return buffer.raw


def main() -> int:
    """Run the jobs on standard input, the next when one is answered, and return the exit status."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a compiler prints is not an answer
    for line in sys.stdin:
        job = json.loads(line)
        if hasattr(signal, "alarm"):
            signal.alarm(int(job["seconds"]) + _GRACE)
        if "command" in job:
            os.execv(job["command"][0], job["command"])  # noqa: S606 - the parent found the compiler
        json.dump(_answer(job), answers)
        answers.write("\n")
        answers.flush()
        if hasattr(signal, "alarm"):
            signal.alarm(0)
    return 0


def _answer(job: dict[str, Any]) -> str | None:
    os.chdir(job["folder"])  # NVRTC resolves includes relative to its working directory
    try:
        _, made = _loaded(job["library"]).compiled(job["source"], job["name"], job["options"], (job["kind"],))
    except RefusedError as refused:
        return str(refused)
    finally:
        os.chdir(os.sep)  # the folder is removed
    Path(job["output"]).write_bytes(made[0])
    return None


@cache
def _loaded(path: str) -> Library:
    return Library(path)


if __name__ == "__main__":
    sys.exit(main())
