"""Constant bank 0 of the concrete machine: given bytes, bytes that are drawn, and the same words as the analyses read."""

from dataclasses import replace
from math import prod
from random import Random

import numpy as np
import pytest

from listing import assemble
from sassan.domains.floats import word_of
from sassan.ipet.loop_bounds.launch_symbols import LaunchSymbols
from sassan.ir import CompilerFacts
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.parameters import Setting, layout
from sassan.simt.constant_bank import constant_bank
from sassan.simt.launch_warps import Spot, warps_at
from sassan.values.environment import LaunchEnvironment

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


@pytest.mark.parametrize("arch", ["sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("cluster", [None, (1, 1, 1), (2, 1, 1), (4, 2, 1), (3, 2, 1)])
@pytest.mark.parametrize("grid", [None, (12, 4, 1)])
def test_what_it_holds_of_clusters_is_what_the_compiler_reads(arch: str, cluster: Shape | None, grid: Shape | None):
    function, where = assemble("EXIT", arch).function, layout(arch)
    assert where is not None
    assert where.cluster is not None
    assert where.cluster_blocks is not None
    launch = LaunchConfiguration((32, 1, 1), grid, cluster=cluster)
    bank, read = constant_bank(function, launch), LaunchEnvironment(function, launch)
    offsets = [*(where.cluster + 4 * place for place in range(9)), where.cluster_blocks]
    words = [bank.word(offset) for offset in offsets]
    assert words == [read.constant(offset).value.constant for offset in offsets]
    if cluster is None:
        assert words == [None] * 10
        return
    assert words[:3] == [*cluster]
    assert words[9] == prod(cluster)
    # The index of a block times a reciprocal is that of its cluster; only a power of two says which word that is.
    exact = [extent if extent.bit_count() == 1 else None for extent in cluster]
    assert words[3:6] == [None if extent is None else word_of(1 / extent) for extent in exact]
    assert words[6:9] == ([None] * 3 if grid is None else [blocks // extent for blocks, extent in zip(grid, cluster, strict=True)])


@pytest.mark.parametrize("cluster", [(2, 1, 1), (2, 2, 1), (1, 4, 2)])
def test_a_block_of_a_launch_in_clusters_has_its_rank(cluster: Shape):
    function, grid = assemble("EXIT", "sm_90").function, (4, 4, 2)
    spots = [Spot((x, y, z), 0) for z in range(2) for y in range(4) for x in range(4)]
    place, _ = warps_at(function, LaunchConfiguration((32, 1, 1), grid, cluster=cluster), spots, np.random.default_rng(1))
    ranks: dict[tuple[int, ...], list[int]] = {}
    for spot, rank in zip(spots, place.special["SR_CGACTAID"][:, 0].tolist(), strict=True):
        ranks.setdefault(tuple(each // extent for each, extent in zip(spot.block, cluster, strict=True)), []).append(rank)
    assert all(sorted(each) == list(range(prod(cluster))) for each in ranks.values())


def test_clusters_of_which_the_gpu_may_form_larger_ones_are_not_known():
    function, grid = assemble("EXIT", "sm_100").function, (16, 1, 1)
    launch = LaunchConfiguration((32, 1, 1), grid, cluster=(2, 1, 1), preferred_cluster=(8, 1, 1))
    where = layout("sm_100")
    assert where is not None
    assert where.cluster_blocks is not None
    assert constant_bank(function, launch).word(where.cluster_blocks) is None
    assert LaunchEnvironment(function, launch).constant(where.cluster_blocks).value.constant is None
    rank = LaunchEnvironment(function, launch).special("SR_CGACTAID")
    assert rank is not None
    assert rank.value.high == 15
