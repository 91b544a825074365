"""The command as a real process: start-up, signals, pipes, exit status."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from budget import FULL, PATIENCE, some, whole
from cli.shell import SAMPLES, Sassan, assert_refused

pytestmark = pytest.mark.slow

SAXPY = str(SAMPLES / "sm_61" / "saxpy.cuobjdump.sass")
COMMAND = [sys.executable, "-m", "sassan"]
HEAVY = ["rich", "networkx", "pulp", "highspy", "numpy", "lark", "pygraphviz", "graphviz", "sassan.app.analysis"]


def run(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments], input=stdin, capture_output=True, check=False, timeout=PATIENCE, env={**os.environ, **environment}
    )


def test_the_status_of_the_process_is_that_of_the_command_and_a_pipe_has_no_colors():
    if FULL:
        assert run("--version").returncode == 0
        assert run("analyze", SAXPY, "--frob").returncode == 2
    missing = run("analyze", "missing.sass", TERM="xterm-256color")
    assert missing.returncode == 3
    assert b"\x1b" not in missing.stderr


def test_help_imports_nothing_heavy():
    code = "import sys; from sassan.cli.main import run; run(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    loaded = done.stdout.splitlines()[-1].split()
    assert "sassan.cli.main" in loaded
    assert [one for one in HEAVY if one in loaded] == []


def test_help_answers_in_a_blink():
    run("--help")  # compiled files are there
    before = os.times()
    run("--help")
    after = os.times()
    # The processor's time, because a busy machine has nothing to do with it; an idle one answers in about this time.
    assert after.children_user + after.children_system - before.children_user - before.children_system < 0.4


def test_bytes_that_are_no_text_are_refused_without_a_traceback(sassan: Sassan):
    result = sassan("analyze", "-", stdin=bytes(range(256)) * 50)
    assert_refused(result, 3)
    assert result.out == ""


def test_a_reader_that_goes_away_ends_the_command_quietly(tmp_path: Path):
    os.mkfifo(tmp_path / "input")
    process = subprocess.Popen([*COMMAND, "strings", str(tmp_path / "input")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process, (tmp_path / "input").open("wb") as writer:  # opens when the command reads
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        writer.write(Path(SAXPY).read_bytes())
        writer.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_an_error_and_no_traceback():
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "analyze", SAXPY], stdout=full, stderr=subprocess.PIPE, check=False, timeout=PATIENCE)
    assert done.returncode == 4
    assert done.stderr.startswith(b"error[no-space]: cannot write standard output: No space left on device\n")


def test_an_interrupt_ends_with_130_and_leaves_nothing(tmp_path: Path):
    os.mkfifo(tmp_path / "input")
    command = [*COMMAND, "ipet", str(tmp_path / "input"), "-o", str(tmp_path / "x.lp")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process, (tmp_path / "input").open("wb"):  # opens when the command reads
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert [one.name for one in tmp_path.iterdir()] == ["input"]


@pytest.mark.parametrize("streams", some(["</dev/null >&-", "<&-", "</dev/null 2>&-"], of=3))
def test_a_closed_stream_is_no_defect(streams: str):
    command = f'"{sys.executable}" -m sassan analyze - {streams}'
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False, timeout=PATIENCE)
    assert done.returncode == 3
    assert b"internal" not in done.stderr


@whole("a pipe has no colors, which a process says by default")
def test_no_color_is_obeyed():
    done = run("analyze", SAXPY, NO_COLOR="1", FORCE_COLOR="1")
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout


def test_shell_completion_knows_the_commands():
    done = run(_SASSAN_COMPLETE="complete_bash", COMP_WORDS="sassan an", COMP_CWORD="1")
    assert done.stdout.split() == [b"analyze"]
