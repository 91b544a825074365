"""Programs that `sassan record` cannot record: an error that says what to do, and no file that looks like a recording."""

import shutil
import subprocess
from pathlib import Path

import pytest

from cli.shell import Sassan, assert_refused
from record.programs import COMPILER, needs_compiler
from sassan.compilers import host
from sassan.record import library

STATIC = '__attribute__((section(".nv_fatbin"))) const char fatbin[64] = "x"; int main(void) { return fatbin[0] != 120; }'
SHARED = STATIC.replace("int main(void) {", "void __cudaRegisterFatBinary(void *); int main(void) { __cudaRegisterFatBinary(0);")


def compiled(folder: Path, text: str, *options: str) -> Path:
    source = folder / "program.c"
    source.write_text(text)
    subprocess.run([*COMPILER, "-w", "-o", str(folder / "program"), str(source), *options], check=True)
    return folder / "program"


@needs_compiler
def test_a_static_runtime_without_names_gets_a_hint_how_to_link(sassan: Sassan, tmp_path: Path):
    result = sassan("record", "-o", tmp_path / "x.toml", "--", compiled(tmp_path, STATIC))
    assert_refused(result, 3)
    assert result.codes == ["static-runtime"]
    assert "nvcc --cudart shared" in result.err
    assert not (tmp_path / "x.toml").exists()


@needs_compiler
def test_a_runtime_that_nothing_stands_in_for_is_named(tmp_path: Path, sassan: Sassan):
    compiled(tmp_path, "void __cudaRegisterFatBinary(void *a) {}", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.99").rename(
        tmp_path / "lib.so"
    )
    made = compiled(tmp_path, SHARED, str(tmp_path / "lib.so"))
    result = sassan("record", "-o", tmp_path / "x.toml", "--", made)
    assert (result.status, result.codes) == (3, ["unknown-runtime"])
    assert "libcudart.so.99" in result.err


@needs_compiler
def test_a_program_without_launches_is_an_error_and_writes_a_file_without_launches(tmp_path: Path, sassan: Sassan):
    result = sassan("record", "-q", "-o", tmp_path / "x.toml", "--", compiled(tmp_path, "int main(void) { return 0; }"))
    assert (result.status, result.codes) == (3, ["no-launches"])


def test_a_program_that_is_not_there_is_refused(sassan: Sassan, tmp_path: Path):
    result = sassan("record", "-o", tmp_path / "x.toml", "--", tmp_path / "nothing")
    assert_refused(result, 3)
    assert result.codes == ["missing-program"]


def test_a_folder_that_is_not_there_is_refused_before_the_program_runs(sassan: Sassan, tmp_path: Path):
    result = sassan("record", "-o", tmp_path / "no" / "x.toml", "--", "sh", "-c", f"touch {tmp_path}/ran")
    assert (result.status, result.codes) == (2, ["unwritable-output"])
    assert not (tmp_path / "ran").exists()


def test_standard_output_is_the_programs(sassan: Sassan):
    assert_refused(sassan("record", "-o", "-", "--", "sh"), 2)


def test_a_device_that_no_table_has_is_refused(sassan: Sassan, tmp_path: Path):
    result = sassan("record", "-o", tmp_path / "x.toml", "--sm", "4.2", "--", "sh")
    assert (result.status, result.codes) == (2, ["no-device"])


def test_without_a_compiler_the_install_command_is_named(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(host, "_COMPILERS", ("no-such-compiler",))
    result = sassan("record", "-o", tmp_path / "x.toml", "--", "sh")
    assert_refused(result, 4)
    assert "apt install gcc" in result.err


@needs_compiler
@pytest.mark.parametrize(
    ("chosen", "words"),
    [("cc -DX='a b' -m64", ["-DX=a b", "-m64"]), ("./cc -w", ["-w"]), ("no-such-compiler -w", []), ("cc '", []), (" ", [])],
)
def test_the_variable_cc_holds_a_program_and_its_options(chosen: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "cc").symlink_to(shutil.which(COMPILER[0]) or "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", chosen)
    (program, *options) = host.c_compiler()
    assert Path(program).is_absolute()
    assert options == words
    assert library._version((program, *options))  # pyright: ignore[reportPrivateUsage]


@needs_compiler
def test_a_failing_compiler_is_reported_with_its_error(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\necho no such luck >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setenv("CC", str(failing))
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    result = sassan("record", "-o", tmp_path / "x.toml", "--", "sh")
    assert (result.status, result.codes) == (3, ["compiler-failed"])
    assert "no such luck" in result.err
    assert [path.name for path in (tmp_path / "cache" / "record").iterdir()] == []
