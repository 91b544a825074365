"""Recorded programs are compiled by the compiler that is asked for, or not at all."""

import shutil
from pathlib import Path

import pytest

from scripted import scripted

record_programs, silicon_programs = scripted("record_programs"), scripted("silicon_programs")

MAKEFILE = "main:\n\tnvcc -arch=$(ARCH) main.cu -o main\nrun: main\n\t./main\n"
COMPILER = """#!/bin/sh
case "$*" in *{refused}*) case "$PWD" in */hard) exit 1 ;; esac ;; esac
while [ "$1" != -o ]; do shift; done
echo {name} > "$2"
chmod +x "$2"
"""
"""A compiler that writes its name, and does not compile the program `hard` where its options contain a word."""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if shutil.which("make") is None:
        pytest.skip("no make is installed")
    for program in ("easy", "hard"):
        folder = tmp_path / "programs" / program
        folder.mkdir(parents=True)
        (folder / "Makefile").write_text(MAKEFILE)
    for name, refused in (("clang++", "main.cu"), ("nvcc", "no-such-option")):
        compiler = tmp_path / "bin" / name
        compiler.parent.mkdir(exist_ok=True)
        compiler.write_text(COMPILER.format(name=name, refused=refused))
        compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    return tmp_path / "programs"


def made(programs: Path, clang: str | None) -> dict[str, str | None]:
    """Which compiler made each program."""
    built = record_programs.build(programs, ["easy", "hard"], programs.parent / "work", "sm_86", clang)
    return {name: each.executable and each.executable.read_text().strip() for name, each in built.items()}


def test_what_clang_refuses_is_not_compiled_and_programs_of_nvcc_are_not_taken_for_its_own(programs: Path):
    assert made(programs, None) == {"easy": "nvcc", "hard": "nvcc"}
    assert made(programs, record_programs.find_clang()) == {"easy": "clang++", "hard": None}


def test_measured_programs_are_skipped_without_clang(programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    (programs / "measured.csv").touch()
    monkeypatch.setattr(silicon_programs, "find_clang", lambda: None)
    assert silicon_programs.tasks(programs, ("control",), None, 1.0) == []
    assert "needs clang" in capsys.readouterr().out
