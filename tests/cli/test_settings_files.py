"""Defects of how files of settings are read that a review found."""

from pathlib import Path

import pytest

from cli.shell import SAMPLES, Sassan, assert_refused

SAXPY = SAMPLES / "sm_61" / "saxpy.cuobjdump.sass"


@pytest.mark.parametrize(
    "command",
    [
        ("check", SAXPY, "--gates"),
        ("analyze", SAXPY, "--bounds"),
        ("analyze", SAXPY, "--machine"),
        ("makespan", "--config"),
        ("evolve",),
    ],
)
def test_brackets_nested_beyond_measure_are_a_defect_of_the_file(command: tuple[str, ...], sassan: Sassan, tmp_path: Path):
    path = tmp_path / "deep.toml"
    path.write_text("[kernel]\na = " + "[" * 100_000, "utf-8")
    result = sassan(*command, path)
    assert_refused(result, 2 if command == ("evolve",) else 3)
