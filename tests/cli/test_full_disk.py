"""A full disk, a quota, a limit on the size of files: a cache is done without, an output is an error, and nothing half-written remains."""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from budget import PATIENCE
from cli.shell import SAMPLES, Sassan
from cli.test_evolve import CONFIG, config_file, need_nvrtc
from sassan.jit import decorators as jit

CUBIN = SAMPLES / "sm_80" / "saxpy.cubin"
OTHER = SAMPLES / "sm_80" / "mandelbrot.cubin"
LISTING = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
OUTPUTS = (
    ("cfg", LISTING, "-o", "out.svg"),
    ("cfg", LISTING, "-o", "out.dot"),
    ("ipet", LISTING, "-o", "out.lp"),
    ("report", LISTING, "-o", "out.html"),
    ("check", LISTING, "--no-gaps", "--sarif", "out.sarif"),
    ("makespan", "L2C", "-W", "3", "--lp", "out.lp"),
    ("batch", LISTING, "-o", "out.jsonl", "--executor", "serial"),
)
READ = (("analyze", CUBIN), ("listing", CUBIN), ("analyze", CUBIN, "--json"))


@contextmanager
def file_size(limit: int) -> Iterator[None]:
    """Let this process, and those that it starts, write files of so many bytes at most."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with a folder for temporary files and one for caches in it."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def left(place: Path) -> list[str]:
    return [path.name for path in place.rglob("*") if path.is_file() or path.parent.name == "tmp"]


@pytest.mark.parametrize("limit", [0, 512])
@pytest.mark.parametrize("words", OUTPUTS, ids=lambda words: f"{words[0]}-{words[-1]}")
def test_an_output_that_cannot_be_written_is_an_error_that_says_so(sassan: Sassan, place: Path, words: tuple[str | Path, ...], limit: int):
    with file_size(limit):
        result = sassan(*words)
    assert (result.status, result.codes) == (4, ["no-space"]), result.err
    assert "File too large" in result.err
    assert "ulimit -f" in result.err
    assert left(place) == []


@pytest.mark.parametrize("limit", [0, 512])
def test_no_room_for_temporary_files_is_an_error_that_says_so(sassan: Sassan, place: Path, limit: int):
    for words in READ:
        with file_size(limit):
            result = sassan(*words)
        assert (result.status, result.codes) == (4, ["temporary-folder"]), result.err
        assert "ulimit -f" in result.err
        assert left(place) == []


def test_a_cache_that_cannot_be_written_is_done_without(sassan: Sassan, place: Path):
    (place / "cache").write_text("no folder", "utf-8")
    assert sassan("analyze", CUBIN).status == 0
    assert left(place) == ["cache"]


def test_machine_code_that_cannot_be_kept_is_used_all_the_same(place: Path, monkeypatch: pytest.MonkeyPatch):
    def twice(number: int) -> int:
        return 2 * number

    monkeypatch.setattr(jit.numba.config, "CACHE_DIR", str(place / "cache"))
    compiled = jit.compiled(twice)
    with file_size(0):
        assert compiled(4) == 8
    assert [path for path in (place / "cache").rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_a_search_whose_state_cannot_be_written_leaves_none(sassan: Sassan, place: Path):
    need_nvrtc()
    config = config_file(place, CONFIG)
    with file_size(512):
        result = sassan("evolve", config, "-o", place / "out", "--executor", "serial")
    assert (result.status, result.codes) == (4, ["no-space"]), result.err
    assert [path for path in (place / "out").rglob("*") if path.is_file()] == []


SMALL = """
import json, os, subprocess, sys
from contextlib import suppress
from pathlib import Path
from sassan.cli import main
for name in ("cache", "out", "tmp"):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", name], check=True)
    with suppress(OSError):
        (Path(name) / "ballast").write_bytes(bytes(70 << 10))
    Path("real").mkdir(exist_ok=True)
    temporary = "tmp" if name == "tmp" else "real"
    os.environ.update(SASSAN_CACHE="cache" if name == "cache" else f"real/{name}", TMPDIR=str(Path(temporary).absolute()))
    import tempfile
    tempfile.tempdir = os.environ["TMPDIR"]  # else Python takes another folder
    output = f"{'out' if name == 'out' else 'real'}/{name}.html"
    status = main.run(["report", sys.argv[1 + (name == "tmp")], "-o", output])
    parts = [path.name for path in Path(name).rglob("*sassan-*")]
    print(json.dumps([name, status, Path(output).exists(), parts]), file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare, which mounts the file system, is not installed")
def test_a_small_file_system_for_caches_outputs_and_temporary_files(tmp_path: Path):
    for name in ("cache", "out", "tmp"):
        (tmp_path / name).mkdir(mode=0o700)
    command = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-c", SMALL, str(CUBIN), str(OTHER)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if "Operation not permitted" in done.stderr or "must be superuser" in done.stderr:
        pytest.skip("this system mounts no file system for a user")
    seen = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[")]
    assert seen == [["cache", 0, True, []], ["out", 4, False, []], ["tmp", 4, True, []]], done.stderr
