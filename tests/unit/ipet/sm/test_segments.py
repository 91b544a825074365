"""From one block barrier to the next: no row forbids what a warp does between two of them, and the optimum is the longest piece.

Any block may hold the barrier here; a run counts if the warp arrives there with all threads that have not ended.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest

from budget import part
from sassan.errors import SassanError
from sassan.ilp.model import violated
from sassan.ilp.solve import Status, solve
from sassan.ipet import rows
from sassan.ipet.sm import segments
from sassan.ipet.steps import steps_of
from sassan.warpcfg.graph import WarpCfg
from unit.ipet.brute import Machine, Op, graph, random_program, random_volta_program

pytestmark = pytest.mark.slow

Snapshot = tuple[int, dict[int, int], dict[tuple[int, int], int]]


def snapshot(machine: Machine, node: int) -> Snapshot:
    return node, dict(machine.counts.warp), dict(machine.counts.thread)


def pieces(machine: Machine, barriers: list[int], limit: int) -> list[Snapshot] | None:
    """Where the warp is, and what it has counted, at its begin, at every barrier, and at its end; None where some threads are elsewhere."""
    cuts = [snapshot(machine, -1)]
    for _ in range(limit):
        if machine.node is None:
            return [*cuts, snapshot(machine, -1)]
        if machine.node in barriers:
            if any(entry.threads - machine.active for entry in machine.stack):
                return None
            cuts.append(snapshot(machine, machine.node))
        machine.step()
    return None


def vector(cfg: WarpCfg, barriers: list[int], before: Snapshot, after: Snapshot) -> tuple[int, ...]:
    warp = (after[1].get(index, 0) - before[1].get(index, 0) for index in range(len(cfg.edges)))
    thread = (after[2].get((step.src, step.dst), 0) - before[2].get((step.src, step.dst), 0) for step in cfg.thread_edges)
    begin, stop = ([int(cut[0] == node) for node in barriers] for cut in (before, after))
    return (int(before[0] < 0), *warp, *thread, *begin, *stop)


@pytest.mark.parametrize("draw", [random_program, random_volta_program], ids=["tokens", "convergence-barriers"])
def test_no_row_forbids_what_a_warp_does_between_barriers(draw: Callable[[Random, int], list[Op]], monkeypatch: pytest.MonkeyPatch) -> None:
    checked, wrong, programs = 0, set[str](), part(2500, of=12)
    for seed in range(programs):
        random = Random(seed)
        ops = draw(random, random.randint(3, 10))
        try:
            cfg = graph(ops)
        except SassanError:
            continue
        if cfg.gaps:
            continue
        known = steps_of(cfg)
        barriers = sorted(random.sample(range(len(cfg.nodes)), min(len(cfg.nodes), random.randint(1, 2))))
        lanes = random.choice((1, 2, 3, 4))
        machine = Machine(ops, cfg, lanes, random, either=False, keep=random.choice((0.3, 0.5, 0.85)))
        cuts = pieces(machine, barriers, 300)
        monkeypatch.setattr(rows, "WARP_SIZE", lanes)
        monkeypatch.setattr(segments, "WARP_SIZE", lanes)
        ends = segments.EndCosts(dict.fromkeys(barriers, 1), dict.fromkeys(barriers, 1))
        model = segments.segments(known, [1] * len(cfg.nodes), machine.counts.turns, ends)
        if cuts is None or model is None:
            continue
        for before, after in pairwise(cuts):
            checked += 1
            row = violated(model, vector(cfg, barriers, before, after))
            if row is not None:
                wrong.add(f"{row} {seed}")
    assert wrong == set()
    assert checked > programs // 3


LOOP = [Op("op"), Op("op"), Op("bra", (1,), some=True, uniform=True), Op("op"), Op("exit")]


def longest(cfg: WarpCfg, costs: list[int], bounds: list[int], begin: dict[int, int], stop: dict[int, int]) -> int | None:
    model = segments.segments(steps_of(cfg), costs, bounds, segments.EndCosts(begin, stop))
    assert model is not None
    solution = solve(model)
    return solution.value if solution.status is Status.OPTIMAL else None


def test_a_loop_with_a_barrier_counts_one_turn() -> None:
    # Block 0, the loop (block 1, 100 cycles), block 3: from the barrier of one turn to that of the next.
    cfg = graph(LOOP)
    assert [node.start for node in cfg.nodes] == [0, 8, 24]
    assert longest(cfg, [7, 100, 9], [10], {1: 100}, {1: 100}) == 200
    assert longest(cfg, [7, 100, 9], [10], {1: 30}, {1: 70}) == 100
    assert longest(cfg, [7, 100, 9], [10], {1: 92}, {1: 8}) == 101


def test_a_loop_without_a_barrier_counts_all_its_turns() -> None:
    cfg = graph(LOOP)
    assert longest(cfg, [7, 100, 9], [10], {0: 7}, {0: 7}) == 7 + 11 * 100 + 9


def test_without_barriers_the_only_piece_is_the_whole_path() -> None:
    cfg = graph(LOOP)
    assert longest(cfg, [7, 100, 9], [10], {}, {}) == 7 + 11 * 100 + 9
