"""Every row holds in every execution: the counts of a concrete warp, whose threads decide at random, satisfy the whole system.

The loop bounds handed to the system are the turns that the run really made, and the warp size is the number of lanes that ran, so that the
rows are as tight as they can be without being wrong.
"""

from collections.abc import Callable
from random import Random

import pytest

from budget import part
from sassan.errors import SassanError
from sassan.ilp.model import violated
from sassan.ipet import rows, steps
from sassan.ipet.steps import steps_of
from sassan.ipet.system import build
from sassan.warpcfg.graph import CfgLoop, Edge, WarpCfg
from unit.ipet.brute import Counts, Machine, Op, graph, random_program, random_volta_program


def vector(cfg: WarpCfg, counts: Counts) -> tuple[int, ...]:
    warp = (counts.warp.get(index, 0) for index in range(len(cfg.edges)))
    thread = (counts.thread.get((step.src, step.dst), 0) for step in cfg.thread_edges)
    return (1, *warp, *thread)


def broken_rows(monkeypatch: pytest.MonkeyPatch, seeds: range, draw: Callable[[Random, int], list[Op]] = random_program) -> set[str]:
    """The kinds of rows that some execution of some random program violates; a quarter of the programs must be accepted and end."""
    found: set[str] = set()
    runs = 0
    for seed in seeds:
        random = Random(seed)
        ops = draw(random, random.randint(3, 10))
        order = random.choice(("taken-first", "either"))
        try:
            cfg = graph(ops, order)
        except SassanError:
            continue
        if cfg.gaps:
            continue
        known = steps_of(cfg)
        for _ in range(4):
            lanes = random.choice((1, 2, 3, 4))
            counts = Machine(ops, cfg, lanes, random, either=order == "either", keep=random.choice((0.3, 0.5, 0.7, 0.85))).run(300)
            if counts is None:
                continue
            runs += 1
            monkeypatch.setattr(rows, "WARP_SIZE", lanes)
            wrong = violated(build(known, [1] * len(cfg.nodes), counts.turns), vector(cfg, counts))
            if wrong is not None:
                found.add(wrong.split("_")[0])
    assert runs > len(seeds) / 4
    return found


@pytest.mark.slow
def test_no_row_forbids_what_a_warp_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken_rows(monkeypatch, range(part(1500, of=16))) == set()


@pytest.mark.slow
def test_no_row_forbids_what_a_warp_with_convergence_barriers_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken_rows(monkeypatch, range(part(1500, of=16)), random_volta_program) == set()


@pytest.mark.slow
def test_the_machine_notices_a_loop_row_that_forgets_the_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(_steps: steps.EdgeIndex, _loop: CfgLoop) -> bool:
        return True

    monkeypatch.setattr(rows, "has_single_witness", always)
    assert broken_rows(monkeypatch, range(500_000, 500_060)) == {"loop"}


@pytest.mark.slow
def test_the_machine_notices_threads_that_wait_inside_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(_steps: steps.EdgeIndex, _loop: CfgLoop) -> bool:
        return True

    monkeypatch.setattr(rows, "all_are_active", always)
    assert broken_rows(monkeypatch, range(500_000, 500_060)) == {"loop"}


@pytest.mark.slow
def test_the_machine_notices_that_a_pop_is_judged_by_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_source(_steps: steps.EdgeIndex, inside: frozenset[int], edge: Edge, *, by_step: bool) -> bool:
        del by_step
        return edge.src in inside

    monkeypatch.setattr(steps, "_from_inside", by_source)
    assert broken_rows(monkeypatch, range(500_350, 500_500)) == {"loop"}


def test_the_machine_notices_a_point_that_is_pushed_on_both_sides_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def any_push(known: steps.EdgeIndex, inside: frozenset[int], edge: Edge, *, by_step: bool) -> bool:
        del by_step
        return edge.src in inside if edge.popped is None else not inside.isdisjoint(known.pushers[edge.popped])

    monkeypatch.setattr(steps, "_from_inside", any_push)
    assert broken_rows(monkeypatch, range(503_660, 503_760)) == {"loop"}
