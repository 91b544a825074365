"""Sectors and passes of drawn accesses, against the 32 addresses counted one by one; `scripts/soundness --accesses` draws many more."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassan.access.access import Access, AccessPattern
from sassan.access.opcodes import MemorySpace, Reference
from sassan.access.warp_costs import counted
from sassan.domains.lanes import SIZE, word
from soundness.accesses import Drawn, draw, finding

WORD = Reference(MemorySpace.GLOBAL, 4, 0)
SHARED = Reference(MemorySpace.SHARED, 4, 0)


@given(st.randoms(use_true_random=False), st.integers(0, 1 << 32))
def test_what_is_said_of_a_word_holds_of_its_addresses(source: random.Random, seed: int):
    assert finding(draw(source), 8, seed) == ""


def test_half_of_drawn_accesses_are_exact():
    source = random.Random(1)
    drawn = [draw(source) for _ in range(400)]
    exact = [access for access in map(_counted, drawn) if access.exact]
    assert len(exact) > len(drawn) // 2


def _counted(drawn: Drawn) -> Access:
    reference = drawn.reference
    return counted(Access(0, "", reference.space, reference.bytes, AccessPattern.UNKNOWN), reference, drawn.word)


@pytest.mark.parametrize(
    ("reference", "stride", "transactions", "ideal", "pattern"),
    [
        (WORD, 0, 1, 1, AccessPattern.BROADCAST),
        (WORD, 4, 4, 4, AccessPattern.ALIGNED),
        (WORD, 8, 8, 4, AccessPattern.STRIDED),
        (WORD, 32, 32, 4, AccessPattern.STRIDED),
        (WORD._replace(bytes=16), 16, 16, 16, AccessPattern.ALIGNED),
        (WORD._replace(bytes=1), 1, 1, 1, AccessPattern.ALIGNED),
        (SHARED, 0, 1, 1, AccessPattern.BROADCAST),
        (SHARED, 4, 1, 1, AccessPattern.ALIGNED),
        (SHARED, 8, 2, 1, AccessPattern.STRIDED),
        (SHARED, 128, 32, 1, AccessPattern.STRIDED),
        (SHARED, 132, 1, 1, AccessPattern.STRIDED),
        (SHARED._replace(bytes=8), 8, 2, 2, AccessPattern.ALIGNED),
        (SHARED._replace(bytes=16), 16, 4, 4, AccessPattern.ALIGNED),
        (SHARED._replace(bytes=16, lanes=8), 16, 1, 1, AccessPattern.ALIGNED),
        (SHARED._replace(bytes=16, lanes=32), 128, 32, 4, AccessPattern.STRIDED),
        (Reference(MemorySpace.LOCAL, 4, 0), 0, 4, 4, AccessPattern.BROADCAST),
        (Reference(MemorySpace.CONSTANT, 4, 0), 4, 32, 1, AccessPattern.ALIGNED),
    ],
)
def test_known_addresses_have_known_transactions(reference: Reference, stride: int, transactions: int, ideal: int, pattern: AccessPattern):
    access = _counted(Drawn(reference, word(0, SIZE, tuple(stride * lane for lane in range(32)))))
    assert (access.transactions, access.ideal, access.pattern) == ((transactions, transactions), ideal, pattern)


def test_a_place_within_a_sector_that_is_not_known_is_the_worst_one():
    access = _counted(Drawn(WORD, word(0, 4, tuple(4 * lane for lane in range(32)))))
    assert (access.sectors, access.pattern) == ((4, 5), AccessPattern.MISALIGNED)


def test_atomic_operations_on_one_word_of_shared_memory_go_one_by_one():
    access = _counted(Drawn(SHARED._replace(atomic=True), word(64, SIZE, None)))
    assert (access.passes, access.collisions) == ((1, 32), 32)
