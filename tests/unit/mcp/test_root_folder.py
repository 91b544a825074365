"""The folder of the server: what a client names, and what a source includes, lies below it, or is refused."""

import os
from pathlib import Path

import pytest

from sassan.errors import InputError, UsageError
from sassan.mcp.folder import RootFolder


@pytest.fixture
def root(tmp_path: Path) -> RootFolder:
    (tmp_path / "outside.cu").write_text("secret", "utf-8")
    (tmp_path / "root" / "sub").mkdir(parents=True)
    for name in ("k.cu", "sub/near.h", "sub/k.cu", ".hidden"):
        (tmp_path / "root" / name).write_text("int x;\n", "utf-8")
    (tmp_path / "root" / "link.cu").symlink_to("k.cu")
    (tmp_path / "root" / "out.cu").symlink_to("../outside.cu")
    (tmp_path / "root" / "up").symlink_to("..")
    (tmp_path / "root" / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "root" / "pipe")
    return RootFolder.of(str(tmp_path / "root"))


@pytest.mark.parametrize(
    ("name", "file"), [("k.cu", "./k.cu"), ("sub/../k.cu", "./k.cu"), ("link.cu", "./k.cu"), ("./sub/k.cu", "./sub/k.cu")]
)
def test_files_below_the_folder_have_their_place(root: RootFolder, name: str, file: str):
    assert root.file(name) == file
    assert root.file(str(root.path / name)) == file


@pytest.mark.parametrize(
    "name", ["../outside.cu", "out.cu", "up/outside.cu", "/etc/passwd", "sub/../../outside.cu", ".hidden", "", "k\0.cu", "a" * 5000]
)
def test_what_leads_out_is_refused(root: RootFolder, name: str):
    with pytest.raises(InputError) as error:
        root.file(name)
    assert error.value.code == "outside-root"
    assert len(error.value.message) < 1200


@pytest.mark.parametrize("name", ["none.cu", "sub", "pipe", "-"])
def test_what_is_no_file_is_missing(root: RootFolder, name: str):
    with pytest.raises(InputError) as error:
        root.file(name)
    assert error.value.code == "missing-file"


def test_a_folder_that_is_none_is_a_usage_error(tmp_path: Path):
    with pytest.raises(UsageError, match="is not a folder"):
        RootFolder.of(str(tmp_path / "none"))


ALLOWED = [
    '#include "near.h"\n#include <cuda_fp16.h>\n',
    "#include <cooperative_groups/reduce.h>",
    "int include; // the rest includes nothing",
    '#pragma once\n#define A 1\n#include "../k.cu"\n',
]
REFUSED = [
    '#include "/etc/passwd"',
    "#include </etc/passwd>",
    '#include "../../outside.cu"',
    "#define NAME </etc/passwd>\n#include NAME",
    '#inc\\\nlude "/etc/passwd"',
    '# /* a */ include /* b */ "/etc/passwd"',
    '%:include "/etc/passwd"',
    '??=include "/etc/passwd"',
    '#include_next "/etc/passwd"',
    '#embed "/etc/passwd"',
    '#if __has_include("/etc/passwd")\n#endif',
    'const char *s = R"( /* )";\n#include "/etc/passwd"\n/* */',
    '#include "..\\\\outside.cu"',
]
BESIDE = ['#include "up/outside.cu"', '#include "link_out.h"', "#include <link_out.h>", '#include "sneaky.h"']


@pytest.mark.parametrize("text", ALLOWED)
def test_a_source_includes_what_is_below_the_folder_and_headers_of_the_compiler(root: RootFolder, text: str):
    root.check_includes(text, "sub")


@pytest.mark.parametrize("text", [*REFUSED, *BESIDE])
def test_what_else_a_source_includes_is_refused(root: RootFolder, text: str):
    (root.path / "sub" / "up").symlink_to("../..")
    (root.path / "sub" / "link_out.h").symlink_to("../../outside.cu")
    (root.path / "sub" / "sneaky.h").write_text('#include "/etc/passwd"\n', "utf-8")
    for place in ("sub", None) if text in REFUSED else ("sub",):  # a text has nothing beside it
        with pytest.raises(InputError) as error:
            root.check_includes(text, place)
        assert error.value.code == "outside-root"


@pytest.mark.parametrize(
    ("name", "code"), [("../x.toml", "outside-root"), ("none/x.toml", "outside-root"), ("x.cu", "usage"), ("sub", "outside-root")]
)
def test_what_is_written_lies_below_the_folder(root: RootFolder, name: str, code: str):
    assert root.new_file("sub/x.toml", ".toml") == root.path / "sub" / "x.toml"
    with pytest.raises((InputError, UsageError)) as error:
        root.new_file(name, ".toml")
    assert error.value.code == code
