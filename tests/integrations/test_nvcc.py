"""nvcc with an analysis after it: by a stand-in that copies a sample, and by the real one where it is installed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from itertools import cycle, product
from pathlib import Path

import pytest

from budget import FULL, PATIENCE, some, whole
from cli.shell import Result
from integrations.programs import SAMPLES
from sassan.cli import main
from sassan.errors import MissingToolError, UsageError
from sassan.frontend.cubin.tools import tools
from sassan.integrations import nvcc as nvcc_wrapper
from sassan.integrations.gpu_code import is_host_only
from sassan.integrations.nvcc import task
from sassan.integrations.nvcc_line import CommandLine, line

pytestmark = pytest.mark.slow

CUBINS = SAMPLES.parent / "sm_80"
STAND_IN = """#!/bin/sh
# Copies a sample to what follows -o, as nvcc -cubin would make it.
case "$*" in *broken.cu*) echo "broken.cu(1): error" >&2; exit 2;; esac
while [ "$#" -gt 0 ]; do
  case "$1" in -o) out="$2";; *.cu) stem="$(basename "$1" .cu)";; --version) echo "a stand-in"; exit 0;; --dryrun) exit 0;; esac
  shift
done
cp "{cubins}/$stem.cubin" "${{out:-elsewhere.cubin}}"
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
    """Return what a build sees: a process for the wrapper, and one for sassan."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "sassan.integrations.nvcc", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=PATIENCE,
        env={**os.environ, **environment},
    )


@pytest.fixture
def wrapped_here(monkeypatch, capfd, tmp_path):
    """Return a function like `wrapped`: compilers are started; the wrapper and sassan, whose start takes a second, run in this process."""
    started = nvcc_wrapper._status

    def status(command: Sequence[str], *more: object) -> int | None:
        sassan = [sys.executable, "-P", "-m", "sassan"]
        if list(command[: len(sassan)]) != sassan:
            return started(command, *more)
        with redirect_stdout(sys.stderr):  # as `stdout` says
            return main.run(command[len(sassan) :])

    def run(*arguments: object, **environment: str) -> Result:
        with monkeypatch.context() as patch:
            patch.setattr(nvcc_wrapper, "_status", status)
            patch.setattr(sys, "argv", ["sassan-nvcc", *map(str, arguments)])
            patch.chdir(tmp_path)
            for name, value in ({"PATH": os.environ["PATH"]} | environment).items():
                patch.setenv(name, value)
            capfd.readouterr()
            return Result(nvcc_wrapper.main(), *capfd.readouterr())

    return run


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
    ("-arch=sm_80 -cubin -x cu a.txt -o a.cubin", ["a.cubin"]),
    ("-c -x cu a.txt b", ["a.o", "b.o"]),
    ("-cubin -x c++ a.txt", []),
    ("-cubin host.cpp k.cu", ["k.cubin"]),
    ("-c -Xcompiler k.cpp --include-path odd.cu k.cu", ["k.o"]),
    ("-lib k.cu", ["a.a"]),
    ("-dlink -cubin a.o", ["a_dlink.cubin"]),
    ("-rdc true a.o", ["a.out"]),
    ("-cuda k.cu", []),
]


@pytest.mark.parametrize(("words", "expected"), OUTPUTS)
def test_what_a_command_line_makes(words, expected):
    assert [path.as_posix() for path in line(words.split(), {}).outputs] == expected


QUIET = ["--version", "-E k.cu", "-M k.cu", "--dryrun -c k.cu", "a.o b.o -o program", "", "-arch-ls"]


@pytest.mark.parametrize("words", QUIET)
def test_what_compiles_nothing_makes_nothing(words):
    assert line(words.split(), {}) == CommandLine(compiles=False)


@pytest.mark.parametrize("words", ["-cuda k.cu", "-cubin host.cpp", "-optix-ir k.cu", "-c"])
def test_what_compiles_to_something_else_still_compiles(words):
    assert line(words.split(), {}) == CommandLine(compiles=True)


def test_variables_and_files_of_options_are_read_as_nvcc_reads_them(tmp_path):
    told = {"NVCC_PREPEND_FLAGS": "-cubin", "NVCC_APPEND_FLAGS": "-o z.cubin"}
    assert line(["a.cu"], told) == line(["-cubin", "a.cu", "-o", "z.cubin"], {})
    assert line(["-c", "a.cu"], {"NVCC_APPEND_FLAGS": "--dryrun"}) == CommandLine(compiles=False)
    (tmp_path / "more").write_text('-cubin -o "a b.cubin"\n')
    assert line(["-optf", str(tmp_path / "more"), "a.cu"], {}).outputs == (Path("a b.cubin"),)
    (tmp_path / "endless").write_text(f"--options-file={tmp_path}/endless a.cu -c")
    assert line([f"--options-file={tmp_path}/endless"], {}).compiles


def test_a_compiler_in_front_is_taken():
    found = task(["/opt/cuda/bin/nvcc", "-c", "k.cu"], {})
    assert found.compiler == ("/opt/cuda/bin/nvcc", "-c", "k.cu")
    assert found.command == ("analyze", "--quiet")


def test_what_runs_is_told_by_the_option_before_the_environment():
    told = {"SASSAN_NVCC": "check --no-gaps"}
    assert task(["nvcc", "-c", "k.cu"], told).command == ("check", "--allow-unmatched", "--no-gaps")
    assert task(["--sassan", "analyze -W 4", "nvcc", "-c", "k.cu"], told).command == ("analyze", "-W", "4")
    assert task(["--sassan=check --no-gaps -f 'a b'", "nvcc"], {}).command == ("check", "--allow-unmatched", "--no-gaps", "-f", "a b")


def test_quotes_that_are_not_closed_are_refused_in_one_line(wrapped_here):
    for how in ({"SASSAN_NVCC": 'check "'}, {"SASSAN_NVCC": "check 'a"}):
        done = wrapped_here("nvcc", "-c", "k.cu", **how)
        assert (done.status, done.err.splitlines()[0]) == (
            2,
            f"error[usage]: the command of sassan cannot be split into words: no closing quotation: {how['SASSAN_NVCC']}",
        )


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
def test_a_check_that_fails_fails_the_build_and_leaves_no_file(nvcc, tmp_path, wrapped_here):
    gate = {"SASSAN_NVCC": "check --max-wcet 5"}
    done = wrapped_here(nvcc, "-cubin", "saxpy.cu", "-o", "saxpy.cubin", **gate)
    assert done.status == 1
    assert "above the limit 5" in done.err
    assert not (tmp_path / "saxpy.cubin").exists()


def test_an_analysis_that_is_refused_does_not_fail_the_build(nvcc, tmp_path, wrapped_here):
    done = wrapped_here("--sassan", "analyze --no-such-option", nvcc, "-cubin", "saxpy.cu", "-o", "saxpy.cubin")
    assert done.status == 0
    assert "error[usage]" in done.err
    assert (tmp_path / "saxpy.cubin").exists()


def test_the_status_of_the_compiler_is_kept(nvcc, tmp_path, wrapped_here):
    done = wrapped_here(nvcc, "-c", "broken.cu", "-o", "x.o")
    assert (done.status, done.err) == (2, "broken.cu(1): error\n")
    assert wrapped_here(nvcc, "--version").out == "a stand-in\n"
    assert wrapped_here(tmp_path / "nvcc-of-nobody", "-c", "k.cu").status == 4


def test_quotes_and_what_is_escaped_in_options_is_the_compilers(nvcc, wrapped_here):
    done = wrapped_here(nvcc, '-DX="s"', r"-DY=\$(x)", "-DZ=$HOME", "--dryrun", "-c", "saxpy.cu")
    assert (done.status, done.err) == (0, "")


def test_the_compiler_ends_with_a_command_that_is_terminated(tmp_path):
    compiler = tmp_path / "nvcc"
    compiler.write_text("#!/bin/sh\necho $$\nexec sleep 60\n")
    compiler.chmod(0o755)
    command = [sys.executable, "-P", "-m", "sassan.integrations.nvcc", str(compiler), "-c", "k.cu"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as wrapper:
        assert wrapper.stdout is not None
        number = int(wrapper.stdout.readline())
        wrapper.terminate()
        assert wrapper.wait(PATIENCE) == 143
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_compiler_that_wrote_something_else_passes_no_check(nvcc, tmp_path, wrapped_here):
    (tmp_path / "saxpy.cubin").write_bytes((CUBINS / "saxpy.cubin").read_bytes())  # of an earlier build
    done = wrapped_here("--sassan", "check --no-gaps", nvcc, "-cubin", "saxpy.cu")
    assert done.status == 3
    assert done.err.startswith("error[nothing-to-check]: the compiler wrote no 'saxpy.cubin', so nothing was checked\nhint: ")
    assert (tmp_path / "saxpy.cubin").exists()
    done = wrapped_here(nvcc, "-cubin", "saxpy.cu")
    assert done.status == 0
    assert done.err.startswith("warning: the compiler wrote no 'saxpy.cubin', so nothing was analyzed\n")
    done = wrapped_here("--sassan", "check --no-gaps", nvcc, "-optix-ir", "saxpy.cu")
    assert (done.status, done.err.splitlines()[0]) == (
        3,
        "error[nothing-to-check]: what the compiler wrote is not known, so nothing was checked",
    )


def test_what_compiles_nothing_is_not_spoken_of(nvcc, wrapped_here):
    for words in (["--version"], ["--dryrun", "-c", "saxpy.cu"]):
        done = wrapped_here("--sassan", "check --no-gaps", nvcc, *words)
        assert (done.status, done.err) == (0, "")


def test_an_output_that_keeps_nothing_has_nothing_to_check(nvcc, wrapped_here):
    done = wrapped_here("--sassan", "check --no-gaps", nvcc, "-cubin", "saxpy.cu", "-o", os.devnull)
    assert (done.status, done.err) == (0, f"note: '{os.devnull}' holds no GPU code: nothing to check\n")
    assert Path(os.devnull).exists()


@needs_nvdisasm
def test_gates_of_a_whole_project_hold_each_object(nvcc, tmp_path, wrapped_here):
    (tmp_path / "gates.toml").write_text('[function."saxpy"]\nno-gaps = true\n[function."bfs_step"]\nmax-wcet = 5\n')
    gate = {"SASSAN_NVCC": "check --gates gates.toml"}
    assert wrapped_here(nvcc, "-cubin", "saxpy.cu", "-o", "saxpy.cubin", **gate).status == 0
    assert (tmp_path / "saxpy.cubin").exists()
    assert wrapped_here(nvcc, "-cubin", "bfs_step.cu", "-o", "bfs.cubin", **gate).status == 1


PTX = ".version 9.0\n.target sm_80\n.address_size 64\n"
FILES = [
    (b"\x7fELF\x02\x01\x01 a host's object".ljust(64), True),
    (b"\x7fELF\x02\x01\x01 .nv_fatbin".ljust(64), False),
    (b"\x7fELF\x02\x01\x01", False),
    ((CUBINS / "saxpy.cubin").read_bytes()[:63], False),
    (b"!<arch>\na host's archive", True),
    (PTX.encode(), True),
    (PTX.encode() + b".visible .entry k() { ret; }", False),
    (b"", False),
    (b"anything", False),
    ((CUBINS / "saxpy.cubin").read_bytes(), False),
]


@pytest.mark.parametrize(("data", "expected"), FILES)
def test_only_what_surely_holds_no_gpu_code_needs_no_check(tmp_path, data, expected):
    (tmp_path / "made").write_bytes(data)
    assert is_host_only(tmp_path / "made") is expected


HOSTILE = ["-o.cubin", "\x1b[31m.cubin", "a\nb.cubin", "; touch ran;.cubin", "\u202e.cubin", f"{'a' * 240}.cubin"]


DAMAGED = [b"", b"\x7fELF\x02\x01\x01", b"?\0" * 900, (CUBINS / "saxpy.cubin").read_bytes()[:900]]


@pytest.mark.parametrize(("name", "data"), list(product(HOSTILE, DAMAGED)) if FULL else list(zip(HOSTILE, cycle(DAMAGED), strict=False)))
def test_damaged_outputs_of_any_name_fail_a_check_and_steer_no_terminal(tmp_path, name, data, wrapped_here):
    (tmp_path / "made").write_bytes(data)
    compiler = tmp_path / "nvcc"
    compiler.write_text('#!/bin/sh\nfor out; do :; done\ncp "$(dirname "$0")/made" "$out"\n')
    compiler.chmod(0o755)
    done = wrapped_here("--sassan", "check --no-gaps", compiler, "-cubin", "k.cu", "-o", f"./{name}")
    assert done.status == 3
    assert [line.partition("[")[0] for line in done.err.splitlines()].count("error") == 1
    assert all(line.isprintable() for line in done.err.replace("\t", " ").splitlines())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "nvcc"]


def test_names_of_outputs_without_gpu_code_steer_no_terminal(tmp_path, wrapped_here):
    compiler = tmp_path / "nvcc"
    compiler.write_text("#!/bin/sh\nfor out; do :; done\nprintf '!<arch>\\n' > \"$out\"\n")
    compiler.chmod(0o755)
    done = wrapped_here("--sassan", "check --no-gaps", compiler, "-lib", "k.cu", "-o", "\x1b[31m\n.a")
    assert (done.status, done.err) == (0, "note: '\\x1b[31m\\n.a' holds no GPU code: nothing to check\n")


def make(folder: Path, nvcc: object, *arguments: str) -> subprocess.CompletedProcess[str]:
    sassan = f"{sys.executable} -P -m sassan.integrations.nvcc"
    command = ["make", "-C", SAMPLES / "nvcc", f"NVCC={nvcc}", f"SASSAN={sassan}", f"BUILD={folder}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)


@whole("only another make or nvcc changes it")
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@needs_nvdisasm
def test_the_example_of_a_makefile_builds_what_passes_its_gate(nvcc, tmp_path):
    done = make(tmp_path / "build", nvcc, "gated", "LIMIT=100")
    assert done.returncode == 2
    assert "bfs_step:0x0000: max-wcet" in done.stderr
    assert [path.name for path in (tmp_path / "build").iterdir()] == ["saxpy.o"]


@needs_nvcc
def test_the_real_compiler_makes_what_is_analyzed(wrapped_here):
    kernel = SAMPLES.parent / "kernels" / "saxpy.cu"
    both = ("-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90")[: 4 if FULL else 2]
    done = wrapped_here(*both, "-c", kernel, "-o", "saxpy.o")
    assert done.status == 0
    assert [word for word in done.err.split() if word.startswith("sm_")] == ["sm_80", "sm_90"][: 2 if FULL else 1]


KERNEL = 'extern "C" __global__ void k(float *p) { p[threadIdx.x] *= 2; }\n'
HOST = "int f() { return 1; }\n"
ONLY_PTX = ("-gencode", "arch=compute_80,code=compute_80")
LATER = ("-dlto", "-arch=sm_80")
MADE = [
    ("host.cu", HOST, ("-arch=sm_80", "-c"), 0),
    ("host.cpp", HOST, ("-c",), 0),
    ("host.cu", HOST, ("-arch=sm_80", "-cubin"), 0),
    ("host.cu", HOST, ("-arch=sm_80", "-fatbin"), 0),
    ("host.cu", HOST, (*ONLY_PTX, "-c"), 0),
    ("host.cu", HOST, ("-lib",), 0),
    ("k.cu", KERNEL, (*ONLY_PTX, "-c"), 3),
    ("k.cu", KERNEL, (*LATER, "-dc"), 3),
    ("k.txt", KERNEL, ("-arch=sm_80", "-cubin", "-x", "cu"), 1),
]


@needs_nvcc
@pytest.mark.parametrize("made", some(MADE, of=6), ids=lambda made: f"{made[0]} {' '.join(made[2])}")
def test_the_real_compiler_without_gpu_code_passes_and_with_some_does_not(tmp_path, made, wrapped_here):
    name, source, options, status = made
    (tmp_path / name).write_text(source)
    done = wrapped_here("--sassan", "check --max-wcet 1", *options, name, "-o", "made")
    assert done.status == status, done.err
    assert (tmp_path / "made").exists() == (status == 0)
    assert ("'made' holds no GPU code: nothing to check" in done.err) == (status == 0)
    if status and FULL:
        assert wrapped_here(*options, name, "-o", "made").status == 0


@needs_nvcc
def test_the_variables_of_the_real_compiler_are_heeded(tmp_path, wrapped_here):
    (tmp_path / "k.cu").write_text(KERNEL)
    done = wrapped_here("--sassan", "check --max-wcet 1", "-cubin", "k.cu", NVCC_APPEND_FLAGS='-o "z z.cubin"')
    assert (done.status, [path.name for path in tmp_path.iterdir()]) == (1, ["k.cu"])


def test_a_program_can_be_linked_with_the_shared_runtime_so_that_it_can_be_recorded():
    assert task(["--sassan-record", "nvcc", "k.cu"], {}).compiler == ("nvcc", "--cudart", "shared", "k.cu")


@pytest.mark.parametrize("words", [["--cudart", "shared"], ["-cudart=shared"]])
def test_a_shared_runtime_is_asked_for_once(words):
    assert task(["--sassan-record", "nvcc", *words, "k.cu"], {}).compiler == ("nvcc", *words, "k.cu")


@pytest.mark.parametrize("words", [["--cudart", "static"], ["-cudart=none"]])
def test_another_runtime_contradicts_it(words):
    with pytest.raises(UsageError) as caught:
        task(["--sassan-record", "nvcc", *words, "k.cu"], {})
    assert caught.value.code == "usage"
