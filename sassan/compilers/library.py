"""NVRTC itself, called through ctypes, and a program that has it compile in a process of its own.

Started by its file name with an isolated interpreter, it imports nothing of sassan: it starts in a moment, and a compiler that crashes or
hangs takes nobody with it. Standard input then holds a JSON object: `seconds`, after which the system ends the process even where its
parent has died, and either `command`, a program to become, or `library`, `source`, `name`, `options`, `kind` (`CUBIN` or `PTX`) and
`output` for NVRTC. Status: 0 done; 1 the compiler refused, its log on standard error.

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


class Refused(Exception):  # noqa: N818 - it becomes an error of the input where the input is known
    """NVRTC ended with a status other than 0; the message is its log, or else which call ended so."""


class Library:
    """One NVRTC."""

    def __init__(self, path: str) -> None:
        """Load it, and ask for its version and for the SM numbers that it compiles for.

        Raises OSError, AttributeError, Refused where it is none, or older than CUDA 11.2.
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
        """Return the log of a compilation, and what it made: a `CUBIN`, `PTX` without the zero behind it.

        Raises Refused.
        """
        program = ctypes.c_void_p()
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
        array = (ctypes.c_char_p * len(options))(*(one.encode() for one in options))
        try:
            for one in instances:
                self._call("nvrtcAddNameExpression", program, one.encode())
            try:
                self._call("nvrtcCompileProgram", program, len(options), array)
            except Refused as error:
                raise Refused(self._log(program) or str(error)) from None
            made = (self._made(program, kind) for kind in kinds)
            return self._log(program), tuple(one.rstrip(b"\0") if kind == "PTX" else one for kind, one in zip(kinds, made, strict=True))
        finally:
            self._call("nvrtcDestroyProgram", ctypes.byref(program))

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._calls, name)(*arguments)
        if status != 0:
            raise Refused(f"{name}: status {status}")

    def _log(self, program: ctypes.c_void_p) -> str:
        return self._made(program, "ProgramLog").rstrip(b"\0").decode("utf-8", "replace")

    def _made(self, program: ctypes.c_void_p, what: str) -> bytes:
        """Return what a pair of functions tells: how long it is, and the bytes."""
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{what}", program, buffer)
        return buffer.raw


def main() -> int:
    """Do what standard input says."""
    job = json.load(sys.stdin)
    if hasattr(signal, "alarm"):
        signal.alarm(int(job["seconds"]) + _GRACE)
    if "command" in job:
        os.execv(job["command"][0], job["command"])  # noqa: S606 - the parent found the compiler
    try:
        _, made = Library(job["library"]).compiled(job["source"], job["name"], job["options"], (job["kind"],))
    except Refused as refused:
        sys.stderr.write(f"{refused}\n")
        return REFUSED
    Path(job["output"]).write_bytes(made[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
