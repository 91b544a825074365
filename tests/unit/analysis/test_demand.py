"""What is demanded before nodes and behind instructions, beside the paths of a graph followed one by one."""

from itertools import pairwise
from random import Random

import pytest

from sassan.analysis.demand import Use, demand

NODES, REGISTERS, LENGTH = 5, 6, 9


def test_what_is_read_for_nothing_is_not_demanded():
    line = [Use(0b010, ~0b010, 0b001), Use(0b100, ~0b100, 0b010), Use(0b1000, ~0b1000, 0b0001)]
    found = demand({0: line}, {0: []}, [0], {0: 0b100})
    assert (found.before[0], found.behind[0]) == (0b001, (0b010, 0b100, 0b100))
    assert demand({0: line}, {0: []}, [0], {0: 0}).before == {}


def test_a_root_is_demanded_whatever_follows_and_a_guarded_write_keeps_what_was_there():
    guarded, root = Use(0b10, -1, 0b01), Use(0, -1, 0, 0b10)
    assert demand({0: [guarded, root]}, {0: []}, [0], {}).before[0] == 0b11
    assert demand({0: [Use(0b10, ~0b10, 0b01), root]}, {0: []}, [0], {}).before[0] == 0b01


def along(path: list[int], uses: dict[int, list[Use]], ends: dict[int, int]) -> int:
    """Return what is demanded at the start of a path, of what is read on it."""
    live = 0
    for node in reversed(path):
        live |= ends.get(node, 0)
        for use in reversed(uses[node]):
            live = (live & use.kept | use.reads if use.writes & live else live) | use.roots
    return live


@pytest.mark.parametrize("seed", range(60))
def test_demand_is_the_union_over_all_paths(seed: int):
    dice = Random(seed)
    uses: dict[int, list[Use]] = {}
    for node in range(NODES):
        uses[node] = []
        for _ in range(dice.randrange(4)):
            writes = 1 << dice.randrange(REGISTERS)
            uses[node].append(
                Use(writes, dice.choice((-1, ~writes)), dice.getrandbits(REGISTERS) & dice.getrandbits(REGISTERS), dice.choice((0, 0, 1)))
            )
    after = {node: sorted(dice.sample(range(NODES), dice.randrange(3))) for node in range(NODES)}
    before = {node: [src for src in range(NODES) if node in after[src]] for node in range(NODES)}
    ends = {node: 1 << dice.randrange(REGISTERS) for node in range(NODES) if dice.random() < 0.4}
    paths = [[node] for node in range(NODES)]
    expected = dict.fromkeys(range(NODES), 0)
    for _ in range(LENGTH):
        for path in paths:
            expected[path[0]] |= along(path, uses, ends)
        paths = [[*path, node] for path in paths for node in after[path[-1]]][:4000]
    assert all(node in after[src] for path in paths for src, node in pairwise(path))
    found = demand(uses, before, range(NODES), ends)
    assert {node: found.before.get(node, 0) for node in range(NODES)} == expected
