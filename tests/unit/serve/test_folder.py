"""Which files are shown, and which are analyzed anew after a change."""

import os
from pathlib import Path

import pytest

from sassan.app.sources import Sources
from sassan.errors import UsageError
from sassan.serve import folder as module
from sassan.serve.folder import Folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.cu", "b.cubin", "b.ptx", "deep/c.sass", "factor.h", "notes.txt", ".hidden/d.cu", ".e.cu"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("1", "utf-8")
    return tmp_path


def changed(path: Path, root: Path, name: str, text: str | None) -> list[str]:
    """Return what is analyzed anew after a file was written, or removed."""
    watched = Folder(str(path))
    before = watched.stamps()
    if text is None:
        (root / name).unlink()
    else:
        (root / name).write_text(text, "utf-8")
    return [os.path.relpath(one, root) for one in watched.changed(before, watched.stamps())]


def test_code_below_a_folder_is_shown_and_nothing_that_is_hidden(tree: Path):
    watched = Folder(str(tree))
    assert [os.path.relpath(one, tree) for one in watched.shown(watched.stamps())] == ["a.cu", "b.cubin", "b.ptx", "deep/c.sass"]


def test_links_to_themselves_and_what_is_no_file_are_not_shown(tree: Path):
    before = Folder(str(tree)).stamps()
    (tree / "loop.sass").symlink_to("loop.sass")
    (tree / "zero.sass").symlink_to("/dev/zero")
    os.mkfifo(tree / "pipe.sass")
    (tree / "folder.sass").mkdir()
    assert Folder(str(tree)).stamps() == before


def test_a_file_that_changes_is_analyzed_alone(tree: Path):
    assert changed(tree, tree, "a.cu", "changed") == ["a.cu"]
    assert changed(tree, tree, "new.cu", "new") == ["new.cu"]


def test_ptx_beside_a_cubin_is_a_part_of_it(tree: Path):
    assert changed(tree, tree, "b.ptx", "changed") == ["b.cubin", "b.ptx"]


def test_what_may_be_included_changes_everything(tree: Path):
    assert changed(tree, tree, "factor.h", "changed") == ["a.cu", "b.cubin", "b.ptx", "deep/c.sass"]


def test_other_files_change_nothing(tree: Path):
    assert changed(tree, tree, "notes.txt", "changed") == []
    assert changed(tree, tree, "a.cu", "1") in ([], ["a.cu"])


def test_a_file_that_is_gone_is_not_analyzed(tree: Path):
    assert changed(tree, tree, "a.cu", None) == []


def test_a_file_of_any_name_is_watched_with_those_beside_it(tree: Path):
    assert changed(tree / "notes.txt", tree, "notes.txt", "changed") == ["notes.txt"]
    assert changed(tree / "a.cu", tree, "factor.h", "changed") == ["a.cu"]
    assert changed(tree / "a.cu", tree, "deep/c.sass", "changed") == []


def test_too_many_files_are_refused(tree: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MOST", 3)
    with pytest.raises(UsageError) as raised:
        Folder(str(tree)).stamps()
    assert raised.value.code == "too-many-files"


def test_no_link_leads_out_of_the_folder(tmp_path: Path):
    root, secret = tmp_path / "root", tmp_path / "secret.cu"
    (root / "sub").mkdir(parents=True)
    secret.write_text("secret", "utf-8")
    (root / "real.cu").write_text("real", "utf-8")
    (root / "out.cu").symlink_to(secret)
    (root / "up.cu").symlink_to("../secret.cu")
    (root / "sub" / "in.cu").symlink_to("../real.cu")
    folder = Folder(str(root))
    assert folder.shown(folder.stamps()) == [str(root / "real.cu"), str(root / "sub" / "in.cu")]
    sources = Sources(str(root / "sub"), str(root))
    assert [sources.lines(name) for name in ("in.cu", "real.cu", "out.cu", "up.cu", "../secret.cu", "..")] == [
        ("real",),
        ("real",),
        (),
        (),
        (),
        (),
    ]


@pytest.mark.parametrize("name", [".env", ".hidden.cu", "link.cu", "credentials", "id_rsa.pem"])
def test_a_line_table_shows_source_code_only_and_nothing_that_is_hidden(name: str, tmp_path: Path):
    (tmp_path / ".git").mkdir()
    for path in (".env", ".hidden.cu", ".git/config.cu", "credentials", "id_rsa.pem", "k.CU"):
        (tmp_path / path).write_text("text", "utf-8")
    (tmp_path / "link.cu").symlink_to(".git/config.cu")
    sources = Sources(str(tmp_path))
    assert (sources.lines(name), sources.lines("k.CU")) == ((), ("text",))
