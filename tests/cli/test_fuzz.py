"""The fuzzer: the kept inputs and some new ones of every format, and that its oracles notice what they are there for."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from budget import FULL
from cli.shell import ROOT
from sassan.cli import main
from sassan.frontend import assemble
from sassan.frontend.cubin.tools import NVDISASM, tools
from scripted import scripted

INPUTS = 400 if FULL else 2
SILENT = 5
"""The number of an input that changes a WCET where nothing holds texts against encodings."""
FLIPPED = (8, 12)
"""Numbers of inputs whose flipped bits change what is printed."""
FORMATS = scripted("fuzz.formats").FORMATS


@pytest.fixture(autouse=True)
def fuzz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The modules of the fuzzer, in a working folder and with a cache of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SASSAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "scripts")])
    return scripted("fuzz.run")


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_no_input_of_a_format_is_a_finding(name: str, fuzz: Any):
    form = FORMATS[name]
    assert scripted("fuzz.formats").replay(form, of=1 if FULL else 3) == []
    for number in range(INPUTS):
        wrong, seconds, _ = fuzz.checked(form, *fuzz.made(form, 0, number), None)
        assert (number, wrong) == (number, "")
        assert seconds < 10


def test_the_same_number_gives_the_same_input(fuzz: Any):
    for form in FORMATS.values():
        inputs = [fuzz.made(form, 3, number) for number in range(4)]
        assert inputs == [fuzz.made(form, 3, number) for number in range(4)]
        assert len(set(inputs)) > 1


def test_a_defect_is_a_finding(fuzz: Any, monkeypatch: pytest.MonkeyPatch):
    def broken() -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(main.terminal, "prepare", broken)
    wrong, _, _ = fuzz.checked(FORMATS["gates"], b"[function]\n", 0, None)
    assert wrong.startswith("IndexError: list index out of range (test_fuzz.py:")


def test_a_status_that_means_a_defect_is_a_finding(fuzz: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(main, "run", lambda _: 5)
    assert fuzz.checked(FORMATS["gates"], b"[function]\n", 0, None)[0].startswith("status 5")
    monkeypatch.setattr(main, "run", lambda _: 3)
    assert fuzz.checked(FORMATS["gates"], b"[function]\n", 0, None)[0] == "status 3 without an error"


def test_a_limit_that_is_reached_is_a_finding(fuzz: Any, monkeypatch: pytest.MonkeyPatch):
    def late(arguments: list[str]) -> int:
        del arguments
        sys.stderr.write("error[time-limit]: not done within 600 s\n")
        return 4

    monkeypatch.setattr(main, "run", late)
    assert fuzz.checked(FORMATS["gates"], b"[function]\n", 0, None)[0] == "time-limit was reached"
    assert fuzz.checked(FORMATS["command"], b"init\0k.ptx", 0, None)[0] == "time-limit was reached"
    assert fuzz.checked(FORMATS["command"], b"init\0k.ptx\0--time-limit\0001", 0, None)[0] == ""


def test_a_command_has_no_limit_on_the_clock_but_its_own(fuzz: Any, monkeypatch: pytest.MonkeyPatch):
    lines: list[list[str]] = []
    monkeypatch.setattr(main, "run", lambda line: lines.append(line) or 0)
    assert fuzz.checked(FORMATS["command"], b"init\0k.ptx", 0, None)[0] == ""
    assert lines == [["init", "k.ptx"]]


def test_a_number_from_a_contradictory_text_is_a_finding(fuzz: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(assemble, "_compared", lambda *_: (None, 0))
    form = FORMATS["contradiction"]
    assert fuzz.checked(form, *fuzz.made(form, 1, SILENT), None)[0].startswith("silent: ")


@pytest.mark.skipif(not any({61, 70} <= set(tool.reads) for tool in tools(NVDISASM)), reason="needs an nvdisasm that reads sm_61 and sm_70")
def test_a_flipped_bit_that_nothing_notices_is_a_finding(fuzz: Any, monkeypatch: pytest.MonkeyPatch):
    form = FORMATS["encoding"]
    inputs = [fuzz.made(form, 1, number) for number in FLIPPED]
    noticed = [fuzz.checked(form, *each, None)[0] for each in inputs]
    monkeypatch.setattr(assemble, "_compared", lambda *_: (None, 0))
    silent = [fuzz.checked(form, *each, None)[0] for each in inputs]
    assert [(one, other[:8]) for one, other in zip(noticed, silent, strict=True)] == [("", "silent: ")] * len(FLIPPED)


@pytest.mark.slow
def test_what_hangs_or_dies_is_a_finding(fuzz: Any, monkeypatch: pytest.MonkeyPatch):
    import os  # noqa: PLC0415 - of the worker
    import time  # noqa: PLC0415 - of the worker
    from dataclasses import replace  # noqa: PLC0415 - of this test

    def check(data: bytes, choice: int) -> str:
        del choice
        if data == b"1":
            time.sleep(60)
        if data == b"2":
            os._exit(9)
        return "large" if data == b"3" and bytearray(3 << 30) else ""

    monkeypatch.setattr(fuzz, "SECONDS", 0.5)
    monkeypatch.setattr(fuzz, "made", lambda _form, _seed, number: (str(number).encode(), 0))
    tally = fuzz.run(replace(FORMATS["gates"], check=check), 1, range(5), 60.0)
    assert [finding.number for finding in tally.findings] == [1, 2, 3]
    assert [finding.message for finding in tally.findings] == ["no answer within 3 s", "the process ended with 9", "more than 2 GiB"]
