"""The bound of blocks whose warps have roles against simulated SMs, whoever is served first (docs/proofs/warps-with-roles.md)."""

from __future__ import annotations

from random import Random

import pytest

from budget import part
from sassan.ipet.sm.bounds import resident_bound
from sassan.ipet.sm.residency import Residents
from soundness.role_blocks import Simulation, program

COUNT = 20_000


def measured(count: int, seed: int, **omitted: bool) -> list[tuple[int, int]]:
    """Return the time of random blocks on an SM, and its bound, with some terms of it omitted."""
    random, found = Random(seed), []
    for _ in range(count):
        of, blocks = program(random), random.choice((1, 1, 1, 2, 3))
        warps = len(of.warps)
        bound = resident_bound(of.optima(**omitted), Residents(blocks * warps, warps))
        found.append((max(Simulation(of, blocks, random).run() for _ in range(2)), bound))
    return found


def test_no_block_with_roles_takes_longer_than_its_bound() -> None:
    found = measured(part(COUNT, of=20), 11)
    assert [each for each in found if each[0] > each[1]] == []
    assert max(time / bound for time, bound in found) == 1
    assert sum(bound / time for time, bound in found) / len(found) < 2


@pytest.mark.parametrize("omitted", ["engines", "latencies", "every"])
def test_a_proof_that_forgets_a_term_is_noticed(omitted: str) -> None:
    found = measured(part(COUNT, of=20), 12, **{omitted: False})
    assert any(time > bound for time, bound in found)
