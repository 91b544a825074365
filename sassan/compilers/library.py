"""NVRTC, called through ctypes, and a program that runs it in a separate process.

Started by its file name with an isolated interpreter, it imports nothing of sassan: it starts quickly, and a compiler that crashes or
hangs affects no other process. Standard input then holds a JSON object: `seconds`, after which the system ends the process even if its
parent has died, and either `command`, a program to execute, or `library`, `source`, `name`, `options`, `kind` (`CUBIN` or `PTX`) and
`output` for NVRTC. Status: 0 success; 1 the compiler refused, with its log on standard error.

C interface: NVRTC documentation, "Compilation" and "General Information Query".
"""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

REFUSED = 1
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
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
        array = (ctypes.c_char_p * len(options))(*(text.encode() for text in options))
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
    """Run the job on standard input and return the exit status."""
    job = json.load(sys.stdin)
    if hasattr(signal, "alarm"):
        signal.alarm(int(job["seconds"]) + _GRACE)
    if "command" in job:
        os.execv(job["command"][0], job["command"])  # noqa: S606 - the parent found the compiler
    try:
        _, made = Library(job["library"]).compiled(job["source"], job["name"], job["options"], (job["kind"],))
    except RefusedError as refused:
        sys.stderr.write(f"{refused}\n")
        return REFUSED
    Path(job["output"]).write_bytes(made[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
