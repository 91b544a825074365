"""`sassan diff --sass`: the machine code of two builds, block by block."""

import random
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from budget import FULL, some
from cli.shell import SAMPLES, Sassan, assert_refused
from edits import edited
from sassan import frontend
from sassan.app.builds.code import BlockState, blocks_of, compared
from sassan.ir import Function

SM_61 = SAMPLES / "sm_61"
INSTRUCTIONS, SECONDS = (100_000, 10) if FULL else (40_000, 1)
BFS, SAXPY = SM_61 / "bfs_step.cuobjdump.sass", SM_61 / "saxpy.nvdisasm.sass"


def functions(*paths: Path) -> list[Function]:
    return [function for path in paths for function in frontend.read(frontend.load(str(path))).functions]


def test_the_same_code_is_the_same(sassan: Sassan):
    assert sassan("diff", BFS, BFS, "--sass").out == "1 function: 0 with other code, 1 with the same\n"


def test_a_block_with_other_register_numbers_is_the_same(sassan: Sassan, tmp_path: Path):
    text = SAXPY.read_text("utf-8")
    path = tmp_path / "renamed.sass"
    path.write_text(re.sub(r"\bR2\b", "R9", text), "utf-8")
    result = sassan("diff", SAXPY, path, "--sass")
    assert result.out == "1 function: 0 with other code, 1 with the same (1 of these with other registers)\n"


def test_a_renamed_function_is_found_by_its_code(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "renamed.sass"
    path.write_text(SAXPY.read_text("utf-8").replace("saxpy", "axpy"), "utf-8")
    result = sassan("diff", SAXPY, path, "--sass")
    assert result.out == "1 function: 0 with other code, 1 with the same (1 of these with another name)\n"
    assert [(row["was"], row["name"]) for row in sassan("diff", SAXPY, path, "--sass", "--json").document["functions"]] == [
        ("saxpy", "axpy")
    ]


def test_functions_that_are_twice_the_same_are_paired_by_name_alone():
    first, second = functions(SAXPY, SAXPY)
    new = [replace(first, name="a"), replace(second, name="b")]
    assert [(pair.old is None, pair.new is None) for pair in compared([first, second], new)] == [
        (True, False),
        (True, False),
        (False, True),
        (False, True),
    ]


def test_what_changed_is_a_few_lines_and_a_page(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "changed.sass"
    edited(SAXPY, path, ("FFMA", "FADD"))
    result = sassan("diff", SAXPY, path, "--sass")
    lines = [line.strip() for line in result.out.splitlines() if line.strip().startswith(("-", "+"))]
    assert [line.split()[:2] for line in lines] == [["-", "FFMA"], ["+", "FADD"]]
    document = sassan("diff", SAXPY, path, "--sass", "--json").document["functions"]
    assert [block["state"] for block in document[0]["blocks"]].count("changed") == 1
    page = tmp_path / "x.html"
    assert sassan("diff", SAXPY, path, "--sass", "-o", page).status == 0
    text = page.read_text("utf-8")
    assert "FADD" in text
    assert "http" not in text
    assert "<script" not in text


def test_the_page_shows_each_side_with_its_own_registers(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "changed.sass"
    path.write_text(re.sub(r"\bR6\b", "R9", SAXPY.read_text("utf-8")).replace("FFMA R0, R4", "FFMA R8, R4"), "utf-8")
    sassan("diff", SAXPY, path, "--sass", "-o", tmp_path / "x.html")
    row = next(line for line in (tmp_path / "x.html").read_text("utf-8").split("<tr>") if "LDG.E R9" in line)
    assert "LDG.E R6" in row.partition("LDG.E R9")[0]


def test_a_name_steers_no_page(sassan: Sassan, tmp_path: Path):
    path = tmp_path / "k.sass"
    edited(BFS, path, ("bfs_step", "b<script>"))
    page = tmp_path / "x.html"
    sassan("diff", BFS, path, "--sass", "-o", page)
    assert "<script>" not in page.read_text("utf-8")


@pytest.mark.parametrize("options", [("-o", "x.html"), ("--sass", "-o", "x.svg"), ("--sass", "-f", "nobody")])
def test_options_that_mean_nothing_are_usage_errors(options: tuple[str, ...], sassan: Sassan):
    assert_refused(sassan("diff", BFS, SAXPY, *options), 2)


def joined(parts: list[Function]) -> Function:
    """Return one function of the code of several, one behind the other."""
    code, base = [], 0
    for part in parts:
        code += [
            replace(each, address=base + each.address, following=base + each.following, targets=tuple(base + at for at in each.targets))
            for each in part.instructions
        ]
        base = code[-1].following
    return replace(parts[0], name="joined", instructions=tuple(code))


@pytest.mark.slow
def test_blocks_that_moved_are_found_and_every_block_stands_once():
    parts = functions(*some(sorted(SM_61.glob("*.cuobjdump.sass")), of=3))
    random.seed(7)
    for _ in range(5 if FULL else 1):
        old = random.sample(parts, 6)
        new = [*old[3:], *old[:2]]
        (pair,) = compared([joined(old)], [joined(new)])
        assert sorted(block.old.address for block in pair.blocks if block.old) == [block.address for block in blocks_of(joined(old))]
        assert [block.new.address for block in pair.blocks if block.new] == [block.address for block in blocks_of(joined(new))]
        assert not any(block.state in {BlockState.ADDED, BlockState.CHANGED} for block in pair.blocks)


@pytest.mark.slow
def test_many_thousand_instructions_take_seconds():
    parts = functions(*some(sorted(SM_61.glob("*.cuobjdump.sass")), of=3))
    random.seed(1)
    order = [random.choice(parts) for _ in range(INSTRUCTIONS * len(parts) // sum(len(part.instructions) for part in parts))]
    changed = [random.choice(parts) if place % 70 == 0 else part for place, part in enumerate(order)]
    old, new = joined(order), joined(changed)
    start = time.process_time()
    (pair,) = compared([old], [new])
    assert time.process_time() - start < SECONDS
    assert pair.count["same"] > 0.9 * len(blocks_of(old))
