"""The text of PTX by function, with source lines."""

import re
from pathlib import Path

import pytest

from sassan.frontend.ptx.source_map import PtxLine, functions_of

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
TEXT = """
.version 8.4
.func  (.param .b32 func_retval0) _Z4leafi(
\t.param .b32 _Z4leafi_param_0
)
;
.visible .entry scale(
\t.param .u64 scale_param_0
)
.maxntid 256, 1, 1
{
\t.reg .b32 \t%r<3>;
\t.loc\t1 3 5

\tmov.u32 \t%r1, %tid.x;
$L__BB0_1:
\t.loc\t2 7 9, function_name $L__info_string0, inlined_at 1 4 2
\t@%p1 bra \t$L__BB0_1;
\tret;
}
\t.file\t1 "/src/a \\"b\\"/k.cu"
\t.file\t2 "/src/factor.h"
"""


def test_every_instruction_has_the_place_of_the_last_loc_and_a_declaration_is_no_function():
    functions = functions_of(TEXT)
    assert list(functions) == ["scale"]
    placed = [(line.text.split()[0], line.file, line.line) for line in functions["scale"] if line.file]
    first, second = '/src/a \\"b\\"/k.cu', "/src/factor.h"
    assert placed == [("mov.u32", first, 3), ("@%p1", second, 7), ("ret;", second, 7)]
    assert PtxLine("$L__BB0_1:") in functions["scale"]


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("ptx/*/*.ptx")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_kernel_of_a_sample_has_its_text(path: Path):
    text = path.read_text("utf-8")
    functions = functions_of(text)
    assert set(re.findall(r"\.entry\s+(\w+)", text)) <= set(functions)
    assert all(lines[-1].text == "}" for lines in functions.values())


@pytest.mark.parametrize("text", ["", "}", ".entry", ".visible .entry k(", "{\n}\n", ".loc 1 1 1\n.entry k()\n{\n"])
def test_text_of_another_form_has_no_functions(text: str):
    assert functions_of(text) == {}
