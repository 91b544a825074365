"""The CMake functions: on files that a target makes, and on CUDA where nvcc is installed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from budget import PATIENCE, whole
from integrations.programs import SAMPLES
from sassan.frontend.cubin.tools import tools
from sassan.integrations.cmake import FOLDER

CMAKE = shutil.which("cmake")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CMAKE is None or not (shutil.which("make") or shutil.which("ninja")), reason="cmake is not installed"),
    pytest.mark.skipif(not tools("nvdisasm"), reason="no nvdisasm is installed"),
]
HEAD = f"""cmake_minimum_required(VERSION 3.25)
project(bounds LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH "{FOLDER.as_posix()}")
include(Sassan)
set(cubin "${{CMAKE_CURRENT_BINARY_DIR}}/saxpy.cubin")
add_custom_command(OUTPUT "${{cubin}}"
  COMMAND "${{CMAKE_COMMAND}}" -E copy "{(SAMPLES.parent / "sm_80" / "saxpy.cubin").as_posix()}" "${{cubin}}")
add_custom_target(cubins DEPENDS "${{cubin}}")
"""
SASSAN = Path(sys.executable).with_name("sassan")
STAND_IN = """#!/bin/sh
# Says what it is asked; a file that holds the word "bad" fails, and so does an option that is unknown.
echo "sassan $*"
case "$*" in *--no-such-option*) exit 2;; esac
for last; do :; done
! grep -q bad "$last"
"""
"""A start of sassan takes a second: what the functions put into a build is tested without it."""


@pytest.fixture
def stand_in(tmp_path):
    path = tmp_path / "sassan"
    path.write_text(STAND_IN)
    path.chmod(0o755)
    return path


def configured(folder: Path, *more: str, source: Path | None = None, sassan: Path = SASSAN) -> subprocess.CompletedProcess[str]:
    if source is None:
        (folder / "CMakeLists.txt").write_text(HEAD + "\n".join(more[:1]))
        source, more = folder, more[1:]
    command = [CMAKE or "cmake", "-S", source, "-B", folder / "build", f"-DSASSAN_EXECUTABLE={sassan}", *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)


def built(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [CMAKE or "cmake", "--build", folder / "build", *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)


def test_bounds_are_printed_after_a_target_is_built(tmp_path):
    assert configured(tmp_path, 'sassan_analyze(cubins FILES "${cubin}" OPTIONS --block-dim 64,2 -W 8)').returncode == 0
    done = built(tmp_path)
    assert done.returncode == 0
    assert "8 warps" in done.stdout
    assert "saxpy     sm_80" in done.stdout


def test_a_gate_that_fails_fails_every_build(tmp_path, stand_in):
    call = 'sassan_check(cubins FILES "${CMAKE_CURRENT_SOURCE_DIR}/k.cubin")'
    (tmp_path / "k.cubin").write_text("bad")
    assert configured(tmp_path, call, sassan=stand_in).returncode == 0
    for _ in range(2):
        done = built(tmp_path)
        assert done.returncode != 0
        assert "sassan check --allow-unmatched --quiet" in done.stdout


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_a_file_that_changed_alone_is_checked_again(tmp_path, stand_in):
    """The program is up to date: only the file that is named beside it is another."""
    (tmp_path / "k.cubin").write_text("good")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }")
    calls = """enable_language(C)
add_executable(program main.c)
sassan_check(program FILES "${CMAKE_CURRENT_SOURCE_DIR}/k.cubin" OPTIONS --max-wcet 40)
sassan_check(program FILES "${cubin}" OPTIONS --max-wcet 41)
add_dependencies(program cubins)"""
    assert configured(tmp_path, calls, sassan=stand_in).returncode == 0
    done = built(tmp_path)
    assert done.returncode == 0
    assert [line for line in sorted(done.stdout.splitlines()) if line.startswith("sassan check --")] == [
        f"sassan check --allow-unmatched --quiet --max-wcet 40 {tmp_path}/k.cubin",
        f"sassan check --allow-unmatched --quiet --max-wcet 41 {tmp_path}/build/saxpy.cubin",
    ]
    (tmp_path / "k.cubin").write_text("bad")
    done = built(tmp_path)
    assert done.returncode != 0
    assert f"--max-wcet 40 {tmp_path}/k.cubin" in done.stdout


@whole("bounds of a real sassan are printed above, and what the functions put into a build is tested with a stand-in")
def test_a_target_is_held_to_the_gates_of_its_project(tmp_path):
    (tmp_path / "gates.toml").write_text('[function."saxpy"]\nno-gaps = true\n[function."elsewhere"]\nno-gaps = true\n')
    call = 'sassan_check(cubins FILES "${cubin}" OPTIONS --gates "${CMAKE_CURRENT_SOURCE_DIR}/gates.toml")'
    assert configured(tmp_path, call).returncode == 0
    assert built(tmp_path).returncode == 0


def test_an_analysis_that_is_refused_fails_no_build(tmp_path, stand_in):
    assert configured(tmp_path, 'sassan_analyze(cubins FILES "${cubin}" OPTIONS --no-such-option)', sassan=stand_in).returncode == 0
    done = built(tmp_path)
    assert done.returncode == 0
    assert "sassan analyze --quiet --no-such-option" in done.stdout


WRONG = [
    ("sassan_analyze(nothing)", "there is no target 'nothing'"),
    ("sassan_analyze(cubins)", "name them after"),
    ("sassan_check(cubins --max-wcet 5)", "Write FILES or OPTIONS before it"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_a_call_that_means_nothing_is_refused_when_it_is_configured(tmp_path, call, said):
    done = configured(tmp_path, call)
    assert done.returncode == 1
    assert said in " ".join(done.stderr.split())


@whole("only another CMake or toolkit changes it")
@pytest.mark.skipif(shutil.which("nvcc") is None or not tools("cuobjdump"), reason="no nvcc or cuobjdump is installed")
def test_the_example_builds_with_the_real_compiler_and_holds_its_gate(tmp_path):
    options = (f"-DPython3_EXECUTABLE={sys.executable}", f"-DCMAKE_CUDA_COMPILER={shutil.which('nvcc')}")
    assert configured(tmp_path, *options, source=SAMPLES / "cmake").returncode == 0
    done = built(tmp_path)
    assert done.returncode == 0
    assert "all pass" in done.stdout
    assert "bfs_step  sm_80" in done.stdout
    assert configured(tmp_path, *options, "-DLIMIT=5", source=SAMPLES / "cmake").returncode == 0
    assert built(tmp_path).returncode != 0
