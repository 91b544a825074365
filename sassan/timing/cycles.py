"""The cost model of a function in cycles, where the user names none: the most precise one that its input allows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sassan.ir import Function, Language
from sassan.timing.control import ControlCostModel
from sassan.timing.model import NO_ACCESSES, BlockCosts, CostModel, Quantity
from sassan.timing.rates import Tables
from sassan.timing.table import TableCostModel
from sassan.timing.unit import UnitCostModel
from sassan.warpcfg.graph import WarpCfg


@dataclass(frozen=True, slots=True)
class CycleCostModel:
    """`control` where a function has control codes, `table` where it has none; `unit` for PTX, which has no time of its own."""

    tables: Tables = field(default_factory=Tables)

    @property
    def name(self) -> str:
        """Return `cycles`: that of no model, until the function is known."""
        return "cycles"

    @property
    def quantity(self) -> Quantity:
        """Return cycles, as the models of machine code do."""
        return Quantity.CYCLES

    def of(self, function: Function) -> CostModel:
        """Return the model of a function."""
        if function.language is Language.PTX:
            return UnitCostModel()
        coded = bool(function.instructions) and all(instruction.control is not None for instruction in function.instructions)
        return ControlCostModel(self.tables) if coded else TableCostModel(self.tables)

    def block_costs(self, cfg: WarpCfg, busy: Mapping[int, int] = NO_ACCESSES) -> BlockCosts:
        """Return the costs by the model of the function.

        Raises InputError for an architecture without a table.
        """
        return self.of(cfg.function).block_costs(cfg, busy)
