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
