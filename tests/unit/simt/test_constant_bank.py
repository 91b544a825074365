"""Constant bank 0 of the concrete machine: given bytes, bytes that are drawn, and the same words as the analyses read."""

from dataclasses import replace
from random import Random

import pytest

from listing import assemble
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ir import CompilerFacts
from sassan.machine.launch import LaunchConfiguration
from sassan.machine.parameters import Setting, layout
from sassan.simt.constant_bank import constant_bank

ARCHS = ("sm_61", "sm_80", "sm_120")


@pytest.mark.parametrize("arch", ARCHS)
def test_a_word_is_given_where_all_of_its_bytes_are(arch: str):
    function, where = assemble("EXIT", arch).function, layout(arch)
    assert where is not None
    start = where.parameters
    bank = constant_bank(
        function, LaunchConfiguration((32, 8, 1), None, (Setting("", start, 0x11223344, 4), Setting("", start + 4, 0x55, 1)))
    )
    assert [bank.word(where.block + 4 * axis) for axis in range(3)] == [32, 8, 1]
    assert bank.word(start) == 0x11223344
    assert bank.word(start + 4) is None
    assert bank.filled(start + 4, 0xAABBCCDD) == 0xAABBCC55
    assert bank.word(where.grid) is None
    assert [bank.is_free(offset) for offset in (where.grid, where.block, start + 4, start + 8)] == [False, False, False, True]


@pytest.mark.parametrize("arch", ARCHS)
def test_parameters_that_begin_elsewhere_leave_the_extents_unknown(arch: str):
    function, where = assemble("EXIT", arch).function, layout(arch)
    assert where is not None
    moved = replace(function, compiler=CompilerFacts(0, parameter_base=where.parameters + 0x40))
    bank = constant_bank(moved, LaunchConfiguration((32, 8, 1), (4, 1, 1)))
    assert bank.word(where.block) is None
    assert bank.is_free(where.block)


@pytest.mark.parametrize("arch", ARCHS)
def test_it_reads_the_words_that_loop_inference_reads(arch: str):
    function, where, random = assemble("EXIT", arch).function, layout(arch), Random(arch)
    assert where is not None
    for _ in range(50):
        offsets = random.sample(range(0, 32, 4), 3)
        sizes = [random.choice((1, 2, 4)) for _ in offsets]
        settings = [
            Setting("", where.parameters + offset, random.getrandbits(8 * size - 1), size)
            for offset, size in zip(offsets, sizes, strict=True)
        ]
        launch = LaunchConfiguration(random.choice((None, (48, 3, 1))), random.choice((None, (7, 1, 2))), tuple(settings))
        bank, inferred = constant_bank(function, launch), LaunchSymbols(function, launch)
        for offset in (
            *range(where.block, where.block + 12, 4),
            *range(where.grid, where.grid + 12, 4),
            *range(where.parameters, where.parameters + 40, 4),
        ):
            assert bank.word(offset) == inferred.constant(offset).constant
