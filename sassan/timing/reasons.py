"""Why blocks cost what they do: the cycles of a block by instruction and reason, for people. No bound rests on it.

A block of the model `control` is followed as if nothing were in flight where it begins. What it costs beyond that is named by what it may
wait for longest of all that earlier blocks begin; in blocks that may be interleaved with another side, turns are part of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassan.arch import described
from sassan.ir import Instruction
from sassan.isa.control import BARRIERS
from sassan.timing.control import ControlCostModel, block_ops
from sassan.timing.control_ops import TimedOp
from sassan.timing.control_residuals import interleaved_blocks
from sassan.timing.model import CostModel
from sassan.timing.rates import Rates
from sassan.timing.table import TableCostModel
from sassan.timing.unit import UnitCostModel
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.waits import idle_code

ISSUE = "issue"
AT_BARRIERS = "waiting at block barriers"
EARLIER = ", begun in earlier blocks"
NEXT = "what the next block waits for"
END = "end of all that was issued"
TURNS = "turns of other sides, or "
MEASURED = "measured"
PRODUCTS = "waiting for tensor"
_BARRIER = "barrier"


@dataclass(frozen=True, slots=True)
class CostPart:
    """A part of the cost of a block: `cycles` of the instruction at `address`, or of the whole block (None)."""

    address: int | None
    reason: str
    cycles: int


@dataclass(frozen=True, slots=True)
class _Timed:
    """An instruction as its scheduler sees it; `own` is what waiting for it is called."""

    instruction: Instruction
    op: TimedOp
    own: str


def parts(model: CostModel, cfg: WarpCfg, costs: Sequence[int], busy: Mapping[int, int]) -> tuple[tuple[CostPart, ...], ...]:
    """Return the parts of what each node costs in a model that knows the graph; those of a node add up to `costs`."""
    match model:
        case UnitCostModel():
            every = [[CostPart(instruction.address, ISSUE, 1) for instruction in node.code] for node in cfg.nodes]
            beyond = [ISSUE] * len(cfg.nodes)
        case TableCostModel(tables):
            rates = tables.rates(cfg.function.arch, busy, idle_code(cfg))
            every = [[_whole(instruction, rates) for instruction in node.code] for node in cfg.nodes]
            beyond = [ISSUE] * len(cfg.nodes)
        case ControlCostModel(tables):
            every, beyond = _controlled(cfg, tables.rates(cfg.function.arch, busy, idle_code(cfg)))
        case _:
            every, beyond = [[] for _ in cfg.nodes], [MEASURED] * len(cfg.nodes)
    return tuple(
        (*known, *((CostPart(None, reason, rest),) if (rest := cost - sum(part.cycles for part in known)) else ()))
        for known, reason, cost in zip(every, beyond, costs, strict=True)
    )


def _controlled(cfg: WarpCfg, rates: Rates) -> tuple[list[list[CostPart]], list[str]]:
    """Return the parts of each block on its own in the model `control`, and what the rest of its cost is called."""
    together = described(cfg.function.arch).control_words
    interleaved = frozenset[int]() if together else interleaved_blocks(cfg)
    blocks = [
        [_Timed(instruction, op, _waiting(instruction, rates)) for instruction, op in zip(node.code, ops, strict=True)]
        for node, ops in zip(cfg.nodes, block_ops(cfg, rates), strict=True)
    ]
    timed = [each for block in blocks for each in block]
    setters = [
        max(((cycles, each.own) for each in timed for to, cycles in each.op.sets if to == barrier), default=(0, ""))
        for barrier in range(BARRIERS)
    ]
    ends = max(((each.op.ends, each.own) for each in timed), default=(0, ""))
    beyond = [TURNS * (index in interleaved) + _begun_earlier(block, setters, ends) for index, block in enumerate(blocks)]
    beyond[cfg.entry] = END
    return [list(_in_order(block)) for block in blocks], beyond


def _whole(instruction: Instruction, rates: Rates) -> CostPart:
    return CostPart(instruction.address, _waiting(instruction, rates), max(rates.lasting(instruction), rates.occupied(instruction)))


def _waiting(instruction: Instruction, rates: Rates) -> str:
    kind = rates.kind(instruction.opcode)
    name = kind.name if kind is not None else ""
    return AT_BARRIERS if name == _BARRIER else f"waiting for {name}"


def _begun_earlier(block: Sequence[_Timed], setters: Sequence[tuple[int, str]], ends: tuple[int, str]) -> str:
    """Return what a block may wait for longest of all that earlier blocks begin.

    `setters` are the longest setters of each barrier, `ends` is what ends last after its issue, each with its name.
    """
    waited = [(0, NEXT)]
    begun: set[int] = set()
    for each in block:
        if each.op.drains:
            waited.append((ends[0], (AT_BARRIERS if each.own == AT_BARRIERS else ends[1]) + EARLIER))
            break
        waits = (barrier for barrier in range(BARRIERS) if each.op.waits >> barrier & 1 and barrier not in begun)
        waited += [(cycles, name + EARLIER) for cycles, name in (setters[barrier] for barrier in waits) if cycles]
        begun |= {barrier for barrier, _ in each.op.sets}
    return max(waited)[1]


def _in_order(block: Sequence[_Timed]) -> Iterator[CostPart]:
    """Yield for each instruction what keeps it back longest, and for how long it keeps back the next one."""
    clear = [(0, "")] * BARRIERS
    free: dict[str, int] = {}
    end, now = (0, ""), 0
    for each in block:
        op, reason, address = each.op, each.own, each.instruction.address
        causes = [clear[barrier] for barrier in range(BARRIERS) if op.waits >> barrier & 1]
        causes += [(free.get(op.unit, 0), f"unit {op.unit} busy"), (now + op.late, PRODUCTS)]
        if op.drains:
            causes.append((end[0], AT_BARRIERS if reason == AT_BARRIERS else end[1]))
        issue, cause = max(((now, ""), *causes), key=lambda pair: pair[0])
        if issue > now:
            yield CostPart(address, cause, issue - now)
        yield CostPart(address, ISSUE, op.least)
        if op.most > op.least:
            yield CostPart(address, reason, op.most - op.least)
        for barrier, cycles in op.sets:
            clear[barrier] = max(clear[barrier], (issue + cycles, reason), key=lambda pair: pair[0])
        free[op.unit] = issue + op.interval
        end = max(end, (issue + op.ends, reason), key=lambda pair: pair[0])
        now = issue + op.most
