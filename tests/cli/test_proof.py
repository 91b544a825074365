"""`sassan makespan --proof`, and the program that checks it with nothing of sassan."""

import subprocess
import sys
from pathlib import Path

import pytest

from budget import some
from cli.shell import ROOT, Sassan, assert_refused


def checked(path: Path) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "scripts" / "check_proof"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "slots"),
    some(
        [
            (("LLC", "CCL", "LCL", "-W", "5", "--issue", "1"), 15),
            (("LLCLL", "-W", "8"), 33),
            (("CC", "-W", "4", "--cap", "C=2", "--issue", "2"), 5),
            (("LCCL", "-W", "4", "--cap", "L=1,C=2"), 10),
            (("L5C9L2C9", "-W", "3", "--cap", "L=1,C=4", "--issue", "4"), 37),
        ]
    ),
)
def test_a_proof_is_checked_and_a_changed_one_is_refused(sassan: Sassan, tmp_path: Path, arguments: tuple[str, ...], slots: int):
    path = tmp_path / "proof.txt"
    result = sassan("makespan", *arguments, "--proof", path, "-q")
    assert result.status == 0, result.err
    assert f"longest makespan: {slots} slots, exact" in result.out
    assert checked(path) == (0, f"proved: no schedule has more than {slots} slots\n")
    head, *lines = path.read_text().splitlines(keepends=True)
    changed = {
        "a smaller bound": [head.replace(f'"upper": {slots}', f'"upper": {slots - 1}'), *lines],
        "another string": [head.replace('["', '["C'), *lines],
        "a state is missing": [head, *lines[: len(lines) // 2], *lines[len(lines) // 2 + 1 :]],
        "every number is smaller by one": [head, *(f"{int(line.split(':')[0]) - 1}:{line.split(':')[1]}" for line in lines)],
        "a number is smaller by one": [head, *lines[:-1], f"{int(lines[-1].split(':')[0]) - 1}:{lines[-1].split(':')[1]}"],
    }
    for what, text in changed.items():
        path.write_text("".join(text))
        assert checked(path)[0] == 1, what


def test_what_has_no_proof_is_refused(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "proof.txt"
    assert_refused(sassan("makespan", "LBC", "-W", "2", "--proof", path), 2)
    assert_refused(sassan("makespan", "samples/sm_61/saxpy.cuobjdump.sass", "-W", "2", "--proof", path), 2)
    assert not path.exists()


def test_a_proof_that_is_too_large_leaves_the_other_results(sassan: Sassan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sassan.makespan.exact.proof.MOST", 1)
    drawn, program, path = (tmp_path / name for name in ("x.svg", "x.lp", "proof.txt"))
    search = ("makespan", "LCL", "-W", "4", "--engine", "exact")
    result = sassan(*search, "-o", drawn, "--lp", program, "--rows", "short", "--proof", path)
    assert (result.status, result.codes) == (2, ["too-large"])
    assert "longest makespan: 9 slots, exact" in result.out
    assert (drawn.exists(), program.exists(), path.exists()) == (True, True, False)
