"""The fast parser of PTX lines against the one that gives every line to the grammar; and ptxas, where it is there, on what is printed."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import PATIENCE, some
from ptx import NAMES, generated, kernel, source, syntax
from sassan.frontend.grammar import SyntaxProblem
from sassan.frontend.ptx.lines import FastLines, LineParser, PlainLines
from sassan.frontend.ptx.syntax import Module
from sassan.frontend.ptx.text import module_text
from sassan.source import Source

TWINNED = [name for name in NAMES if name.startswith(("sm_61/", "sm_90/", "ptx/")) and "large" not in name]


@pytest.mark.parametrize("name", some(TWINNED, of=8))
def test_both_read_a_sample_alike(name):
    assert syntax(source(name), FastLines()) == syntax(source(name), PlainLines())


@given(generated())
def test_both_read_a_generated_module_alike(module: Module):
    text = Source("t.ptx", module_text(module))
    assert syntax(text, FastLines()) == syntax(text, PlainLines())


def outcome(parser: LineParser, line: str):
    try:
        return parser.parse(line)
    except SyntaxProblem as problem:
        return (problem.message, problem.position, problem.expected)


PIECES = [
    "%r1",
    "%r12",
    "[%rd1+4]",
    "{%f1, %f2}",
    ",",
    ", ",
    " ",
    "0x1F",
    "0f3F800000",
    "-1",
    "+",
    "|",
    "!",
    "%p3",
    "x.y",
    "(a)",
    "]",
    "}",
    "0",
    "017",
    "_",
    "\t",
]


@given(st.sampled_from(["add.s32", "@%p1 bra", "@!%p1  mov.b32", "ld.a::b.c", "x"]), st.lists(st.sampled_from(PIECES), max_size=8))
def test_both_read_or_refuse_a_line_alike(head, pieces):
    line = f"\t{head} {''.join(pieces)};"
    assert outcome(FastLines(), line) == outcome(PlainLines(), line)


def test_a_shape_keeps_the_numbers_of_each_operand_apart():
    fast, plain = FastLines(), PlainLines()
    for line in (
        "ld.b32 {%r1, %r23}, [%rd4+5];",
        "ld.b32 {%r67, %r8}, [%rd90+12];",
        "mov.f32 %f1, 0f00000001;",
        "mov.f32 %f22, 0fABCDEF01;",
    ):
        assert fast.parse(line) == plain.parse(line)


def ptxas() -> str | None:
    """Return ptxas, from PATH or from an installed wheel of triton."""
    found = shutil.which("ptxas")
    spec = importlib.util.find_spec("triton") if found is None else None
    for place in (spec.submodule_search_locations or []) if spec else []:
        inside = Path(place) / "backends" / "nvidia" / "bin" / "ptxas"
        found = str(inside) if inside.is_file() else found
    return found


@pytest.mark.skipif(ptxas() is None, reason="ptxas is not installed")
@pytest.mark.parametrize("name", some([name for name in NAMES if name.startswith("sm_90/") and "large" not in name], of=6))
def test_ptxas_accepts_what_is_printed(name, tmp_path):
    (module,) = syntax(source(name))
    (tmp_path / "k.ptx").write_text(module_text(module), "utf-8")
    done = subprocess.run(
        [ptxas() or "", "-c", "-arch=sm_90", "-o", "k.cubin", "k.ptx"], cwd=tmp_path, capture_output=True, check=False, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(ptxas() is None, reason="ptxas is not installed")
def test_ptxas_refuses_what_is_refused_here(tmp_path):
    text = kernel("mov.u32 %r1, %r77;", "ret;")
    (tmp_path / "k.ptx").write_text(text, "utf-8")
    done = subprocess.run(
        [ptxas() or "", "-arch=sm_61", "-o", "k.cubin", "k.ptx"], cwd=tmp_path, capture_output=True, check=False, timeout=PATIENCE
    )
    assert done.returncode != 0
