"""How long instructions wait for the results of matrix products (docs/proofs/control-costs.md).

A stall count says how far ptxas keeps a reader from a product, not when the result is there: on an RTX 5070 Ti it writes 29 between two
products of which one adds to the other, and they issue 34.4 to 35.4 cycles apart. So a reader is charged the latency of the product,
counted from its issue, less the stalls that surely pass between both.
"""

from collections import deque
from collections.abc import Mapping, Sequence

from sassan.ir import Instruction
from sassan.isa.registers import EVERY
from sassan.isa.tables import load
from sassan.machine.pipes import TENSOR
from sassan.timing.control_ops import TimedOp
from sassan.timing.rates import Rates
from sassan.warpcfg.graph import WarpCfg

_Open = dict[int, int]
"""Products by address: for how long their results may not be there."""


def lateness(
    cfg: WarpCfg, blocks: Sequence[Sequence[TimedOp]], steps: Sequence[Sequence[int]], rates: Rates
) -> Mapping[tuple[int, int], int]:
    """Return for how long instructions, by block and place in it, wait for products beyond when the one before lets them issue.

    `blocks` are the instructions of each node of the graph, `steps` what may run behind it. Those that do not wait are omitted.
    """
    products = {
        instruction.address: rates.lasting(instruction)
        for node in cfg.nodes
        for instruction in node.code
        if _is_product(instruction, rates)
    }
    if not products:
        return {}
    walk = _Walk(cfg, blocks, products)
    # A graph with gaps may lack edges: then any result may be missing anywhere.
    entered: list[_Open | None] = [dict(products) if cfg.gaps else None for _ in cfg.nodes]
    entered[cfg.entry] = entered[cfg.entry] or {}
    queue = deque(range(len(cfg.nodes)) if cfg.gaps else [cfg.entry])
    while queue:
        block = queue.popleft()
        left = walk.through(block, entered[block] or {})
        for step in steps[block]:
            before = entered[step]
            joined = left if before is None else {at: max(before.get(at, 0), left.get(at, 0)) for at in {**before, **left}}
            if joined != before:
                entered[step] = joined
                queue.append(step)
    for block, still in enumerate(entered):
        walk.through(block, still or {})
    return walk.late


def _is_product(instruction: Instruction, rates: Rates) -> bool:
    kind = rates.kind(instruction.opcode)
    return rates.unit(instruction.opcode) == TENSOR and kind is not None and not kind.blocks


class _Walk:
    """Follows products through blocks, and keeps in `late` who waits for them."""

    def __init__(self, cfg: WarpCfg, blocks: Sequence[Sequence[TimedOp]], products: Mapping[int, int]) -> None:
        facts_of = load(cfg.function.arch).facts
        self.late: dict[tuple[int, int], int] = {}
        self._code = [node.code for node in cfg.nodes]
        self._blocks, self._products = blocks, products
        self._accessed: dict[int, int] = {}
        self._written: dict[int, int] = {}
        for code in self._code:
            for instruction in code:
                facts = facts_of(instruction)
                self._accessed[instruction.address] = EVERY if facts is None else facts.reads | facts.guard | facts.writes
                self._written[instruction.address] = EVERY if facts is None else facts.writes

    def through(self, block: int, entered: _Open) -> _Open:
        """Return what is missing behind a block where `entered` is missing before it."""
        now, missing = 0, dict(entered)
        for place, (instruction, op) in enumerate(zip(self._code[block], self._blocks[block], strict=True)):
            accessed = self._accessed[instruction.address]
            waited = [at for at in missing if accessed & self._written[at]]
            late = max((missing[at] - now for at in waited), default=0)
            if late > 0:
                self.late[block, place] = max(self.late.get((block, place), 0), late)
            for at in waited if instruction.guard is None else ():
                del missing[at]
            if instruction.address in self._products:
                missing[instruction.address] = now + self._products[instruction.address]
            now += op.least
        return {at: until - now for at, until in missing.items() if until > now}
