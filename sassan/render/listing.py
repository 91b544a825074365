"""A listing: one row per instruction, with what the control code, the tables and the graph say of it."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sassan.alphabet import Letter
from sassan.errors import Gap
from sassan.ir import Instruction, SourceLine
from sassan.isa.control import Control, decode
from sassan.isa.facts import Facts, Flow
from sassan.isa.languages import namer
from sassan.isa.registers import EVERY
from sassan.isa.tables import unit
from sassan.warpcfg.blocks import FactsOf, conditional
from sassan.warpcfg.graph import WarpCfg


class Branch(StrEnum):
    """What a conditional control instruction does to the warp."""

    DIVERGENT = "divergent"
    """It may split the active threads."""
    UNIFORM = "uniform"
    """It never does."""
    UNREACHED = "unreached"
    """No path of the graph leads to it."""
    UNKNOWN = "?"
    """The graph of the function has gaps."""


@dataclass(frozen=True, slots=True)
class Row:
    """`control` is None without encodings, `unit` and `letter` where no table knows the opcode, `branch` where nothing is decided.

    `agreement` stands at the start of a block: the registers of the function on which the warp agrees there, in every context.
    `source` is the source line that the instruction was made from, None where that is not known.
    """

    instruction: Instruction
    control: Control | None
    unit: str | None
    letter: Letter | None
    branch: Branch | None = None
    agreement: tuple[str, ...] | None = None
    source: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The rows of a function in address order, and the gaps of its graph, which leave branches unjudged."""

    rows: tuple[Row, ...]
    gaps: tuple[Gap, ...]


def listing(cfg: WarpCfg, facts_of: FactsOf) -> Listing:
    """Return the listing of a function."""
    return Listing(tuple(_rows(cfg, facts_of)), cfg.gaps)


def _rows(cfg: WarpCfg, facts_of: FactsOf) -> Iterator[Row]:
    arch = cfg.function.arch
    known = [facts_of(one) for one in cfg.function.instructions]
    used = _used(known)
    starts, ends, spell = _agreement(cfg), _splits(cfg), namer(cfg.function)
    lines = cfg.function.lines
    places = [line.address for line in lines]
    for one, facts in zip(cfg.function.instructions, known, strict=True):
        agreed = starts.get(one.address)
        line = bisect_right(places, one.address)
        yield Row(
            one,
            None if one.control is None else decode(one.control),
            None if facts is None or cfg.function.frames else unit(arch, one.opcode),
            None if facts is None else facts.letter,
            None if facts is None else _branch(one, facts, ends, gaps=bool(cfg.gaps)),
            None if agreed is None or cfg.gaps else spell(agreed & used),
            lines[line - 1] if line else None,
        )


def agreements(cfg: WarpCfg, facts_of: FactsOf) -> tuple[tuple[str, ...], ...]:
    """Return, per node, the registers of the function on which the active threads agree at its start; nothing where gaps leave it open."""
    if cfg.gaps:
        return ((),) * len(cfg.nodes)
    used = _used([facts_of(one) for one in cfg.function.instructions])
    spell = namer(cfg.function)
    return tuple(spell(node.agreement & used) for node in cfg.nodes)


def _used(known: Iterable[Facts | None]) -> int:
    used = 0
    for facts in known:
        used |= EVERY if facts is None else facts.reads | facts.writes | facts.guard
    return used


def _agreement(cfg: WarpCfg) -> dict[int, int]:
    out: dict[int, int] = {}
    for node in cfg.nodes:
        out[node.start] = out.get(node.start, EVERY) & node.agreement
    return out


def _splits(cfg: WarpCfg) -> dict[int, bool]:
    """Return, per last instruction of a block, whether it may split the warp in some context."""
    out: dict[int, bool] = {}
    for node in cfg.nodes:
        out[node.end] = out.get(node.end, False) or node.divergent
    return out


def _branch(one: Instruction, facts: Facts, ends: dict[int, bool], *, gaps: bool) -> Branch | None:
    if facts.flow in {Flow.NONE, Flow.PUSH, Flow.BLOCK_BARRIER, Flow.WARP_BARRIER}:
        return None
    if not conditional(one, facts) and facts.flow not in {Flow.INDIRECT_BRANCH, Flow.INDIRECT_CALL}:
        return None
    if facts.uniform:
        return Branch.UNIFORM
    if gaps:
        return Branch.UNKNOWN
    if one.address not in ends:
        return Branch.UNREACHED
    return Branch.DIVERGENT if ends[one.address] else Branch.UNIFORM
