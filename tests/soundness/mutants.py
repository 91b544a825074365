"""What could be wrong with an analysis, one kind at a time: each kind must be noticed somewhere, by the oracles or by a gap.

A mutant is a graph that claims to be of a program and is not: explored from a mutated program, with mutated facts, or mutated
afterwards. The machine executes the true program. A mutant may be equivalent (a dropped edge that no run takes), so a kind counts as
noticed when one of its mutants is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sassan.errors import SassanError
from sassan.ir import Function, Instruction
from sassan.isa.facts import Facts
from sassan.warpcfg import explore
from sassan.warpcfg.graph import WarpCfg
from soundness.oracles import Plan, Report, inspect

FactsOf = Callable[[Instruction], Facts | None]


@dataclass(frozen=True, slots=True)
class Case:
    """A program, what is known of its instructions, and its true graph."""

    function: Function
    facts_of: FactsOf
    cfg: WarpCfg


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong graph, and how the plan of the inspection is changed; `what` says in words what was done."""

    cfg: WarpCfg
    what: str
    change: Callable[[Plan], Plan] = lambda plan: plan


Maker = Callable[[Case], Iterator[Mutant]]


def case_of(function: Function, facts_of: FactsOf) -> Case:
    return Case(function, facts_of, explore(function, facts_of))


def noticed(case: Case, mutant: Mutant, plan: Plan) -> str | None:
    """Return the kinds of findings of the mutant, None where it passes; a gap of the mutant alone is the analysis noticing by itself."""
    change = mutant.change(plan)
    if change == plan and claims(mutant.cfg) == claims(case.cfg):
        return None
    try:
        report: Report = inspect(case.function, mutant.cfg, change)
    except SassanError as error:
        return error.code
    kinds = sorted({one.kind for one in report.findings})
    gap = mutant.cfg.gaps[0].code if mutant.cfg.gaps and not case.cfg.gaps else None
    return ", ".join(kinds) or gap


def claims(cfg: WarpCfg) -> tuple[object, ...]:
    """Return everything that a graph says, the text of its instructions aside."""
    nodes = tuple((node.context, node.start, node.end, node.agreement, node.pushes) for node in cfg.nodes)
    return (nodes, cfg.edges, cfg.thread_edges, cfg.loops, cfg.token_targets, cfg.gaps, cfg.stack_points, cfg.spins)
