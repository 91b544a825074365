"""Small inputs that grow: each ends within 8 s of processor time, with the right status and one message."""

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

import growing
from budget import FULL, PATIENCE, some
from cli.shell import SAMPLES, Result, Sassan, assert_refused
from growing import arguments, calls, coordinates, nested_ifs, nested_loops, random_branches, vector

SAXPY = SAMPLES / "sm_80" / "saxpy.cuobjdump.sass"
SECONDS = 8
GROWING = {
    "nested loops": (lambda: nested_loops(25), None),
    "nested ifs": (lambda: nested_ifs(600), "too-large"),
    "nested calls that double": (lambda: calls(300, 2), "too-large"),
}
MORE = {
    "random branches": (lambda: random_branches(1000), "too-large"),
    "calls that double": (lambda: calls(14, 2), "too-large"),
    "nested calls": (lambda: calls(300, 1), "too-large"),
}
"""What stops at the same limits as the others."""


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWING | MORE if FULL else list(GROWING)[::2])
def test_what_grows_ends_in_time_with_a_gap(name: str, sassan: Sassan):
    text, code = (GROWING | MORE)[name]
    result = timed(sassan, "analyze", "-", "-f", "k", "--json", stdin=text().encode())
    (function,) = result.document["functions"]
    if code is not None:
        assert code in [gap["code"] for gap in function["gaps"]]
        assert result.codes == ["gaps"]
    assert result.status == (3 if function["gaps"] else 0)


@pytest.mark.parametrize("string", ["L999999999999C", "(LC)^1000000000", "(L9999999C)^1000000000"])
def test_a_run_is_not_expanded(string: str, sassan: Sassan):
    result = timed(sassan, "makespan", string, "-W", "4", "--time-limit", "0.1", "--json")
    assert result.status == 0
    assert result.document["upper"] >= 4 * 10**9 > 0
    assert result.document["exact"] is None
    assert_refused(timed(sassan, "makespan", string, "-W", "4", "--time-limit", "0.1", "--engine", "beam"), 2)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "status"), some([(vector, 0), (arguments, 3), (coordinates, 3)], of=3))
def test_an_instruction_of_16000_operands_is_read_in_time(text: Callable[[int], str], status: int, sassan: Sassan, tmp_path: Path):
    (tmp_path / "many.ptx").write_text(text(16_000))
    assert timed(sassan, "analyze", tmp_path / "many.ptx").status == status


@pytest.mark.parametrize("text", [lambda: growing.name(20_000), lambda: nested_ifs(2, "&" * 20_000)], ids=["letters", "escapes"])
@pytest.mark.parametrize(("command", "file"), [("cfg", "out.svg"), ("report", "out.html")])
def test_a_name_of_20000_characters_is_drawn(text: Callable[[], str], command: str, file: str, sassan: Sassan, tmp_path: Path):
    (tmp_path / "name.sass").write_text(text())
    assert timed(sassan, command, tmp_path / "name.sass", "-o", tmp_path / file).status == 0
    assert (tmp_path / file).stat().st_size > 0


@pytest.mark.parametrize("command", ["analyze", "cfg", "ipet"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the time may end in the callback of a weak reference
def test_the_time_of_a_command_has_an_end(command: str, sassan: Sassan, tmp_path: Path):
    (tmp_path / "grows.sass").write_text(random_branches(1000))
    result = sassan(command, tmp_path / "grows.sass", "--time-limit", "0.2")
    assert_refused(result, 3)
    assert result.codes == ["time-limit"]
    assert "grows.sass" in result.err


@pytest.mark.skipif(sys.platform != "linux", reason="the system enforces no limit on memory")
def test_what_needs_more_memory_than_the_limit_is_refused(tmp_path: Path):
    (tmp_path / "grows.sass").write_text(random_branches(1000))
    # A process of its own: one that has run other tests may hold enough that is free.
    command = [sys.executable, "-m", "sassan", "analyze", tmp_path / "grows.sass", SAXPY, "--memory-limit", "0.01"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    result = Result(done.returncode, done.stdout, done.stderr)
    assert_refused(result, 3)
    assert result.codes == ["memory-limit"]


def test_a_command_in_time_is_not_touched_by_its_limits(sassan: Sassan):
    limited = sassan("analyze", SAXPY, "--time-limit", "100", "--memory-limit", "4")
    assert (limited.status, limited.out) == (0, sassan("analyze", SAXPY).out)


def test_a_fatbin_of_compressed_zeros_is_refused(sassan: Sassan, tmp_path: Path):
    (tmp_path / "zeros.fatbin").write_bytes(compressed_zeros(1_600_000))
    result = timed(sassan, "analyze", tmp_path / "zeros.fatbin")
    assert_refused(result, 3)
    assert result.codes == ["cuobjdump-failed"]


def compressed_zeros(count: int) -> bytes:
    """A fatbin with an LZ4 block that becomes 255 times so many bytes: a literal, and a match that begins one byte before itself."""
    block = b"\x1f\x00\x01\x00" + b"\xff" * count + b"\x00\x50" + bytes(5)
    padding = bytes(-len(block) % 8)
    head = struct.pack("<HHIQIIHHIIIQQQ", 2, 0x101, 64, len(block + padding), len(block), 0, 0, 8, 80, 0, 0, 0x2011, 0, 25 + 255 * count)
    entry = head.ljust(64, b"\0") + block + padding
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry


def timed(sassan: Sassan, *arguments: str, stdin: bytes = b"") -> Result:
    begin = process_time()
    result = sassan(*arguments, stdin=stdin)
    assert process_time() - begin < SECONDS
    return result
