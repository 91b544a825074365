"""Warps of a launch with real integers, held to the words of registers and to the graph that was explored with them.

word       a thread holds what is not in the word of a register
lanes      active threads are said to agree up to lanes, and differ in more
agreement  active threads are said to agree altogether where a node begins, and differ
edge       a transition of the warp that is no edge of the graph
place      the warp is where no node is
coming     a lane executes what none of its threads should come to
missing    a lane does not execute what it surely does when others do
single     several threads execute at once what one of a warp should
unreached  the warp executes a block that no thread of the launch should reach
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sassan.arch import described
from sassan.errors import SassanError
from sassan.ipet.loop_bounds.recheck import Effort, warps_of
from sassan.ir import Function
from sassan.isa import tables
from sassan.isa.languages import isa_of, spilling, variables
from sassan.machine.launch import LaunchConfiguration, Shape
from sassan.machine.parameters import Setting, layout, places
from sassan.simt.code import lower
from sassan.simt.decoder import TableDecoder
from sassan.simt.integer_work import WarpInputs
from sassan.simt.integers import Integers
from sassan.simt.launch_warps import Spot, warps_at
from sassan.simt.machine import Limits, Machine
from sassan.simt.state import RunStatus, SideOrder
from sassan.simt.values import LANES, Words
from sassan.values import WarpContext, WarpValues, warp_contexts, with_values
from sassan.values.reach import unreached
from sassan.warpcfg import explore
from sassan.warpcfg.stack_words import stack_words
from soundness.oracles import Finding, GraphEdges, Report
from soundness.values.watch import WordWatch

BLOCKS: tuple[Shape, ...] = (
    (32, 8, 1),
    (256, 1, 1),
    (64, 4, 1),
    (32, 1, 1),
    (24, 1, 1),
    (33, 3, 1),
    (48, 2, 1),
    (80, 4, 2),
    (16, 16, 1),
    (8, 8, 4),
    (7, 5, 3),
    (1024, 1, 1),
    (1, 64, 1),
)
GRIDS: tuple[Shape, ...] = ((1, 1, 1), (4, 1, 1), (61, 3, 1), (2, 2, 2))
NUMBERS = (0, 1, 2, 3, 31, 32, 64, 96, 100, 1 << 16, 1 << 31, -1, -32)

WithValues = Callable[..., WarpValues | None]


@dataclass(frozen=True, slots=True)
class WordPlan:
    """How to look: `launches` that are drawn from `seed`, so many `warps` of each, cut after `steps` instructions.

    `of_one_warp`: values are those of one warp of the block, and that of any block of the grid is run.
    """

    seed: int
    launches: int = 2
    warps: int = 8
    steps: int = 1500
    of_one_warp: bool = False


def inspect_words(function: Function, plan: WordPlan, analyse: WithValues = with_values) -> Report | str:
    """Return what the warps say of a function, or why nothing is said of it."""
    dice = random.Random(f"launches {plan.seed}")
    reports: list[Report] = []
    isa = isa_of(function)
    facts_of = variables(spilling(isa, stack_words(explore(function, isa.facts), isa.facts)))
    plain = explore(function, facts_of)
    for number in range(plan.launches):
        given = launch(function, dice)
        assert given.block is not None
        warp = dice.choice(warp_contexts(given.block)) if plan.of_one_warp else None
        values = analyse(plain, facts_of, given, lambda facts: explore(function, facts), warp)
        if values is None:
            return f"{function.name}: no words"
        try:
            reports.append(_held(values, given, warp, Effort(plan.warps, plan.steps, seed=plan.seed * 97 + number)))
        except SassanError as error:
            return f"{function.name}: {error.code}"
    return Report(
        findings=tuple(finding for report in reports for finding in report.findings),
        runs=sum(report.runs for report in reports),
        transitions=sum(report.transitions for report in reports),
        ended=sum(report.ended for report in reports),
        edges_seen=sum(report.edges_seen for report in reports),
        edges=sum(report.edges for report in reports),
        claims_checked=sum(report.claims_checked for report in reports),
    )


def launch(function: Function, dice: random.Random) -> LaunchConfiguration:
    """Draw a launch: often without a grid, and with some of the parameters."""
    where = layout(function.arch)
    assert where is not None
    spots = [(place.offset, place.size) for place in places(function)] or [(where.parameters + 4 * index, 4) for index in range(3)]
    drawn: list[Setting] = []
    for offset, size in spots:
        if size in {1, 2, 4, 8} and dice.random() < (0.2 if size == 8 else 0.6):  # pointers are rarely given
            number = dice.choice(NUMBERS)
            drawn.append(Setting("", offset, number if size >= 4 else abs(number) & 127, size))
    return LaunchConfiguration(dice.choice(BLOCKS), dice.choice(GRIDS) if dice.random() < 0.7 else None, tuple(drawn))


def _numbers(place: WarpInputs) -> np.ndarray:
    """Return the number of each warp in its block, from its first thread."""
    x, y, z = (place.special[f"SR_TID.{axis}"][:, 0] for axis in "XYZ")
    wide, deep = (place.special[f"SR_NTID.{axis}"][:, 0] for axis in "XY")
    return ((z * deep + y) * wide + x) // LANES


def _copies(function: Function, given: LaunchConfiguration, warp: WarpContext, effort: Effort) -> tuple[WarpInputs, Words]:
    """Return one warp of a block in some blocks of the grid, and its threads."""
    dice, grid = np.random.default_rng(effort.seed), given.grid or GRIDS[-1]
    blocks = [tuple(int(dice.integers(0, extent)) for extent in grid) for _ in range(effort.warps)]
    return warps_at(function, replace(given, grid=grid), [Spot((x, y, z), warp.index) for x, y, z in blocks], dice)


def _held(values: WarpValues, given: LaunchConfiguration, warp: WarpContext | None, effort: Effort) -> Report:
    function = values.cfg.function
    order = SideOrder.RANDOM if described(function.arch).convergence_barriers else SideOrder.TAKEN_FIRST
    code = lower(function, TableDecoder(tables.load(function.arch).facts, stack=True), [each.address for each in function.instructions])
    place, active = warps_of(values.cfg, given, effort) if warp is None else _copies(function, given, warp, effort)
    bases = {each.source or each.name: place.bank(each.offset) for each in places(function)}
    returns = {each.address for each in function.instructions if each.opcode.split(".")[0] == "RET"}
    for called in (False, True):
        watch = WordWatch(values, code, bases, _numbers(place))
        outcome = Machine(code, Integers(place), order, Limits(steps=effort.steps)).run(active, watch, called=called)
        # Only what was called returns: a device function in a section of its own.
        if not any(address in returns for address, _, _ in outcome.faults):
            break
    graph = GraphEdges(values.cfg, None)
    problems = list(watch.problems.values())
    seen: set[int] = set()
    dead = unreached(values)
    for index, step in enumerate(outcome.transitions):
        edge = graph.edge_of(step)
        if edge is None:
            problems.append(("edge", int(np.argmax(outcome.counts[:, index] > 0)), f"{step} is no edge (pushed {step.pushed})"))
        else:
            seen.add(edge)
            if edge >= 0 and values.cfg.nodes[values.cfg.edges[edge].src].start in dead:
                problems.append(("unreached", int(np.argmax(outcome.counts[:, index] > 0)), f"{step} leaves a block that is not reached"))
    return Report(
        findings=tuple(Finding(kind, f"{function.name} with {given}", effort.seed, run, what) for kind, run, what in problems),
        runs=len(active),
        transitions=int(outcome.counts.sum()),
        ended=int((outcome.status == RunStatus.ENDED).sum()),
        edges_seen=len(seen - {-1}),
        edges=len(values.cfg.edges),
        claims_checked=watch.checked,
    )
