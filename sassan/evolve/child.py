"""One compilation in a process of its own: started by file name, with an isolated interpreter that imports nothing of sassan.

A compiler may crash or hang; here it takes nobody with it. Standard input holds a JSON object: `seconds`, after which the system ends the
process even where its parent has died, and either `command`, a program to become, or `library`, `source`, `name`, `options`, `kind`
(`cubin` or `ptx`) and `output` for NVRTC. Status: 0 done; 1 the compiler refused, its log on standard error.
"""

import ctypes
import json
import os
import signal
import sys
from pathlib import Path

REFUSED = 1
_GRACE = 2
_GET = {"cubin": ("nvrtcGetCUBINSize", "nvrtcGetCUBIN"), "ptx": ("nvrtcGetPTXSize", "nvrtcGetPTX")}


def main() -> int:
    """Do what standard input says."""
    job = json.load(sys.stdin)
    if hasattr(signal, "alarm"):
        signal.alarm(int(job["seconds"]) + _GRACE)
    if "command" in job:
        os.execv(job["command"][0], job["command"])  # noqa: S606 - the parent found the compiler
    data, log = _compiled(ctypes.CDLL(job["library"]), job)
    if data is None:
        sys.stderr.write(log)
        return REFUSED
    Path(job["output"]).write_bytes(data)
    return 0


def _compiled(library: ctypes.CDLL, job: dict[str, str]) -> tuple[bytes | None, str]:
    """Return what NVRTC makes of the job, None where it refuses, and its log."""
    program = ctypes.c_void_p()
    made = library.nvrtcCreateProgram(ctypes.byref(program), job["source"].encode(), job["name"].encode(), 0, None, None)
    if made:
        return None, f"nvrtcCreateProgram: status {made}\n"
    options = [one.encode() for one in job["options"]]
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    log = _taken(library, program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")
    if status:
        return None, log.rstrip(b"\0").decode("utf-8", "replace") or f"NVRTC: status {status}\n"
    data = _taken(library, program, *_GET[job["kind"]])
    return (data.rstrip(b"\0") if job["kind"] == "ptx" else data), ""


def _taken(library: ctypes.CDLL, program: ctypes.c_void_p, size: str, get: str) -> bytes:
    """Return what a pair of NVRTC's functions tells: how long it is, and the bytes."""
    length = ctypes.c_size_t()
    getattr(library, size)(program, ctypes.byref(length))
    buffer = ctypes.create_string_buffer(length.value)
    getattr(library, get)(program, buffer)
    return buffer.raw


if __name__ == "__main__":
    sys.exit(main())
