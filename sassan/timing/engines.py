"""How long engines of an SM work on what the blocks of a graph ask of them: the tensor cores of warpgroups, the copy engine.

docs/proofs/warps-with-roles.md charges it to the block of warps, beside what these do themselves.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sassan.ir import Instruction
from sassan.machine.pipes import TENSOR
from sassan.timing.control import ControlCostModel
from sassan.timing.model import CostModel
from sassan.timing.rates import Rates
from sassan.timing.table import TableCostModel
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.waits import is_try

_GROUP = 4
"""Warps of a warpgroup: each asks for a quarter of what the tensor cores of the SM do at once."""
_WAITS = frozenset({"BAR", "WARPGROUP", "DEPBAR", "USETMAXREG", "UCGABAR_WAIT", "ACQBULK"})
_KINDS = _PRODUCTS, _COPIES = "products", "copies"
_COPIED = "ARRIVES"
"""Copies of the thread (cp.async) arrive at a barrier when they are over."""
_GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class PartedCosts:
    """What one execution of each block takes of its warp, and of the engines that it asks, in cycles."""

    warp: tuple[int, ...]
    engines: tuple[Fraction, ...]


def parted_costs(cfg: WarpCfg, model: CostModel, busy: Mapping[int, int]) -> PartedCosts | None:
    """Return the costs of the blocks of a graph where warps go on while engines work; None where no instruction asks one.

    `busy` are the cycles for which accesses keep their unit, by address. Raises InputError for an architecture without a table.
    """
    if not isinstance(model, ControlCostModel | TableCostModel):
        return None
    rates = model.tables.rates(cfg.function.arch, busy)
    if not any(rates.is_engine(each.opcode) or _arrives(each) for node in cfg.nodes for each in node.code):
        return None
    apart = replace(model, tables=replace(model.tables, apart=True))
    return PartedCosts(apart.block_costs(cfg, busy).costs, _engine_times(cfg, rates))


def _engine_times(cfg: WarpCfg, rates: Rates) -> tuple[Fraction, ...]:
    """Return for how long engines work on what one execution of each node asks of them, at most, in cycles; `rates` not apart.

    What a warp asks between two of its waits is over one latency behind the last of it, so that only the first of it is charged one.
    """
    pieces = [list(_pieces(node.code)) for node in cfg.nodes]
    open_at = _open(cfg, [[_asked(piece, rates) for piece in of_node] for of_node in pieces])
    times: list[Fraction] = []
    for of_node, asked in zip(pieces, open_at, strict=True):
        total = Fraction(0)
        for index, piece in enumerate(of_node):
            # Pieces behind a wait begin anew.
            total += _time(piece, rates, asked if index == 0 else frozenset())
        times.append(total)
    return tuple(times)


def _open(cfg: WarpCfg, asked: Sequence[Sequence[frozenset[str]]]) -> Sequence[frozenset[str]]:
    """Return which kinds of work a warp has surely asked for since its last wait, where each node begins, on every way there."""
    every = frozenset(_KINDS)
    before = [every] * len(cfg.nodes)
    before[cfg.entry] = frozenset()
    changed = True
    while changed:
        changed = False
        for edge in cfg.edges:
            if edge.dst is None:
                continue
            of_node = asked[edge.src]
            behind = before[edge.src] | of_node[0] if len(of_node) == 1 else of_node[-1]
            if not before[edge.dst] <= behind:
                before[edge.dst] &= behind
                changed = True
    return before


def _pieces(code: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    """Yield the code before the first wait of a block, from each wait to the next, and behind the last."""
    piece: list[Instruction] = []
    for instruction in code:
        if is_try(instruction) or instruction.opcode.partition(".")[0] in _WAITS:
            yield piece
            piece = []
        piece.append(instruction)
    yield piece


def _asked(piece: Sequence[Instruction], rates: Rates) -> frozenset[str]:
    """Return which kinds of work some code surely asks for."""
    return frozenset(_kind(each, rates) for each in piece if each.guard is None and rates.is_engine(each.opcode))


def _kind(instruction: Instruction, rates: Rates) -> str:
    return _PRODUCTS if rates.unit(instruction.opcode) == TENSOR else _COPIES


def _time(piece: Sequence[Instruction], rates: Rates, before: frozenset[str]) -> Fraction:
    """Return for how long engines work on what some code asks, of which `before` was asked since the last wait."""
    asked = [each for each in piece if rates.is_engine(each.opcode)]
    products = [each for each in asked if _kind(each, rates) == _PRODUCTS]
    copies = [each for each in asked if _kind(each, rates) == _COPIES]
    beyond = 0 if _PRODUCTS in before else max((rates.cycles(each.opcode) - rates.interval(each.opcode) for each in products), default=0)
    latencies = [] if _COPIES in before else [rates.cycles(each.opcode) for each in copies]
    if any(map(_arrives, piece)):
        latencies.append(rates.latencies.cycles(_GLOBAL) or 0)
    return Fraction(beyond + sum(map(rates.occupied, products)), _GROUP) + max(latencies, default=0) + sum(map(rates.occupied, copies))


def _arrives(instruction: Instruction) -> bool:
    return instruction.opcode.partition(".")[0] == _COPIED
