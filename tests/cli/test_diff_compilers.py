"""`sassan diff --sass` of what two compilers make of the same kernels: no block that both have goes without its partner."""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from budget import FULL, PATIENCE, some
from cli.shell import SAMPLES
from cli.test_cuda_source import needs_nvrtc
from sassan import frontend
from sassan.app.builds.code import BlockState, blocks_of, compared
from sassan.compilers.nvrtc import compile_source
from sassan.ir import Function

ARCH = "sm_90"
KERNELS = (
    "memory_patterns",
    "bfs_step",
    "binary_search",
    "matmul_tiled",
    "calls_nested",
    "double_math",
    "float_math",
    "goto_two_heads",
    "histogram_atomic",
)
pytestmark = [pytest.mark.slow, needs_nvrtc]


def functions(path: Path) -> tuple[Function, ...]:
    return tuple(frontend.read(frontend.load(str(path))).functions)


def test_ninety_five_percent_of_unchanged_blocks_find_their_partner(tmp_path: Path):
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc is installed")
    kernels, unchanged, paired = 0, 0, 0
    for name in some(KERNELS, of=9):
        source = SAMPLES / "kernels" / f"{name}.cu"
        old, new = tmp_path / f"{name}.old.cubin", tmp_path / f"{name}.new.cubin"
        old.write_bytes(compile_source(source.read_text("utf-8"), arch=ARCH, name=source.name).cubin)
        subprocess.run([nvcc, f"-arch={ARCH}", "-cubin", "-o", new, source], check=True, timeout=PATIENCE)
        for pair in compared(functions(old), functions(new)):
            assert pair.old is not None
            assert pair.new is not None
            kernels += 1
            before, after = (Counter(block.canonical for block in blocks_of(function)) for function in (pair.old, pair.new))
            unchanged += (before & after).total()
            paired += sum(block.state in {BlockState.SAME, BlockState.RENAMED} for block in pair.blocks)
    assert kernels >= (20 if FULL else 4)
    assert unchanged > (100 if FULL else 10)
    assert paired >= 0.95 * unchanged
