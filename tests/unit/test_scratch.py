"""Temporary folders and files: whose are swept, and what a full disk is."""

import errno
import fcntl
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from sassan import files
from sassan.errors import StorageError
from sassan.files import write
from sassan.scratch import scratch, sweep_scratch
from sassan.system.leftovers import machine


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_private_and_gone_at_the_end(place: Path):
    with scratch() as folder:
        assert folder.parent == place
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").write_bytes(b"x")
    assert list(place.iterdir()) == []


def test_what_killed_processes_left_is_swept_and_nothing_else(place: Path):
    code = "import os, sassan.scratch as s\nwith s.scratch() as folder:\n    (folder / 'f').touch()\n    os.kill(os.getpid(), 9)\n"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(place)}, check=False)
    assert [path.name.startswith("sassan-") for path in place.iterdir()] == [True]
    victim = place / "victim"
    victim.mkdir()
    (victim / "precious").touch()
    (place / f"sassan-1-{machine()}-abcdefgh").symlink_to(victim)
    for name in ("sassan-of-a-user", "sassan-1-abc"):
        (place / name).mkdir()
    with scratch() as living:
        sweep_scratch()
        assert {path.name for path in place.iterdir()} == {
            "victim",
            f"sassan-1-{machine()}-abcdefgh",
            "sassan-of-a-user",
            "sassan-1-abc",
            living.name,
        }
        assert (victim / "precious").exists()


def test_the_next_write_removes_the_part_that_a_killed_one_left_but_not_that_of_a_living_one(tmp_path: Path):
    left, living = (tmp_path / f".sassan-{machine()}-{name}.tmp" for name in ("abcdefgh", "12345678"))
    left.touch()
    with living.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write(tmp_path / "out", b"data")
    assert {path.name for path in tmp_path.iterdir()} == {"out", living.name}


def test_what_another_machine_holds_is_left_to_it_until_it_is_old(tmp_path: Path):
    """Its locks may be unknown here: that of a living process looks like none."""
    living, left = (tmp_path / f".sassan-00000000-{name}.tmp" for name in ("abcdefgh", "12345678"))
    for path in (living, left):
        path.touch()
    os.utime(left, (0, time.time() - 25 * 3600))
    write(tmp_path / "out", b"data")
    assert {path.name for path in tmp_path.iterdir()} == {"out", living.name}


def test_where_no_open_file_can_be_replaced_it_is_closed_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    handles: list[int] = []
    closed: list[bool] = []

    def replace(path: Path, target: Path) -> None:
        try:
            os.fstat(handles[0])
        except OSError:
            closed.append(True)
        os.replace(path, target)  # noqa: PTH105 - the method stands for it

    monkeypatch.setattr(files, "_HELD", False)
    monkeypatch.setattr(files, "hold", handles.append)
    monkeypatch.setattr(Path, "replace", replace)
    write(tmp_path / "out", b"data")
    assert ((tmp_path / "out").read_bytes(), closed) == (b"data", [True])


def test_a_full_disk_is_an_error_that_names_the_folder(place: Path):
    with pytest.raises(StorageError) as caught, scratch():
        raise OSError(errno.ENOSPC, "No space left on device")
    assert (caught.value.code, caught.value.status) == ("temporary-folder", 4)
    assert str(place) in caught.value.message
    assert list(place.iterdir()) == []


def refuse() -> Path:
    raise FileNotFoundError(errno.ENOENT, "no usable folder")


def test_no_folder_for_temporary_files_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sassan.scratch.temporary_place", refuse)
    with pytest.raises(StorageError), scratch():
        pass
