"""Loops that walk through a buffer: no thread goes on behind the end of it."""

import struct
from dataclasses import replace

import pytest

from listing import assemble
from samples import SAMPLES
from sassan.app.analysis import analyze
from sassan.app.expectations import ITERATIONS, expected_iterations
from sassan.app.settings import Settings
from sassan.domains import ranges
from sassan.frontend import load, read
from sassan.ipet.loop_bounds import Inferred, inference
from sassan.ipet.loop_bounds.conditions import chosen
from sassan.ipet.loop_bounds.values import Compare, SymbolicState, Truth, UnknownWord, Value, constant
from sassan.ipet.loop_bounds.whole_run import whole_run
from sassan.ir import CompilerFacts, Function
from sassan.isa import tables
from sassan.machine.contents import Contents, KnownBytes
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting, layout
from sassan.timing import models
from sassan.timing.rates import Tables
from sassan.warpcfg import explore

WORDS = 110
MEMORY, RESULTS = 0x7F0000000000, 0x7F0004000000


def mark(arch: str) -> Function:
    """Return the search for a word that is 0."""
    functions = read(load(str(SAMPLES / "loops" / arch / "recorded.cubin"))).functions
    return next(each for each in functions if each.name == "strlen")


def launch(arch: str, *, size: int = 4 * WORDS, marked: int | None = None) -> LaunchConfiguration:
    """Return a launch over a buffer of `size` bytes, whose words are not 0 but for one, where that is given."""
    where = layout(arch)
    assert where is not None
    settings = tuple(Setting("", where.parameters + 8 * number, value, 8) for number, value in enumerate((MEMORY, RESULTS)))
    words = [int(place != marked) for place in range(WORDS)]
    contents = Contents((KnownBytes(MEMORY, struct.pack(f"<{WORDS}i", *words)),), str(marked)) if marked is not None else None
    targets = ((where.parameters, size), (where.parameters + 8, 512)) if size else ()
    return LaunchConfiguration((128, 1, 1), (1, 1, 1), settings, contents=contents, targets=targets)


def loop(arch: str, given: LaunchConfiguration) -> Inferred:
    """Return what is known of the loop."""
    facts = tables.load(arch).facts
    (only,) = inference(explore(mark(arch), facts), facts, given, reaching=False).loops
    return only


@pytest.mark.parametrize("arch", ["sm_80", "sm_120"])
def test_a_search_ends_with_its_buffer(arch: str):
    found = loop(arch, launch(arch))
    assert found.bound is None
    assert found.extent is not None
    # Threads begin at one of the first eight words.
    assert found.extent.bound == WORDS + 8
    assert loop(arch, launch(arch, size=0)).extent is None


@pytest.mark.parametrize("arch", ["sm_80", "sm_120"])
@pytest.mark.parametrize("marked", [7, 60, WORDS - 1])
def test_no_run_goes_beyond(arch: str, marked: int):
    given, facts = launch(arch, marked=marked), tables.load(arch).facts
    cfg, extent = explore(mark(arch), facts), loop(arch, given).extent
    run = whole_run(cfg, facts, given, [0])
    assert run is not None
    assert extent is not None
    assert run.back_edges[0] == marked <= extent.bound


def test_it_is_assumed_and_no_expectation():
    settings = Settings(costs=models.model("control", Tables()), launch=launch("sm_80"), check=True)
    result = analyze(mark("sm_80"), settings)
    assert (result.wcet.gaps, result.bounds.of_loop) == ((), (WORDS + 8,))
    assert any("stays within the buffer that this points to" in str(each) for each in result.wcet.assumptions)
    assert expected_iterations(result) == {0x60: ITERATIONS}


def test_what_a_run_says_goes_before():
    settings = Settings(costs=models.model("control", Tables()), launch=launch("sm_80", marked=60), check=False)
    assert analyze(mark("sm_80"), settings).bounds.of_loop == (60,)


def test_the_high_word_of_an_address_may_go_where_a_factor_was():
    text = """
        S2R R5, SR_TID.X
    again:
        MOV R3, 0x8
        IMAD.WIDE R2, R5, R3, c[0x0][0x160]
        LDG.E R4, [R2]
        IADD3 R5, R5, -0x20, RZ
        ISETP.NE.AND P0, PT, R4, RZ, PT
        @P0 BRA again
        EXIT
    """
    facts, given = tables.load("sm_80").facts, launch("sm_80", size=4608)
    function = replace(assemble(text, "sm_80").function, kernel=True, compiler=CompilerFacts(0x10, parameter_base=0x160))
    (found,) = inference(explore(function, facts), facts, given, reaching=False).loops
    assert found.extent is not None
    assert found.extent.bound == 4608 // 256 + 1


def test_the_greater_one_of_a_number_and_a_sum_is_no_less_than_the_number():
    total = Value(UnknownWord(ranges.EVERY), -17, ranges.span(0, 1000))
    state, at_least = SymbolicState(), Truth(Compare("<=", True, constant(0), total))
    assert state.range_of(chosen(state, at_least, total, holds=True)).signed == (0, (1 << 31) - 1)
    assert state.range_of(chosen(state, at_least, total, holds=False)).signed == (-(1 << 31), -1)
    assert chosen(state, at_least.negate(), total, holds=False) != total
    # What is known of its word narrows a word itself.
    narrow = Value(UnknownWord(ranges.span(-5, 100)), 1, ranges.const(0))
    assert chosen(state, Truth(Compare("<=", True, constant(0), narrow)), narrow, holds=True) is narrow


def test_a_loop_over_shared_memory_ends_with_that_of_its_block():
    text = """
        S2R R5, SR_TID.X
        LDS R6, [RZ]
    again:
        LDS R4, [R5.X4+0x80]
        IADD3 R5, R5, 0x40, RZ
        ISETP.GE.AND P0, PT, R5, R6, PT
        @!P0 BRA again
        EXIT
    """
    facts, given = tables.load("sm_80").facts, replace(launch("sm_80", size=0), shared=4096)
    cfg = explore(assemble(text, "sm_80").function, facts)
    (found,) = inference(cfg, facts, given, reaching=False).loops
    assert (found.bound, found.extent is not None and found.extent.bound) == (None, 4096 // 256 + 1)
    assert inference(cfg, facts, replace(given, shared=None), reaching=False).loops[0].extent is None
