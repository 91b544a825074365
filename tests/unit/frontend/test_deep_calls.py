"""Functions that call each other hundreds deep: what is linked to each ends at `DEPTH` calls, with or without calls through pointers."""

import pytest

from growing import PTX, calls
from sassan import frontend
from sassan.frontend.link import DEPTH
from sassan.ir import Function, Symbol, Target
from sassan.source import Source

HEAD = '\t.headerflags\t@"EF_CUDA_SM80 EF_CUDA_PTX_SM(EF_CUDA_SM80)"\n'


def ptx(text: str) -> dict[str, Function]:
    return {function.name: function for function in frontend.read(Source("k.ptx", text)).functions}


def test_callees_are_linked_as_far_as_an_exploration_could_get():
    functions = ptx(calls(DEPTH + 10))
    assert len(functions["k"].frames) == DEPTH + 1
    assert functions[f"f{DEPTH}"].frames[-1].name == f"f{DEPTH + 10}"
    last = [instruction for instruction in functions["k"].instructions if instruction.opcode.startswith("call")][-1]
    assert last.operands == (Symbol(f"f{DEPTH}"),)


@pytest.mark.parametrize(("depth", "known"), [(DEPTH - 1, True), (DEPTH + 10, False)])
def test_a_call_through_a_register_has_unknown_targets_unless_all_are_linked(depth: int, known: bool):
    text = calls(depth).replace(
        f".func f{depth}()\n{{\n", f".func f{depth}()\n{{\n.reg .b64 %rd<3>;\np: .callprototype _ ();\ncall %rd1, p;\n"
    )
    assert text.startswith(PTX)
    assert (ptx(text)["k"].callees is not None) == known


def test_sections_of_a_listing_are_linked_as_far():
    functions = {function.name: function for function in frontend.read(Source("k.sass", sections(DEPTH + 10))).functions}
    last = [instruction for instruction in functions["f0"].instructions if instruction.opcode.startswith("CALL")][-1]
    assert last.operands[-1] == Symbol(f"f{DEPTH + 1}")
    first = functions["f0"].instructions[0]
    assert isinstance(first.operands[-1], Target)


def sections(depth: int) -> str:
    """A listing of nvdisasm with a section for each function, which calls the next."""
    parts = [section(f"f{level}", (f"CALL.ABS.NOINC `(f{level + 1})", "EXIT")) for level in range(depth)]
    return HEAD + "".join([*parts, section(f"f{depth}", ("EXIT",))])


def section(name: str, code: tuple[str, ...]) -> str:
    rows = "".join(f"        /*{16 * index:04x}*/                   {text} ;\n" for index, text in enumerate(code))
    head = f'\t.section\t.text.{name},"ax",@progbits\n\t.size\t{name},(.L_x_{name} - {name})\n.text.{name}:\n'
    return f"{head}{rows}.L_x_{name}:\n"
