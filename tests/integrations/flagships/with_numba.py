"""The flagship kernels of Numba CUDA."""

import subprocess
import sys
import tempfile
from functools import partial
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from numba.cuda import dispatcher

from integrations.flagships.flagship import Family, Flagship
from integrations.flagships.numba_kernels import CASES, NumbaCase
from sassan.api import Kernels, analyze, read
from sassan.compilers import assemble
from sassan.integrations import numba as sassan_numba

SMS = (75, 80, 86, 87, 89, 90, 100, 103, 120, 121)
_PROGRAM = Path(__file__).with_name("numba_program.py")
_SECONDS = 120


def family() -> Family:
    """Return the kernels of the Numba CUDA that is installed."""
    flagships = tuple(Flagship(case.name, partial(_linked if case.linked else _compiled, case)) for case in CASES)
    return Family(f"numba-cuda {metadata.version('numba-cuda')}", SMS, flagships, _analyzed)


def _compiled(case: NumbaCase, sm: int) -> bytes:
    arch, device = f"sm_{sm}", SimpleNamespace(compute_capability=divmod(sm, 10))
    # Numba asks the GPU what a device function is compiled for, also where the kernel's architecture is given.
    with mock.patch.object(dispatcher, "get_current_device", return_value=device):
        text = sassan_numba.ptx(case.function, case.signature, arch=arch, options=case.options)
    return assemble(text.encode(), arch=arch, name=case.name)


def _linked(case: NumbaCase, sm: int) -> bytes:
    """Return the code of a kernel that Numba links with other files: a program launches it where `sassan record` stands in for a GPU."""
    with tempfile.TemporaryDirectory(prefix="sassan-") as scratch:
        folder = Path(scratch)
        record = [
            "-m",
            "sassan",
            "record",
            "-q",
            "--sm",
            f"{sm // 10}.{sm % 10}",
            "-o",
            folder / "launches.toml",
            "--images",
            folder / "images",
        ]
        command = [sys.executable, *record, "--", sys.executable, "-W", "ignore", _PROGRAM, case.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        images = [*(folder / "images").glob("*.cubin")]
        if not images:
            raise RuntimeError(next((line for line in reversed(done.stderr.splitlines()) if "Error: " in line), done.stderr))
        return images[0].read_bytes()


def _analyzed(cubin: bytes, **choices: object) -> Kernels:
    return analyze(read(cubin), **choices)
