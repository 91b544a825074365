"""Facts that hold of an execution never cut it off: those that a concrete warp shows, as tight as they can be, against its counts.

The warp, the loop bounds and the warp size are those of `test_rows.py`.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random

import pytest

from budget import part
from sassan.errors import SassanError
from sassan.ilp.model import Model, Row, violated
from sassan.ilp.solve import Status, solve
from sassan.ipet import rows
from sassan.ipet.facts import rows as fact_rows
from sassan.ipet.facts.model import Constraint, Exclusive, FunctionFacts, Total
from sassan.ipet.facts.places import inside, loops_at, nodes_at, scopes
from sassan.ipet.steps import steps_of
from sassan.ipet.system import build, columns_of
from sassan.warpcfg.graph import CfgLoop, WarpCfg
from unit.ipet.brute import Counts, Machine, Op, graph, random_program, random_volta_program

Walk = list[int]
Derive = Callable[[Random, WarpCfg, Counts], FunctionFacts]


def parts(cfg: WarpCfg, walk: Walk, scope: CfgLoop | None, *, iteration: bool) -> Iterator[Walk]:
    """The pieces of the walk of a thread: from each entry into the loop to the next, of an `iteration` from head to head."""
    known = inside(cfg, scope)
    start = 0
    for place in range(1, len(walk)):
        entered = walk[place] in known and walk[place - 1] not in known
        if entered or (iteration and scope is not None and walk[place] == scope.head):
            yield [node for node in walk[start:place] if node in known]
            start = place
    yield [node for node in walk[start:] if node in known]


def executions(cfg: WarpCfg, walk: Walk, addresses: set[int]) -> int:
    return sum(cfg.nodes[node].start in addresses for node in walk)


def steps_back(loops: tuple[CfgLoop, ...], walk: Walk) -> int:
    back = {pair for loop in loops for pair in loop.back}
    return sum(pair in back for pair in pairwise(walk))


def heads_around(cfg: WarpCfg, address: int) -> list[int | None]:
    nodes = set(nodes_at(cfg, address))
    return [None, *sorted({cfg.nodes[loop.head].start for loop in cfg.loops if nodes & set(loop.nodes)})]


def true_facts(random: Random, cfg: WarpCfg, counts: Counts) -> FunctionFacts:
    """Some facts that the run shows, each with the smallest bound that holds."""
    blocks = sorted({node.start for node in cfg.nodes})
    visited = {cfg.nodes[node].start for walk in counts.walks for node in walk}
    totals = [total(cfg, counts, block, random.choice(heads_around(cfg, block)), back=False) for block in random.choices(blocks, k=3)]
    heads = sorted({cfg.nodes[loop.head].start for loop in cfg.loops})
    totals += [total(cfg, counts, head, random.choice(heads_around(cfg, head)), back=True) for head in heads]
    never = tuple(block for block in blocks if block not in visited and random.random() < 0.3)
    drawn = [exclusive(random, cfg, random.sample(blocks, min(len(blocks), 2))) for _ in range(6)]
    return FunctionFacts(
        "",
        totals=tuple(totals),
        never=never,
        exclusive=tuple(fact for fact in drawn if fact is not None and holds(cfg, counts, fact)),
        constraints=(constraint(random, cfg, counts, blocks),),
    )


def total(cfg: WarpCfg, counts: Counts, counted: int, per: int | None, *, back: bool) -> Total:
    most = 0
    for scope in scopes(cfg, per):
        loops = tuple(loop for loop in loops_at(cfg, counted) if loop.head in inside(cfg, scope))
        for walk in counts.walks:
            for piece in parts(cfg, walk, scope, iteration=False):
                most = max(most, steps_back(loops, piece) if back else executions(cfg, piece, {counted}))
    return Total(counted, back, most, per)


def exclusive(random: Random, cfg: WarpCfg, blocks: list[int]) -> Exclusive | None:
    if len(blocks) < 2:
        return None
    around = [head for head in heads_around(cfg, blocks[0]) if head in heads_around(cfg, blocks[1])]
    return Exclusive(tuple(blocks), random.choice(around))


def holds(cfg: WarpCfg, counts: Counts, fact: Exclusive) -> bool:
    return all(
        sum(executions(cfg, part, {block}) > 0 for block in fact.blocks) <= 1
        for scope in scopes(cfg, fact.within)
        for walk in counts.walks
        for part in parts(cfg, walk, scope, iteration=True)
    )


def constraint(random: Random, cfg: WarpCfg, counts: Counts, blocks: list[int]) -> Constraint:
    terms = tuple((block, random.randint(-2, 2)) for block in random.sample(blocks, min(len(blocks), 3)))
    factors = dict(terms)
    value = sum(count * factors.get(cfg.nodes[cfg.edges[edge].src].start, 0) for edge, count in counts.warp.items())
    return Constraint(terms, random.choice(("<=", ">=", "=")), value)


def one_too_few(random: Random, cfg: WarpCfg, counts: Counts) -> FunctionFacts:
    """Facts that are wrong by one."""
    facts = true_facts(random, cfg, counts)
    totals = tuple(Total(fact.counted, fact.back, fact.bound - 1, fact.per) for fact in facts.totals if fact.bound)
    return FunctionFacts("", totals=totals)


def system(cfg: WarpCfg, facts: FunctionFacts, turns: list[int]) -> Model:
    steps = steps_of(cfg)
    model = build(steps, [1] * len(cfg.nodes), turns)
    extra: tuple[Row, ...] = tuple(fact_rows.fact_rows(steps, columns_of(cfg), facts, turns))
    return Model(model.name, model.variables, model.objective, (*model.rows, *extra), model.math)


def vector(cfg: WarpCfg, counts: Counts) -> tuple[int, ...]:
    warp = (counts.warp.get(index, 0) for index in range(len(cfg.edges)))
    thread = (counts.thread.get((step.src, step.dst), 0) for step in cfg.thread_edges)
    return (1, *warp, *thread)


def executed(
    monkeypatch: pytest.MonkeyPatch, seeds: range, draw: Callable[[Random, int], list[Op]]
) -> Iterator[tuple[WarpCfg, Counts, Random]]:
    """Runs of random programs that end; the rows are of warps with as many threads as ran."""
    for seed in seeds:
        random = Random(seed)
        ops = draw(random, random.randint(3, 12))
        order = random.choice(("taken-first", "either"))
        try:
            cfg = graph(ops, order)
        except SassanError:
            continue
        if cfg.gaps:
            continue
        for _ in range(4):
            lanes = random.choice((1, 2, 3, 4))
            counts = Machine(ops, cfg, lanes, random, either=order == "either", keep=random.choice((0.3, 0.5, 0.7, 0.85))).run(300)
            if counts is not None:
                monkeypatch.setattr(rows, "WARP_SIZE", lanes)
                monkeypatch.setattr(fact_rows, "WARP_SIZE", lanes)
                yield cfg, counts, random


def broken_rows(
    monkeypatch: pytest.MonkeyPatch, seeds: range, derive: Derive = true_facts, draw: Callable[[Random, int], list[Op]] = random_program
) -> set[str]:
    """The kinds of rows of facts that some execution violates: `fact_warp`, `fact_threads`, `fact_never`, `fact_constraint`."""
    kinds: set[str] = set()
    for cfg, counts, random in executed(monkeypatch, seeds, draw):
        wrong = violated(system(cfg, derive(random, cfg, counts), counts.turns), vector(cfg, counts))
        if wrong is not None:
            kinds.add("_".join(part for part in wrong.split("_") if part.isalpha()))
    return kinds


@pytest.mark.slow
def test_no_true_fact_cuts_an_execution_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken_rows(monkeypatch, range(part(1500, of=16))) == set()


@pytest.mark.slow
def test_nor_one_of_a_warp_with_convergence_barriers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken_rows(monkeypatch, range(part(1500, of=16)), draw=random_volta_program) == set()


@pytest.mark.slow
def test_the_bound_with_true_facts_is_never_below_what_was_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    lower = solved = 0
    seeds = part(120, of=4)
    for cfg, counts, random in executed(monkeypatch, range(2000, 2000 + seeds), random_program):
        plain, known = (solve(system(cfg, facts, counts.turns)) for facts in (FunctionFacts(""), true_facts(random, cfg, counts)))
        assert plain.status is known.status is Status.OPTIMAL
        assert plain.value is not None
        assert known.value is not None
        assert sum(counts.warp.values()) <= known.value <= plain.value
        solved += 1
        lower += known.value < plain.value
    assert solved > seeds / 2
    assert lower > solved / 3


@pytest.mark.slow
def test_facts_that_are_false_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken_rows(monkeypatch, range(3000, 3030), one_too_few) == {"fact_warp", "fact_threads"}


@pytest.mark.slow
def test_the_machine_notices_a_thread_taken_for_its_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    def alone(*_: object) -> tuple[int, bool]:
        return 1, True

    monkeypatch.setattr(fact_rows, "_witness", alone)
    assert broken_rows(monkeypatch, range(4000, 4060)) == {"fact_warp"}
