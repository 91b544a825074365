"""The cache of disassembly: what is found again, and what is not trusted."""

import multiprocessing
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

import cubins
from samples import SAMPLES
from sassan.errors import InputError
from sassan.frontend import load, read
from sassan.frontend.cubin import cache, disassembly

SAXPY = str(SAMPLES / "sm_61" / "saxpy.cubin")


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of a disassembler that counts its calls; the cache is empty."""
    folder = cubins.recorder(tmp_path / "tool", "sm_61/saxpy")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    return folder


def entries(tmp_path: Path) -> list[Path]:
    """Return the files of the cache."""
    return sorted((tmp_path / "cache" / "disassembly").iterdir())


def test_a_cubin_is_disassembled_once(tool):
    first, second = read(load(SAXPY)), read(load(SAXPY))
    assert first == second
    assert cubins.calls(tool) == 1


def test_code_and_source_lines_come_from_one_disassembly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    folder = cubins.recorder(tmp_path / "tool", "sm_75/debug_build")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    runs: list[list[str]] = []
    run = disassembly._run
    monkeypatch.setattr(disassembly, "_run", lambda image, command: runs.append(command) or run(image, command))
    program = read(load(str(SAMPLES / "sm_75" / "debug_build.cubin")))
    assert (program.functions[0].lines[0].file, program.functions[0].lines[0].line) == ("/debug_build.cu", 3)
    assert len(runs) == 1


@pytest.mark.parametrize("name", ["a\nb.cu", 'a", line 3\n        /*0020*/ EXIT ;\n\t//## File "b.cu'])
def test_a_name_of_several_lines_changes_no_code(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    folder = cubins.recorder(tmp_path / "tool", "sm_75/debug_build")
    listing = next(iter(cubins.recorded(folder)))
    plain = listing.read_text("utf-8")
    with_line = plain.replace("        /*0010*/", f'\t//## File "{name}", line 7\n        /*0010*/', 1)
    monkeypatch.setattr("sassan.frontend.cubin.read.disassemble", lambda _, __, options, **___: with_line if "-g" in options else plain)
    path = str(SAMPLES / "sm_75" / "debug_build.cubin")
    try:
        program = read(load(path))
    except InputError as error:
        assert error.code in {"missing-instructions", "listing-differs", "syntax"}  # noqa: PT017 - it may be refused, too
        return
    monkeypatch.setattr("sassan.frontend.cubin.read.disassemble", lambda *_, **__: plain)
    assert program.functions[0].instructions == read(load(path)).functions[0].instructions


def test_without_the_cache_it_is_disassembled_anew_and_nothing_is_kept(tool, tmp_path):
    read(load(SAXPY), cached=False)
    read(load(SAXPY), cached=False)
    assert cubins.calls(tool) == 2
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:-1], id="cut off"),
        pytest.param(lambda data: data.replace(b"EXIT", b"NOP "), id="changed"),
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda _: b"\x80\x04cposix\nsystem\n", id="a pickle"),
        pytest.param(lambda data: data.replace(b"-1 ", b"-2 ", 1), id="another format"),
    ],
)
def test_a_damaged_entry_is_as_good_as_none_and_is_written_again(damage, tool, tmp_path):
    good = read(load(SAXPY))
    (entry,) = entries(tmp_path)
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    assert read(load(SAXPY)) == good
    assert cubins.calls(tool) == 2
    assert entry.read_bytes() == whole


def test_another_version_of_the_tool_has_entries_of_its_own():
    assert cache.key(b"x", "12.8.55", "-c") != cache.key(b"x", "13.5.37", "-c")
    assert cache.key(b"x", "12.8.55", "-c") != cache.key(b"x", "12.8.55", "-c", "-g")
    assert cache.key(b"x", "12.8.55", "-c") != cache.key(b"y", "12.8.55", "-c")


@pytest.mark.usefixtures("tool")
def test_the_folder_belongs_to_the_user_alone(tmp_path):
    read(load(SAXPY))
    assert stat.S_IMODE((tmp_path / "cache" / "disassembly").stat().st_mode) == 0o700


@pytest.mark.usefixtures("tool")
def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "file"))
    assert read(load(SAXPY)).functions[0].name == "saxpy"


@pytest.mark.usefixtures("tool")
@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_no_error(tmp_path):
    (tmp_path / "cache").mkdir(mode=0o500)
    assert read(load(SAXPY)).functions[0].name == "saxpy"


@pytest.mark.usefixtures("tool")
def test_an_entry_that_is_a_folder_is_no_error(tmp_path):
    read(load(SAXPY))
    (entry,) = entries(tmp_path)
    entry.unlink()
    entry.mkdir()
    assert read(load(SAXPY)).functions[0].name == "saxpy"


def test_the_least_recently_used_entries_go_first(tmp_path, monkeypatch):
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "ENTRIES", replace(cache.ENTRIES, limit=1000))
    for age, name in enumerate(["a", "b", "c"]):
        cache.put(name, b"x" * 200)
        os.utime(tmp_path / "cache" / "disassembly" / f"{name}.sass", (age, age))
    assert cache.get("a") is not None
    cache.put("d", b"x" * 200)
    assert [path.name for path in entries(tmp_path)] == ["a.sass", "d.sass"]


@pytest.mark.usefixtures("tool")
def test_no_scratch_file_stays(tmp_path):
    read(load(SAXPY))
    assert [path.suffix for path in entries(tmp_path)] == [".sass"]


def _fill(folder: str) -> bool:
    os.environ["SASSAN_CACHE"] = folder
    text = b"text\n" * 20_000
    for _ in range(50):
        cache.put("same", text)
        if cache.get("same") != text:
            return False
    return True


@pytest.mark.slow
def test_runs_at_the_same_time_never_see_half_an_entry(tmp_path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(_fill, [str(tmp_path)] * 3) == [True, True, True]


def test_the_cache_is_below_the_cache_folder_of_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("SASSAN_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder().is_relative_to(tmp_path)
