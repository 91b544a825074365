"""`control` is never below an independent simulation: on every block of every sample, and on random blocks that no compiler would write."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

import pytest

from budget import FULL, part, some
from samples import EVERY, VOLTA, explored, names, program
from sassan.arch import described
from sassan.ir import Instruction
from sassan.machine import load, read_file
from sassan.timing import control, control_ops, control_residuals
from sassan.timing.control import ControlCostModel, interleaved_blocks
from sassan.timing.rates import Rates, Tables
from sassan.warpcfg.graph import WarpCfg
from soundness.control_runs import Excess, Runs, priced
from soundness.divergent_warps import Warp, simple
from soundness.issue_simulator import DRAWS
from soundness.random_blocks import BLOCKS, diverging, one_after_the_other, one_block, quiet_sides
from soundness.random_sides import nested

pytestmark = pytest.mark.slow

TOLD = ControlCostModel(Tables(given={"fence": 700, "sleep": 500, "mbarrier": 900, "bulkload": 900, "bulkstore": 900, "cluster": 900}))
"""A latency for every class: no sample has a gap."""
WITH_BARRIERS = ("matmul_tiled", "prefix_sum", "reduce_shared", "smith_waterman", "stencil2d_halo")
GRAPHS = part(300, of=20)
"""Random graphs per architecture: 8 * 300 * 6 = 14,400 blocks in a full run."""
SPLIT_GRAPHS = part(40)
"""The same with sides that take turns."""


@lru_cache(maxsize=2)
def graphs(arch: str) -> tuple[WarpCfg, ...]:
    """Return the graphs of every sample in a full run, else of every ninth one."""
    found = names(arch, "cuobjdump")[:: 1 if FULL else 9]
    return tuple(explored(function) for name in found for function in program(arch, name, "cuobjdump").functions)


@lru_cache(maxsize=len(EVERY))
def slow(arch: str) -> ControlCostModel:
    """The model with units that a warp keeps for longer than most instructions last."""
    units = dict.fromkeys(pipe.unit for pipe in load(arch).pipes)
    head = f'base = "{arch[3:-1]}.{arch[-1]}"\nsource = "a test"\n'
    return ControlCostModel(
        replace(TOLD.tables, file=read_file("slow.toml", head + "".join(f"[unit.{unit}]\ncycles = 90\n" for unit in units)))
    )


def runs(cfg: WarpCfg, model: ControlCostModel = TOLD) -> Runs | None:
    return priced(cfg, model, frozenset() if described(cfg.function.arch).control_words else interleaved_blocks(cfg))


def over(cfg: WarpCfg, seed: str) -> list[Excess]:
    """Every block at the end of a walk to it, with times drawn in every way."""
    found, random = runs(cfg), Random(seed)
    assert found is not None, cfg.function.name
    return [one for node in range(len(cfg.nodes)) for draw in DRAWS for one in found.excess(found.to(node, random), random, draw)]


def over_in_turns(cfg: WarpCfg, seed: str, times: int) -> list[Excess]:
    """Divergences whose sides take turns."""
    found, random = runs(cfg), Random(seed)
    if found is None or not found.diverges:
        return []
    return [one for draw in DRAWS for _ in range(times) if (one := found.taking_turns(random, draw)) is not None]


def random_graphs(arch: str, make: Callable[[str, Random], WarpCfg], count: int = GRAPHS) -> Iterator[WarpCfg]:
    return (make(arch, Random(f"{arch} {seed}")) for seed in range(count))


def to_the_end(cfg: WarpCfg, found: Runs, random: Random, length: int) -> list[int]:
    """A walk from the entry to the end, so that what is open at a block came over edges."""
    path = [cfg.entry]
    while not (len(path) > length and found.may_end(path[-1])) and (
        after := [edge.dst for edge in cfg.edges if edge.src == path[-1] and edge.dst is not None]
    ):
        path.append(random.choice(after))
    return path


def from_entry(cfg: WarpCfg, seed: str, model: ControlCostModel = TOLD) -> list[Excess]:
    """Such a walk, held to its prices."""
    found, random = runs(cfg, model), Random(seed)
    assert found is not None
    path = to_the_end(cfg, found, random, 2 * BLOCKS)
    return [one for draw in DRAWS for one in found.excess(path, random, draw)]


def in_one_place(cfg: WarpCfg, seed: str, model: ControlCostModel) -> list[Excess]:
    """The same walk by four warps in the place of one block, one after the other."""
    found, random = runs(cfg, model), Random(seed)
    assert found is not None
    path = to_the_end(cfg, found, random, 0)
    return [one for draw in DRAWS if (one := found.places(path, 4, random, draw)) is not None]


def between_barriers(cfg: WarpCfg, seed: str, model: ControlCostModel = TOLD) -> list[Excess]:
    """A walk from the entry, from block barrier to block barrier."""
    found, random = runs(cfg, model), Random(seed)
    assert found is not None
    path = [cfg.entry]
    while len(path) < 4 * BLOCKS and (after := [edge.dst for edge in cfg.edges if edge.src == path[-1] and edge.dst is not None]):
        path.append(random.choice(after))
    return [one for draw in DRAWS for one in found.pieces(path, random, draw)]


@pytest.mark.parametrize("arch", some(["sm_61", "sm_80", "sm_120"]))
def test_no_walk_from_barrier_to_barrier_takes_longer_than_its_pieces(arch: str):
    samples = [explored(function) for name in WITH_BARRIERS for function in program(arch, name, "cuobjdump").functions]
    assert [
        one for cfg in (*samples, *random_graphs(arch, one_after_the_other, part(60, of=2))) for one in between_barriers(cfg, arch)
    ] == []


@pytest.mark.parametrize("arch", some(EVERY, of=3))
def test_no_block_of_a_sample_takes_longer_than_its_price(arch: str):
    assert [one for cfg in graphs(arch) for one in over(cfg, cfg.function.name)] == []


@pytest.mark.parametrize("arch", some(VOLTA))
def test_sides_of_a_sample_that_take_turns_take_no_longer_than_their_prices(arch: str):
    assert [one for cfg in graphs(arch) for one in over_in_turns(cfg, cfg.function.name, 3)] == []


@pytest.mark.parametrize("arch", some(EVERY, of=3))
def test_no_random_block_takes_longer_than_its_price(arch: str):
    assert [one for cfg in random_graphs(arch, one_after_the_other) for one in from_entry(cfg, arch)] == []


@pytest.mark.parametrize("make", [diverging, quiet_sides])
@pytest.mark.parametrize("arch", some(VOLTA))
def test_random_sides_that_take_turns_take_no_longer_than_their_prices(arch: str, make: Callable[[str, Random], WarpCfg]):
    assert [one for cfg in random_graphs(arch, make, SPLIT_GRAPHS) for one in over_in_turns(cfg, arch, 2)] == []


@pytest.mark.parametrize("arch", some(EVERY, of=3))
def test_with_units_slower_than_latencies_no_random_block_takes_longer_than_its_price(arch: str):
    found = random_graphs(arch, one_after_the_other, part(60, of=24))
    assert [one for cfg in found for one in (*from_entry(cfg, arch, slow(arch)), *between_barriers(cfg, arch, slow(arch)))] == []


@pytest.mark.parametrize("arch", some(VOLTA))
def test_with_units_slower_than_latencies_random_sides_take_no_longer_than_their_prices(arch: str):
    found = [priced(cfg, slow(arch), interleaved_blocks(cfg)) for cfg in random_graphs(arch, diverging, part(40))]
    walks = [one.taking_turns(Random(f"{arch} {index}"), draw) for index, one in enumerate(found) if one is not None for draw in DRAWS]
    assert walks != []
    assert [one for one in walks if one is not None] == []


@pytest.mark.parametrize("arch", some(EVERY, of=3))
@pytest.mark.parametrize("make", [one_block, one_after_the_other])
def test_warps_in_one_place_take_no_longer_than_their_prices_together_whatever_units_the_last_one_keeps(
    arch: str, make: Callable[[str, Random], WarpCfg]
):
    found = random_graphs(arch, make, part(60, of=24))
    assert [one for cfg in found for model in (TOLD, slow(arch)) for one in in_one_place(cfg, arch, model)] == []


# ---- Groups of threads that part and meet ----


def nested_graphs(arch: str, count: int) -> Iterator[WarpCfg]:
    return (cfg for cfg in random_graphs(arch, nested, count) if not cfg.gaps)


def over_in_groups(cfgs: Iterable[WarpCfg], arch: str, model: ControlCostModel = TOLD) -> Iterator[tuple[str, int, int]]:
    """Yield runs of warps whose groups take turns, above the prices of the blocks that they started; at least one run splits."""
    splits = 0
    for index, cfg in enumerate(cfgs):
        prices = model.block_costs(cfg)
        for draw in DRAWS if not prices.gaps else ():
            warp = Warp(cfg, model.tables.rates(arch), Random(f"{arch} {index}"), draw)
            took, price = warp.run(), sum(prices.costs[node] for node in warp.started)
            splits += warp.splits
            if took > price:
                yield cfg.function.name, took, price
    assert splits


@pytest.mark.parametrize("arch", some(VOLTA))
def test_groups_of_threads_that_part_and_meet_take_no_longer_than_their_prices(arch: str):
    count = part(60, of=24)
    cfgs = list(nested_graphs(arch, count))
    assert len(cfgs) > count / 2
    assert list(over_in_groups(cfgs, arch)) == []
    assert list(over_in_groups(cfgs, arch, slow(arch))) == []


@pytest.mark.parametrize("arch", some(["sm_80", "sm_120"]))
def test_groups_of_a_sample_take_no_longer_than_their_prices(arch: str):
    assert list(over_in_groups([cfg for cfg in graphs(arch) if simple(cfg)], arch)) == []


# ---- The simulation notices what would make the model wrong ----


@pytest.mark.parametrize("arch", ["sm_61", "sm_80"])
def test_a_model_that_forgets_what_earlier_blocks_left_open_is_noticed(arch: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(control.BlockFlow, "residuals", lambda flow, _: [control.NOTHING] * len(flow.blocks))
    assert any(from_entry(cfg, arch) for cfg in random_graphs(arch, one_after_the_other, 20))


@pytest.mark.parametrize("arch", ["sm_61", "sm_80"])
def test_a_model_that_takes_a_wait_for_time_that_surely_passed_is_noticed(arch: str, monkeypatch: pytest.MonkeyPatch):
    whole = control_residuals.after

    def hasty(residual: control.Residual, ops: Sequence[control.TimedOp]) -> control.Residual:
        for op in ops:
            passed = whole(residual, (replace(op, least=max(op.least, op.waits and 100), sets=(), interval=0, ends=0),))
            residual = control_residuals.DOMAIN.join(passed, whole(control.NOTHING, (op,)))
        return residual

    monkeypatch.setattr(control_residuals, "after", hasty)
    monkeypatch.setattr(control, "after", hasty)
    assert any(from_entry(cfg, arch) for cfg in random_graphs(arch, one_after_the_other, 40))


def test_pieces_that_forget_what_earlier_blocks_left_open_are_noticed(monkeypatch: pytest.MonkeyPatch):
    whole = control._pieces
    monkeypatch.setattr(control, "_pieces", lambda block, cuts, _: whole(block, cuts, control.NOTHING))
    assert any(between_barriers(cfg, "sm_80") for cfg in random_graphs("sm_80", one_after_the_other, 60))


def noticed_in_turns(make: Callable[[str, Random], WarpCfg] = diverging) -> bool:
    """Whether a run of the model, as it is now, is over its price; the walks are those of the real model."""
    found = (priced(cfg, TOLD, interleaved_blocks(cfg)) for cfg in random_graphs("sm_80", make, 60))
    return any(one.taking_turns(Random(index), "worst") is not None for index, one in enumerate(found) if one is not None)


@pytest.mark.parametrize("make", [diverging, quiet_sides])
def test_the_real_model_is_not_noticed(make: Callable[[str, Random], WarpCfg]) -> None:
    assert not noticed_in_turns(make)


def test_a_model_that_lets_sides_run_one_after_the_other_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(control, "interleaved_blocks", lambda _: frozenset[int]())
    assert noticed_in_turns()


def test_a_model_that_forgets_the_setters_of_other_sides_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(control, "beside", lambda *_: {})
    assert any(over_in_groups(nested_graphs("sm_80", 30), "sm_80"))


def test_a_model_that_forgets_what_was_open_before_a_divergence_is_noticed(monkeypatch: pytest.MonkeyPatch):
    whole = control.in_order

    def forgetful(
        block: Sequence[control.TimedOp], entered: control.Residual, others: control.Residual = control.NOTHING
    ) -> tuple[int, int]:
        return whole(block, entered if others == control.NOTHING else control.NOTHING, others)

    monkeypatch.setattr(control, "in_order", forgetful)
    assert noticed_in_turns(quiet_sides)


def test_a_model_that_forgets_one_of_two_sides_is_noticed(monkeypatch: pytest.MonkeyPatch):
    whole = control.beside
    monkeypatch.setattr(
        control,
        "beside",
        lambda *graph: {block: frozenset(other for other in others if other > block) for block, others in whole(*graph).items()},
    )
    assert any(over_in_groups(nested_graphs("sm_80", 60), "sm_80"))


def test_a_model_that_forgets_what_a_side_left_open_where_sides_meet_is_noticed(monkeypatch: pytest.MonkeyPatch):
    whole = control.BlockFlow.left

    def forgetful(flow: control.BlockFlow, block: int, entered: control.Residual) -> control.Residual:
        return control.NOTHING if len(flow.steps[block]) > 1 else whole(flow, block, entered)

    monkeypatch.setattr(control.BlockFlow, "left", forgetful)
    assert any(over_in_groups(nested_graphs("sm_80", 30), "sm_80"))


def test_a_model_that_charges_a_load_before_a_loop_to_nobody_is_noticed(monkeypatch: pytest.MonkeyPatch):
    whole = control._costs
    monkeypatch.setattr(control, "_costs", lambda cfg, known: (tuple(map(min, whole(cfg, known)[0], known.longest)), (0,) * len(cfg.nodes)))
    assert any(from_entry(cfg, "sm_61") for cfg in random_graphs("sm_61", one_after_the_other, 60))


def test_a_model_without_intervals_of_units_is_noticed(monkeypatch: pytest.MonkeyPatch):
    whole = control_ops.op_of
    monkeypatch.setattr(control_ops, "op_of", lambda one, rates, *, together: without_interval(whole(one, rates, together=together)))
    assert any(from_entry(cfg, "sm_86") for cfg in random_graphs("sm_86", one_after_the_other, 20))


def without_interval(op: control.TimedOp) -> control.TimedOp:
    return replace(op, interval=0)


@pytest.mark.parametrize("arch", ["sm_61", "sm_80"])
def test_a_model_that_ends_a_warp_before_its_units_are_free_is_noticed(arch: str, monkeypatch: pytest.MonkeyPatch):
    whole = control_ops.op_of

    def short(one: Instruction, rates: Rates, *, together: bool) -> control.TimedOp:
        return replace(whole(one, rates, together=together), ends=rates.cycles(one.opcode))

    monkeypatch.setattr(control_ops, "op_of", short)
    assert any(from_entry(cfg, arch, slow(arch)) for cfg in random_graphs(arch, one_after_the_other, 20))
    assert any(in_one_place(cfg, arch, slow(arch)) for cfg in random_graphs(arch, one_block, 60))
