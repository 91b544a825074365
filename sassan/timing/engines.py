"""How long engines of an SM work on what the blocks of a graph ask of them: the tensor cores of warpgroups, the copy engine.

docs/proofs/warps-with-roles.md charges it to the block of warps, beside what these do themselves.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from sassan.ir import Instruction
from sassan.machine.pipes import TENSOR
from sassan.timing.control import ControlCostModel
from sassan.timing.model import CostModel
from sassan.timing.rates import Rates
from sassan.timing.table import TableCostModel
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.waits import is_try

_OF_GROUP, _GROUP = "GMMA", 4
"""Products of warpgroups, and their warps: each asks for a quarter of what the tensor cores of the SM do at once. Others one warp asks."""
_WAITS = frozenset({"BAR", "WARPGROUP", "DEPBAR", "USETMAXREG", "UCGABAR_WAIT", "ACQBULK"})
_MOST = 1 << 62
"""More than any latency."""
_COPIED = "ARRIVES"
"""Copies of the thread (cp.async) arrive at a barrier when they are over."""
_GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class PartedCosts:
    """What one execution of each block takes of its warp, and of the engines that it asks, in cycles."""

    warp: tuple[int, ...]
    engines: tuple[Fraction, ...]


def parted_costs(cfg: WarpCfg, model: CostModel, busy: Mapping[int, int], calls: Mapping[int, int | None]) -> PartedCosts | None:
    """Return the costs of the blocks of a graph where warps go on while engines work; None where no instruction asks one.

    `busy` are the cycles for which accesses keep their unit, by address, `calls` those of calls of external functions.
    Raises InputError for an architecture without a table.
    """
    if not isinstance(model, ControlCostModel | TableCostModel):
        return None
    rates = model.tables.rates(cfg.function.arch, busy)
    if not any(rates.is_engine(each.opcode) or _arrives(each) for node in cfg.nodes for each in node.code):
        return None
    apart = replace(model, tables=replace(model.tables, apart=True))
    costs = apart.block_costs(cfg, busy).costs
    return PartedCosts(
        tuple(cost + (calls.get(node.end) or 0) for cost, node in zip(costs, cfg.nodes, strict=True)), _engine_times(cfg, rates)
    )


def _engine_times(cfg: WarpCfg, rates: Rates) -> tuple[Fraction, ...]:
    """Return for how long engines work on what one execution of each node asks of them, at most, in cycles; `rates` not apart.

    What a warp asks between two of its waits is over one latency behind the last of it, so that only the longest of them is charged.
    """
    pieces = [list(_pieces(node.code)) for node in cfg.nodes]
    charged = _charged(cfg, [[_latencies(piece, rates, surely=True) for piece in of_node] for of_node in pieces])
    return tuple(
        # Pieces behind a wait begin anew.
        sum((_time(piece, rates, before if index == 0 else _NOTHING) for index, piece in enumerate(of_node)), Fraction(0))
        for of_node, before in zip(pieces, charged, strict=True)
    )


def _charged(cfg: WarpCfg, requests: Sequence[Sequence["_Latencies"]]) -> Sequence["_Latencies"]:
    """Return which latencies are charged of what a warp requests since its last wait, where each node begins, on every way there."""
    before = [_Latencies(Fraction(_MOST), _MOST)] * len(cfg.nodes)
    before[cfg.entry] = _NOTHING
    changed = True
    while changed:
        changed = False
        for edge in cfg.edges:
            if edge.dst is None:
                continue
            of_node = requests[edge.src]
            behind = before[edge.src].longest(of_node[0]) if len(of_node) == 1 else of_node[-1]
            joined = before[edge.dst].shortest(behind)
            changed = changed or joined != before[edge.dst]
            before[edge.dst] = joined
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


def _latencies(piece: Sequence[Instruction], rates: Rates, *, surely: bool = False) -> "_Latencies":
    """Return the longest latencies of what some code asks, or of what it `surely` asks."""
    requests = [each for each in piece if rates.is_engine(each.opcode) and not (surely and each.guard is not None)]
    products = [_part(each, rates.cycles(each.opcode) - rates.interval(each.opcode)) for each in requests if _is_product(each, rates)]
    copies = [rates.cycles(each.opcode) for each in requests if not _is_product(each, rates)]
    if any(_arrives(each) and not (surely and each.guard is not None) for each in piece):
        copies.append(rates.latencies.cycles(_GLOBAL) or 0)
    return _Latencies(max(products, default=Fraction(0)), max(copies, default=0))


def _part(product: Instruction, cycles: int) -> Fraction:
    """Return the part of what tensor cores take for a product that one of the warps is charged which ask for it."""
    return Fraction(cycles, _GROUP if product.opcode.partition(".")[0].endswith(_OF_GROUP) else 1)


def _is_product(instruction: Instruction, rates: Rates) -> bool:
    return rates.unit(instruction.opcode) == TENSOR


def _time(piece: Sequence[Instruction], rates: Rates, before: "_Latencies") -> Fraction:
    """Return for how long engines work on what some code asks; latencies `before` are charged since the last wait."""
    requests = [each for each in piece if rates.is_engine(each.opcode)]
    products = sum((_part(each, rates.occupied(each)) for each in requests if _is_product(each, rates)), Fraction(0))
    copies = sum(rates.occupied(each) for each in requests if not _is_product(each, rates))
    late = _latencies(piece, rates)
    return products + max(Fraction(0), late.products - before.products) + copies + max(0, late.copies - before.copies)


class _Latencies(NamedTuple):
    """Cycles from the service of an engine until it is over, in the part of one warp: of products, of copies."""

    products: Fraction
    copies: int

    def longest(self, other: "_Latencies") -> "_Latencies":
        return _Latencies(max(self.products, other.products), max(self.copies, other.copies))

    def shortest(self, other: "_Latencies") -> "_Latencies":
        return _Latencies(min(self.products, other.products), min(self.copies, other.copies))


_NOTHING = _Latencies(Fraction(0), 0)


def _arrives(instruction: Instruction) -> bool:
    return instruction.opcode.partition(".")[0] == _COPIED
