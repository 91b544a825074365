"""nvcc with an analysis after it: by a stand-in that copies a sample, and by the real one where it is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from integrations.programs import SAMPLES
from sassan.errors import MissingToolError, UsageError
from sassan.frontend.cubin.tools import tools
from sassan.integrations.nvcc import outputs, task

CUBINS = SAMPLES.parent / "sm_80"
STAND_IN = """#!/bin/sh
# Copies a sample to what follows -o, as nvcc -cubin would make it.
case "$*" in *broken.cu*) echo "broken.cu(1): error" >&2; exit 2;; esac
while [ "$#" -gt 0 ]; do
  case "$1" in -o) out="$2";; *.cu) stem="$(basename "$1" .cu)";; --version) echo "a stand-in"; exit 0;; esac
  shift
done
cp "{cubins}/$stem.cubin" "$out"
"""
needs_nvdisasm = pytest.mark.skipif(not tools("nvdisasm"), reason="no nvdisasm is installed")
NVCC = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(NVCC is None or not tools("cuobjdump"), reason="no nvcc or cuobjdump is installed")


@pytest.fixture
def nvcc(tmp_path):
    path = tmp_path / "nvcc"
    path.write_text(STAND_IN.format(cubins=CUBINS))
    path.chmod(0o755)
    return path


def wrapped(*arguments: object, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "sassan.integrations.nvcc", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=240,
        env={**os.environ, **environment},
    )


OUTPUTS = [
    ("-arch=sm_80 -c k.cu -o build/k.o", ["build/k.o"]),
    ("-c --output-file=k.obj src/k.cu", ["k.obj"]),
    ("-dc a.cu b.cpp -odir out", ["out/a.o", "out/b.o"]),
    ("-cubin -I inc k.cu", ["k.cubin"]),
    ("-fatbin k.cu", ["k.fatbin"]),
    ("--ptx k.cu", ["k.ptx"]),
    ("k.cu -lcublas", ["a.out"]),
    ("a.o b.o -o program", []),
    ("-dlink a.o b.o", ["a_dlink.o"]),
    ("-rdc=true a.o b.o -o program", ["program"]),
    ("--version", []),
]


@pytest.mark.parametrize(("line", "expected"), OUTPUTS)
def test_what_a_command_line_makes(line, expected):
    assert [path.as_posix() for path in outputs(line.split())] == expected


def test_a_compiler_in_front_is_taken():
    found = task(["/opt/cuda/bin/nvcc", "-c", "k.cu"], {})
    assert found.compiler == ("/opt/cuda/bin/nvcc", "-c", "k.cu")
    assert found.command == ("analyze", "--quiet")


def test_what_runs_is_told_by_the_option_before_the_environment():
    told = {"SASSAN_NVCC": "check --no-gaps"}
    assert task(["nvcc", "-c", "k.cu"], told).command == ("check", "--no-gaps")
    assert task(["--sassan", "analyze -W 4", "nvcc", "-c", "k.cu"], told).command == ("analyze", "-W", "4")
    assert task(["--sassan=check --no-gaps -f 'a b'", "nvcc"], {}).command == ("check", "--no-gaps", "-f", "a b")


@pytest.mark.parametrize("arguments", [["--sassan"], ["--sassan", "cfg", "nvcc"]])
def test_a_command_that_is_not_for_builds_is_refused(arguments):
    with pytest.raises(UsageError):
        task(arguments, {})


def test_without_nvcc_the_error_says_what_to_do():
    with pytest.raises(MissingToolError) as error:
        task(["-c", "k.cu"], {"PATH": "", "CUDA_HOME": "/nowhere"})
    assert error.value.code == "nvcc-missing"


@needs_nvdisasm
def test_bounds_go_to_standard_error_and_the_file_is_made(nvcc, tmp_path):
    done = wrapped(nvcc, "-arch=sm_80", "-cubin", "saxpy.cu", "-o", "saxpy.cubin", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "saxpy     sm_80" in done.stderr
    assert (tmp_path / "saxpy.cubin").read_bytes() == (CUBINS / "saxpy.cubin").read_bytes()


@needs_nvdisasm
def test_a_check_that_fails_fails_the_build_and_leaves_no_file(nvcc, tmp_path):
    gate = {"SASSAN_NVCC": "check --max-wcet 5"}
    done = wrapped(nvcc, "-cubin", "saxpy.cu", "-o", "saxpy.cubin", folder=tmp_path, **gate)
    assert done.returncode == 1
    assert "above the limit 5" in done.stderr
    assert not (tmp_path / "saxpy.cubin").exists()


def test_an_analysis_that_is_refused_does_not_fail_the_build(nvcc, tmp_path):
    done = wrapped("--sassan", "analyze --no-such-option", nvcc, "-cubin", "saxpy.cu", "-o", "saxpy.cubin", folder=tmp_path)
    assert done.returncode == 0
    assert "error[usage]" in done.stderr
    assert (tmp_path / "saxpy.cubin").exists()


def test_the_status_of_the_compiler_is_kept(nvcc, tmp_path):
    done = wrapped(nvcc, "-c", "broken.cu", "-o", "x.o", folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, "broken.cu(1): error\n")
    assert wrapped(nvcc, "--version", folder=tmp_path).stdout == "a stand-in\n"
    assert wrapped(tmp_path / "nvcc-of-nobody", "-c", "k.cu", folder=tmp_path).returncode == 4


def make(folder: Path, nvcc: object, *arguments: str) -> subprocess.CompletedProcess[str]:
    sassan = f"{sys.executable} -P -m sassan.integrations.nvcc"
    command = ["make", "-C", SAMPLES / "nvcc", f"NVCC={nvcc}", f"SASSAN={sassan}", f"BUILD={folder}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@needs_nvdisasm
def test_the_example_of_a_makefile_builds_what_passes_its_gate(nvcc, tmp_path):
    done = make(tmp_path / "build", nvcc, "gated", "LIMIT=100")
    assert done.returncode == 2
    assert "bfs_step:0x0000: max-wcet" in done.stderr
    assert [path.name for path in (tmp_path / "build").iterdir()] == ["saxpy.o"]


@needs_nvcc
def test_the_real_compiler_makes_what_is_analyzed(tmp_path):
    kernel = SAMPLES.parent / "kernels" / "saxpy.cu"
    done = wrapped("-arch=sm_80", "-c", kernel, "-o", "saxpy.o", folder=tmp_path)
    assert done.returncode == 0
    assert "saxpy     sm_80" in done.stderr
    both = ("-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90")
    done = wrapped(*both, "-fatbin", kernel, folder=tmp_path)
    assert [word for word in done.stderr.split() if word.startswith("sm_")] == ["sm_80", "sm_90"]
