"""The cost models by their names: those that need no measurements."""

from sassan.errors import UsageError
from sassan.timing.control import ControlCostModel
from sassan.timing.cycles import CycleCostModel
from sassan.timing.model import CostModel
from sassan.timing.rates import Tables
from sassan.timing.table import TableCostModel
from sassan.timing.unit import UnitCostModel

CYCLES = "cycles"
"""The most precise of these that the input of a function allows."""
WITH_LATENCIES = ("table", "control")
"""The models that a latency means something to."""


def model(name: str, tables: Tables) -> CostModel:
    """Return the cost model of a name, with its tables.

    Raises UsageError.
    """
    match name:
        case "unit":
            return UnitCostModel()
        case "table":
            return TableCostModel(tables)
        case "control":
            return ControlCostModel(tables)
        case "cycles":
            return CycleCostModel(tables)
        case _:
            raise UsageError("usage", f"there is no cost model '{name}'", hint="unit, table, control or measured")
