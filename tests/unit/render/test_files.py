import os
import socket
import stat
from pathlib import Path

import pytest

from sassan.errors import UsageError
from sassan.render.files import write_atomically


def test_an_interrupt_leaves_only_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "graph.svg").write_bytes(b"old")

    def interrupt(_self: Path, _target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "graph.svg", b"new")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("graph.svg", b"old")]


def test_an_existing_file_is_replaced(tmp_path: Path):
    (tmp_path / "graph.svg").write_bytes(b"old")
    write_atomically(tmp_path / "graph.svg", b"new")
    assert (tmp_path / "graph.svg").read_bytes() == b"new"


def test_a_new_file_has_the_permissions_of_any_other(tmp_path: Path):
    (tmp_path / "other").write_bytes(b"")
    write_atomically(tmp_path / "graph.svg", b"new")
    assert stat.S_IMODE((tmp_path / "graph.svg").stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def test_a_link_is_followed_and_kept(tmp_path: Path):
    (tmp_path / "real.svg").write_bytes(b"old")
    (tmp_path / "link.svg").symlink_to(tmp_path / "real.svg")
    write_atomically(tmp_path / "link.svg", b"new")
    assert (tmp_path / "link.svg").is_symlink()
    assert (tmp_path / "real.svg").read_bytes() == b"new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(mode: int, tmp_path: Path):
    (tmp_path / "graph.svg").write_bytes(b"old")
    (tmp_path / "graph.svg").chmod(mode)
    write_atomically(tmp_path / "graph.svg", b"new")
    assert stat.S_IMODE((tmp_path / "graph.svg").stat().st_mode) == mode


def test_what_a_killed_run_has_left_blocks_nothing(tmp_path: Path):
    (tmp_path / f".sassan-{os.getpid()}.tmp").write_bytes(b"left")
    write_atomically(tmp_path / "graph.svg", b"new")
    assert (tmp_path / "graph.svg").read_bytes() == b"new"


def test_hard_links_are_counted_and_keep_the_old_content(tmp_path: Path):
    (tmp_path / "graph.svg").write_bytes(b"old")
    (tmp_path / "other.svg").hardlink_to(tmp_path / "graph.svg")
    assert write_atomically(tmp_path / "graph.svg", b"new") == 1
    assert (tmp_path / "other.svg").read_bytes() == b"old"
    assert write_atomically(tmp_path / "graph.svg", b"newer") == 0


def test_links_in_a_circle_are_an_error_that_names_the_file(tmp_path: Path):
    (tmp_path / "a.svg").symlink_to(tmp_path / "b.svg")
    (tmp_path / "b.svg").symlink_to(tmp_path / "a.svg")
    with pytest.raises(UsageError) as caught:
        write_atomically(tmp_path / "a.svg", b"new")
    assert caught.value.code == "unwritable-output"


def test_a_socket_is_no_output(tmp_path: Path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(UsageError, match="it is a socket"):
            write_atomically(tmp_path / "s", b"new")


def test_a_device_is_written_to_and_not_replaced():
    write_atomically(Path("/dev/null"), b"gone")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_missing_folder_is_an_error_that_names_the_file(tmp_path: Path):
    with pytest.raises(UsageError) as caught:
        write_atomically(tmp_path / "none" / "graph.svg", b"new")
    assert caught.value.code == "unwritable-output"
    assert "graph.svg" in caught.value.message


def test_a_folder_in_the_place_of_the_file_is_an_error(tmp_path: Path):
    with pytest.raises(UsageError) as caught:
        write_atomically(tmp_path, b"new")
    assert caught.value.code == "unwritable-output"
