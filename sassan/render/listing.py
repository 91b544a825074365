"""A listing: one row per instruction, with the facts of its control code, of the tables and of the graph."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sassan.access import Access
from sassan.alphabet import Letter
from sassan.errors import Gap
from sassan.ir import Instruction, Language, SourceLine
from sassan.isa.control import ControlCode, decode
from sassan.isa.facts import Facts, Flow
from sassan.isa.languages import namer
from sassan.isa.registers import EVERY
from sassan.isa.tables import unit
from sassan.warpcfg.blocks import FactsOf, conditional
from sassan.warpcfg.graph import WarpCfg


class BranchEffect(StrEnum):
    """The effect of a conditional control instruction on the warp."""

    DIVERGENT = "divergent"
    """The active threads may diverge."""
    UNIFORM = "uniform"
    """They never diverge."""
    UNREACHED = "unreached"
    """It is unreachable in the graph."""
    UNKNOWN = "?"
    """The graph of the function has gaps."""


@dataclass(frozen=True, slots=True)
class ListingRow:
    """A row. `control` is None without encodings, `unit` and `letter` for an unknown opcode, `branch` if it does not branch.

    `agreement` is set at the start of a block: the registers of the function that are warp-uniform there, in every context.
    `source` is the source line of the instruction, None if it is unknown. `accesses` are those of memory, where a launch is given.
    `live` counts the general registers in use.
    """

    instruction: Instruction
    control: ControlCode | None
    unit: str | None
    letter: Letter | None
    branch: BranchEffect | None = None
    agreement: tuple[str, ...] | None = None
    source: SourceLine | None = None
    accesses: tuple[Access, ...] = ()
    live: int | None = None

    @property
    def transactions(self) -> str:
        """Return the transactions of a warp and how few would do, `32/4` or `<=32/4`; '' without an access of lanes."""
        return "+".join(map(_transactions, self.accesses))


def _transactions(access: Access) -> str:
    count = access.transactions
    return "?" if count is None else f"{'' if count.exact else '<='}{count.most}/{access.ideal}"


@dataclass(frozen=True, slots=True)
class Listing:
    """The rows of a function in address order, and the gaps of its graph, which leave branches unclassified."""

    rows: tuple[ListingRow, ...]
    gaps: tuple[Gap, ...]


def listing(cfg: WarpCfg, facts_of: FactsOf, accesses: Iterable[Access] = (), in_use: Sequence[int] = ()) -> Listing:
    """Return the listing of a function; `in_use` counts the registers in use by instruction, where that is known."""
    of: dict[int, tuple[Access, ...]] = {}
    for access in accesses:
        of[access.address] = (*of.get(access.address, ()), access)
    rows = tuple(_rows(cfg, facts_of, of))
    if in_use:
        rows = tuple(replace(row, live=count) for row, count in zip(rows, in_use, strict=True))
    return Listing(rows, cfg.gaps)


def _rows(cfg: WarpCfg, facts_of: FactsOf, accesses: Mapping[int, tuple[Access, ...]]) -> Iterator[ListingRow]:
    arch = cfg.function.arch
    facts_by_instruction = [facts_of(instruction) for instruction in cfg.function.instructions]
    used = _used(facts_by_instruction)
    starts, ends, spell = _agreement(cfg), _splits(cfg), namer(cfg.function)
    lines = cfg.function.lines
    places = [line.address for line in lines]
    for instruction, facts in zip(cfg.function.instructions, facts_by_instruction, strict=True):
        agreed = starts.get(instruction.address)
        line = bisect_right(places, instruction.address)
        yield ListingRow(
            instruction,
            None if instruction.control is None else decode(instruction.control),
            None if facts is None or cfg.function.language is Language.PTX else unit(arch, instruction.opcode),
            None if facts is None else facts.letter,
            None if facts is None else _branch(instruction, facts, ends, gaps=bool(cfg.gaps)),
            None if agreed is None or cfg.gaps else spell(agreed & used),
            lines[line - 1] if line else None,
            accesses.get(instruction.address, ()),
        )


def agreements(cfg: WarpCfg, facts_of: FactsOf) -> tuple[tuple[str, ...], ...]:
    """Return, per node, the registers of the function that are warp-uniform at its start; empty if the graph has gaps."""
    if cfg.gaps:
        return ((),) * len(cfg.nodes)
    used = _used([facts_of(instruction) for instruction in cfg.function.instructions])
    spell = namer(cfg.function)
    return tuple(spell(node.agreement & used) for node in cfg.nodes)


def _used(all_facts: Iterable[Facts | None]) -> int:
    used = 0
    for facts in all_facts:
        used |= EVERY if facts is None else facts.reads | facts.writes | facts.guard
    return used


def _agreement(cfg: WarpCfg) -> dict[int, int]:
    out: dict[int, int] = {}
    for node in cfg.nodes:
        out[node.start] = out.get(node.start, EVERY) & node.agreement
    return out


def _splits(cfg: WarpCfg) -> dict[int, bool]:
    """Return, per last instruction of a block, whether the warp may diverge there in some context."""
    out: dict[int, bool] = {}
    for node in cfg.nodes:
        out[node.end] = out.get(node.end, False) or node.divergent
    return out


def _branch(instruction: Instruction, facts: Facts, ends: dict[int, bool], *, gaps: bool) -> BranchEffect | None:
    if facts.flow in {Flow.NONE, Flow.PUSH, Flow.BLOCK_BARRIER, Flow.WARP_BARRIER}:
        return None
    if not conditional(instruction, facts) and facts.flow not in {Flow.INDIRECT_BRANCH, Flow.INDIRECT_CALL}:
        return None
    if facts.uniform:
        return BranchEffect.UNIFORM
    if gaps:
        return BranchEffect.UNKNOWN
    if instruction.address not in ends:
        return BranchEffect.UNREACHED
    return BranchEffect.DIVERGENT if ends[instruction.address] else BranchEffect.UNIFORM
