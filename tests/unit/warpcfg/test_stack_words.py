"""Words of the stack as registers: what threads agree on, and which addresses are known, behind a spill; and every way to lose a word."""

import pytest

from listing import assemble
from sassan.app.analysis import explored, launched
from sassan.app.settings import Settings
from sassan.isa import tables
from sassan.isa.facts import WriteEffect
from sassan.isa.languages import FunctionIsa, isa_of, spilling, variables
from sassan.isa.registers import bit, names, stack_distance, stack_word
from sassan.isa.stack import Copies, StackMove
from sassan.machine.launch import LaunchConfiguration
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.stack_words import stack_words

ARCH = "sm_80"
BRANCH = """
    MOV R1, c[0x0][0x28]
    IADD3 R1, R1, -0x40, RZ
    S2R R4, SR_CTAID.X
    S2R R8, SR_TID.X
    MOV R5, R4
    MOV R6, R4
    MOV R7, R4
    {stored}
    {between}
    {loaded}
    ISETP.LT.U32.AND P0, PT, R2, 0x4, PT
    @P0 BRA few
    NOP
few:
    EXIT
"""


def graph(text: str) -> WarpCfg:
    function = assemble(text, ARCH).function
    return explored(function, isa_of(function), Settings())[0]


def parts(stored: str, loaded: str, between: str = "NOP") -> bool:
    """Say whether the branch on a word that was spilled may part a warp."""
    return any(node.divergent for node in graph(BRANCH.format(stored=stored, loaded=loaded, between=between)).nodes)


@pytest.mark.parametrize(
    ("stored", "loaded"),
    [
        ("STL [R1+0x8], R4", "LDL R2, [R1+0x8]"),
        ("STL.64 [R1+0x8], R4", "LDL R2, [R1+0xc]"),
        ("STL.128 [R1+0x10], R4", "LDL.64 R2, [R1+0x18]"),
        ("STL [R1+0x8], R4\\n STL [R1+0xc], R5", "LDL.LU.64 R2, [R1+0x8]"),
        ("STL.64 [R1+0x8], RZ", "LDL R2, [R1+0xc]"),
        ("STL [R1+0x8], R4", "IADD3 R9, R1, 0x4, RZ\\n LDL R2, [R9+0x4]"),
    ],
)
def test_threads_agree_on_a_spilled_word_on_which_they_agreed(stored: str, loaded: str):
    assert not parts(stored.replace("\\n", "\n"), loaded.replace("\\n", "\n"))


@pytest.mark.parametrize(
    "between",
    [
        "STL [R1+0x8], R8",
        "@P1 STL [R1+0x8], R8",
        "@P1 STL [R1+0x8], R5",
        "STL.64 [R1+0x4], R8",
        "STL.128 [R1], R8",
        "STL.U8 [R1+0x9], R5",
        "STL.S16 [R1+0xa], RZ",
        "STL [R8], R5",
        "IADD3 R9, R1, R8, RZ\n STL [R9], R5",
        "@P1 IADD3 R1, R1, 0x4, RZ",
        "ST.E [R10.64], R5",
    ],
)
def test_they_need_not_where_another_store_may_have_changed_it(between: str):
    assert parts("STL [R1+0x8], R4", "LDL R2, [R1+0x8]", between)


@pytest.mark.parametrize("loaded", ["LDL.U8 R2, [R1+0x8]", "LDL R2, [R8]", "LDL R2, [R1+0xc]"])
def test_nothing_is_known_of_what_is_read_in_parts_or_elsewhere(loaded: str):
    assert parts("STL [R1+0x8], R4", loaded)


CALLS = """
kernel:
    MOV R1, c[0x0][0x28]
    IADD3 R1, R1, -0x40, RZ
    S2R R4, SR_CTAID.X
    STL [R1+0x8], R4
    {passed}
    CALL.ABS.NOINC `(other)
    LDL R2, [R1+0x8]
    EXIT
"""


@pytest.mark.parametrize(
    ("passed", "spoils"),
    [
        ("NOP", False),
        ("IADD3 R16, R1, 0x8, RZ", False),
        ("IADD3 R4, R1, 0x8, RZ", True),
        ("IADD3 R5, P0, R1, c[0x0][0x20], RZ", True),
        ("STL [R1], R1", True),
        ("@P1 IADD3 R4, R1, 0x8, RZ", True),
    ],
)
def test_an_external_function_spoils_the_stack_only_where_an_address_of_it_may_have_reached_it(passed: str, spoils: bool):
    cfg = graph(CALLS.format(passed=passed))
    known = stack_words(cfg, tables.load(ARCH).facts)
    (external,) = cfg.externals
    assert (external.address in known) is spoils
    assert known.get(external.address, StackMove()).spoiled == (1 << _number(-0x38) if spoils else 0)


ACCESS = """
    MOV R1, c[0x0][0x28]
    IADD3 R1, R1, -0x8, RZ
    S2R R4, SR_TID.X
    STL [R1], R4
    NOP
    LDL R2, [R1]
    ISETP.LT.U32.AND P0, PT, R2, 0x20, PT
    @P0 BRA first
    NOP
first:
    EXIT
"""


def test_the_words_of_lanes_are_known_behind_a_spill():
    function = assemble(ACCESS, ARCH).function
    settings = Settings(launch=LaunchConfiguration((64, 1, 1), (1, 1, 1)))
    cfg, isa = explored(function, isa_of(function), settings)
    values = launched(cfg, isa, settings)
    assert values is not None
    assert any(node.divergent for node in cfg.nodes)
    assert not any(node.divergent for node in values.cfg.nodes)  # whole warps have an index below 32, or none has
    assert isa.facts(function.instructions[3]) == tables.load(ARCH).facts(function.instructions[3])


def test_the_facts_of_a_spill_copy_words():
    function = assemble(ACCESS, ARCH).function
    isa = isa_of(function)
    known = stack_words(explored(function, isa, Settings())[0], isa.facts)
    word, stored, loaded = stack_word(-8), function.instructions[3], function.instructions[5]
    assert word is not None
    of = variables(spilling(isa, known))
    (store, load) = of(stored), of(loaded)
    assert store is not None
    assert load is not None
    assert store.effects == (WriteEffect(1 << word, bit("R", 4)),)
    assert (load.effects, load.reads) == ((WriteEffect(bit("R", 2), 1 << word),), bit("R", 1) | 1 << word)
    assert isinstance(load.computes, Copies)
    assert isinstance(spilling(isa, known), FunctionIsa)
    assert spilling(isa, {}) is isa
    assert list(names(1 << word | bit("R", 2))) == ["R2"]


def test_words_far_from_the_start_of_the_stack_have_no_number():
    near = [0, -4, 4, -8]
    assert [_number(each) - _number(0) for each in near] == [0, 1, 2, 3]
    assert [stack_distance(_number(each)) for each in near] == near
    assert stack_word(2) is stack_word(-(1 << 14) - 4) is stack_word(1 << 14) is stack_distance(3) is None


def _number(distance: int) -> int:
    number = stack_word(distance)
    assert number is not None
    return number
