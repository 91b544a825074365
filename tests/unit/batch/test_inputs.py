"""Which files a batch takes, and in which order."""

import os
import struct
from pathlib import Path

import pytest

from samples import SAMPLES
from sassan.batch.inputs import Passed, expand


def elf(sections: bytes, machine: int = 62) -> bytes:
    """Return an ELF file with one section: the names."""
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 0, 64, 0, 64, 0, 0, 64, 1, 0)
    section = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 128, len(sections), 0, 0, 1, 0)
    return header + section + sections


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(place: Path, data: bytes = b"x") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def files(*paths: str, passed: Passed | None = None, own: Path | None = None) -> list[str]:
    return [one.file for one in expand(paths, passed or Passed(), own)]


def codes(*paths: str) -> list[tuple[str, str]]:
    return [(one.file, one.error.code if one.error else "") for one in expand(paths, Passed())]


def test_a_directory_gives_its_listings_and_ptx_by_name(folder: Path):
    for name in ("d/b.sass", "d/a.ptx", "d/c/x.SASS", "d/notes.txt", "d/d.json"):
        write(folder / name)
    passed = Passed()
    assert files("d", passed=passed) == ["d/a.ptx", "d/b.sass", "d/c/x.SASS"]
    assert passed.other == 2


def test_hidden_entries_of_a_directory_are_left_out(folder: Path):
    for name in ("d/.git/a.sass", "d/.b.sass", "d/c.sass"):
        write(folder / name)
    assert files("d") == ["d/c.sass"]


@pytest.mark.parametrize(
    ("data", "taken"),
    [
        (SAMPLES.joinpath("sm_61", "saxpy.cubin").read_bytes(), True),
        (SAMPLES.joinpath("sm_120", "saxpy.cubin").read_bytes(), True),
        (b"\x50\xed\x55\xba\x01\x00", True),
        (elf(b"\0.text\0.nv_fatbin\0"), True),
        (elf(b"\0.text\0__nv_relfatbin\0"), True),
        (elf(b"\0.text\0.data\0"), False),
        (elf(b"")[:64], False),
        (b"\x7fELF", False),
        (b"\x7fELF\x02\x01\x01".ljust(40, b"\0") + b"\xff" * 24, False),
        (b"!<arch>\nx.o .nv_fatbin", True),
        (b"!<arch>\nx.o .text", False),
        (b"Function : k", False),
        (b"", False),
    ],
    ids=[
        "cubin",
        "new cubin",
        "fatbin",
        "program",
        "object",
        "host only",
        "cut off",
        "magic only",
        "far table",
        "archive",
        "host",
        "text",
        "empty",
    ],
)
def test_a_directory_gives_gpu_code_whatever_its_name(folder: Path, data: bytes, taken: bool):
    write(folder / "d" / "lib.so.1", data)
    assert files("d") == (["d/lib.so.1"] if taken else [])


def test_an_archive_is_looked_through_to_its_end(folder: Path):
    write(folder / "d" / "lib.a", b"!<arch>\n".ljust(64 + (1 << 20) - 5, b"x") + b".nv_fatbin")
    assert files("d") == ["d/lib.a"]


def test_a_named_file_is_taken_whatever_it_is(folder: Path):
    write(folder / "notes.txt")
    assert files("notes.txt") == ["notes.txt"]


def test_a_path_that_names_nothing_is_an_input_for_whoever_reads_it(folder: Path):
    assert codes(str(folder / "none.sass")) == [(str(folder / "none.sass"), "")]


def test_a_pattern_gives_what_it_matches_by_name(folder: Path):
    for name in ("d/b.cubin", "d/a.cubin", "d/x/c.cubin", "d/a.sass"):
        write(folder / name)
    assert files("d/**/*.cubin") == ["d/a.cubin", "d/b.cubin", "d/x/c.cubin"]


def test_a_pattern_follows_no_link_on_its_way_down_so_two_links_to_a_folder_end(folder: Path):
    write(folder / "d" / "x" / "a.cubin")
    write(folder / "d" / "x" / ".hidden" / "b.cubin")
    for name in ("a", "b"):
        (folder / "d" / name).symlink_to(".")
    assert files("d/**/*.cubin") == files("**/*.cubin") == files("d/**/**/*.cubin") == ["d/x/a.cubin"]
    assert files(f"{folder}/d/**/*.cubin") == [f"{folder}/d/x/a.cubin"]
    assert files("d/**/.hidden/*") == ["d/x/.hidden/b.cubin"]
    assert files("d/a/**/*.cubin") == ["d/a/x/a.cubin"]
    assert files("d/**") == ["d/x/a.cubin"]


def test_a_pattern_of_any_depth_alone_gives_files_and_folders(folder: Path):
    for name in ("d/notes.txt", "d/[x]/b.sass"):
        write(folder / name)
    assert files("d/**") == ["d/[x]/b.sass", "d/notes.txt"]
    assert files("d/**/") == ["d/[x]/b.sass"]
    assert files("d/[[]x]/**/b.sass") == ["d/[x]/b.sass"]


def test_a_pattern_that_matches_nothing_is_refused(folder: Path):
    del folder
    assert codes("*.cubin") == [("*.cubin", "missing-file")]


def test_a_file_whose_name_is_a_pattern_is_that_file(folder: Path):
    write(folder / "[a].sass")
    write(folder / "a.sass")
    assert files("[a].sass") == ["[a].sass"]


def test_a_file_that_comes_twice_is_taken_once(folder: Path):
    write(folder / "d" / "a.sass")
    (folder / "d" / "b.sass").symlink_to("a.sass")
    passed = Passed()
    assert files("d/a.sass", "d", "./d/a.sass", passed=passed) == ["d/a.sass"]
    assert passed.repeated == 3


def test_links_to_directories_are_not_followed_so_none_leads_in_circles(folder: Path):
    write(folder / "d" / "a.sass")
    (folder / "d" / "again").symlink_to(folder / "d")
    (folder / "d" / "dangling.sass").symlink_to(folder / "nowhere")
    (folder / "d" / "itself.sass").symlink_to(folder / "d" / "itself.sass")
    assert [(file, code) for file, code in codes("d") if file == "d/a.sass"] == [("d/a.sass", "")]
    assert "d/again/a.sass" not in files("d")


def test_what_is_no_regular_file_is_left_out_of_a_directory_and_refused_by_name(folder: Path):
    (folder / "d").mkdir()
    os.mkfifo(folder / "d" / "pipe.sass")
    assert codes("d") == []
    assert codes("d/pipe.sass") == [("d/pipe.sass", "not-a-file")]


def test_a_directory_that_cannot_be_listed_is_refused_and_stops_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    write(folder / "d" / "locked" / "a.sass")
    write(folder / "d" / "z.sass")
    real = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert codes("d") == [("d/locked", "unreadable"), ("d/z.sass", "")]


def test_an_empty_directory_gives_nothing(folder: Path):
    (folder / "d").mkdir()
    assert files("d") == []


def test_the_file_of_results_is_never_an_input(folder: Path):
    own = write(folder / "d" / "results.sass")
    write(folder / "d" / "a.sass")
    assert files("d", "d/results.sass", own=own) == ["d/a.sass"]


def test_names_that_are_no_valid_text_are_kept(folder: Path):
    (folder / "d").mkdir()
    name = os.fsdecode(b"d/\xff\n\x1b[31m.sass")
    Path(name).write_bytes(b"")
    assert files("d") == [name]
