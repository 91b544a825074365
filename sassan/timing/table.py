"""The cost model `table`: instructions run one after the other, each for its latency (timing.md)."""

from dataclasses import dataclass, field

from sassan.timing.model import Prices, pieces_of
from sassan.timing.rates import Tables, code_of, not_machine_code
from sassan.warpcfg.graph import WarpCfg

ONE_BY_ONE = "an instruction issues when the one before it has ended"


@dataclass(frozen=True, slots=True)
class Table:
    """Adds the latencies of a block's instructions, each at least the time that its unit is taken."""

    tables: Tables = field(default_factory=Tables)

    @property
    def name(self) -> str:
        """Return `table`."""
        return "table"

    def price(self, cfg: WarpCfg) -> Prices:
        """Return the sum of latencies of each block.

        Raises InputError for an architecture without a table.
        """
        if gaps := not_machine_code(cfg.function):
            return Prices((0,) * len(cfg.nodes), (), gaps)
        rates = self.tables.rates(cfg.function.arch)
        code = code_of(cfg)
        cycles = {one.address: max(rates.cycles(one.opcode), rates.interval(one.opcode)) for one in code}
        costs = tuple(sum(cycles[one.address] for one in node.code) for node in cfg.nodes)
        pieces = tuple(pieces_of(node.code, lambda one: cycles[one.address]) for node in cfg.nodes)
        return Prices(costs, (ONE_BY_ONE, *rates.assumptions(code)), rates.gaps(code), pieces)
