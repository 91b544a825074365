"""The cost models by their names: those that need no measurements."""

from sassan.errors import UsageError
from sassan.timing.control import Control
from sassan.timing.cycles import Cycles
from sassan.timing.model import CostModel
from sassan.timing.rates import Tables
from sassan.timing.table import Table
from sassan.timing.unit import Unit

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
            return Unit()
        case "table":
            return Table(tables)
        case "control":
            return Control(tables)
        case "cycles":
            return Cycles(tables)
        case _:
            raise UsageError("usage", f"there is no cost model '{name}'", hint="unit, table, control or measured")
