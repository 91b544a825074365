"""The cache: what others may have put there is not read, and nothing in it is waited for."""

import os
from pathlib import Path

import pytest

from sassan.entries import CacheWarning, Entries

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners and modes of files")


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Entries:
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path))
    return Entries("things", b"form-1")


def test_an_entry_is_found_again_in_a_folder_of_the_user_alone(entries: Entries):
    entries.put("a", b"data")
    assert entries.get("a") == b"data"
    assert entries.folder().stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_may_write_is_not_used(mode: int, entries: Entries):
    entries.put("a", b"data")
    entries.folder().chmod(mode)
    assert entries.get("a") is None
    with pytest.warns(CacheWarning, match="chmod go-w"):
        entries.put("b", b"data")
    assert [path.name for path in entries.folder().iterdir()] == ["a"]
    entries.folder().chmod(0o755)
    assert entries.get("a") == b"data"


def test_a_folder_of_another_user_is_not_used(entries: Entries, monkeypatch: pytest.MonkeyPatch):
    entries.put("a", b"data")
    monkeypatch.setattr(os, "getuid", lambda: entries.folder().stat().st_uid + 1)
    assert entries.get("a") is None


def test_a_pipe_or_a_link_in_the_place_of_an_entry_is_not_opened(entries: Entries):
    entries.put("a", b"data")
    os.mkfifo(entries.folder() / "pipe")
    (entries.folder() / "link").symlink_to("a")
    (entries.folder() / "folder").mkdir()
    assert [entries.get(name) for name in ("pipe", "link", "folder", "a")] == [None, None, None, b"data"]
