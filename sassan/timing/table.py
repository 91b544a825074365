"""The cost model `table`: instructions run one after the other, each for its latency (docs/concepts/time.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.timing.model import NO_ACCESSES, BlockCosts, Quantity, pieces_of
from sassan.timing.rates import Tables, code_of, not_machine_code
from sassan.warpcfg.graph import WarpCfg
from sassan.warpcfg.waits import idle_code

ONE_BY_ONE = "an instruction issues when the one before it has ended"


@dataclass(frozen=True, slots=True)
class TableCostModel:
    """Adds the latencies of a block's instructions, each at least the time that its unit is taken."""

    tables: Tables = field(default_factory=Tables)

    @property
    def name(self) -> str:
        """Return `table`."""
        return "table"

    @property
    def quantity(self) -> Quantity:
        """Return cycles."""
        return Quantity.CYCLES

    def block_costs(self, cfg: WarpCfg, busy: Mapping[int, int] = NO_ACCESSES) -> BlockCosts:
        """Return the sum of latencies of each block.

        Raises InputError for an architecture without a table.
        """
        if gaps := not_machine_code(cfg.function):
            return BlockCosts((0,) * len(cfg.nodes), (), gaps)
        rates = self.tables.rates(cfg.function.arch, busy, idle_code(cfg))
        code = code_of(cfg)
        cycles = {instruction.address: max(rates.lasting(instruction), rates.occupied(instruction)) for instruction in code}
        costs = tuple(sum(cycles[instruction.address] for instruction in node.code) for node in cfg.nodes)
        pieces = tuple(pieces_of(node.code, lambda instruction: cycles[instruction.address]) for node in cfg.nodes)
        return BlockCosts(costs, (ONE_BY_ONE, *rates.assumptions(code)), rates.gaps(code), pieces)
