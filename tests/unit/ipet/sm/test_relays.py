"""Warps that take over from each other at the barriers of a block: no row forbids their walk, and the optimum is the longest one.

Any block may hold the barrier here; runs count if the warp arrives there with all threads that have not ended, and those of one walk
if they wait at the same barriers in the same order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from random import Random

import pytest

from budget import part
from sassan.errors import SassanError
from sassan.ilp.model import violated
from sassan.ipet import rows
from sassan.ipet.sm import relays
from sassan.ipet.steps import steps_of
from sassan.warpcfg.graph import WarpCfg
from unit.ipet.brute import Machine, Op, graph, random_program, random_volta_program
from unit.ipet.sm.test_segments import Snapshot, pieces

RUNS = 6


def relayed(cfg: WarpCfg, runs: list[list[Snapshot]], random: Random) -> tuple[int, ...]:
    """Return what a walk counts of which each piece is that of some run."""
    warp, thread = [0] * len(cfg.edges), [0] * len(cfg.thread_edges)
    for at in range(len(runs[0]) - 1):
        cuts = random.choice(runs)
        before, after = cuts[at], cuts[at + 1]
        for index in range(len(cfg.edges)):
            warp[index] += after[1].get(index, 0) - before[1].get(index, 0)
        for index, step in enumerate(cfg.thread_edges):
            thread[index] += after[2].get((step.src, step.dst), 0) - before[2].get((step.src, step.dst), 0)
    return 1, *warp, *thread


def alike(ops: list[Op], cfg: WarpCfg, barriers: list[int], lanes: int, random: Random) -> tuple[list[list[list[Snapshot]]], list[int]]:
    """Return runs by the barriers that they wait at, and the largest bounds of loops that any of them needs."""
    by_order: dict[tuple[int, ...], list[list[Snapshot]]] = defaultdict(list)
    turns = [0] * len(cfg.loops)
    for _ in range(RUNS):
        machine = Machine(ops, cfg, lanes, random, either=False, keep=random.choice((0.3, 0.5, 0.85)))
        cuts = pieces(machine, barriers, 300)
        if cuts is not None:
            by_order[tuple(cut[0] for cut in cuts)].append(cuts)
            turns = list(map(max, turns, machine.counts.turns))
    return list(by_order.values()), turns


@pytest.mark.slow
@pytest.mark.parametrize("draw", [random_program, random_volta_program], ids=["tokens", "convergence-barriers"])
def test_no_row_forbids_what_warps_do_that_take_over_from_each_other(
    draw: Callable[[Random, int], list[Op]], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked, wrong, programs = 0, set[str](), part(6000, of=36)
    for seed in range(programs):
        random = Random(seed)
        ops = draw(random, random.randint(3, 10))
        try:
            cfg = graph(ops)
        except SassanError:
            continue
        if cfg.gaps:
            continue
        barriers = sorted(random.sample(range(len(cfg.nodes)), min(len(cfg.nodes), random.randint(1, 3))))
        lanes = random.choice((1, 2, 3, 4))
        groups, turns = alike(ops, cfg, barriers, lanes, random)
        monkeypatch.setattr(rows, "WARP_SIZE", lanes)
        monkeypatch.setattr(relays, "WARP_SIZE", lanes)
        model = relays.relays(steps_of(cfg), [1] * len(cfg.nodes), turns, barriers)
        if model is None:
            continue
        for runs in groups:
            for _ in range(3):
                checked += len(runs) > 1 and len(runs[0]) > 2
                row = violated(model, relayed(cfg, runs, random))
                if row is not None:
                    wrong.add(f"{row} {seed}")
    assert wrong == set()
    assert checked > programs // 10
