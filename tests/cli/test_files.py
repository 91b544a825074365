"""The names of output files: none can leave its folder."""

from pathlib import Path

import pytest

from sassan.cli.output import files
from sassan.errors import UsageError

HOSTILE = [
    "../../etc/passwd",
    "..",
    ".",
    "",
    "/etc/passwd",
    "a/b",
    "a\x00b",
    "CON:",
    "x" * 5000,
    "é",
    "a b",
    "-rf",
    ".hidden",
    "\ud800",
    "a\nb",
]


@pytest.mark.parametrize("name", ["_Z5saxpyifPKfPf", "kernel", "a.b-c_D9"])
def test_a_plain_kernel_name_is_its_file_name(name: str):
    assert files.stem(name) == name


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_kernel_name_becomes_a_plain_file_name(name: str, tmp_path: Path):
    made = files.stem(name)
    assert len(made) <= 100
    assert made.isascii()
    assert Path(made).name == made
    assert not made.startswith((".", "-"))
    (tmp_path / made).write_bytes(b"x")
    assert [one.name for one in tmp_path.iterdir()] == [made]


def test_hostile_names_that_look_alike_get_different_files():
    assert files.stem("a/b") != files.stem("a:b")


def test_one_file_name_for_several_functions_is_refused():
    with pytest.raises(UsageError) as caught:
        files.outputs("x.svg", ("a", "b"))
    assert caught.value.code == "several-functions"


def test_a_pattern_names_one_file_per_function():
    assert files.outputs("out/{name}.svg", ("a", "b", "a")) == (Path("out/a.svg"), Path("out/b.svg"), Path("out/a-2.svg"))


def test_an_unknown_extension_is_refused():
    with pytest.raises(UsageError) as caught:
        files.extension("x.jpeg", ("svg", "png"))
    assert caught.value.code == "output-format"
    assert caught.value.hint == "end the name in one of .svg, .png"
