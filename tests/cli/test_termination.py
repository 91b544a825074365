"""A command that is asked to end, or killed: neither files nor processes are left."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from budget import FULL, PATIENCE
from sassan.system.leftovers import machine

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system has no /proc")]

SOURCE = 'extern "C" __global__ void scale(float* x) { x[threadIdx.x] *= 2; }\n'
COMMANDS = {
    "analyze": ("analyze", "src/k.cu", "--arch", "sm_90"),
    "batch": ("batch", "src/k.cu", "--arch", "sm_90", "-o", "out.jsonl"),
    "serve": ("serve", "src", "--arch", "sm_90", "--port", "0"),
    "record": ("record", "-o", "launches.toml", "--", "sleep", "60"),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a source, and compilers that never end."""
    for name in ("tmp", "bin", "src"):
        (tmp_path / name).mkdir()
    (tmp_path / "src" / "k.cu").write_text(SOURCE, "utf-8")
    for name in ("nvcc", "slow-cc"):
        tool = tmp_path / "bin" / name
        tool.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && exit\n: > "$TMPDIR/temporary.o"\n: > {tmp_path}/runs\nexec sleep 60\n', "utf-8"
        )
        tool.chmod(0o755)
    return tmp_path


@contextmanager
def begun(place: Path, name: str) -> Generator[subprocess.Popen[bytes]]:
    """Yield the process of a command whose compiler runs."""
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    variables = {"TMPDIR": str(place / "tmp"), "SASSAN_CACHE": str(place / "cache"), "CC": "slow-cc", "PATH": path, "MARK": str(place)}
    command = [sys.executable, "-m", "sassan", *COMMANDS[name]]
    with subprocess.Popen(command, cwd=place, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            wait_for((place / "runs").exists)
            yield process
        finally:
            process.kill()
            for number in living(place):
                with suppress(OSError):
                    os.kill(number, signal.SIGKILL)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def living(place: Path) -> list[int]:
    """Return the processes that a command of this test started, itself too."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and f"MARK={place}\0".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def leftovers(place: Path) -> list[str]:
    return [str(path.relative_to(place)) for folder in ("tmp", "cache") for path in (place / folder).rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", COMMANDS if FULL else ["batch"])
def test_a_command_that_is_asked_to_end_leaves_nothing(place: Path, name: str):
    number = signal.SIGHUP if name == "analyze" else signal.SIGTERM
    with begun(place, name) as process:
        assert leftovers(place) != []
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number
        wait_for(lambda: living(place) == [])
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    assert leftovers(place) == []
    assert list((place / "tmp").iterdir()) == []


def test_workers_end_with_a_command_that_is_killed_and_the_next_one_sweeps(place: Path):
    with begun(place, "batch") as process:
        process.kill()
        process.wait()
        wait_for(lambda: not any(b"multiprocessing" in words(number) for number in living(place)))
    (place / "tmp" / f"sassan-{process.pid}-{machine()}-abcdefgh").mkdir()
    (place / "runs").unlink()
    with begun(place, "analyze") as process:
        names = sorted(path.name for path in (place / "tmp").iterdir())
        assert [int(re.findall(r"\d+", name)[0]) for name in names] == [process.pid]


def words(number: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{number}/cmdline").read_bytes()
    return b""
