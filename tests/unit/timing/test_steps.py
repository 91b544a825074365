"""Where one thread goes, instruction by instruction."""

from dataclasses import replace

import pytest

from budget import some
from samples import golden, names, own_end, program
from sassan.isa.tables import load
from sassan.timing.steps import InstructionGraph, steps
from scheduled import scheduled


def walked(text: str, arch: str = "sm_80") -> InstructionGraph:
    function = scheduled(text, arch)
    return steps(function, [load(arch).facts(one) for one in function.instructions])


def test_a_guarded_branch_goes_both_ways_and_a_plain_one_goes_one():
    text = """
        @P0 BRA far | 5
        BRA far | 5
        NOP | 1
    far:
        EXIT | 5
    """
    assert walked(text).after == ((1, 3), (3,), (3,), ())


def test_a_thread_that_syncs_goes_where_its_own_token_leads():
    text = """
        SSY first | 1
        @P0 SYNC | 13
        SYNC | 13
    first:
        SSY second | 1
        SYNC | 13
    second:
        EXIT | 15
    """
    assert walked(text, "sm_61").after == ((1,), (2, 3), (3,), (4,), (5,), ())


def test_a_break_leaves_the_tokens_above_its_own():
    text = """
        PBK out | 1
        SSY inner | 1
        @P0 BRK | 13
        SYNC | 13
    inner:
        BRK | 13
    out:
        EXIT | 15
    """
    assert walked(text, "sm_61").after[2:5] == ((3, 5), (4,), (5,))


def test_a_return_goes_behind_each_call():
    text = """
        CAL callee | 13
        CAL callee | 13
        EXIT | 15
    callee:
        NOP | 1
        RET | 15
    """
    assert walked(text, "sm_61").after == ((3,), (3,), (), (4,), (1, 2))


def test_a_recursion_ends_the_walk():
    text = """
        CAL callee | 13
        EXIT | 15
    callee:
        @P0 RET | 15
        CAL callee | 13
        RET | 15
    """
    assert walked(text, "sm_61").after == ((2,), (), (1, 3, 4), (2,), (1, 4))


CALLED = """
        CALL.REL.NOINC callee | 5
        CALL.ABS.NOINC R2 | 5
        EXIT | 5
    callee:
        @P0 CALL.REL.NOINC inside | 5
        NOP | 1
    inside:
        RET.REL.NODEC R4 0x0 | 5
    """


def followed(symbols: tuple[int, ...], callees: tuple[int, ...] | None = None) -> InstructionGraph:
    function = scheduled(CALLED, "sm_80")
    function = replace(function, symbols=tuple((address, f"f{address}") for address in symbols), callees=callees)
    return steps(function, [load("sm_80").facts(one) for one in function.instructions])


def test_a_call_into_a_function_since_volta_is_a_jump_of_it():
    # Else the return would go behind that call, too.
    assert followed((0, 0x30)).after == ((3,), (2,), (), (4, 5), (5,), (1,))
    assert followed((0,)).after[5] == (1, 4)


def test_a_pointer_does_not_lead_to_a_function_that_is_called_by_name():
    assert followed((0, 0x30), (0x30,)).after[1] == (2,)
    assert followed((0, 0x30), (0x30, 0x40)).after[1] == (4,)


def test_a_jump_to_an_unknown_place_enters_what_nothing_else_reaches():
    text = """
        BRX R2 -0x10 | 5
        EXIT | 5
        IADD3 R0, R0, R0, RZ | 4
        EXIT | 5
    """
    found = walked(text)
    assert found.after[0] == (1, 2)
    assert [gap.code for gap in found.gaps] == ["indirect-branch"]


def test_what_is_not_modelled_goes_on_and_is_a_gap():
    found = walked("BMOV.32.PQUAD B0, R4 | 4\nEXIT | 5")
    assert found.after == ((1,), ())
    assert [(gap.address, gap.code) for gap in found.gaps] == [(0, "unsupported-control")]


def test_code_that_nothing_reaches_is_walked_on_its_own():
    text = """
        EXIT | 5
        IADD3 R0, R0, R0, RZ | 4
        EXIT | 5
    """
    assert walked(text).roots == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_52", "sm_61", "sm_70", "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_the_steps_between_blocks_are_those_that_nvdisasm_draws(arch: str):
    for name in some(names(arch), of=4):
        drawn = golden("bbcfg", arch, name)
        for function in program(arch, name).functions:
            if function.name in drawn:
                assert not missing(arch, name, function.name, drawn[function.name]["edges"])


def missing(arch: str, name: str, wanted: str, edges: list[list[str]]) -> list[str]:
    """Return the drawn edges that no step takes; the tool steps over calls, and knows the token of unreached code (samples/README.md)."""
    function = next(one for one in program(arch, name).functions if one.name == wanted)
    facts = [load(arch).facts(one) for one in function.instructions]
    found = steps(function, facts)
    code = function.instructions
    taken = {(code[index].address, code[to].address) for index, after in enumerate(found.after) for to in after}
    end = own_end(arch, name, function)
    calls = {one.address for one, known in zip(code, facts, strict=True) if known is not None and "call" in known.flow.value}
    unreached = {code[index].address for index in found.roots[1:]}
    out: list[str] = []
    for source, target in ((int(source, 16), int(target, 16)) for source, target in edges):
        if (source, target) not in taken and source not in calls and source < end and not any(root <= source for root in unreached):
            out.append(f"{arch} {name} {source:04x} -> {target:04x}")
    return out
