"""Nothing is loaded from where others may write: the rule, and each place that loads."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from numba.core import config

from sassan.compilers.nvrtc import libraries
from sassan.entries import CacheWarning, Entries
from sassan.frontend.cubin.tools import tools
from sassan.jit import decorators as jit
from sassan.record.library import library
from sassan.system.folders import open_to_all, temporary_place, trusted, trusted_file
from sassan.system.processes import environment
from sassan.system.programs import folders, programs

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners and modes of files")


def shared(folder: Path) -> None:
    folder.chmod(0o777)


def under_shared(folder: Path) -> None:
    folder.parent.chmod(0o777)


def linked(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")


def reached_over_shared(folder: Path) -> None:
    """Let others exchange a link on the way, whose own folder is not among those above what it leads to."""
    safe, passed = folder.parent.parent / "safe", folder.parent.parent / "passed"
    folder.parent.rename(safe)
    passed.mkdir()
    (passed / "link").symlink_to(safe)
    folder.parent.symlink_to(passed / "link")
    passed.chmod(0o777)


UNFIT = [shared, under_shared, linked, reached_over_shared]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "above" / "cache"
    place.mkdir(mode=0o700, parents=True)
    return place


@pytest.mark.parametrize("change", UNFIT)
def test_a_folder_that_others_may_write_or_exchange_is_not_trusted(change: Callable[[Path], None], folder: Path):
    (folder / "entry").write_bytes(b"")
    assert trusted(folder)
    assert trusted_file(folder / "entry")
    change(folder)
    assert not trusted(folder)
    assert not trusted_file(folder / "entry")


def test_what_is_sticky_keeps_what_is_ours_and_another_user_is_not_trusted(folder: Path, monkeypatch: pytest.MonkeyPatch):
    folder.parent.chmod(0o1777)
    assert trusted(folder)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    assert not trusted(folder)
    assert not trusted(folder / "missing")


@pytest.mark.parametrize("change", UNFIT)
def test_an_entry_of_a_cache_is_neither_read_nor_written_there(
    change: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "above"))
    entries = Entries("cache", b"form-1")
    entries.put("a", b"data")
    assert entries.get("a") == b"data"
    change(tmp_path / "above" / "cache")
    with pytest.warns(CacheWarning, match="is not used"):
        entries.put("b", b"data")
    assert (entries.get("a"), entries.get("b")) == (None, None)


def test_a_cache_is_made_for_this_user_alone_whatever_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "home" / ".cache" / "sassan"))
    entries = Entries("cache", b"form-1")
    before = os.umask(0o002)
    entries.put("a", b"data")
    os.umask(before)
    made = [entries.folder(), *entries.folder().parents[:3]]
    assert [folder.stat().st_mode & 0o777 for folder in made] == [0o700] * 4


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
@pytest.mark.slow
def test_a_planted_library_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    few = [("aliases.txt", b""), ("none.c", b"int none;\n"), ("versions.map", b"{ global: *; };\n")]  # the library itself takes seconds
    monkeypatch.setattr("sassan.record.library._sources", lambda: few)
    made = library(tmp_path / "private")
    assert made.parent == tmp_path / "cache" / "record"
    assert library(tmp_path / "private") == made
    ours = (made / "stand-in.so").read_bytes()
    (made / "stand-in.so").write_bytes(b"planted")
    (made / "stand-in.so").chmod(0o777)
    assert library(tmp_path / "first") == made  # it is ours, and was built anew
    assert trusted_file(made / "stand-in.so")
    assert (made / "stand-in.so").read_bytes() == ours
    made.parent.chmod(0o777)
    with pytest.warns(CacheWarning):
        assert library(tmp_path / "second") == tmp_path / "second"
    assert (tmp_path / "second" / "libcuda.so.1").resolve().is_relative_to(tmp_path / "second")


def doubled(value: int) -> int:
    return 2 * value


def kept(function: Callable[[int], int]) -> Path | None:
    """Return the folder that keeps the machine code of a function."""
    place: str | None = jit.compiled(function).stats.cache_path  # type: ignore[attr-defined]
    return None if place is None else Path(place)


def test_machine_code_is_not_loaded_from_a_shared_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "shared"))
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "own"))
    before = os.umask(0o002)
    place = kept(doubled)
    os.umask(before)
    assert place is not None
    assert place.parent == tmp_path / "own" / "machine-code"
    assert place.stat().st_mode & 0o777 == 0o700
    (place / "planted").touch()
    place.chmod(0o777)
    assert kept(doubled) is kept(doubled) is None
    assert place.stat().st_mode & 0o777 == 0o777
    (tmp_path / "own").chmod(0o777)
    with pytest.warns(CacheWarning):
        assert kept(doubled) is None


def test_a_program_that_every_user_may_write_or_of_the_current_folder_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for place in ("fit", "open"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "nvdisasm").write_text("#!/bin/sh\n")
        (tmp_path / place / "nvdisasm").chmod(0o755)
    (tmp_path / "open").chmod(0o777)
    places = folders({"PATH": f".:fit::{tmp_path / 'open'}:{tmp_path / 'fit'}", "CUDA_HOME": "fit"})
    assert list(programs("nvdisasm", places)) == [str(tmp_path / "fit" / "nvdisasm")]
    (tmp_path / "fit" / "nvdisasm").chmod(0o757)
    assert open_to_all(tmp_path / "fit" / "nvdisasm")
    monkeypatch.setenv("PATH", "fit")
    assert not [tool for tool in tools("nvdisasm") if str(tmp_path) in tool.path]


def test_a_program_whose_folder_others_may_exchange_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for above, mode in (("open", 0o777), ("sticky", 0o1777)):
        place = tmp_path / above / "cuda" / "bin"
        place.mkdir(parents=True)
        (place / "nvcc").write_text("#!/bin/sh\n")
        (place / "nvcc").chmod(0o755)
        (tmp_path / above).chmod(mode)
    places = [str(tmp_path / above / "cuda" / "bin") for above in ("open", "sticky")]
    assert list(programs("nvcc", places)) == [f"{places[1]}/nvcc"]
    monkeypatch.setattr(os, "getuid", lambda: 1 << 20)
    if (tmp_path / "sticky" / "cuda").stat().st_uid == 0:
        os.chown(tmp_path / "sticky" / "cuda", 1 << 19, -1)
    assert list(programs("nvcc", places)) == []


def test_a_library_is_not_loaded_by_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libnvrtc.so").write_bytes(b"")
    monkeypatch.setenv("CUDA_HOME", ".")
    monkeypatch.setenv("LD_LIBRARY_PATH", ":/usr/lib")
    assert not [each for each in libraries() if not Path(each.path).is_absolute()]


def test_the_folder_for_temporary_files_is_plain_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, mode in (("a$(b)", 0o700), ("open", 0o777), ("plain", 0o700), ("sticky", 0o1777)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
        assert (temporary_place() == tmp_path / name) == (name in {"plain", "sticky"})


def test_the_environment_of_a_process_runs_nothing_first():
    given = {
        "PATH": "/bin:.:x:",
        "BASH_ENV": "x",
        "BASH_FUNC_ulimit%%": "() { touch x; }",
        "PYTHONSTARTUP": "x",
        "HOME": "/root",
        "CPATH": "inc:/a",
    }
    assert environment(given) == {"PATH": "/bin", "HOME": "/root", "CPATH": "/a"}
