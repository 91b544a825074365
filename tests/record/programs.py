"""Programs of the CUDA runtime and driver that need neither nvcc nor a GPU: C, linked with the stand-in itself."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from sassan.record.library import library

HERE = Path(__file__).parent
COMPILER = shlex.split(os.environ.get("CC") or "") or [path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))][:1]
"""The words that call the compiler: those of CC build the stand-in, too."""
needs_compiler = pytest.mark.skipif(not COMPILER, reason="no C compiler is installed: the stand-in cannot be built")


def build(folder: Path, name: str, runtime: str = "libcudart.so.13", *options: str) -> Path:
    """Compile a program of this folder, linked with the stand-in as `runtime`."""
    made = folder / name
    command = [*COMPILER, "-w", *options, "-o", str(made), str(HERE / f"{name}.c"), f"-L{library(folder / 'library')}", f"-l:{runtime}"]
    subprocess.run(command, check=True)
    return made
