"""Defects of how files of settings are read that a review found."""

import json
from codecs import BOM_UTF8
from pathlib import Path
from time import process_time

import pytest

from budget import few
from cli.shell import SAMPLES, Sassan, assert_refused

SAXPY = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"
SETTINGS = [
    ("check", SAXPY, "--gates"),
    ("analyze", SAXPY, "--bounds"),
    ("analyze", SAXPY, "--machine"),
    ("analyze", SAXPY, "--launches"),
    ("makespan", "--config"),
    ("evolve",),
]
HOSTILE = {
    "an integer of 5,000 digits": "x = " + "9" * 5000,
    "a hexadecimal integer of 5,000 digits": "x = 0x" + "f" * 5000,
    "a dotted key of 50,000 tables": ".".join("a" * 50_000) + " = 1",
    "a dotted key of blanks and quotes": " . ".join(['"a"', "b", "'c'"] * 9000) + " = 1",
    "inline tables nested 20,000 times": "x = " + "{a=" * 20_000 + "1",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("command", few(SETTINGS), ids=lambda command: " ".join(map(str, command[::2])))
def test_a_hostile_file_of_settings_is_refused_at_once(command: tuple[str, ...], text: str, sassan: Sassan, tmp_path: Path):
    path = tmp_path / "hostile.toml"
    path.write_text(text + "\n", "utf-8")
    begin = process_time()
    assert_refused(sassan(*command, path), 2 if command == ("evolve",) else 3)
    assert process_time() - begin < 5


@pytest.mark.parametrize("command", SETTINGS[:-1])
def test_settings_without_an_end_are_refused(command: tuple[str, ...], sassan: Sassan):
    assert_refused(sassan(*command, "/dev/zero"), 3)


def test_a_byte_order_mark_is_no_part_of_the_settings(sassan: Sassan, tmp_path: Path):
    (tmp_path / "gates.toml").write_bytes(BOM_UTF8 + b'[function."*"]\nmax-wcet = 1\n')
    assert sassan("check", SAXPY, "--gates", tmp_path / "gates.toml", "--loop-bound", "1").status == 1
    results = sassan("analyze", SAXPY, "--json").out
    (tmp_path / "results.json").write_bytes(BOM_UTF8 + results.encode())
    assert sassan("diff", tmp_path / "results.json", SAXPY).status == 0
    assert sassan("check", SAXPY, "--no-gaps", "--baseline", tmp_path / "results.json").status == 0


@pytest.mark.parametrize("gap", [{}, {"message": "x"}, {"code": None}, "gap", 3])
def test_results_with_a_gap_that_has_no_code_are_not_resumed(gap: object, sassan: Sassan, tmp_path: Path):
    results, loop = tmp_path / "results.jsonl", SAMPLES / "sm_61" / "mandelbrot.cuobjdump.sass"
    assert sassan("batch", loop, "-o", results, "--executor", "serial").status == 0
    head, line = results.read_text().splitlines()
    results.write_text(f"{head}\n{json.dumps({**json.loads(line), 'gaps': [gap]})}\n")
    result = sassan("batch", loop, "-o", results, "--resume", "--executor", "serial")
    assert_refused(result, 2)
    assert result.codes == ["results-damaged"]


@pytest.mark.parametrize("command", SETTINGS)
def test_brackets_nested_beyond_measure_are_a_defect_of_the_file(command: tuple[str, ...], sassan: Sassan, tmp_path: Path):
    path = tmp_path / "deep.toml"
    path.write_text("[kernel]\na = " + "[" * 100_000, "utf-8")
    result = sassan(*command, path)
    assert_refused(result, 2 if command == ("evolve",) else 3)
